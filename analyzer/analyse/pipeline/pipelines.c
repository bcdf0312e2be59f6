/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/pipeline/pipelines.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/param.h>

#include "analyzer/analyse/host/interpolate.h"

/* The selected processes and window. */
struct scope {
	const struct model *model;
	const struct analysis_options *options;
	struct analysis_window window;
};

/* Returns, by thread of the model, its row in @processes->threads. NULL without memory. */
static uint32_t *index_threads(const struct model *model, const struct process_results *processes)
{
	uint32_t *index = indices_none(model->threads.count);

	for (uint32_t i = 0; index && i < processes->thread_count; i++)
		index[processes->threads[i].thread] = i;
	return index;
}

static void add_thread(struct operator_pipeline_usage *op, const struct pipeline_thread *row,
		       const struct thread_usage *usage)
{
	if (row->descendant)
		op->descendants++;
	else
		op->own_threads++;
	/* A thread that did not exist in the window has used nothing in it. */
	if (!usage)
		return;
	if (usage->source == USAGE_UNKNOWN)
		op->has_times = false;
	op->all_run_ns += usage->run_ns;
	op->all_runnable_ns += usage->runnable_ns;
	op->all_blocked_ns += usage->blocked_ns;
	op->all_io_ns += usage->io_ns;
	if (row->descendant)
		return;
	op->run_ns += usage->run_ns;
	op->runnable_ns += usage->runnable_ns;
	op->blocked_ns += usage->blocked_ns;
	op->io_ns += usage->io_ns;
}

/* Were its times left out because its process is not selected? */
static bool left_out(const struct scope *scope, uint32_t thread)
{
	return !analysis_wants_process(scope->model, scope->options,
				       scope->model->threads.row[thread].process);
}

/* Initialises the operators before anything is summed up. */
static void begin_operators(const struct pipeline *pipeline, struct pipeline_usage *usage)
{
	for (uint32_t i = 0; i < pipeline->operators.count; i++) {
		const struct pipeline_operator *op = &pipeline->operators.row[i];

		/* In files with samples, times are known for operators with samples. */
		usage->operators[i].has_times = !pipeline->sampled && !op->in_trainer;
		usage->operators[i].has_elements = op->counts_outputs;
		usage->operators[i].queue = INDEX_NONE;
		usage->order[i] = i;
	}
}

static void sum_threads(const struct scope *scope, const struct pipeline *pipeline,
			const struct process_results *processes, const uint32_t *index,
			struct pipeline_usage *usage)
{
	for (uint32_t i = 0; i < pipeline->threads.count; i++) {
		const struct pipeline_thread *row = &pipeline->threads.row[i];
		uint32_t at = index[row->thread];

		usage->threads[i] = at == INDEX_NONE ? NULL : &processes->threads[at];
		add_thread(&usage->operators[row->op], row, usage->threads[i]);
		if (!usage->threads[i] && left_out(scope, row->thread))
			usage->operators[row->op].has_times = false;
	}
	for (uint32_t i = 0; i < pipeline->operators.count && processes->window_ns; i++) {
		struct operator_pipeline_usage *op = &usage->operators[i];

		op->utilization = 100 * (double)op->run_ns / (double)processes->window_ns;
		op->all_utilization = 100 * (double)op->all_run_ns / (double)processes->window_ns;
	}
}

uint64_t pipeline_cpu_between(uint64_t ns, const struct pipeline_cpu *cpu, uint64_t from_ns,
			      uint64_t to_ns)
{
	struct place from = place_between(cpu->start_ns, cpu->end_ns, from_ns);
	struct place to = place_between(cpu->start_ns, cpu->end_ns, to_ns);

	return grown(interpolate(0, ns, from), interpolate(0, ns, to));
}

static void sum_cpu(const struct pipeline *pipeline, const struct analysis_window *window,
		    uint64_t window_ns, struct pipeline_usage *usage)
{
	for (uint32_t i = 0; i < pipeline->cpu.count; i++) {
		const struct pipeline_cpu *cpu = &pipeline->cpu.row[i];

		usage->operators[cpu->op].run_ns +=
			pipeline_cpu_between(cpu->user_ns, cpu, window->from_ns, window->to_ns) +
			pipeline_cpu_between(cpu->system_ns, cpu, window->from_ns, window->to_ns);
		usage->operators[cpu->op].has_times = true;
	}
	for (uint32_t i = 0; i < pipeline->operators.count; i++) {
		struct operator_pipeline_usage *op = &usage->operators[i];

		op->all_run_ns = op->run_ns;
		if (window_ns)
			op->utilization = 100 * (double)op->run_ns / (double)window_ns;
		op->all_utilization = op->utilization;
	}
}

static void sum_works(const struct pipeline *pipeline, const struct analysis_window *window,
		      struct pipeline_usage *usage)
{
	for (uint32_t i = 0; i < pipeline->works.count; i++) {
		const struct pipeline_work *work = &pipeline->works.row[i];
		struct operator_pipeline_usage *op = &usage->operators[work->op];

		op->work_ns += analysis_clipped(work->start_ns, work->end_ns, window);
		if (!analysis_has(work->start_ns, window))
			continue;
		op->element_ns += (double)(work->end_ns - work->start_ns);
		op->has_element_ns = true;
		if (!pipeline->operators.row[work->op].counts_outputs) {
			op->has_elements = true;
			op->elements++;
		}
	}
	for (uint32_t i = 0; i < pipeline->outputs.count; i++) {
		const struct pipeline_output *output = &pipeline->outputs.row[i];

		if (analysis_has(output->ts_ns, window))
			usage->operators[output->op].elements += output->count;
	}
}

static bool sum_work_times(const struct scope *scope, const struct pipeline *pipeline,
			   struct pipeline_usage *usage)
{
	struct work_times *times = calloc((size_t)pipeline->operators.count + 1, sizeof(*times));

	bool memory = times && work_times_sum(scope->model, pipeline, &scope->window, times);

	for (uint32_t i = 0; memory && i < pipeline->operators.count; i++)
		usage->operators[i].work = times[i];
	free(times);
	return memory;
}

static void sum_queue_event(const struct pipeline *pipeline, const struct analysis_window *window,
			    uint32_t i, struct pipeline_usage *usage)
{
	const struct pipeline_queue_event *event = &pipeline->queue_events.row[i];
	const struct pipeline_queue *queue = &pipeline->queues.row[event->queue];
	struct queue_usage *of = &usage->queues[event->queue];
	uint64_t wait_ns = analysis_clipped(event->start_ns, event->end_ns, window), stays_ns = 0;

	if (event->change > 0) {
		of->push_wait_ns += wait_ns;
		of->pushes += analysis_has(event->end_ns, window);
		usage->operators[queue->from].output_wait_ns += wait_ns;
	} else if (event->change < 0) {
		of->pop_wait_ns += wait_ns;
		of->pops += analysis_has(event->end_ns, window);
		if (queue->to != INDEX_NONE)
			usage->operators[queue->to].input_wait_ns += wait_ns;
	}
	if (i + 1 < pipeline->queue_events.count && event[1].queue == event->queue)
		stays_ns = analysis_clipped(event->end_ns, event[1].end_ns, window);
	if (event->size < 0 || !stays_ns)
		return;
	of->known = true;
	of->observed_ns += stays_ns;
	of->mean_size += (double)event->size * (double)stays_ns;
	if (event->size == 0)
		of->empty_ns += stays_ns;
	if (queue->capacity && (uint32_t)event->size >= queue->capacity)
		of->full_ns += stays_ns;
}

static void sum_queues(const struct pipeline *pipeline, const struct analysis_window *window,
		       struct pipeline_usage *usage)
{
	for (uint32_t i = 0; i < pipeline->queues.count; i++)
		usage->operators[pipeline->queues.row[i].from].queue = i;
	for (uint32_t i = 0; i < pipeline->queue_events.count; i++)
		sum_queue_event(pipeline, window, i, usage);
	for (uint32_t i = 0; i < pipeline->queues.count; i++)
		if (usage->queues[i].known)
			usage->queues[i].mean_size /= (double)usage->queues[i].observed_ns;
}

static void sum_fetches(const struct pipeline *pipeline, const struct analysis_window *window,
			struct fetch_usage *usage)
{
	usage->thread = INDEX_NONE;
	for (uint32_t i = 0; i < pipeline->fetches.count; i++) {
		const struct pipeline_fetch *fetch = &pipeline->fetches.row[i];
		uint64_t ns = analysis_clipped(fetch->start_ns, fetch->end_ns, window);

		usage->wait_ns += ns;
		if (!analysis_has(fetch->start_ns, window) || fetch->open)
			continue;
		if (fetch->end_of_data)
			usage->ends++;
		else
			usage->fetches++;
		if (!usage->first_ns)
			usage->first_ns = fetch->start_ns;
		usage->last_ns = fetch->end_ns;
		usage->thread = fetch->thread;
		usage->max_ns = MAX(usage->max_ns, ns);
	}
}

/* Computes means per element; if the works are not known, the work is the time between waits. */
static void settle_elements(const struct pipeline *pipeline, struct pipeline_usage *usage)
{
	for (uint32_t i = 0; i < pipeline->operators.count; i++) {
		struct operator_pipeline_usage *op = &usage->operators[i];
		uint64_t waits_ns = op->input_wait_ns + op->output_wait_ns;
		uint64_t alive_ns = op->run_ns + op->runnable_ns + op->blocked_ns;

		if (op->has_element_ns && op->elements)
			op->element_ns /= (double)op->elements;
		else
			op->has_element_ns = false;
		if (op->has_element_ns || !pipeline->operators.row[i].estimate_work ||
		    !op->has_times || op->own_threads != 1 || !op->elements || alive_ns < waits_ns)
			continue;
		op->work_ns = alive_ns - waits_ns;
		op->element_ns = (double)op->work_ns / (double)op->elements;
		op->has_element_ns = true;
		op->estimated = true;
	}
}

static void set_depths(const struct pipeline *pipeline, struct pipeline_usage *usage)
{
	bool changed = true;

	/* At most as many rounds as operators: a hostile trace may have cycles. */
	for (uint32_t round = 0; round < pipeline->operators.count && changed; round++) {
		changed = false;
		for (uint32_t i = 0; i < pipeline->edges.count; i++) {
			const struct pipeline_edge *edge = &pipeline->edges.row[i];
			uint32_t depth = usage->operators[edge->to].depth + 1;

			if (usage->operators[edge->from].depth >= depth ||
			    depth >= pipeline->operators.count)
				continue;
			usage->operators[edge->from].depth = depth;
			changed = true;
		}
	}
}

static int by_id(const void *a, const void *b, void *context)
{
	const struct pipeline_operator *rows = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (rows[x].id != rows[y].id)
		return rows[x].id < rows[y].id ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void set_order(const struct pipeline *pipeline, struct pipeline_usage *usage)
{
	if (pipeline->operators.count)
		qsort_r(usage->order, pipeline->operators.count, sizeof(*usage->order), by_id,
			pipeline->operators.row);
}

static bool analyse_pipeline(const struct scope *scope, const struct process_results *processes,
			     const uint32_t *index, const struct pipeline *pipeline,
			     struct pipeline_usage *usage)
{
	const struct analysis_window *window = &scope->window;

	usage->pipeline = pipeline;
	usage->operators = calloc((size_t)pipeline->operators.count + 1, sizeof(*usage->operators));
	usage->queues = calloc((size_t)pipeline->queues.count + 1, sizeof(*usage->queues));
	usage->order = calloc((size_t)pipeline->operators.count + 1, sizeof(*usage->order));
	usage->threads = calloc((size_t)pipeline->threads.count + 1, sizeof(*usage->threads));
	if (!usage->operators || !usage->queues || !usage->order || !usage->threads)
		return false;
	begin_operators(pipeline, usage);
	if (pipeline->sampled)
		sum_cpu(pipeline, window, processes->window_ns, usage);
	else
		sum_threads(scope, pipeline, processes, index, usage);
	sum_works(pipeline, window, usage);
	if (!sum_work_times(scope, pipeline, usage))
		return false;
	sum_queues(pipeline, window, usage);
	sum_fetches(pipeline, window, &usage->fetch);
	settle_elements(pipeline, usage);
	set_depths(pipeline, usage);
	set_order(pipeline, usage);
	return true;
}

int pipelines_measure(const struct model *model, const struct analysis_options *options,
		      const struct process_results *processes, struct pipeline_results *results)
{
	const struct scope scope = { model, options, analysis_window(model, options) };
	uint32_t *index = index_threads(model, processes);
	int err = 0;

	results->window_ns = processes->window_ns;
	results->rows = calloc((size_t)results->pipelines.list.count + 1, sizeof(*results->rows));
	for (uint32_t i = 0; index && results->rows && i < results->pipelines.list.count; i++) {
		const struct pipeline *pipeline = &results->pipelines.list.row[i];

		if (!analysis_wants_process(model, options, pipeline->process))
			continue;
		if (!analyse_pipeline(&scope, processes, index, pipeline,
				      &results->rows[results->count++]))
			err = -ENOMEM;
	}
	if (!index || !results->rows)
		err = -ENOMEM;
	free(index);
	return err;
}

int pipelines_analyse(struct model *model, const struct analysis_options *options,
		      const struct process_results *processes, struct pipeline_results *results)
{
	int err;

	*results = (struct pipeline_results){ 0 };
	err = frameworks_build(model, &results->pipelines);
	return err ? err : pipelines_measure(model, options, processes, results);
}

void pipelines_results_free(struct pipeline_results *results)
{
	for (uint32_t i = 0; i < results->count; i++) {
		free(results->rows[i].operators);
		free(results->rows[i].queues);
		free(results->rows[i].order);
		free(results->rows[i].threads);
	}
	free(results->rows);
	pipelines_free(&results->pipelines);
	*results = (struct pipeline_results){ 0 };
}

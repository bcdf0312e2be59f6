/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/idle.h"
#include "analyzer/analyse/idle/root_text.h"
#include "analyzer/analyse/idle/stage_waits.h"
#include "analyzer/analyse/pipeline/pipeline_series.h"
#include "analyzer/view/report_parts.h"

static const char *role_name(uint8_t role)
{
	switch (role) {
	case PIPELINE_WORKER: return "worker";
	case PIPELINE_COLLECTOR: return "collector";
	case PIPELINE_WORKER_PROCESS: return "worker process";
	case PIPELINE_HELPER: return "helper";
	default: return "main";
	}
}

static void write_parents(struct json *json, const struct pipeline *pipeline, uint32_t op)
{
	json_array(json, "parents");
	for (uint32_t i = 0; i < pipeline->edges.count; i++)
		if (pipeline->edges.row[i].from == op)
			json_i64(json, NULL, pipeline->operators.row[pipeline->edges.row[i].to].id);
	json_array_close(json);
}

static void write_threads(struct json *json, const struct model *model,
			  const struct pipeline *pipeline, uint32_t op)
{
	json_array(json, "threads");
	for (uint32_t i = 0; i < pipeline->threads.count; i++) {
		const struct pipeline_thread *row = &pipeline->threads.row[i];
		const struct thread *thread = &model->threads.row[row->thread];

		if (row->op != op)
			continue;
		json_map(json, NULL);
		json_u64(json, "tid", thread->tid);
		json_u64(json, "pid", model->processes.row[thread->process].pid);
		json_text(json, "role", role_name(row->role));
		json_bool(json, "descendant", row->descendant);
		json_map_close(json);
	}
	json_array_close(json);
}

static void write_queue(struct json *json, const struct pipeline_usage *usage, uint32_t queue)
{
	const struct queue_usage *of = &usage->queues[queue];
	uint32_t capacity = usage->pipeline->queues.row[queue].capacity;

	json_map(json, "queue");
	if (usage->pipeline->queues.row[queue].to_device)
		json_bool(json, "to_device", true);
	if (capacity)
		json_u64(json, "capacity", capacity);
	if (of->known) {
		json_decimal(json, "mean_size", of->mean_size);
		json_decimal(json, "empty_percent",
			     100 * (double)of->empty_ns / (double)of->observed_ns);
		if (capacity)
			json_decimal(json, "full_percent",
				     100 * (double)of->full_ns / (double)of->observed_ns);
	}
	if (usage->pipeline->sampled && !of->pushes) {
		json_map_close(json);
		return;
	}
	if (!usage->pipeline->by_wakes) {
		json_u64(json, "pushes", of->pushes);
		json_u64(json, "pops", of->pops);
	}
	json_u64(json, "push_wait_ns", of->push_wait_ns);
	json_u64(json, "pop_wait_ns", of->pop_wait_ns);
	json_map_close(json);
}

static void write_times(struct json *json, const struct operator_pipeline_usage *of, bool sampled)
{
	json_decimal(json, "utilization_percent", of->utilization);
	json_decimal(json, "utilization_with_descendants_percent", of->all_utilization);
	json_u64(json, "run_ns", of->run_ns);
	if (!sampled) {
		json_u64(json, "runnable_ns", of->runnable_ns);
		json_u64(json, "blocked_ns", of->blocked_ns);
	}
	json_u64(json, "run_with_descendants_ns", of->all_run_ns);
}

/* Its share of an interval of the host's series; sizes are unknown before the first push or pop. */
static void write_interval(struct json *json, const struct host_interval *when,
			   const struct operator_interval *cell, bool has_times)
{
	const uint64_t times[] = { cell->run_ns, cell->user_ns, cell->system_ns };

	json_array(json, NULL);
	json_u64(json, NULL, when->start_ns);
	json_u64(json, NULL, when->end_ns - when->start_ns);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (has_times)
			json_u64(json, NULL, times[i]);
		else
			json_null(json, NULL);
	json_u64(json, NULL, cell->elements);
	if (cell->queue_known_ns)
		json_decimal(json, NULL, cell->queue_size);
	else
		json_null(json, NULL);
	json_array_close(json);
}

static void write_series(struct json *json, const struct host_results *host,
			 const struct pipeline_series *series, uint32_t op, bool has_times)
{
	static const char *const columns[] = { "start_ns",  "duration_ns", "run_ns",	 "user_ns",
					       "system_ns", "elements",	   "queue_size" };
	const struct operator_interval *cells = &series->cells[(size_t)op * series->interval_count];

	json_map(json, "series");
	json_array(json, "columns");
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		json_text(json, NULL, columns[i]);
	json_array_close(json);
	json_array(json, "rows");
	for (uint32_t i = 0; i < series->interval_count; i++)
		write_interval(json, &host->intervals[i], &cells[i], has_times);
	json_array_close(json);
	json_map_close(json);
}

/* What threads did while they worked for it; absent if that was not recorded. */
static void write_work(struct json *json, const struct work_times *times)
{
	if (!work_times_known_ns(times))
		return;
	json_map(json, "work");
	json_u64(json, "run_ns", times->run_ns);
	json_u64(json, "runnable_ns", times->runnable_ns);
	json_u64(json, "io_ns", times->io_ns);
	json_u64(json, "sleep_ns", times->sleep_ns);
	json_map_close(json);
}

/* How long it held the job up, by what, and where. */
static void write_stage(struct json *json, const struct model *model,
			const struct results *results, const struct pipeline *pipeline, uint32_t op)
{
	struct stage_wait wait = stage_wait_find(results->verdict, pipeline, op);
	struct syscall_table *syscalls;
	char text[256];

	if (!results->verdict || !results->verdict->roots)
		return;
	json_u64(json, "held_up_ns", wait.ns);
	json_decimal(json, "held_up_percent", wait.percent);
	if (wait.ns)
		json_text(json, "cause", idle_cause_name(wait.cause));
	syscalls = syscall_table_new(model_text(model, model->info.arch));
	if (wait.placed && syscalls) {
		root_place_text(model, syscalls, &wait.placed->root, text, sizeof(text));
		if (*text)
			json_text(json, "where", text);
	}
	syscall_table_free(syscalls);
}

static void write_operator(struct json *json, const struct model *model,
			   const struct results *results, uint32_t pipeline, uint32_t i)
{
	const struct pipeline_usage *usage = &results->pipelines->rows[pipeline];
	const struct pipeline_series *series =
		results->pipeline_series ? &results->pipeline_series[pipeline] : NULL;
	const struct pipeline_operator *op = &usage->pipeline->operators.row[i];
	const struct operator_pipeline_usage *of = &usage->operators[i];

	json_map(json, NULL);
	json_i64(json, "id", op->id);
	json_text(json, "name", model_text(model, op->name));
	json_text(json, "type", model_text(model, op->type));
	write_parents(json, usage->pipeline, i);
	if (op->workers)
		json_u64(json, "workers", op->workers);
	json_bool(json, "in_trainer", op->in_trainer);
	if (of->has_times)
		write_times(json, of, usage->pipeline->sampled);
	if (of->has_elements)
		json_u64(json, "elements", of->elements);
	if (of->has_element_ns) {
		json_u64(json, "element_mean_ns", (uint64_t)of->element_ns);
		json_bool(json, "element_estimated", of->estimated);
	}
	write_work(json, &of->work);
	if (usage->pipeline->by_wakes)
		write_stage(json, model, results, usage->pipeline, i);
	if (!usage->pipeline->sampled) {
		json_u64(json, "input_wait_ns", of->input_wait_ns);
		json_u64(json, "output_wait_ns", of->output_wait_ns);
	}
	if (of->queue != INDEX_NONE)
		write_queue(json, usage, of->queue);
	write_threads(json, model, usage->pipeline, i);
	if (series && series->interval_count)
		write_series(json, results->host, series, i, of->has_times);
	json_map_close(json);
}

static void write_fetches(struct json *json, const struct pipeline_usage *usage)
{
	const struct fetch_usage *fetch = &usage->fetch;

	json_map(json, "fetches");
	if (usage->pipeline->by_wakes) {
		json_u64(json, "sleeps", fetch->fetches);
	} else {
		json_u64(json, "count", fetch->fetches);
		json_u64(json, "ends_of_data", fetch->ends);
	}
	json_u64(json, "wait_ns", fetch->wait_ns);
	json_u64(json, "max_ns", fetch->max_ns);
	if (fetch->first_ns) {
		json_u64(json, "start_ns", fetch->first_ns);
		json_u64(json, "duration_ns", fetch->last_ns - fetch->first_ns);
	}
	json_map_close(json);
}

static void write_bottleneck(struct json *json, const struct model *model,
			     const struct pipeline *pipeline, const struct bottleneck *bottleneck)
{
	if (bottleneck->kind == BOTTLENECK_NONE) {
		json_text(json, "no_bottleneck", bottleneck->reason);
		return;
	}
	json_map(json, "bottleneck");
	json_i64(json, "id", pipeline->operators.row[bottleneck->op].id);
	json_text(json, "name", model_text(model, pipeline->operators.row[bottleneck->op].name));
	json_text(json, "kind", bottleneck_name(bottleneck->kind));
	json_decimal(json, "percent", bottleneck->percent);
	json_text(json, "reason", bottleneck->reason);
	json_map_close(json);
}

/* Tells those of one process apart. */
static uint32_t number_in_process(const struct pipeline_results *pipelines, uint32_t row)
{
	uint32_t number = 0;

	for (uint32_t i = 0; i < row; i++)
		number += pipelines->rows[i].pipeline->process == pipelines->rows[row].pipeline->process;
	return number;
}

void json_pipeline_section(struct json *json, const struct model *model,
			   const struct results *results)
{
	const struct pipeline_results *pipelines = results->pipelines;

	json_array(json, "pipeline");
	for (uint32_t i = 0; pipelines && i < pipelines->count; i++) {
		const struct pipeline_usage *usage = &pipelines->rows[i];
		const struct pipeline *pipeline = usage->pipeline;

		json_map(json, NULL);
		json_text(json, "framework", pipeline->framework);
		json_u64(json, "id", number_in_process(pipelines, i));
		json_u64(json, "pid", model->processes.row[pipeline->process].pid);
		write_fetches(json, usage);
		json_array(json, "operators");
		for (uint32_t op = 0; op < pipeline->operators.count; op++)
			write_operator(json, model, results, i, usage->order[op]);
		json_array_close(json);
		if (results->advice)
			write_bottleneck(json, model, pipeline, &results->advice->bottlenecks[i]);
		json_array(json, "notes");
		for (uint32_t n = 0; n < pipeline->notes.count; n++)
			json_text(json, NULL, model_text(model, pipeline->notes.row[n]));
		json_array_close(json);
		json_map_close(json);
	}
	json_array_close(json);
}

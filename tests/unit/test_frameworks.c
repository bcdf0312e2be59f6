/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelines of small models: MindData's operators, and their cost to the steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/pipeline/pipeline_series.h"
#include "analyzer/analyse/pipeline/step_blame.h"
#include "analyzer/analyse/pipeline/cpu_taken.h"
#include "analyzer/analyse/pipeline/steps.h"
#include "analyzer/frameworks/framework.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull
#define DATASET "_ZN9mindspore7dataset"

/* Adds a call with the values that the catalog's line of the function reads. */
static void call(struct model *model, uint32_t thread, uint32_t function, uint64_t start_ns,
		 uint64_t end_ns, uint8_t depth, uint64_t handle, uint64_t value, uint64_t count)
{
	uint32_t i = small_call(model, thread, function, start_ns, end_ns);

	model->calls.row[i].depth = depth;
	model->calls.row[i].args[0] = handle;
	model->calls.row[i].args[1] = value;
	model->calls.row[i].args[2] = count;
	model->functions.row[function].roles[0] = PROFBPF__FUNCTION__ROLE__HANDLE;
	model->functions.row[function].roles[1] = PROFBPF__FUNCTION__ROLE__VALUE;
	model->functions.row[function].roles[2] = PROFBPF__FUNCTION__ROLE__COUNT;
}

static uint32_t function(struct model *model, const char *symbol)
{
	uint32_t i = small_function(model, "mindspore", symbol, PROFBPF__FUNCTION__KIND__QUEUE);

	model->functions.row[i].symbol = model_string(model, symbol);
	return i;
}

static void role(struct model *model, uint32_t thread, int32_t op, const char *name)
{
	struct thread_role row = { .ts_ns = 1,
				   .thread = thread,
				   .op = op,
				   .name = model_string(model, name),
				   .framework = model_string(model, "MindData") };

	assert_true(MODEL_PUSH(&model->thread_roles, row));
}

/*
 * Generator (1) passes rows to Batch (0), the trainer fetches five batches: for each the generator needs 9 of the
 * step's 10 ms.
 */
static struct model *slow_generator(void)
{
	struct model *model = small_model(0, 1000 * MS);
	uint32_t process = small_process(model, 1, "python", true);
	uint32_t trainer = small_thread(model, process, 1, "python");
	uint32_t batch = small_thread(model, process, 2, "python");
	uint32_t generator = small_thread(model, process, 3, "python");
	uint32_t fetch = function(model, DATASET "16IteratorConsumer15GetNextAsVectorEPv");
	uint32_t next = function(model, DATASET "9DatasetOp10GetNextRowEPNS0_9TensorRowE");
	uint32_t push = function(model, DATASET "5QueueINS0_9TensorRowEE3AddEOS2_");
	const uint64_t capacity = 4;

	role(model, batch, 0, "BatchOp(ID:0)");
	role(model, generator, 1, "GeneratorOp(ID:1)");
	for (uint64_t i = 0; i < 5; i++) {
		uint64_t t = (i + 1) * 10 * MS;

		call(model, trainer, fetch, t, t + 9 * MS, 0, 0, 0, 0);
		call(model, trainer, next, t + 1, t + 9 * MS - 1, 1, 0xb, capacity, 0);
	}
	call(model, trainer, fetch, 60 * MS, 60 * MS + 100, 0, 0, 0, 0);
	call(model, trainer, next, 60 * MS + 1, 60 * MS + 90, 1, 0xb, capacity, 0);
	for (uint64_t i = 0; i < 5; i++) {
		uint64_t t = (i + 1) * 10 * MS;

		call(model, batch, next, t, t + 8 * MS, 0, 0x9, 1ull << 32 | capacity, 0);
		call(model, batch, push, t + 8 * MS + 10, t + 8 * MS + 20, 0, 0xb, 0, i);
	}
	call(model, batch, push, 59 * MS, 59 * MS + 20, 0, 0xb, 1, 5);
	for (uint64_t i = 0; i < 5; i++) {
		uint64_t t = (i + 1) * 10 * MS + 8 * MS - 100;

		call(model, generator, push, t, t + 50, 0, 0x9, 0, i);
	}
	small_index(model);
	return model;
}

static void minddata_operators(void **state)
{
	struct model *model = slow_generator();
	struct pipelines pipelines;
	struct pipeline *pipeline;
	uint32_t ends = 0;

	assert_int_equal(frameworks_build(model, &pipelines), 0);
	assert_int_equal(pipelines.list.count, 1);
	pipeline = &pipelines.list.row[0];
	assert_string_equal(pipeline->framework, "MindData");
	assert_int_equal(pipeline->operators.count, 2);
	assert_string_equal(model_text(model, pipeline->operators.row[0].name), "Batch(ID:0)");
	assert_string_equal(model_text(model, pipeline->operators.row[1].type), "Generator");
	assert_true(pipeline->operators.row[1].source);
	assert_true(pipeline->operators.row[1].python);
	assert_int_equal(pipeline->edges.count, 1);
	assert_int_equal(pipeline->edges.row[0].from, 1);
	assert_int_equal(pipeline->edges.row[0].to, 0);
	assert_int_equal(pipeline->queues.count, 2);
	assert_int_equal(pipeline->queues.row[0].capacity, 4);
	assert_int_equal(pipeline->fetches.count, 6);
	for (uint32_t i = 0; i < 6; i++)
		ends += pipeline->fetches.row[i].end_of_data;
	assert_int_equal(ends, 1);
	assert_true(pipeline->fetches.row[5].end_of_data);
	assert_int_equal(pipeline->outputs.count, 10);
	pipelines_free(&pipelines);
	model_free(model);
}

static void slow_generator_is_blamed(void **state)
{
	struct model *model = slow_generator();
	struct analysis_options options = { 0 };
	struct process_results processes = { 0 };
	struct pipeline_results pipelines;
	struct step_results steps;

	assert_int_equal(pipelines_analyse(model, &options, &processes, &pipelines), 0);
	assert_int_equal(pipelines.count, 1);
	assert_int_equal(pipelines.rows[0].fetch.fetches, 5);
	assert_int_equal(pipelines.rows[0].operators[1].elements, 5);
	assert_int_equal(steps_analyse(model, &options, &pipelines, &steps), 0);
	assert_int_equal(steps.main, 0);
	assert_int_equal(steps.pipelines[0].count, 5);
	assert_int_equal(steps.pipelines[0].rows[3].duration_ns, 10 * MS);
	assert_int_equal(steps.pipelines[0].rows[3].data_wait_ns, 9 * MS);
	assert_int_equal(steps.pipelines[0].bottleneck, 1);
	assert_int_equal(steps.pipelines[0].judged, 3);
	assert_int_equal(steps.pipelines[0].costs[1].wait_ns, 27 * MS);
	steps_free(&steps);
	pipelines_results_free(&pipelines);
	model_free(model);
}

static void read_account(struct model *model, uint32_t thread, uint64_t ms, uint64_t run_ns)
{
	struct account row = { .thread = thread,
			       .ts_ns = ms * MS,
			       .flags = ms ? 0 : PROFBPF__ACCOUNTS__FLAG__FIRST,
			       .run_ns = run_ns,
			       .user_ns = run_ns,
			       .system_ns = run_ns / 3 };

	assert_true(MODEL_PUSH(&model->accounts, row));
}

/* Batch runs for a third of its time by its spans, some of which is stolen; for Generator there are only accounts. */
static struct model *slow_generator_with_times(void)
{
	struct model *model = slow_generator();

	for (uint64_t t = 0; t < 1000; t += 9) {
		small_span(model, 1, t * MS, (t + 3) * MS, STATE_RUNNING);
		small_span(model, 1, (t + 3) * MS, (t + 9) * MS, STATE_SLEEP);
	}
	for (uint64_t ms = 0; ms <= 1000; ms += 100) {
		struct host_stat host = { .ts_ns = ms * MS };

		assert_true(MODEL_PUSH(&model->host_stats, host));
		read_account(model, 1, ms, ms * 299999);
		read_account(model, 2, ms, ms * ms * 777);
	}
	small_index(model);
	return model;
}

static void intervals_of(struct model *model, const struct analysis_options *options, uint32_t count)
{
	struct host_results host;
	struct process_results processes;
	struct pipeline_results pipelines;
	struct pipeline_series series;

	assert_int_equal(host_analyse(model, options, &host), 0);
	assert_int_equal(processes_analyse(model, options, &processes), 0);
	assert_int_equal(pipelines_analyse(model, options, &processes, &pipelines), 0);
	assert_int_equal(pipeline_series_compute(model, &host, &processes, &pipelines.rows[0],
						 &series),
			 0);
	assert_int_equal(series.interval_count, count);
	for (uint32_t op = 0; op < 2; op++) {
		const struct operator_interval *cells = &series.cells[op * count];
		const struct operator_pipeline_usage *of = &pipelines.rows[0].operators[op];
		uint64_t run_ns = 0, elements = 0;

		for (uint32_t k = 0; k < count; k++) {
			run_ns += cells[k].run_ns;
			elements += cells[k].elements;
			assert_true(cells[k].run_ns == cells[k].user_ns + cells[k].system_ns);
		}
		assert_true(of->all_run_ns > 0 && run_ns == of->all_run_ns);
		assert_int_equal(elements, of->elements);
	}
	pipeline_series_free(&series);
	pipelines_results_free(&pipelines);
	processes_free(&processes);
	host_free(&host);
}

static void intervals_add_up(void **state)
{
	struct model *model = slow_generator_with_times();
	struct analysis_options options = { 0 };

	intervals_of(model, &options, 10);
	/* A part whose limits lie within intervals and fetches. */
	options = (struct analysis_options){ .from_ns = 33 * MS + 7, .to_ns = 871 * MS + 1 };
	intervals_of(model, &options, 9);
	options = (struct analysis_options){ .from_ns = 1 * MS, .to_ns = 99 * MS };
	intervals_of(model, &options, 1);
	model_free(model);
}

/* Between its batches the trainer was ready to run, but the generator's thread used its CPU. */
static void trainer_is_held_up(void **state)
{
	struct model *model = slow_generator();
	struct analysis_options options = { .to_ns = 40 * MS };
	struct process_results processes = { 0 };
	struct pipeline_results pipelines;
	struct step_results steps;

	for (uint64_t i = 1; i < 6; i++) {
		uint64_t end_ns = i * 10 * MS + 9 * MS;

		small_span(model, 0, i * 10 * MS, end_ns, STATE_SLEEP)->other = 2;
		small_span(model, 0, end_ns, end_ns + MS / 4, STATE_RUNNABLE)->other = 2;
		small_span(model, 0, end_ns + MS / 4, end_ns + MS, STATE_RUNNING);
	}
	small_index(model);
	assert_int_equal(pipelines_analyse(model, &options, &processes, &pipelines), 0);
	assert_int_equal(steps_analyse(model, &options, &pipelines, &steps), 0);
	/* The batch that the trainer fetches at the end of the window is not in it. */
	assert_int_equal(steps.pipelines[0].count, 3);
	assert_true(steps.pipelines[0].judged > 0);
	assert_int_equal(steps.pipelines[0].costs[1].cpu_ns, steps.pipelines[0].judged * MS / 4);
	assert_int_equal(steps.pipelines[0].other_cpu_ns, 0);
	steps_free(&steps);
	pipelines_results_free(&pipelines);
	model_free(model);
}

/* A worker in a process that is not selected: its times are unknown, not 0. */
static void workers_not_asked_for(void **state)
{
	struct model *model = slow_generator_with_times();
	const uint32_t pid = 1;
	struct analysis_options options = { .pids = (uint32_t *)&pid, .pid_count = 1 };
	struct process_results processes;
	struct pipeline_results pipelines;

	model->threads.row[2].process = small_process(model, 2, "worker", true);
	assert_int_equal(processes_analyse(model, &options, &processes), 0);
	assert_int_equal(pipelines_analyse(model, &options, &processes, &pipelines), 0);
	assert_true(pipelines.rows[0].operators[0].has_times);
	assert_false(pipelines.rows[0].operators[1].has_times);
	pipelines_results_free(&pipelines);
	processes_free(&processes);
	model_free(model);
}

static void work(struct pipeline *pipeline, uint32_t op, uint64_t ms)
{
	struct pipeline_work row = { .start_ns = 0, .end_ns = ms * MS, .op = op };

	assert_true(MODEL_PUSH(&pipeline->works, row));
}

/*
 * The trainer empties the queue of a Prefetch that only calls Map, which calls Range: the operator with the longest
 * own work is the bottleneck.
 */
static void called_operator_is_blamed(void **state)
{
	struct model *model = small_model(0, 1000 * MS);
	struct pipelines pipelines = { { 0 } };
	struct pipeline *pipeline = pipeline_add(&pipelines, "test", 0);
	struct pipeline_queue queue = { .from = 0, .to = INDEX_NONE };
	struct pipeline_fetch fetch = { .start_ns = 10 * MS, .end_ns = 20 * MS };
	struct step_blame *blame;

	pipeline_operator_add(model, pipeline, 0, "Prefetch", "Prefetch");
	pipeline_operator_add(model, pipeline, 1, "Map", "Map");
	pipeline_operator_add(model, pipeline, 2, "Range", "Range");
	for (uint32_t op = 0; op < 2; op++) {
		struct pipeline_edge edge = { .from = op + 1, .to = op };

		assert_true(MODEL_PUSH(&pipeline->edges, edge));
	}
	assert_true(MODEL_PUSH(&pipeline->queues, queue));
	work(pipeline, 1, 9);
	work(pipeline, 2, 1);
	fetch.thread = INDEX_NONE;
	blame = step_blame_new(model, pipeline);
	assert_non_null(blame);
	step_blame_find(blame, &fetch, 20 * MS);
	assert_int_equal(blame->costs[0].wait_ns, 0);
	assert_int_equal(blame->costs[1].wait_ns, 10 * MS);
	assert_int_equal(blame->costs[2].wait_ns, 0);
	step_blame_free(blame);
	pipelines_free(&pipelines);
	model_free(model);
}

/*
 * A pin-memory thread between workers and trainer, whose input is not recorded: while it sleeps it waits for the
 * workers, while it runs it is the bottleneck itself.
 */
static void who_hands_on_waits(void **state)
{
	for (int asleep = 0; asleep < 2; asleep++) {
		struct model *model = small_model(0, 1000 * MS);
		uint32_t process = small_process(model, 10, "python", true);
		uint32_t pin = small_thread(model, process, 11, "pt_data_pin");
		struct pipelines pipelines = { { 0 } };
		struct pipeline *pipeline = pipeline_add(&pipelines, "test", process);
		struct pipeline_queue out = { .from = 1, .to = INDEX_NONE }, in = { .from = 0, .to = 1 };
		struct pipeline_thread thread = { .thread = pin, .op = 1 };
		struct pipeline_fetch fetch = {
			.start_ns = 10 * MS, .end_ns = 20 * MS, .thread = INDEX_NONE
		};
		struct step_blame *blame;

		pipeline_operator_add(model, pipeline, 0, "worker", "worker");
		pipeline_operator_add(model, pipeline, 1, "pin memory", "pin");
		pipeline->operators.row[1].hands_on = true;
		assert_true(MODEL_PUSH(&pipeline->queues, out) && MODEL_PUSH(&pipeline->queues, in));
		assert_true(MODEL_PUSH(&pipeline->threads, thread));
		small_span(model, pin, 0, 9 * MS, STATE_RUNNING);
		small_span(model, pin, 9 * MS, 18 * MS, asleep ? STATE_SLEEP : STATE_RUNNING);
		small_index(model);
		blame = step_blame_new(model, pipeline);
		assert_non_null(blame);
		step_blame_find(blame, &fetch, 20 * MS);
		assert_int_equal(blame->costs[!asleep].wait_ns, 10 * MS);
		assert_int_equal(blame->costs[asleep].wait_ns, 0);
		step_blame_free(blame);
		pipelines_free(&pipelines);
		model_free(model);
	}
}

/* Queue counters count pushes and pops: ten and eight before the first recorded one. */
static void sizes_are_told(void **state)
{
	struct model *model = slow_generator();
	struct pipelines pipelines;

	for (uint32_t i = 0; i < model->calls.count; i++) {
		struct call *call = &model->calls.row[i];
		const char *symbol = model_text(model, model->functions.row[call->function].symbol);

		if (call->args[0] != 0xb)
			continue;
		call->args[2] = call->start_ns / (10 * MS) - 1;
		call->args[2] += strstr(symbol, "GetNextRow") ? 8 : 10;
	}
	assert_int_equal(frameworks_build(model, &pipelines), 0);
	assert_int_equal(pipelines.list.row[0].queues.row[0].to, INDEX_NONE);
	assert_true(pipelines.list.row[0].queues.row[0].first_known);
	assert_int_equal(pipelines.list.row[0].queues.row[0].first_size, 2);
	pipelines_free(&pipelines);
	/* A fetch that waited when recording began got the first pushed batch. */
	for (uint32_t i = 0; i < model->calls.count; i++) {
		struct call *call = &model->calls.row[i];

		if (call->args[0] == 0xb &&
		    strstr(model_text(model, model->functions.row[call->function].symbol), "GetNextRow"))
			call->args[2] += 3;
	}
	assert_int_equal(frameworks_build(model, &pipelines), 0);
	assert_true(pipelines.list.row[0].queues.row[0].first_taken);
	assert_int_equal(pipelines.list.row[0].queues.row[0].first_size, 0);
	assert_int_equal(pipelines.list.row[0].queue_events.row[0].size, 0);
	pipelines_free(&pipelines);
	/* A queue cannot contain more than its capacity. */
	for (uint32_t i = 0; i < model->calls.count; i++)
		if (strstr(model_text(model,
				      model->functions.row[model->calls.row[i].function].symbol),
			   "GetNextRow"))
			model->calls.row[i].args[2] += 1000;
	assert_int_equal(frameworks_build(model, &pipelines), 0);
	assert_false(pipelines.list.row[0].queues.row[0].first_known);
	pipelines_free(&pipelines);
	model_free(model);
}

/* Values that no known build of the framework has: a note instead of queues. */
static void unknown_build(void **state)
{
	struct model *model = slow_generator();
	struct pipelines pipelines;

	for (uint32_t i = 0; i < model->calls.count; i++)
		if (strstr(model_text(model,
				      model->functions.row[model->calls.row[i].function].symbol),
			   "GetNextRow"))
			model->calls.row[i].args[1] = 0x7f0012345678abcd;
	assert_int_equal(frameworks_build(model, &pipelines), 0);
	assert_int_equal(pipelines.list.count, 1);
	assert_int_equal(pipelines.list.row[0].queues.count, 0);
	assert_int_equal(pipelines.list.row[0].notes.count, 1);
	pipelines_free(&pipelines);
	model_free(model);
}

/* DataQueue (0) sends Generator's (1) elements to the device; for each send it waits 9 of 10 ms for an element. */
static void device_is_fed(void **state)
{
	struct model *model = small_model(0, 1000 * MS);
	uint32_t process = small_process(model, 1, "python", true);
	uint32_t trainer = small_thread(model, process, 1, "python");
	uint32_t sender = small_thread(model, process, 2, "python");
	uint32_t generator = small_thread(model, process, 3, "python");
	uint32_t next = function(model, DATASET "9DatasetOp10GetNextRowEPNS0_9TensorRowE");
	uint32_t push = function(model, DATASET "5QueueINS0_9TensorRowEE3AddEOS2_");
	uint32_t send = function(model, "acltdtSendTensor");
	uint32_t size = function(model, "acltdtQueryChannelSize");
	struct analysis_options options = { 0 };
	struct process_results processes = { 0 };
	struct pipeline_results pipelines;
	const struct pipeline_queue *queue;
	struct step_results steps;

	role(model, sender, 0, "DataQueueOp(ID:0)");
	role(model, generator, 1, "GeneratorOp(ID:1)");
	/* The framework's own log uses a channel, too: it is not part of the pipeline. */
	call(model, trainer, send, 5 * MS, 6 * MS, 0, 0xd, 0, 0);
	for (uint64_t i = 0; i < 8; i++) {
		uint64_t t = (i + 1) * 10 * MS;

		call(model, sender, next, t, t + 9 * MS, 0, 0x9, 1ull << 32 | 4, 0);
		call(model, sender, size, t + 9 * MS + 10, t + 9 * MS + 20, 0, 0xc, 0, 3);
		call(model, sender, send, t + 9 * MS + 30, t + 9 * MS + 40, 0, 0xc, 0, 0);
	}
	for (uint64_t i = 0; i < 8; i++)
		call(model, generator, push, (i + 1) * 10 * MS + 9 * MS - 100,
		     (i + 1) * 10 * MS + 9 * MS - 50, 0, 0x9, 0, i);
	small_index(model);
	assert_int_equal(pipelines_analyse(model, &options, &processes, &pipelines), 0);
	assert_int_equal(pipelines.count, 1);
	assert_int_equal(pipelines.rows[0].pipeline->queues.count, 2);
	assert_int_equal(pipelines.rows[0].operators[0].elements, 8);
	assert_int_equal(pipelines.rows[0].fetch.fetches, 8);
	queue = &pipelines.rows[0].pipeline->queues.row[pipelines.rows[0].operators[0].queue];
	assert_true(queue->to_device);
	assert_int_equal(queue->to, INDEX_NONE);
	assert_int_equal(pipelines.rows[0].queues[pipelines.rows[0].operators[0].queue].pushes, 8);
	assert_true(pipelines.rows[0].queues[pipelines.rows[0].operators[0].queue].mean_size == 3);
	assert_int_equal(steps_analyse(model, &options, &pipelines, &steps), 0);
	assert_int_equal(steps.pipelines[0].count, 7);
	assert_int_equal(steps.pipelines[0].bottleneck, 1);
	steps_free(&steps);
	pipelines_results_free(&pipelines);
	model_free(model);
}

static void busy_cpu(struct model *model, uint32_t cpu, uint64_t idle_ns)
{
	struct cpu_stat before = { .ts_ns = 0, .cpu = cpu };
	struct cpu_stat after = { .ts_ns = 100 * MS, .cpu = cpu, .idle_ns = idle_ns };

	assert_true(MODEL_PUSH(&model->cpu_stats, before));
	assert_true(MODEL_PUSH(&model->cpu_stats, after));
}

/* An operator's thread runs for 80 of 100 ms on one of two CPUs while a helper of the trainer is ready. */
static void cpus_taken(void **state)
{
	struct model *model = small_model(0, 100 * MS);
	uint32_t process = small_process(model, 1, "python", true);
	uint32_t helper = small_thread(model, process, 2, "KernelThread");
	uint32_t worker = small_thread(model, process, 3, "python");
	struct pipelines pipelines = { { 0 } };
	struct pipeline *pipeline = pipeline_add(&pipelines, "test", process);
	struct pipeline_thread row = { .thread = worker, .op = 1 };
	uint64_t taken_ns[2];

	pipeline_operator_add(model, pipeline, 0, "Batch", "Batch");
	pipeline_operator_add(model, pipeline, 1, "Map", "Map");
	assert_true(MODEL_PUSH(&pipeline->threads, row));
	small_span(model, helper, 0, 100 * MS, STATE_RUNNABLE);
	small_span(model, worker, 0, 20 * MS, STATE_SLEEP);
	small_span(model, worker, 20 * MS, 100 * MS, STATE_RUNNING);
	busy_cpu(model, 0, 0);
	busy_cpu(model, 1, 10 * MS);
	small_index(model);
	assert_true(cpu_taken_find(model, pipeline, 0, 100 * MS, taken_ns));
	assert_int_equal(taken_ns[0], 0);
	assert_int_equal(taken_ns[1], 40 * MS);
	/* The helper is ready for less time than that. */
	model->spans.row[0].end_ns = 30 * MS;
	assert_true(cpu_taken_find(model, pipeline, 0, 100 * MS, taken_ns));
	assert_int_equal(taken_ns[1], 30 * MS);
	/* CPUs are idle: no thread has to wait for one. */
	model->cpu_stats.row[3].idle_ns = 50 * MS;
	assert_true(cpu_taken_find(model, pipeline, 0, 100 * MS, taken_ns));
	assert_int_equal(taken_ns[1], 0);
	pipelines_free(&pipelines);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(minddata_operators), cmocka_unit_test(slow_generator_is_blamed),
		cmocka_unit_test(trainer_is_held_up),
		cmocka_unit_test(intervals_add_up),
		cmocka_unit_test(workers_not_asked_for),
		cmocka_unit_test(called_operator_is_blamed),
		cmocka_unit_test(who_hands_on_waits),
		cmocka_unit_test(unknown_build),
		cmocka_unit_test(device_is_fed),
		cmocka_unit_test(cpus_taken),
		cmocka_unit_test(sizes_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

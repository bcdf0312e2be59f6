/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of other profilers on data pipelines and jobs: each fires where it should, and not in a healthy counterpart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/job_rules.h"
#include "analyzer/analyse/pipeline/pipeline_rules.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull
#define STEPS 20
#define CAPACITY 10

/*
 * A source, a map behind it, and a trainer that fetches from the map; or a sender to a device instead of the trainer.
 */
struct fixture {
	struct model *model;
	struct pipelines pipelines;
	struct operator_pipeline_usage operators[3];
	struct queue_usage queues[3];
	struct pipeline_usage usage;
	struct operator_cost costs[3];
	struct pipeline_steps steps;
	struct step_results step_results;
	struct bottleneck bottleneck;
	struct host_results host;
	struct device_results devices;
	struct device_usage device;
	struct idle_gap gaps[2];
	struct idle_roots roots;
	struct idle_root root;
	struct verdict verdict;
	struct verdict_facts facts;
	struct api_usage calls[2];
	struct api_results api;
	struct advice_results advice;
};

static struct pipeline *pipeline_of(struct fixture *f)
{
	return &f->pipelines.list.row[0];
}

static void add_queue(struct fixture *f, uint32_t from, uint32_t to, bool to_device)
{
	struct pipeline_queue queue = {
		.from = from, .to = to, .capacity = CAPACITY, .to_device = to_device
	};

	assert_true(MODEL_PUSH(&pipeline_of(f)->queues, queue));
	f->operators[from].queue = from;
}

static void set_use(struct fixture *f, uint32_t queue, double percent, double empty_percent)
{
	f->queues[queue] = (struct queue_usage){ .known = true,
						 .mean_size = percent * CAPACITY / 100,
						 .observed_ns = 1000 * MS,
						 .empty_ns = (uint64_t)(empty_percent * 10 * MS) };
}

/* A batch is taken every 50 ms; @empty of all fetches find the queue empty. */
static void add_fetches(struct fixture *f, uint32_t queue, uint32_t empty)
{
	struct pipeline *pipeline = pipeline_of(f);

	for (uint32_t i = 0; i < STEPS; i++) {
		struct pipeline_fetch fetch = { .start_ns = (i * 50 + 20) * MS, .end_ns = (i * 50 + 40) * MS };
		struct pipeline_queue_event event = { .start_ns = i * 50 * MS,
						      .end_ns = (i * 50 + 10) * MS,
						      .queue = queue,
						      .change = 1,
						      .size = i < STEPS - empty };

		assert_true(MODEL_PUSH(&pipeline->fetches, fetch));
		assert_true(MODEL_PUSH(&pipeline->queue_events, event));
	}
}

static int set_up(void **state)
{
	static const char *const names[] = { "Generator", "Map", "DeviceQueue" };
	struct fixture *f = calloc(1, sizeof(*f));
	struct pipeline *pipeline;

	assert_non_null(f);
	f->model = small_model(0, 1000 * MS);
	pipeline = pipeline_add(&f->pipelines, "MindData", small_process(f->model, 77, "python", true));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pipeline_operator_add(f->model, pipeline, i, names[i], names[i]), i);
		pipeline->operators.row[i].workers = i < 2 ? 4 : 1;
		f->operators[i].queue = INDEX_NONE;
	}
	f->usage = (struct pipeline_usage){ .pipeline = pipeline,
					    .operators = f->operators,
					    .queues = f->queues };
	f->usage.fetch.thread = INDEX_NONE;
	f->steps = (struct pipeline_steps){ .usage = &f->usage,
					    .costs = f->costs,
					    .judged = STEPS,
					    .judged_ns = 1000 * MS,
					    .judged_wait_ns = 400 * MS,
					    .bottleneck = 1 };
	f->step_results = (struct step_results){ .pipelines = &f->steps, .count = 1 };
	f->bottleneck = (struct bottleneck){ .kind = BOTTLENECK_BUSY, .op = 1, .percent = 40 };
	f->device = (struct device_usage){ .window_ns = 1000 * MS };
	f->devices = (struct device_results){ .devices = &f->device, .device_count = 1 };
	f->devices.idle.gaps = f->gaps;
	f->verdict = (struct verdict){ .state = VERDICT_DATA,
				       .percent = 40,
				       .roots = &f->roots,
				       .roots_of_ns = 1000 * MS };
	f->facts = (struct verdict_facts){ .devices = &f->devices,
					   .steps = &f->step_results,
					   .advice = &f->advice };
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	pipelines_free(&f->pipelines);
	model_free(f->model);
	free(f->advice.list);
	free(f);
	return 0;
}

static void judge(struct fixture *f)
{
	struct advice *advice;

	f->advice.bottlenecks = &f->bottleneck;
	f->advice.count = 1;
	f->advice.advice_count = 0;
	if (f->bottleneck.kind != BOTTLENECK_NONE) {
		advice = advice_new(&f->advice, "pipeline_busy", f->bottleneck.percent, "", "");
		assert_non_null(advice);
		advice->pipeline = 0;
	}
	assert_int_equal(job_rules_judge(f->model, &f->facts, &f->verdict, &f->api, &f->host, &f->advice),
			 0);
}

/* Returns the rule's measured value in advice @id; NAN: the rule is not cited there. */
static double says(struct fixture *f, const char *id, enum peer_rule_id rule)
{
	judge(f);
	for (uint32_t i = 0; i < f->advice.advice_count; i++)
		for (uint32_t k = 0; k < f->advice.list[i].rule_count; k++)
			if (strcmp(f->advice.list[i].id, id) == 0 &&
			    f->advice.list[i].rules[k].rule == peer_rule(rule))
				return f->advice.list[i].rules[k].value;
	return NAN;
}

static void fires(struct fixture *f, const char *id, enum peer_rule_id rule, double value)
{
	double said = says(f, id, rule);

	if (!(fabs(said - value) < 0.01))
		fail_msg("%s: %g, not %g", peer_rule(rule)->id, said, value);
}

static void is_silent(struct fixture *f, const char *id, enum peer_rule_id rule)
{
	double said = says(f, id, rule);

	if (!isnan(said))
		fail_msg("%s says %g", peer_rule(rule)->id, said);
}

/* 18 fetches count: 6 of them are a third, 5 are less than 30 %. */
static void fetched_queue(void **state)
{
	struct fixture *f = *state;

	add_queue(f, 0, 1, false);
	add_queue(f, 1, INDEX_NONE, false);
	set_use(f, 1, 50, 0);
	add_fetches(f, 1, 6);
	fires(f, "pipeline_busy", RULE_FETCH_EMPTY, 100 * 6.0 / 18);
	pipeline_of(f)->fetches.count = pipeline_of(f)->queue_events.count = 0;
	add_fetches(f, 1, 5);
	is_silent(f, "pipeline_busy", RULE_FETCH_EMPTY);
}

/* An unfinished fetch, one that found the end of the data, and one with an unknown queue size do not count. */
static void fetches_that_count(void **state)
{
	struct fixture *f = *state;

	add_queue(f, 0, 1, false);
	add_queue(f, 1, INDEX_NONE, false);
	set_use(f, 1, 50, 0);
	add_fetches(f, 1, 6);
	pipeline_of(f)->fetches.row[2].open = true;
	fires(f, "pipeline_busy", RULE_FETCH_EMPTY, 100 * 6.0 / 17);
	pipeline_of(f)->fetches.row[STEPS - 1].end_of_data = true;
	fires(f, "pipeline_busy", RULE_FETCH_EMPTY, 100 * 5.0 / 16);
	pipeline_of(f)->queue_events.row[3].size = -1;
	fires(f, "pipeline_busy", RULE_FETCH_EMPTY, 100 * 5.0 / 15);
	/* The first two fetches never count. */
	pipeline_of(f)->fetches.row[1].open = pipeline_of(f)->fetches.row[0].open = true;
	fires(f, "pipeline_busy", RULE_FETCH_EMPTY, 100 * 5.0 / 15);
}

static void queues_of_operators(void **state)
{
	struct fixture *f = *state;

	add_queue(f, 0, 1, false);
	add_queue(f, 1, INDEX_NONE, false);
	set_use(f, 0, 90, 0);
	set_use(f, 1, 30, 0);
	fires(f, "pipeline_busy", RULE_QUEUE_DROP, 60);
	fires(f, "pipeline_busy", RULE_QUEUE_STEP, 60);
	set_use(f, 1, 75, 0);
	is_silent(f, "pipeline_busy", RULE_QUEUE_DROP);
	fires(f, "pipeline_busy", RULE_QUEUE_STEP, 15);
	set_use(f, 1, 82, 0);
	is_silent(f, "pipeline_busy", RULE_QUEUE_STEP);
	/* The source is the root: its queue is hardly used. */
	f->bottleneck.op = 0;
	set_use(f, 0, 45, 0);
	fires(f, "pipeline_busy", RULE_LEAF_QUEUE, 45);
	fires(f, "pipeline_busy", RULE_LEAF_USAGE, 45);
	set_use(f, 0, 55, 0);
	is_silent(f, "pipeline_busy", RULE_LEAF_QUEUE);
	fires(f, "pipeline_busy", RULE_LEAF_USAGE, 55);
	set_use(f, 0, 65, 0);
	is_silent(f, "pipeline_busy", RULE_LEAF_USAGE);
}

/* Each of four workers; the advice must fit the bottleneck. */
static void workers(void **state)
{
	struct fixture *f = *state;

	f->operators[1].all_utilization = 4 * 80;
	fires(f, "pipeline_busy", RULE_WORKER_BUSY, 80);
	f->operators[1].all_utilization = 4 * 70;
	is_silent(f, "pipeline_busy", RULE_WORKER_BUSY);
	f->operators[1].all_utilization = 4 * 10;
	f->bottleneck.kind = BOTTLENECK_STARVED;
	fires(f, "pipeline_busy", RULE_WORKER_IDLE, 10);
	/* Sleeping workers use no CPU either: advising fewer of them would be wrong. */
	f->bottleneck.kind = BOTTLENECK_SLEEPS;
	is_silent(f, "pipeline_busy", RULE_WORKER_IDLE);
	f->bottleneck.kind = BOTTLENECK_STARVED;
	pipeline_of(f)->operators.row[1].workers = 1;
	is_silent(f, "pipeline_busy", RULE_WORKER_IDLE);
}

static void host_cpu(void **state)
{
	struct fixture *f = *state;

	f->bottleneck.kind = BOTTLENECK_TAKES_CPU;
	f->host = (struct host_results){ .known = true, .all = { .user_ns = 90, .idle_ns = 10 } };
	fires(f, "pipeline_busy", RULE_HOST_CPU, 90);
	f->host.all = (struct cpu_usage){ .user_ns = 70, .idle_ns = 30 };
	is_silent(f, "pipeline_busy", RULE_HOST_CPU);
	/* A pipeline that sleeps does not lack CPUs, however busy they are. */
	f->host.all = (struct cpu_usage){ .user_ns = 90, .idle_ns = 10 };
	f->bottleneck.kind = BOTTLENECK_SLEEPS;
	is_silent(f, "pipeline_busy", RULE_HOST_CPU);
}

/* The sender takes from the map's queue and sends to a device; the batches between the two are examined. */
static void sending(void **state)
{
	struct fixture *f = *state;
	struct pipeline_thread sender = { .thread = small_thread(f->model, 0, 78, "python"), .op = 2 };
	struct pipeline *pipeline = pipeline_of(f);

	add_queue(f, 0, 1, false);
	add_queue(f, 1, 2, false);
	add_queue(f, 2, INDEX_NONE, true);
	assert_true(MODEL_PUSH(&pipeline->threads, sender));
	f->usage.fetch.thread = sender.thread;
	set_use(f, 1, 10, 70);
	fires(f, "pipeline_busy", RULE_SENDER_EMPTY, 70);
	set_use(f, 1, 40, 50);
	is_silent(f, "pipeline_busy", RULE_SENDER_EMPTY);
	/* The host is ahead, but the device finds its queue empty in 7 batches. */
	add_fetches(f, 1, 0);
	for (uint32_t i = 0; i < 10; i++) {
		struct pipeline_queue_event event = { .end_ns = i * 50 * MS, .queue = 2, .size = i < 3 };

		assert_true(MODEL_PUSH(&pipeline->queue_events, event));
	}
	f->devices.idle.total_ns = 200 * MS;
	fires(f, "pipeline_sending", RULE_DEVICE_QUEUE_EMPTY, 7);
	f->devices.idle.total_ns = 20 * MS;
	is_silent(f, "pipeline_sending", RULE_DEVICE_QUEUE_EMPTY);
	f->devices.idle.total_ns = 200 * MS;
	for (uint32_t i = 0; i < pipeline->queue_events.count; i++)
		if (pipeline->queue_events.row[i].queue == 1)
			pipeline->queue_events.row[i].size = 0;
	is_silent(f, "pipeline_sending", RULE_DEVICE_QUEUE_EMPTY);
}

static void slow_loader(void **state)
{
	struct fixture *f = *state;

	fires(f, "pipeline_busy", RULE_SLOW_LOADER, 20);
	f->bottleneck.kind = BOTTLENECK_NONE;
	fires(f, "pipeline_slow_loader", RULE_SLOW_LOADER, 20);
	assert_float_equal(f->advice.list[0].gain_percent, 40, 1e-6);
	f->steps.judged_wait_ns = STEPS * 9 * MS;
	is_silent(f, "pipeline_slow_loader", RULE_SLOW_LOADER);
	/* 20 ms per step of a second. */
	f->steps.judged_wait_ns = 400 * MS;
	f->steps.judged_ns = 20000 * MS;
	is_silent(f, "pipeline_slow_loader", RULE_SLOW_LOADER);
}

/* A healthy job, or one whose device is busy, gets no advice, whatever is measured. */
static void healthy(void **state)
{
	struct fixture *f = *state;

	f->bottleneck.kind = BOTTLENECK_NONE;
	f->verdict.state = VERDICT_HEALTHY;
	judge(f);
	assert_int_equal(f->advice.advice_count, 0);
	f->verdict.state = VERDICT_DEVICE;
	f->verdict.busy = true;
	judge(f);
	assert_int_equal(f->advice.advice_count, 0);
}

/* The job's own code holds it up: 50 ms of garbage collection, 2 ms at a time. */
static void collects(struct fixture *f)
{
	f->bottleneck.kind = BOTTLENECK_NONE;
	f->steps.judged_wait_ns = 0;
	f->verdict.state = VERDICT_HOST_CODE;
	f->root = (struct idle_root){ .root = { .cause = IDLE_USER_CODE, .start_ns = MS, .end_ns = 3 * MS },
				      .ns = 50 * MS,
				      .word = "garbage collection" };
}

static void garbage(void **state)
{
	struct fixture *f = *state;

	collects(f);
	f->roots.row = &f->root;
	f->roots.count = 1;
	fires(f, "python_garbage", RULE_GARBAGE, 2);
	f->root.root.end_ns = MS + MS / 2;
	is_silent(f, "python_garbage", RULE_GARBAGE);
	f->root.root.end_ns = 3 * MS;
	f->root.ns = 20 * MS;
	is_silent(f, "python_garbage", RULE_GARBAGE);
	f->root.ns = 50 * MS;
	f->root.word = "pickling";
	is_silent(f, "python_garbage", RULE_GARBAGE);
}

/* The collector's own time counts beside the waits of the threads that are judged, never beside a device's idle time. */
static void garbage_of_waits(void **state)
{
	struct fixture *f = *state;
	struct host_waits waits = { 0 };

	collects(f);
	waits.own.row = &f->root;
	waits.own.count = 1;
	f->facts.waits = &waits;
	is_silent(f, "python_garbage", RULE_GARBAGE);
	f->verdict.roots = &waits.waits;
	fires(f, "python_garbage", RULE_GARBAGE, 2);
}

/* A gap of 300 ms in which the host made no call, or runtime calls of 10 ms. */
static void pauses(void **state)
{
	struct fixture *f = *state;
	struct idle_part parts[2] = {
		{ .start_ns = 0, .end_ns = 298 * MS, .cause = IDLE_USER_CODE },
		{ .start_ns = 298 * MS, .end_ns = 300 * MS, .cause = IDLE_RUNTIME },
	};

	f->bottleneck.kind = BOTTLENECK_NONE;
	f->steps.judged_wait_ns = 0;
	f->verdict.state = VERDICT_HOST_CODE;
	f->root = (struct idle_root){ .root = { .cause = IDLE_USER_CODE, .thread = INDEX_NONE }, .ns = 300 * MS };
	f->verdict.idle.most = &f->root;
	f->gaps[0] = (struct idle_gap){ .gap = { .end_ns = 300 * MS }, .parts = parts, .part_count = 2 };
	f->devices.idle.gap_count = 1;
	fires(f, "device_pauses", RULE_PAUSE, 300);
	/* Calls of exactly 1 %. */
	parts[0].end_ns = parts[1].start_ns = 297 * MS;
	is_silent(f, "device_pauses", RULE_PAUSE);
	parts[0].end_ns = parts[1].start_ns = 298 * MS;
	f->gaps[0].gap.end_ns = 200 * MS;
	is_silent(f, "device_pauses", RULE_PAUSE);
}

static void calls(void **state)
{
	struct fixture *f = *state;

	f->bottleneck.kind = BOTTLENECK_NONE;
	f->steps.judged_wait_ns = 0;
	f->verdict.state = VERDICT_COMMUNICATION;
	f->calls[0] = (struct api_usage){
		.function = small_function(f->model, "acl", "aclnnBatchNormGatherStatsWithCounts",
					   PROFBPF__FUNCTION__KIND__LAUNCH),
		.count = 20
	};
	f->calls[1] = (struct api_usage){ .function = small_function(f->model, "acl", "aclopCompileAndExecute",
								     PROFBPF__FUNCTION__KIND__LAUNCH),
					  .count = 20,
					  .durations = { .total_ns = 40 * MS } };
	f->api = (struct api_results){ .rows = f->calls, .row_count = 2 };
	fires(f, "device_sync_batchnorm", RULE_SYNC_NORM, 20);
	fires(f, "device_compile", RULE_COMPILE, 20);
	f->calls[0].count = f->calls[1].count = 19;
	is_silent(f, "device_sync_batchnorm", RULE_SYNC_NORM);
	is_silent(f, "device_compile", RULE_COMPILE);
	f->calls[0].count = f->calls[1].count = 20;
	f->calls[1].durations.total_ns = 20 * MS;
	is_silent(f, "device_compile", RULE_COMPILE);
	f->verdict.state = VERDICT_DATA;
	is_silent(f, "device_sync_batchnorm", RULE_SYNC_NORM);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(fetched_queue), TEST(fetches_that_count), TEST(queues_of_operators), TEST(workers), TEST(host_cpu),
		TEST(sending),	     TEST(slow_loader),		TEST(healthy), TEST(garbage),	     TEST(garbage_of_waits),
		TEST(pauses),	     TEST(calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

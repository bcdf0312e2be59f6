/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The joins by numbers of stream and task and by order alone, and device clocks that drift and jump, against a
 * simulated device: for every task the launching call and the true time are known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/join/clock/device_clock.h"
#include "analyzer/join/launch/launch_ids.h"
#include "analyzer/join/launch/launch_order.h"
#include "analyzer/join/launch/launches.h"
#include "tests/unit/small_model.h"

#define SECOND 1000000000ull
#define MILLISECOND 1000000ull
#define STREAMS 8
#define STEPS_MAX 8
#define BASE (1000 * SECOND) /* host time at which it begins */

struct step {
	uint64_t at_ns; /* host time since BASE */
	int64_t by_ns;
};

/* Parameters of a simulated run. */
struct plan {
	uint32_t launches;
	uint32_t interval_ns; /* mean time between launches */
	uint32_t sync_every; /* in launches */
	double drift;
	int64_t offset_ns;
	struct step steps[STEPS_MAX];
	uint32_t lost_percent; /* share of lost calls */
	uint32_t burst_from, burst_to; /* range of launches whose calls are all lost */
	uint32_t skipped; /* number of launches before the recording began */
	uint8_t clock; /* the declared clock */
	bool by_order; /* neither calls nor tasks have numbers; tasks have the streams' handles */
	bool handles; /* tasks have only the streams' numbers, which calls do not have */
	uint32_t names; /* number of kernels that each stream launches in turn; 0 = their names are unknown */
};

struct launch {
	uint64_t start_ns; /* CLOCK_MONOTONIC, of the task */
	uint64_t end_ns;
	uint64_t call_ns;
	uint32_t call; /* row, INDEX_NONE = lost */
};

struct run {
	const struct plan *plan;
	struct model *model;
	uint32_t thread, device, launch, sync;
	struct launch *launches;
	uint32_t recorded;
	uint64_t now_ns;
	uint64_t free_ns[STREAMS]; /* when the stream has finished its tasks */
	uint64_t number[STREAMS];
	uint64_t random;
};

static uint64_t draw(struct run *run, uint64_t below)
{
	run->random = run->random * 6364136223846793005u + 1442695040888963407u;
	return (run->random >> 33) % below;
}

static uint64_t device_time(const struct plan *plan, uint64_t host_ns)
{
	double since = (double)(host_ns - BASE);
	int64_t device = (int64_t)host_ns + plan->offset_ns + (int64_t)(since * plan->drift);

	for (int i = 0; i < STEPS_MAX && plan->steps[i].by_ns; i++) {
		if (host_ns - BASE >= plan->steps[i].at_ns)
			device += plan->steps[i].by_ns;
	}
	return (uint64_t)device;
}

static void begin(struct run *run, const struct plan *plan)
{
	struct function *function;
	uint32_t process;

	*run = (struct run){ .plan = plan, .now_ns = BASE, .random = 12345 };
	run->model = small_model(BASE, BASE + 1000 * SECOND);
	process = small_process(run->model, 100, "job", true);
	run->thread = small_thread(run->model, process, 100, "job");
	/* A device file has no process. */
	run->device = small_device(run->model, INDEX_NONE, "Ascend", plan->clock);
	run->launch = small_function(run->model, "acl", "aclrtLaunchKernel",
				     PROFBPF__FUNCTION__KIND__LAUNCH);
	run->sync = small_function(run->model, "acl", "aclrtSynchronizeStream",
				   PROFBPF__FUNCTION__KIND__SYNC);
	function = run->model->functions.row;
	function[run->launch].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
	if (!plan->by_order)
		function[run->launch].roles[1] = PROFBPF__FUNCTION__ROLE__TASK;
	function[run->sync].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
	run->launches = calloc(plan->launches, sizeof(*run->launches));
	assert_non_null(run->launches);
	for (uint32_t i = 0; i < STREAMS; i++)
		run->number[i] = 65000 - 7000 * i;
}

static uint64_t handle(uint32_t stream)
{
	return 0x7f0000001000 + stream * 64;
}

static uint32_t kernel_name(struct run *run, uint32_t stream)
{
	char name[32];

	if (!run->plan->names)
		return 0;
	snprintf(name, sizeof(name), "kernel%lu", run->number[stream] % run->plan->names);
	return model_string(run->model, name);
}

static void add_task(struct run *run, uint32_t n, uint32_t stream)
{
	const struct launch *launch = &run->launches[n];
	const struct task_detail detail = { .task_id = run->number[stream] & 0xffff };
	struct device_task *task = small_task(run->model, run->device,
					      device_time(run->plan, launch->start_ns),
					      device_time(run->plan, launch->end_ns));

	assert_true(MODEL_PUSH(&run->model->task_details, detail));
	task->detail = run->plan->by_order ? 0 : run->model->task_details.count;
	task->stream = run->plan->by_order && !run->plan->handles ? handle(stream) : stream + 3;
	task->name = kernel_name(run, stream);
	task->thread = INDEX_NONE;
	task->bytes = n; /* identifies the task for the check */
}

static bool is_lost(struct run *run, uint32_t n)
{
	return draw(run, 100) < run->plan->lost_percent || n < run->plan->skipped ||
	       (n >= run->plan->burst_from && n < run->plan->burst_to);
}

static void make_launch(struct run *run, uint32_t n)
{
	uint32_t stream = (uint32_t)draw(run, STREAMS);
	uint64_t call_ns = run->now_ns, returned_ns = call_ns + 2000 + draw(run, 3000);
	uint64_t ready_ns = call_ns + 1000 + draw(run, 9000);
	struct launch *launch = &run->launches[n];
	struct call *call;

	launch->call_ns = call_ns;
	launch->start_ns = ready_ns > run->free_ns[stream] ? ready_ns : run->free_ns[stream] + 500;
	launch->end_ns = launch->start_ns + 5000 + draw(run, 200000);
	run->free_ns[stream] = launch->end_ns;
	run->number[stream]++;
	add_task(run, n, stream);
	launch->call = INDEX_NONE;
	run->now_ns = returned_ns + draw(run, 2 * (uint64_t)run->plan->interval_ns);
	if (is_lost(run, n))
		return;
	launch->call = small_call(run->model, run->thread, run->launch, call_ns, returned_ns);
	call = &run->model->calls.row[launch->call];
	call->args[0] = handle(stream);
	call->text = kernel_name(run, stream);
	call->args[1] = (stream + 3) | (run->number[stream] & 0xffff) << 16;
	run->recorded++;
}

static void make_sync(struct run *run)
{
	uint32_t stream = (uint32_t)draw(run, STREAMS), row;
	uint64_t done_ns = run->free_ns[stream] > run->now_ns ? run->free_ns[stream] : run->now_ns;
	uint64_t returned_ns = done_ns + 2000 + draw(run, 6000);

	row = small_call(run->model, run->thread, run->sync, run->now_ns, returned_ns);
	run->model->calls.row[row].args[0] = handle(stream);
	run->now_ns = returned_ns + draw(run, 5000);
}

static void make(struct run *run, const struct plan *plan)
{
	begin(run, plan);
	for (uint32_t n = 0; n < plan->launches; n++) {
		make_launch(run, n);
		if (n % plan->sync_every == plan->sync_every - 1)
			make_sync(run);
	}
	run->model->info.session_end_ns = run->model->info.end_ns = run->now_ns + SECOND;
	if (plan->skipped)
		run->model->info.session_start_ns = run->launches[plan->skipped].call_ns - 1;
}

static void add_snapshots(struct run *run)
{
	for (uint64_t ts_ns = BASE - SECOND; ts_ns <= run->now_ns + SECOND; ts_ns += SECOND) {
		struct clock_snapshot snapshot = { .monotonic_ns = ts_ns,
						   .monotonic_raw_ns = ts_ns,
						   .boottime_ns = ts_ns,
						   .realtime_ns = ts_ns + 1700000000 * SECOND };

		assert_int_equal(clock_table_add(run->model->clocks, &snapshot), 0);
	}
}

struct verdict {
	uint64_t wrong; /* tasks joined to a wrong call */
	uint64_t missed; /* tasks whose call was recorded, but not joined */
	uint64_t invented; /* tasks whose call was lost, joined to another one */
	uint64_t worst_ns; /* largest error of start times, away from steps */
	uint64_t worst_step_ns; /* the same near steps */
	struct device_clock clock;
	struct launch_join join;
	struct launch_ids ids;
	uint64_t ambiguous; /* reported by the join by order, before the clock was known */
};

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void judge(struct run *run, struct verdict *verdict)
{
	*verdict = (struct verdict){ 0 };
	small_index(run->model);
	assert_int_equal(launch_ids_join(run->model, &verdict->ids), 0);
	assert_int_equal(launch_order_join_first(run->model, &verdict->ambiguous), 0);
	assert_int_equal(device_clocks_join(run->model, &verdict->clock), 0);
	assert_int_equal(launches_join(run->model, &verdict->join), 0);
	assert_int_equal(run->model->tasks.count, run->plan->launches);
	for (uint32_t i = 0; i < run->model->tasks.count; i++) {
		const struct device_task *task = &run->model->tasks.row[i];
		const struct launch *launch = &run->launches[task->bytes];
		uint64_t error = apart(task->start_ns, launch->start_ns);

		if (task->call == INDEX_NONE)
			verdict->missed += launch->call != INDEX_NONE;
		else if (launch->call == INDEX_NONE)
			verdict->invented++;
		else
			verdict->wrong += task->call != launch->call;
		if (task->flags & MODEL_TASK_AT_STEP)
			verdict->worst_step_ns =
				error > verdict->worst_step_ns ? error : verdict->worst_step_ns;
		else
			verdict->worst_ns = error > verdict->worst_ns ? error : verdict->worst_ns;
	}
	print_message(
		"%u launches, %u recorded: %lu joined, %lu wrong, %lu missed, %lu invented, "
		"%lu ambiguous; clock: %s, drift %ld ppb, error at most %lu, stated %lu ns; %u "
		"steps, "
		"%u tasks near them: at most %lu, stated %lu ns; %u negative delays, %u left\n",
		run->plan->launches, run->recorded, verdict->join.matched, verdict->wrong,
		verdict->missed, verdict->invented,
		verdict->join.ambiguous + verdict->ambiguous,
		device_clock_method_text(verdict->clock.method), verdict->clock.drift_ppb,
		verdict->worst_ns, verdict->clock.error_ns, verdict->clock.steps,
		verdict->clock.at_steps, verdict->worst_step_ns, verdict->clock.step_error_ns,
		verdict->clock.negative, verdict->clock.before_enqueue);
}

static void expect_exact(const struct run *run, const struct verdict *verdict)
{
	assert_int_equal(verdict->wrong, 0);
	assert_int_equal(verdict->missed, 0);
	assert_int_equal(verdict->invented, 0);
	assert_int_equal(verdict->ids.ambiguous, 0);
	assert_int_equal(verdict->join.matched, run->recorded);
	assert_int_equal(verdict->join.by_id, run->recorded);
	assert_int_equal(verdict->join.unmatched_launches, 0);
	assert_true(verdict->worst_ns <= verdict->clock.error_ns);
	assert_true(verdict->worst_step_ns <= verdict->clock.step_error_ns);
}

static void finish(struct run *run)
{
	free(run->launches);
	model_free(run->model);
}

/* A million launches, an unknown clock that drifts and jumps, lost records, numbers that restart. */
static void test_million(void **state)
{
	static const struct plan plan = {
		.launches = 1000000,
		.interval_ns = 30000,
		.sync_every = 250,
		.drift = 200e-6,
		.offset_ns = -700000000000,
		.steps = { { 5 * SECOND, 3000000 },
			   { 11 * SECOND, -1500000 },
			   { 17 * SECOND, 400000 },
			   { 23 * SECOND, -150000 },
			   { 28 * SECOND, 150000 } },
		.lost_percent = 5,
		.clock = PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED,
	};
	struct verdict verdict;
	struct run run;

	make(&run, &plan);
	judge(&run, &verdict);
	expect_exact(&run, &verdict);
	assert_int_equal(verdict.join.unmatched_tasks, plan.launches - run.recorded);
	assert_int_equal(verdict.clock.method, DEVICE_CLOCK_CAUSALITY);
	assert_int_equal(verdict.clock.steps, 5);
	assert_true(verdict.clock.error_ns < 50000);
	assert_true(verdict.clock.at_steps < plan.launches / 200);
	assert_in_range(-verdict.clock.drift_ppb, 195000, 205000);
	finish(&run);
}

/* A clock that deviates from the declared one: anchored once, then drifting. */
static void test_declared(void **state)
{
	static const struct plan plan = {
		.launches = 100000,
		.interval_ns = 50000,
		.sync_every = 200,
		.drift = 50e-6,
		.offset_ns = -30000,
		.lost_percent = 5,
		.clock = PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW,
	};
	struct verdict verdict;
	struct run run;

	make(&run, &plan);
	add_snapshots(&run);
	judge(&run, &verdict);
	expect_exact(&run, &verdict);
	assert_int_equal(verdict.clock.method, DEVICE_CLOCK_CORRECTED);
	assert_int_equal(verdict.clock.steps, 0);
	assert_int_equal(verdict.clock.before_enqueue, 0);
	assert_true(verdict.clock.negative > 0);
	assert_in_range(verdict.clock.correction_ns, 25000, 40000);
	assert_in_range(-verdict.clock.correction_ppb, 48000, 52000);
	finish(&run);
}

/* A correct clock stays unchanged, to the nanosecond. */
static void test_right(void **state)
{
	static const struct plan plan = {
		.launches = 20000,
		.interval_ns = 50000,
		.sync_every = 200,
		.lost_percent = 50,
		.clock = PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC,
	};
	struct verdict verdict;
	struct run run;

	make(&run, &plan);
	judge(&run, &verdict);
	expect_exact(&run, &verdict);
	assert_int_equal(verdict.clock.method, DEVICE_CLOCK_MONOTONIC);
	assert_int_equal(verdict.worst_ns, 0);
	assert_int_equal(verdict.clock.negative, 0);
	finish(&run);
}

/* Attached in the middle, and then all records of a while are lost: more launches than there are numbers. */
static void test_bursts(void **state)
{
	static const struct plan plan = {
		.launches = 1000000,
		.interval_ns = 10000,
		.sync_every = 500,
		.drift = -20e-6,
		.lost_percent = 1,
		.skipped = 150000,
		.burst_from = 300000,
		.burst_to = 900000,
		.clock = PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC,
	};
	struct verdict verdict;
	struct run run;

	make(&run, &plan);
	judge(&run, &verdict);
	assert_int_equal(verdict.wrong, 0);
	assert_int_equal(verdict.missed, 0);
	assert_int_equal(verdict.invented, 0);
	assert_int_equal(verdict.join.matched, run.recorded);
	assert_true(verdict.join.tasks_outside >= plan.skipped - 100);
	finish(&run);
}

/* Without a clock and with less than one round of numbers the round cannot be determined. */
static void test_ambiguous(void **state)
{
	static const struct plan plan = {
		.launches = 1200000,
		.interval_ns = 1000,
		.sync_every = 1000,
		.skipped = 1199000,
		.clock = PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED,
	};
	struct verdict verdict;
	struct run run;

	make(&run, &plan);
	judge(&run, &verdict);
	assert_int_equal(verdict.wrong, 0);
	assert_int_equal(verdict.invented, 0);
	assert_true(verdict.ids.ambiguous > 0);
	finish(&run);
}

/* By order alone: only certain pairs are joined, and the rest is reported. */
static void expect_certain(const struct run *run, const struct verdict *verdict)
{
	assert_int_equal(verdict->wrong, 0);
	assert_int_equal(verdict->invented, 0);
	assert_int_equal(verdict->join.matched, verdict->join.by_order);
	assert_int_equal(verdict->join.matched + verdict->missed, run->recorded);
	assert_true(verdict->join.ambiguous + verdict->ambiguous >= verdict->missed);
}

/* From many properties that distinguish a call's task from its neighbours to none but the waiting calls. */
static void test_order_lost(void **state)
{
	static const struct {
		struct plan plan;
		uint32_t percent; /* minimum of recorded calls that are joined */
	} runs[] = {
		{ { .lost_percent = 5, .names = 50, .sync_every = 20 }, 99 },
		{ { .lost_percent = 5, .names = 3, .sync_every = 20 }, 80 },
		{ { .lost_percent = 5, .names = 0, .sync_every = 20 }, 30 },
		{ { .lost_percent = 5, .names = 3, .sync_every = 1000 }, 0 },
		{ { .lost_percent = 40, .names = 3, .sync_every = 20 }, 20 },
		{ { .names = 3, .sync_every = 20, .skipped = 20000 }, 90 },
		{ { .names = 3, .sync_every = 20, .burst_from = 4000, .burst_to = 44000 }, 90 },
		{ { .names = 3, .sync_every = 20, .burst_from = 40000, .burst_to = 50000 }, 90 },
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		struct plan plan = runs[i].plan;
		struct verdict verdict;
		struct run run;

		plan.launches = 50000;
		plan.interval_ns = 60000;
		plan.clock = PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC;
		plan.by_order = true;
		make(&run, &plan);
		judge(&run, &verdict);
		expect_certain(&run, &verdict);
		assert_true(verdict.join.matched * 100 >= (uint64_t)run.recorded * runs[i].percent);
		finish(&run);
	}
}

static void test_order_unknown_clock(void **state)
{
	static const struct plan plan = {
		.launches = 100000,
		.interval_ns = 60000,
		.sync_every = 50,
		.drift = 100e-6,
		.offset_ns = -500000000000,
		.clock = PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED,
		.by_order = true,
		.handles = true,
	};
	struct verdict verdict;
	struct run run;

	make(&run, &plan);
	judge(&run, &verdict);
	expect_certain(&run, &verdict);
	assert_int_equal(verdict.missed, 0);
	assert_int_equal(verdict.clock.method, DEVICE_CLOCK_CAUSALITY);
	assert_true(verdict.worst_ns <= verdict.clock.error_ns);
	assert_true(verdict.clock.error_ns < 100000);
	finish(&run);
}

static void test_order_lost_unknown_clock(void **state)
{
	static const struct {
		struct plan plan;
		uint32_t percent; /* minimum of recorded calls that are joined */
	} runs[] = {
		{ { .names = 50, .sync_every = 20 }, 99 },
		{ { .names = 9, .sync_every = 20 }, 90 },
		{ { .names = 5, .sync_every = 200 }, 90 },
		{ { .names = 2, .sync_every = 20 }, 90 },
		{ { .names = 0, .sync_every = 20 }, 45 },
		{ { .names = 0, .sync_every = 1000 }, 0 },
	};

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		struct plan plan = runs[i].plan;
		struct verdict verdict;
		struct run run;

		plan.launches = 50000;
		plan.interval_ns = 60000;
		plan.drift = -30e-6;
		plan.offset_ns = -500000000000;
		plan.lost_percent = 5;
		plan.clock = PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED;
		plan.by_order = true;
		make(&run, &plan);
		judge(&run, &verdict);
		expect_certain(&run, &verdict);
		assert_true(verdict.join.matched * 100 >= (uint64_t)run.recorded * runs[i].percent);
		if (verdict.clock.method == DEVICE_CLOCK_CAUSALITY)
			assert_true(verdict.worst_ns <= verdict.clock.error_ns);
		finish(&run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right),	  cmocka_unit_test(test_declared),
		cmocka_unit_test(test_million),	  cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_ambiguous), cmocka_unit_test(test_order_lost),
		cmocka_unit_test(test_order_unknown_clock),
		cmocka_unit_test(test_order_lost_unknown_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

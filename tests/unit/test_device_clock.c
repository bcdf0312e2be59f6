/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/join/clock/clock_bounds.h"
#include "analyzer/join/clock/clock_fit.h"
#include "analyzer/join/clock/device_clock.h"
#include "tests/unit/small_model.h"

#define SECOND 1000000000ull

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* RAW is 95 ms behind MONOTONIC and runs 20 ppm slower. */
static uint64_t raw_at(uint64_t monotonic_ns)
{
	return monotonic_ns - 95000000 - monotonic_ns / 50000;
}

static void add_snapshots(struct model *model, uint64_t from_ns, uint64_t to_ns)
{
	for (uint64_t ts_ns = from_ns; ts_ns <= to_ns; ts_ns += SECOND) {
		struct clock_snapshot snapshot = { .monotonic_ns = ts_ns,
						   .monotonic_raw_ns = raw_at(ts_ns),
						   .boottime_ns = ts_ns + 7,
						   .realtime_ns = ts_ns + 1700000000 * SECOND };

		assert_int_equal(clock_table_add(model->clocks, &snapshot), 0);
	}
}

static void test_declared(void **state)
{
	struct model *model = small_model(10 * SECOND, 20 * SECOND);
	uint32_t process = small_process(model, 100, "job", true);
	uint32_t device =
		small_device(model, process, "dev", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW);
	struct device_clock clocks[2], clock;
	struct device_task *task;

	add_snapshots(model, 10 * SECOND, 20 * SECOND);
	/* The tasks of another device come next, and say nothing. */
	small_device(model, process, "dev", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	small_task(model, 1, 1, 2);
	/* Out of order on purpose: the join sorts tasks. */
	task = small_task(model, device, raw_at(15 * SECOND + 500), raw_at(15 * SECOND + 900));
	task->queued_ns = raw_at(15 * SECOND);
	task->enqueue_ns = 15 * SECOND - 100;
	task = small_task(model, device, raw_at(12 * SECOND + 123456789), 0);
	task->end_ns = raw_at(12 * SECOND + 200000000);
	task->enqueue_ns = 12 * SECOND + 130000000; /* after its start: impossible */
	task = small_task(model, device, 0, 0);
	small_index(model);
	assert_int_equal(device_clocks_join(model, clocks), 0);

	assert_int_equal(model->tasks.row[3].start_ns, 1);
	assert_int_equal(clocks[1].tasks, 1);
	clock = clocks[0];
	assert_int_equal(clock.method, DEVICE_CLOCK_SNAPSHOTS);
	assert_int_equal(clock.tasks, 2);
	assert_int_equal(clock.before_enqueue, 1);
	assert_true(clock.error_ns <= 1);
	assert_in_range(clock.offset_ns, 95000000 + 240000, 95000000 + 250000);
	assert_in_range(clock.drift_ppb, 19990, 20010);

	task = model->tasks.row;
	assert_true(task[0].flags & MODEL_TASK_UNTIMED);
	assert_int_equal(task[0].start_ns, 0);
	assert_true(distance(task[1].start_ns, 12 * SECOND + 123456789) <= 1);
	assert_true(distance(task[1].end_ns, 12 * SECOND + 200000000) <= 1);
	assert_int_equal(task[1].queued_ns, 0);
	assert_true(distance(task[2].queued_ns, 15 * SECOND) <= 1);
	assert_true(distance(task[2].start_ns, 15 * SECOND + 500) <= 1);
	assert_int_equal(task[2].enqueue_ns, 15 * SECOND - 100);
	model_free(model);
}

/* Conversion of a single instant of a declared clock, without any device. */
static void test_instants(void **state)
{
	struct model *model = small_model(10 * SECOND, 20 * SECOND);
	uint64_t ns = 0;

	assert_true(device_clock_to_monotonic(model, PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC, 77, &ns));
	assert_int_equal(ns, 77);
	/* Without snapshots the instant is unknown. */
	assert_false(device_clock_to_monotonic(model, PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW, 77,
					       &ns));
	add_snapshots(model, 10 * SECOND, 20 * SECOND);
	assert_true(device_clock_to_monotonic(model, PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW,
					      raw_at(15 * SECOND), &ns));
	assert_int_equal(ns, 15 * SECOND);
	assert_true(device_clock_to_monotonic(model, PROFBPF__DEVICE_CLOCK__CLOCK_BOOTTIME,
					      15 * SECOND + 7, &ns));
	assert_int_equal(ns, 15 * SECOND);
	assert_false(device_clock_to_monotonic(model, PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED,
					       15 * SECOND, &ns));
	model_free(model);
}

/* And back. */
static void test_instants_of_the_device(void **state)
{
	struct model *model = small_model(10 * SECOND, 20 * SECOND);
	uint64_t ns = 0;

	assert_true(device_clock_from_monotonic(model, PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC, 77, &ns));
	assert_int_equal(ns, 77);
	assert_false(device_clock_from_monotonic(model, PROFBPF__DEVICE_CLOCK__CLOCK_BOOTTIME, 77, &ns));
	add_snapshots(model, 10 * SECOND, 20 * SECOND);
	assert_true(device_clock_from_monotonic(model, PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC, 77, &ns));
	assert_int_equal(ns, 77);
	assert_true(device_clock_from_monotonic(model, PROFBPF__DEVICE_CLOCK__CLOCK_BOOTTIME, 15 * SECOND, &ns));
	assert_int_equal(ns, 15 * SECOND + 7);
	assert_false(device_clock_from_monotonic(model, PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED, 77, &ns));
	model_free(model);
}

/* The error of a conversion is the distance of a snapshot from the line between its neighbours. */
static void test_stray_snapshot(void **state)
{
	struct model *model = small_model(10 * SECOND, 20 * SECOND);
	uint32_t process = small_process(model, 100, "job", true);
	struct device_clock clock;

	small_device(model, process, "dev", PROFBPF__DEVICE_CLOCK__CLOCK_BOOTTIME);
	for (uint64_t i = 0; i < 11; i++) {
		struct clock_snapshot snapshot = {
			.monotonic_ns = (10 + i) * SECOND + (i == 6 ? 4000 : 0),
			.monotonic_raw_ns = (10 + i) * SECOND,
			.boottime_ns = (10 + i) * SECOND + 7,
			.realtime_ns = (10 + i) * SECOND + 1700000000 * SECOND,
		};

		assert_int_equal(clock_table_add(model->clocks, &snapshot), 0);
	}
	small_task(model, 0, 12 * SECOND, 12 * SECOND + 100);
	small_index(model);
	assert_int_equal(device_clocks_join(model, &clock), 0);
	assert_int_equal(clock.method, DEVICE_CLOCK_SNAPSHOTS);
	assert_int_equal(clock.error_ns, 4000);
	assert_int_equal(clock.drift_ppb, 0); /* of a single task */
	model_free(model);
}

/*
 * A task's launch is certain if it was joined by numbers, or by an instant of the host on a device whose clock is in
 * doubt.
 */
static void test_sure_tasks(void **state)
{
	struct model *model = small_model(0, 10 * SECOND);
	uint32_t process = small_process(model, 100, "job", true);
	struct device_task task = { .call = 3, .enqueue_ns = 5 };

	small_device(model, process, "dev", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	assert_false(clock_task_is_sure(model, &task));
	model->devices.row[0].anchored = true;
	assert_true(clock_task_is_sure(model, &task));
	task.enqueue_ns = 0;
	assert_false(clock_task_is_sure(model, &task));
	task = (struct device_task){ .call = INDEX_NONE, .enqueue_ns = 5 };
	assert_false(clock_task_is_sure(model, &task));
	task.flags = MODEL_TASK_BY_ID;
	assert_true(clock_task_is_sure(model, &task));
	task = (struct device_task){ .call = 3, .enqueue_ns = 5, .device = 1 };
	assert_false(clock_task_is_sure(model, &task));
	model_free(model);
}

static void test_monotonic(void **state)
{
	struct model *model = small_model(0, 10 * SECOND);
	uint32_t process = small_process(model, 100, "job", true);
	struct device_clock clock;

	small_device(model, process, "dev", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	small_task(model, 0, 5000, 4000);
	small_task(model, 0, 1000, 2000);
	small_index(model);
	assert_int_equal(device_clocks_join(model, &clock), 0);
	assert_int_equal(clock.method, DEVICE_CLOCK_MONOTONIC);
	assert_int_equal(clock.offset_ns, 0);
	assert_int_equal(clock.error_ns, 0);
	assert_int_equal(model->tasks.row[0].start_ns, 1000);
	assert_false(model->tasks.row[0].flags & MODEL_TASK_UNTIMED);
	/* Ends before it starts: none of its times is used. */
	assert_true(model->tasks.row[1].flags & MODEL_TASK_UNTIMED);
	model_free(model);
}

/* The source anchored a counter to the declared clock: the error is not stated. */
static void test_anchored(void **state)
{
	const uint8_t declared[] = { PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC,
				     PROFBPF__DEVICE_CLOCK__CLOCK_BOOTTIME };
	struct model *model = small_model(10 * SECOND, 20 * SECOND);
	uint32_t process = small_process(model, 100, "job", true);
	struct device_clock clocks[2];

	add_snapshots(model, 10 * SECOND, 20 * SECOND);
	for (uint32_t i = 0; i < 2; i++) {
		small_device(model, process, "dev", declared[i]);
		model->devices.row[i].anchored = true;
		small_task(model, i, 12 * SECOND, 12 * SECOND + 100);
	}
	small_index(model);
	assert_int_equal(device_clocks_join(model, clocks), 0);
	assert_int_equal(clocks[0].method, DEVICE_CLOCK_MONOTONIC);
	assert_int_equal(clocks[0].error_ns, UINT64_MAX);
	assert_int_equal(clocks[1].method, DEVICE_CLOCK_SNAPSHOTS);
	assert_int_equal(clocks[1].error_ns, UINT64_MAX);
	model_free(model);
}

/* Launches and waits limit the error. */
static void test_anchored_within_bounds(void **state)
{
	struct model *model = small_model(10 * SECOND, 20 * SECOND);
	uint32_t process = small_process(model, 100, "job", true);
	uint32_t thread = small_thread(model, process, 100, "job");
	uint32_t finish =
		small_function(model, "cuda", "cuStreamSynchronize", PROFBPF__FUNCTION__KIND__SYNC);
	struct device_clock clock;

	small_device(model, process, "dev", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	model->devices.row[0].anchored = true;
	model->functions.row[finish].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
	for (uint64_t i = 0; i < 10; i++) {
		uint64_t base_ns = 10 * SECOND + i * 100000;
		struct device_task *task = small_task(model, 0, base_ns + 12000, base_ns + 20000);

		task->enqueue_ns = base_ns + 10000;
		task->flags |= MODEL_TASK_BY_ID;
		small_call(model, thread, finish, base_ns + 11000, base_ns + 21000);
		model->calls.row[model->calls.count - 1].args[0] = 1;
	}
	small_index(model);
	assert_int_equal(device_clocks_join(model, &clock), 0);
	assert_int_equal(clock.method, DEVICE_CLOCK_MONOTONIC);
	/* Up to 2000 too late, up to 1000 too early. */
	assert_in_range(clock.error_ns, 2000, 2050);
	assert_int_equal(model->tasks.row[0].start_ns, 10 * SECOND + 12000);
	model_free(model);
}

/* Launches with equal bounds touch the same lines: they must not displace the bound of a wait. */
static void test_many_equal_bounds(void **state)
{
	struct model *model = small_model(10 * SECOND, 20 * SECOND);
	uint32_t process = small_process(model, 100, "job", true);
	uint32_t thread = small_thread(model, process, 100, "job");
	uint32_t finish =
		small_function(model, "cuda", "cuStreamSynchronize", PROFBPF__FUNCTION__KIND__SYNC);
	struct device_clock clock;

	small_device(model, process, "dev", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	model->devices.row[0].anchored = true;
	model->functions.row[finish].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
	for (uint64_t i = 0; i < 2000; i++) {
		uint64_t start_ns = 10 * SECOND + i * 20000 + i % 7;
		struct device_task *task = small_task(model, 0, start_ns, start_ns + 15000);

		task->enqueue_ns = start_ns - 1783;
		task->flags |= MODEL_TASK_BY_ID;
	}
	small_call(model, thread, finish, 10 * SECOND + 1999 * 20000, 10 * SECOND + 2000 * 20000);
	model->calls.row[0].args[0] = 1;
	small_index(model);
	assert_int_equal(device_clocks_join(model, &clock), 0);
	assert_int_equal(clock.method, DEVICE_CLOCK_MONOTONIC);
	assert_in_range(clock.error_ns, 1000, 200000);
	model_free(model);
}

/*
 * The clock is not declared: host = device + 3 s + 40 ppm; tasks are queued 2..5 us after the enqueue call is
 * entered.
 */
#define UNKNOWN_OFFSET (3 * SECOND)

static uint64_t device_time(uint64_t host_ns)
{
	return (uint64_t)((double)(host_ns - UNKNOWN_OFFSET) / 1.00004);
}

static void add_undeclared(struct model *model, bool with_duration)
{
	srand(7);
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t enqueue_ns = 10 * SECOND + i * 10000000;
		uint64_t queued_ns = enqueue_ns + 2000 + (uint64_t)rand() % 3000;
		struct device_task *task = small_task(model, 0, device_time(queued_ns + 50000),
						      device_time(queued_ns + 900000));

		task->queued_ns = device_time(queued_ns);
		task->enqueue_ns = enqueue_ns;
		task->enqueue_dur_ns = with_duration ? 8000 : 0;
	}
}

static void test_undeclared(void **state)
{
	struct model *model = small_model(10 * SECOND, 21 * SECOND);
	uint32_t process = small_process(model, 100, "job", true);
	struct device_clock clock;

	small_device(model, process, "dev", PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED);
	add_undeclared(model, true);
	small_index(model);
	assert_int_equal(device_clocks_join(model, &clock), 0);
	assert_int_equal(clock.method, DEVICE_CLOCK_CAUSALITY);
	assert_int_equal(clock.before_enqueue, 0);
	assert_true(clock.error_ns <= 10000);
	assert_in_range(clock.drift_ppb, 38000, 42000);
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];

		/* Queued between 2 and 5 us after the call was entered, to the stated error. */
		assert_true(task->queued_ns + clock.error_ns >= task->enqueue_ns + 2000);
		assert_true(task->queued_ns <= task->enqueue_ns + 5000 + clock.error_ns);
	}
	model_free(model);
}

static void test_undeclared_sync(void **state)
{
	struct model *model = small_model(10 * SECOND, 21 * SECOND);
	uint32_t process = small_process(model, 100, "job", true);
	uint32_t thread = small_thread(model, process, 100, "job");
	uint32_t finish =
		small_function(model, "opencl", "clFinish", PROFBPF__FUNCTION__KIND__SYNC);
	struct device_clock clock;

	model->functions.row[finish].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
	small_device(model, process, "dev", PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED);
	/* Host = device + 5000: enqueued at 10000, runs 12000..20000, waited for until 21000. */
	for (uint64_t i = 0; i < 10; i++) {
		uint64_t base_ns = 10 * SECOND + i * 100000;
		struct device_task *task =
			small_task(model, 0, base_ns + 12000 - 5000, base_ns + 20000 - 5000);
		uint32_t call;

		task->enqueue_ns = base_ns + 10000;
		call = small_call(model, thread, finish, base_ns + 11000, base_ns + 21000);
		model->calls.row[call].args[0] = 1;
		/* Enqueued after clFinish was entered: the wait need not include it. */
		task = small_task(model, 0, base_ns + 40000 - 5000, base_ns + 50000 - 5000);
		task->enqueue_ns = base_ns + 12000;
		/* A wait for another stream gives no information about this stream. */
		call = small_call(model, thread, finish, base_ns + 30000, base_ns + 30001);
		model->calls.row[call].args[0] = 2;
	}
	small_index(model);
	assert_int_equal(device_clocks_join(model, &clock), 0);
	assert_int_equal(clock.method, DEVICE_CLOCK_CAUSALITY);
	/* offset in [3000, 6000]: 4500 +- 1500 */
	assert_int_equal(clock.offset_ns, 4500);
	assert_int_equal(clock.error_ns, 1500);
	assert_int_equal(clock.drift_ppb, 0);
	model_free(model);
}

/* Two tasks were queued outside of their calls, by different times: what the driver calls queued is something else. */
static void test_queued_elsewhere(void **state)
{
	struct model *model = small_model(10 * SECOND, 21 * SECOND);
	uint32_t process = small_process(model, 100, "job", true);
	uint32_t thread = small_thread(model, process, 100, "job");
	uint32_t finish =
		small_function(model, "opencl", "clFinish", PROFBPF__FUNCTION__KIND__SYNC);
	struct device_clock clock;

	model->functions.row[finish].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
	small_device(model, process, "dev", PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED);
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t base_ns = 10 * SECOND + i * 100000;
		struct device_task *task =
			small_task(model, 0, base_ns + 12000 - 5000, base_ns + 20000 - 5000);
		uint32_t call;

		task->enqueue_ns = base_ns + 10000;
		task->enqueue_dur_ns = 500;
		task->queued_ns = base_ns + 10000 - 5000 - (i ? 40000 : 0);
		call = small_call(model, thread, finish, base_ns + 11000, base_ns + 21000);
		model->calls.row[call].args[0] = 1;
	}
	small_index(model);
	assert_int_equal(device_clocks_join(model, &clock), 0);
	assert_int_equal(clock.method, DEVICE_CLOCK_CAUSALITY);
	assert_int_equal(clock.offset_ns, 4500);
	assert_int_equal(clock.error_ns, 1500);
	model_free(model);
}

static void test_undeclared_lower_only(void **state)
{
	struct model *model = small_model(10 * SECOND, 21 * SECOND);
	uint32_t process = small_process(model, 100, "job", true);
	struct device_clock clock;

	small_device(model, process, "dev", PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED);
	for (uint64_t i = 1; i <= 10; i++) {
		struct device_task *task = small_task(model, 0, i * 1000, i * 1000 + 10);

		task->enqueue_ns = 10 * SECOND + i * 1000 - (i == 4 ? 20 : 500);
	}
	small_index(model);
	assert_int_equal(device_clocks_join(model, &clock), 0);
	assert_int_equal(clock.method, DEVICE_CLOCK_CAUSALITY_LOWER);
	assert_int_equal(clock.error_ns, UINT64_MAX);
	assert_int_equal(clock.offset_ns, 10 * SECOND - 20);
	assert_int_equal(clock.before_enqueue, 0);
	model_free(model);
}

static void test_nothing_to_go_by(void **state)
{
	struct model *model = small_model(0, SECOND);
	uint32_t process = small_process(model, 100, "job", true);
	struct device_clock clocks[2];

	small_device(model, process, "dev", PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED);
	/* A declared clock without snapshots for its conversion. */
	small_device(model, process, "dev", PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME);
	small_task(model, 0, 100, 200);
	small_task(model, 1, 100, 200);
	small_task(model, 77, 100, 200); /* no such device */
	small_index(model);
	assert_int_equal(device_clocks_join(model, clocks), 0);
	assert_int_equal(clocks[0].method, DEVICE_CLOCK_NONE);
	assert_int_equal(clocks[1].method, DEVICE_CLOCK_NONE);
	assert_int_equal(model->tasks.row[0].start_ns, 100);
	model_free(model);
}

static void test_fit_contradiction(void **state)
{
	/* No line with a plausible drift fits: the result says so, and states the error. */
	const struct clock_bound bounds[] = {
		{ .time_ns = 1000, .offset_ns = 500, .upper = false },
		{ .time_ns = 1000, .offset_ns = 100, .upper = true },
	};
	struct clock_line line;

	assert_true(clock_fit(bounds, 2, &line));
	assert_false(line.consistent);
	assert_int_equal(line.offset_ns, 300);
	assert_int_equal(line.error_ns, 200);
	assert_false(clock_fit(bounds, 0, &line));
}

static void test_fit_extremes(void **state)
{
	const struct clock_bound bounds[] = {
		{ .time_ns = 0, .offset_ns = INT64_MIN, .upper = false },
		{ .time_ns = UINT64_MAX, .offset_ns = INT64_MAX, .upper = true },
		{ .time_ns = UINT64_MAX / 2, .offset_ns = INT64_MAX, .upper = false },
		{ .time_ns = 1, .offset_ns = INT64_MIN, .upper = true },
	};
	struct clock_line line;

	for (uint32_t count = 1; count <= 4; count++) {
		assert_true(clock_fit(bounds, count, &line));
		for (int i = 0; i < 4; i++)
			clock_line_apply(&line, bounds[i].time_ns);
	}
	line = (struct clock_line){ .time_ns = 0, .offset_ns = -5000 };
	assert_int_equal(clock_line_apply(&line, 4000), 0);
	assert_int_equal(clock_line_apply(&line, 6000), 1000);
	line.offset_ns = 5000;
	assert_true(clock_line_apply(&line, UINT64_MAX - 10) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_declared),
		cmocka_unit_test(test_instants),
		cmocka_unit_test(test_instants_of_the_device),
		cmocka_unit_test(test_stray_snapshot),
		cmocka_unit_test(test_sure_tasks),
		cmocka_unit_test(test_monotonic),
		cmocka_unit_test(test_anchored),
		cmocka_unit_test(test_anchored_within_bounds),
		cmocka_unit_test(test_many_equal_bounds),
		cmocka_unit_test(test_undeclared),
		cmocka_unit_test(test_undeclared_sync),
		cmocka_unit_test(test_queued_elsewhere),
		cmocka_unit_test(test_undeclared_lower_only),
		cmocka_unit_test(test_nothing_to_go_by),
		cmocka_unit_test(test_fit_contradiction),
		cmocka_unit_test(test_fit_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Declared clocks that are set, or that launches and waits show to be wrong, and tasks with some of their times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyzer/join/clock/device_clock.h"
#include "tests/unit/small_model.h"

#define SECOND 1000000000ull

/* Each second, of clocks that run alike; BOOTTIME is 7 ahead. */
static void add_snapshots(struct model *model, uint64_t from_ns, uint64_t to_ns)
{
	for (uint64_t ts_ns = from_ns; ts_ns <= to_ns; ts_ns += SECOND) {
		struct clock_snapshot snapshot = { .monotonic_ns = ts_ns,
						   .monotonic_raw_ns = ts_ns,
						   .boottime_ns = ts_ns + 7,
						   .realtime_ns = ts_ns + 1700000000 * SECOND };

		assert_int_equal(clock_table_add(model->clocks, &snapshot), 0);
	}
}

/*
 * Snapshots between which the clock went back tell nothing of the error; where it stood still between two of them, or
 * from one to the last one, a second is the error.
 */
static void test_clock_that_is_set(void **state)
{
	static const struct {
		uint64_t count;
		int realtime_s[4];
		uint64_t error_ns;
	} CASES[] = {
		{ 3, { 0, 1, 2 }, 0 },		 { 3, { 0, 0, 2 }, SECOND },	 { 3, { 0, 2, 2 }, SECOND },
		{ 3, { 0, -1, 2 }, UINT64_MAX }, { 3, { 0, 3, 2 }, UINT64_MAX }, { 3, { 2, 2, 2 }, UINT64_MAX },
		{ 4, { 0, -1, 2, 3 }, SECOND / 2 },
	};

	for (size_t c = 0; c < sizeof(CASES) / sizeof(*CASES); c++) {
		struct model *model = small_model(10 * SECOND, 20 * SECOND);
		struct device_clock clock;

		small_device(model, small_process(model, 100, "job", true), "dev",
			     PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME);
		for (uint64_t i = 0; i < CASES[c].count; i++) {
			struct clock_snapshot snapshot = {
				.monotonic_ns = (10 + i) * SECOND,
				.monotonic_raw_ns = (10 + i) * SECOND,
				.boottime_ns = (10 + i) * SECOND,
				.realtime_ns = (uint64_t)(1700000000 + CASES[c].realtime_s[i]) * SECOND,
			};

			assert_int_equal(clock_table_add(model->clocks, &snapshot), 0);
		}
		small_task(model, 0, 1700000001 * SECOND, 1700000001 * SECOND + 100);
		small_index(model);
		assert_int_equal(device_clocks_join(model, &clock), 0);
		assert_int_equal(clock.method, DEVICE_CLOCK_SNAPSHOTS);
		assert_true(clock.error_ns == CASES[c].error_ns);
		model_free(model);
	}
}

/* One instant is enough to count as a task with times; without start and end, in this order, there is no duration. */
static void test_some_times(void **state)
{
	struct model *model = small_model(0, 10 * SECOND);
	struct device_clock clocks[2];

	for (int i = 0; i < 2; i++)
		small_device(model, small_process(model, 100, "job", true), "dev",
			     PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	small_task(model, 0, 0, 0)->queued_ns = 10;
	small_task(model, 0, 0, 0)->submit_ns = 20;
	small_task(model, 0, 0, 30);
	small_task(model, 0, 0, 0);
	small_task(model, 0, 40, 0);
	small_task(model, 0, 50, 50)->enqueue_ns = 50;
	small_task(model, 1, 60, 60)->enqueue_ns = 61;
	small_index(model);
	assert_int_equal(device_clocks_join(model, clocks), 0);
	assert_int_equal(clocks[0].tasks, 5);
	assert_int_equal(clocks[0].before_enqueue, 0);
	assert_int_equal(clocks[0].negative, 0);
	assert_int_equal(clocks[0].at_steps, 0);
	assert_int_equal(clocks[1].tasks, 1);
	assert_int_equal(clocks[1].before_enqueue, 1);
	assert_int_equal(clocks[1].negative, 1);
	for (uint32_t i = 0; i < model->tasks.count; i++)
		assert_int_equal((model->tasks.row[i].flags & MODEL_TASK_UNTIMED) != 0, i < 5);
	model_free(model);
}

/*
 * The first device's clock is behind by 50,000: its tasks start before they are launched. Waits for them show by how
 * much: 48,000 to 51,000. @waited: without waits nothing does.
 */
static struct model *behind(bool joined, bool waited, uint8_t declared)
{
	struct model *model = small_model(10 * SECOND, 20 * SECOND);
	uint32_t process = small_process(model, 100, "job", true);
	uint32_t thread = small_thread(model, process, 100, "job");
	uint32_t finish =
		small_function(model, "cuda", "cuStreamSynchronize", PROFBPF__FUNCTION__KIND__SYNC);
	uint64_t ahead_ns = declared == PROFBPF__DEVICE_CLOCK__CLOCK_BOOTTIME ? 7 : 0;

	add_snapshots(model, 10 * SECOND, 20 * SECOND);
	small_device(model, process, "dev", declared);
	small_device(model, process, "dev", PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED);
	model->functions.row[finish].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
	for (uint64_t i = 0; i < 10; i++) {
		uint64_t base_ns = 10 * SECOND + i * 100000;
		struct device_task *task = small_task(model, 0, base_ns + 12000 - 50000 + ahead_ns,
						      base_ns + 20000 - 50000 + ahead_ns);

		task->enqueue_ns = base_ns + 10000;
		task->flags = joined ? MODEL_TASK_BY_ID : 0;
		if (!waited)
			continue;
		small_call(model, thread, finish, base_ns + 11000, base_ns + 21000);
		model->calls.row[model->calls.count - 1].args[0] = 1;
	}
	/* The other device's own clock. */
	small_task(model, 1, 1000, 2000)->enqueue_ns = 10 * SECOND;
	return model;
}

/* Tasks, steps and their collectives of that device are corrected alike. */
static void test_corrected(void **state)
{
	struct model *model = behind(true, true, PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	const uint64_t start_ns = model->tasks.row[0].start_ns, end_ns = model->tasks.row[9].end_ns;
	struct device_clock clocks[2];

	for (uint32_t i = 0; i < 3; i++) {
		struct device_step step = { .fp_start_ns = start_ns, .bp_end_ns = i ? start_ns : 0, .end_ns = end_ns,
					    .device = i == 1, .first_reduce = i, .reduce_count = i == 2 ? 9 : 1 };
		struct device_reduce reduce = { .start_ns = start_ns, .end_ns = end_ns };

		assert_true(MODEL_PUSH(&model->device_steps, step));
		assert_true(MODEL_PUSH(&model->device_reduces, reduce));
	}
	small_index(model);
	assert_int_equal(device_clocks_join(model, clocks), 0);
	assert_int_equal(clocks[0].method, DEVICE_CLOCK_CORRECTED);
	assert_in_range(clocks[0].correction_ns, 48000, 51000);
	assert_int_equal(clocks[0].offset_ns, clocks[0].correction_ns);
	assert_in_range(clocks[0].error_ns, 1500, 3100);
	assert_int_equal(clocks[0].tasks, 10);
	assert_int_equal(clocks[0].negative, 10);
	assert_int_equal(clocks[0].before_enqueue, 0);
	assert_int_equal(clocks[0].steps, 0);
	assert_in_range(model->tasks.row[0].start_ns, start_ns + 48000, start_ns + 51000);
	assert_in_range(model->tasks.row[9].end_ns, end_ns + 48000, end_ns + 51000);
	for (uint32_t i = 0; i < 3; i++) {
		const struct device_step *step = &model->device_steps.row[i];
		uint64_t start = i == 1 ? start_ns : model->tasks.row[0].start_ns;
		uint64_t end = i == 1 ? end_ns : model->tasks.row[9].end_ns;

		assert_int_equal(step->fp_start_ns, start);
		assert_int_equal(step->bp_end_ns, i ? start : 0);
		assert_int_equal(step->end_ns, end);
		assert_int_equal(model->device_reduces.row[i].start_ns, start);
		assert_int_equal(model->device_reduces.row[i].end_ns, end);
	}
	assert_int_equal(clocks[1].tasks, 1);
	assert_int_equal(clocks[1].negative, 0);
	/* Between its launch, and the first return of a wait. */
	assert_int_equal(clocks[1].offset_ns, 10 * SECOND + 9000);
	model_free(model);
}

/* The same of a clock that snapshots convert, which is 7 ahead: the correction is what it lacks beside that. */
static void test_snapshots_corrected(void **state)
{
	struct model *model = behind(true, true, PROFBPF__DEVICE_CLOCK__CLOCK_BOOTTIME);
	struct device_clock clocks[2];

	small_index(model);
	assert_int_equal(device_clocks_join(model, clocks), 0);
	assert_int_equal(clocks[0].method, DEVICE_CLOCK_CORRECTED);
	assert_in_range(clocks[0].correction_ns, 48000, 51000);
	assert_int_equal(clocks[0].offset_ns, clocks[0].correction_ns - 7);
	assert_int_equal(clocks[0].before_enqueue, 0);
	model_free(model);
}

/* A clock that cannot be right has an unknown error if its tasks are certain, and nothing to correct it by. */
static void test_wrong_but_not_corrected(void **state)
{
	for (int joined = 0; joined < 2; joined++) {
		struct model *model = behind(joined, false, PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
		const uint64_t start_ns = model->tasks.row[0].start_ns;
		struct device_clock clocks[2];

		small_index(model);
		assert_int_equal(device_clocks_join(model, clocks), 0);
		assert_int_equal(clocks[0].method, DEVICE_CLOCK_MONOTONIC);
		assert_true(clocks[0].error_ns == (joined ? UINT64_MAX : 0));
		assert_int_equal(clocks[0].negative, 10);
		assert_int_equal(clocks[0].before_enqueue, 10);
		assert_int_equal(model->tasks.row[0].start_ns, start_ns);
		model_free(model);
	}
}

/* Tasks that start at the instant of their launch, and end at that of a wait's return, contradict nothing. */
static void test_as_early_and_late_as_possible(void **state)
{
	struct model *model = behind(true, true, PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	struct device_clock clocks[2];

	for (uint64_t i = 0; i < 10; i++) {
		model->tasks.row[i].start_ns = model->tasks.row[i].enqueue_ns;
		model->tasks.row[i].end_ns = model->calls.row[i].end_ns;
	}
	small_index(model);
	assert_int_equal(device_clocks_join(model, clocks), 0);
	assert_int_equal(clocks[0].method, DEVICE_CLOCK_MONOTONIC);
	assert_in_range(clocks[0].error_ns, 0, 10);
	assert_int_equal(clocks[0].negative, 0);
	assert_int_equal(clocks[0].correction_ns, 0);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_that_is_set),
		cmocka_unit_test(test_some_times),
		cmocka_unit_test(test_corrected),
		cmocka_unit_test(test_snapshots_corrected),
		cmocka_unit_test(test_wrong_but_not_corrected),
		cmocka_unit_test(test_as_early_and_late_as_possible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

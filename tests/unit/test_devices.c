/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/device/devices.h"
#include "analyzer/analyse/intervals.h"
#include "analyzer/analyse/device/operators.h"
#include "analyzer/join/clock/device_clock.h"
#include "tests/unit/small_model.h"

#define KERNEL PROFBPF__DEVICE_TASKS__KIND__KERNEL
#define COPY PROFBPF__DEVICE_TASKS__KIND__COPY
#define SYNC PROFBPF__DEVICE_TASKS__KIND__SYNC
#define COMMUNICATION PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION

static const struct analysis_options everything;

static struct model *make_model(uint64_t start_ns, uint64_t end_ns)
{
	struct model *model = small_model(start_ns, end_ns);
	uint32_t process = small_process(model, 100, "job", true);

	small_device(model, process, "dev", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	return model;
}

static struct device_task *add(struct model *model, uint64_t start_ns, uint64_t end_ns, int kind)
{
	struct device_task *task = small_task(model, 0, start_ns, end_ns);

	task->kind = (uint8_t)kind;
	return task;
}

static struct device_usage *analyse(struct model *model, const struct analysis_options *options)
{
	struct device_usage *usage;
	struct device_clock clocks[8];

	small_index(model);
	assert_true(model->devices.count <= 8);
	assert_int_equal(device_clocks_join(model, clocks), 0);
	assert_int_equal(devices_analyse(model, options, &usage), 0);
	return usage;
}

/*
 * A window contains parts of tasks that reach into it; tasks without duration, and tasks known only to be enqueued,
 * count from their begin to their end.
 */
static void test_edges(void **state)
{
	static const struct analysis_options options = { .from_ns = 1000, .to_ns = 2000 };
	struct model *model = make_model(0, 100000);
	struct device_usage *usage;
	static const uint64_t enqueued[] = { 0, 999, 1000, 1999, 2000 };

	add(model, 500, 1000, KERNEL);
	add(model, 999, 999, KERNEL);
	add(model, 2000, 2000, KERNEL);
	add(model, 2000, 2500, KERNEL);
	add(model, 999, 1001, KERNEL); /* in the window, like the next two */
	add(model, 1000, 1000, KERNEL);
	add(model, 1990, 2000, KERNEL);
	for (int i = 0; i < 5; i++) {
		struct device_task *task = add(model, 0, 0, KERNEL);

		task->flags = MODEL_TASK_UNTIMED;
		task->enqueue_ns = enqueued[i];
	}
	usage = analyse(model, &options);
	assert_int_equal(usage->tasks, 6);
	assert_int_equal(usage->untimed, 3);
	assert_int_equal(usage->busy_ns, 11);
	devices_free(usage, 1);
	model_free(model);
}

static void test_union_and_gaps(void **state)
{
	struct model *model = make_model(0, 100000);
	struct device_usage *usage;

	add(model, 1000, 2000, KERNEL);
	add(model, 1500, 2500, KERNEL); /* overlaps */
	add(model, 2500, 3000, KERNEL); /* touches */
	add(model, 3500, 3500, KERNEL); /* empty: makes nothing busy, ends no gap */
	add(model, 3200, 3800, SYNC); /* doesn't count */
	add(model, 0, 0, KERNEL); /* without times */
	add(model, 4000, 5000, KERNEL);
	add(model, 4100, 4200, KERNEL); /* inside */
	add(model, 6000, 6500, KERNEL);
	usage = analyse(model, &everything);
	assert_int_equal(usage->tasks, 9);
	assert_int_equal(usage->untimed, 1);
	assert_int_equal(usage->sync_tasks, 1);
	assert_int_equal(usage->window_start_ns, 1000);
	assert_int_equal(usage->window_ns, 5500);
	assert_int_equal(usage->busy_ns, 3500);
	assert_int_equal(usage->idle_ns, 2000);
	assert_int_equal(usage->gap_count, 2);
	assert_int_equal(usage->gaps[0].start_ns, 3000);
	assert_int_equal(usage->gaps[0].end_ns, 4000);
	assert_int_equal(model->tasks.row[usage->gaps[0].before].end_ns, 3000);
	assert_int_equal(model->tasks.row[usage->gaps[0].after].start_ns, 4000);
	assert_int_equal(usage->gaps[1].start_ns, 5000);
	assert_int_equal(model->tasks.row[usage->gaps[1].before].end_ns, 5000);
	assert_true(device_utilization(usage) > 63.6 && device_utilization(usage) < 63.7);
	devices_free(usage, 1);
	model_free(model);
}

static void test_gap_ender(void **state)
{
	struct model *model = make_model(0, 100000);
	struct device_usage *usage;

	add(model, 1000, 2000, KERNEL);
	add(model, 3000, 4000, KERNEL)->enqueue_ns = 2900;
	add(model, 3000, 3500, KERNEL)->enqueue_ns = 2800;
	usage = analyse(model, &everything);
	assert_int_equal(usage->gap_count, 1);
	assert_int_equal(model->tasks.row[usage->gaps[0].after].enqueue_ns, 2800);
	devices_free(usage, 1);
	model_free(model);
}

static void test_classes(void **state)
{
	struct model *model = make_model(0, 100000);
	struct device_usage *usage;

	add(model, 1000, 2000, KERNEL);
	add(model, 1800, 2600, COMMUNICATION);
	add(model, 2400, 3000, COPY);
	add(model, 5000, 6000, KERNEL);
	add(model, 5200, 5400, COMMUNICATION);
	add(model, 8000, 9000, COPY); /* after the last compute task: not part of "free" */
	usage = analyse(model, &everything);
	assert_int_equal(usage->compute_ns, 2000);
	assert_int_equal(usage->communication_ns, 1000);
	assert_int_equal(usage->communication_not_overlapped_ns, 600);
	assert_int_equal(usage->copy_ns, 1600);
	assert_true(usage->has_free);
	assert_int_equal(usage->free_ns, 2400); /* 2600..5000 */
	assert_int_equal(usage->busy_ns, 1000 + 1000 + 1000 + 1000);
	devices_free(usage, 1);
	model_free(model);
}

static void test_window(void **state)
{
	struct model *model = make_model(0, 100000);
	const struct analysis_options options = { .from_ns = 1500, .to_ns = 4500 };
	const struct analysis_options between = { .from_ns = 2500, .to_ns = 2600 };
	const struct analysis_options after = { .from_ns = 50000, .to_ns = 60000 };
	struct device_usage *usage;

	add(model, 1000, 2000, KERNEL);
	add(model, 4000, 5000, KERNEL);
	add(model, 9000, 9100, KERNEL);
	usage = analyse(model, &options);
	assert_int_equal(usage->tasks, 2);
	assert_int_equal(usage->window_start_ns, 1500);
	assert_int_equal(usage->window_ns, 3000);
	assert_int_equal(usage->busy_ns, 1000);
	assert_int_equal(usage->idle_ns, 2000);
	assert_int_equal(usage->compute_ns, 1000);
	assert_int_equal(usage->streams[0].busy_ns, 1000);
	devices_free(usage, 1);

	assert_int_equal(devices_analyse(model, &between, &usage), 0);
	assert_int_equal(usage->window_ns, 100);
	assert_int_equal(usage->idle_ns, 100);
	assert_int_equal(usage->gap_count, 1);
	assert_int_equal(model->tasks.row[usage->gaps[0].after].start_ns, 4000);
	devices_free(usage, 1);

	assert_int_equal(devices_analyse(model, &after, &usage), 0);
	assert_int_equal(usage->window_ns, 0);
	assert_int_equal(usage->gap_count, 0);
	devices_free(usage, 1);
	model_free(model);
}

static void test_streams(void **state)
{
	struct model *model = make_model(0, 100000);
	struct device_usage *usage;

	add(model, 1000, 2000, KERNEL)->stream = 0xffff888800001111;
	add(model, 1500, 1900, KERNEL)->stream = 0xffff888800001111;
	add(model, 3000, 3500, COPY)->stream = 2;
	add(model, 3600, 3700, SYNC)->stream = 2;
	add(model, 3600, 3700, SYNC)->stream = 3;
	usage = analyse(model, &everything);
	assert_int_equal(usage->stream_count, 3);
	assert_int_equal(usage->streams[0].id, 2);
	assert_int_equal(usage->streams[0].tasks, 2);
	assert_int_equal(usage->streams[0].busy_ns, 500);
	assert_int_equal(usage->streams[1].id, 3);
	assert_int_equal(usage->streams[1].busy_ns, 0);
	assert_int_equal(usage->streams[1].last_end_ns, 0);
	assert_int_equal(usage->streams[2].tasks, 2);
	assert_int_equal(usage->streams[2].busy_ns, 1000);
	assert_int_equal(usage->streams[2].first_start_ns, 1000);
	assert_int_equal(usage->streams[2].last_end_ns, 2000);
	devices_free(usage, 1);
	model_free(model);
}

static void test_pids(void **state)
{
	struct model *model = make_model(0, 100000);
	uint32_t process = small_process(model, 200, "other", true);
	const uint32_t pids[] = { 200 };
	const struct analysis_options options = { .pids = pids, .pid_count = 1 };
	struct device_usage *usage;

	small_device(model, process, "second", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	add(model, 1000, 2000, KERNEL);
	small_task(model, 1, 1000, 4000);
	usage = analyse(model, &options);
	assert_int_equal(usage[0].tasks, 0);
	assert_int_equal(usage[1].tasks, 1);
	assert_int_equal(usage[1].busy_ns, 3000);
	devices_free(usage, 2);
	model_free(model);
}

static void test_nothing(void **state)
{
	struct model *model = make_model(0, 100000);
	struct device_usage *usage;

	add(model, 1000, 2000, SYNC);
	add(model, 0, 0, KERNEL);
	usage = analyse(model, &everything);
	assert_int_equal(usage->tasks, 2);
	assert_int_equal(usage->window_ns, 0);
	assert_int_equal(usage->busy_ns, 0);
	assert_false(usage->has_free);
	assert_true(device_utilization(usage) == 0);
	devices_free(usage, 1);
	model_free(model);
}

/* Compared with a simple reference: one flag for each nanosecond. */
static void test_random(void **state)
{
	enum { SIZE = 5000 };
	static uint8_t busy[SIZE];

	srand(42);
	for (int round = 0; round < 200; round++) {
		struct model *model = make_model(0, SIZE);
		struct device_usage *usage;
		uint64_t expected = 0, first = SIZE, last = 0;
		uint32_t gaps = 0;

		memset(busy, 0, sizeof(busy));
		for (int i = 0; i < 40; i++) {
			uint64_t start_ns = 1 + (uint64_t)rand() % (SIZE - 200);
			uint64_t end_ns = start_ns + (uint64_t)rand() % 120;

			add(model, start_ns, end_ns, KERNEL);
			memset(busy + start_ns, 1, end_ns - start_ns);
		}
		for (uint64_t i = 0; i < SIZE; i++) {
			expected += busy[i];
			if (busy[i] && first == SIZE)
				first = i;
			if (busy[i])
				last = i + 1;
		}
		for (uint64_t i = first; i + 1 < last; i++)
			gaps += busy[i] && !busy[i + 1];
		usage = analyse(model, &everything);
		assert_int_equal(usage->busy_ns, expected);
		assert_int_equal(usage->compute_ns, expected);
		assert_int_equal(usage->window_ns, last - first);
		assert_int_equal(usage->idle_ns, last - first - expected);
		assert_int_equal(usage->free_ns, last - first - expected);
		assert_int_equal(usage->gap_count, gaps);
		assert_int_equal(usage->streams[0].busy_ns, expected);
		devices_free(usage, 1);
		model_free(model);
	}
}

#define INSTANTS 64

/* Intervals in any order, touching, nested: compared with a count instant by instant. */
static void test_union(void **state)
{
	uint64_t chance = 1;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		bool covered[INSTANTS + 1] = { false };
		struct intervals set = { 0 };
		uint32_t runs = 0, length = 0;

		for (int i = 0; i < 6; i++) {
			uint64_t start = (chance = chance * 6364136223846793005u + 1) >> 58;
			uint64_t end = start + ((chance = chance * 6364136223846793005u + 1) >> 60);

			end = end < INSTANTS ? end : INSTANTS;
			assert_int_equal(intervals_add(&set, start, end), 0);
			for (uint64_t at = start; at < end; at++)
				covered[at] = true;
		}
		for (int at = 0; at < INSTANTS; at++) {
			length += covered[at];
			runs += covered[at] && !covered[at + 1];
		}
		intervals_unite(&set);
		assert_int_equal(set.count, runs);
		assert_int_equal(intervals_length(&set), length);
		intervals_free(&set);
	}
}

/* One that begins with the interval added last, inside it, or at its end, extends that interval. */
static void test_extended(void **state)
{
	struct intervals set = { 0 };

	assert_int_equal(intervals_add(&set, 10, 20), 0);
	assert_int_equal(intervals_add(&set, 10, 30), 0);
	assert_int_equal(intervals_add(&set, 15, 25), 0);
	assert_int_equal(intervals_add(&set, 30, 40), 0);
	assert_int_equal(set.count, 1);
	assert_int_equal(set.row[0].end_ns, 40);
	assert_int_equal(intervals_add(&set, 9, 12), 0);
	assert_int_equal(set.count, 2);
	intervals_free(&set);
}

static void test_overlap(void **state)
{
	struct intervals a = { 0 }, b = { 0 };

	assert_int_equal(intervals_add(&a, 0, 10), 0);
	assert_int_equal(intervals_add(&a, 20, 30), 0);
	assert_int_equal(intervals_add(&a, 30, 30), 0);
	assert_int_equal(intervals_add(&b, 5, 25), 0);
	assert_int_equal(intervals_add(&b, 29, 50), 0);
	intervals_unite(&a);
	intervals_unite(&b);
	assert_int_equal(a.count, 2);
	assert_int_equal(intervals_length(&a), 20);
	assert_int_equal(intervals_overlap(&a, &b), 5 + 5 + 1);
	assert_int_equal(intervals_overlap(&b, &a), 11);
	intervals_free(&a);
	intervals_free(&b);
	intervals_unite(&a);
	assert_int_equal(intervals_length(&a), 0);
}

static void test_operators(void **state)
{
	struct model *model = make_model(0, 100000);
	uint32_t blur = model_string(model, "blur"), add_name = model_string(model, "add");
	const struct analysis_options options = { .from_ns = 900, .to_ns = 9000 };
	struct device_usage *usage;
	struct operator_usage *rows;
	struct operator_list list;

	add(model, 1000, 1300, KERNEL)->name = blur;
	add(model, 2000, 2100, KERNEL)->name = blur;
	add(model, 3000, 3100, KERNEL)->name = add_name;
	add(model, 4000, 4500, COPY)->name = 0;
	add(model, 5000, 5500, SYNC)->name = add_name;
	add(model, 0, 0, KERNEL)->name = add_name;
	add(model, 500, 950, KERNEL)->name = blur; /* starts before the analysed part */
	add(model, 8900, 9400, KERNEL)->name = add_name; /* ends after the part: counts as a whole */
	usage = analyse(model, &options);
	assert_int_equal(operators_analyse(model, &options, &list), 0);
	assert_int_equal(list.count, 3);
	rows = list.rows;
	assert_int_equal(rows[0].name, add_name);
	assert_int_equal(rows[0].count, 2);
	assert_int_equal(rows[0].total_ns, 600);
	assert_int_equal(rows[0].min_ns, 100);
	assert_int_equal(rows[0].max_ns, 500);
	assert_true(rows[0].percent > 39.9 && rows[0].percent < 40.1);
	assert_int_equal(rows[1].name, 0);
	assert_int_equal(rows[1].kind, COPY);
	assert_int_equal(rows[2].name, blur);
	assert_int_equal(rows[2].count, 2);
	assert_int_equal(rows[2].total_ns, 400);
	assert_string_equal(task_kind_name(COPY), "copy");
	assert_string_equal(task_kind_name(200), "other");
	operators_free(&list);
	devices_free(usage, 1);
	model_free(model);
}

/* Devices without tasks lie between devices with tasks. */
static void device_ends(void **state)
{
	static const uint32_t DEVICES[] = { 0, 0, 0, 2, 5, 5 };
	struct model *model = small_model(0, 1000);

	for (uint32_t i = 0; i < 6; i++)
		small_task(model, DEVICES[i], 10 + i, 20 + i);
	assert_int_equal(model_device_end(model, 0), 3);
	assert_int_equal(model_device_end(model, 2), 3);
	assert_int_equal(model_device_end(model, 3), 4);
	assert_int_equal(model_device_end(model, 4), 6);
	assert_int_equal(model_device_end(model, 5), 6);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_ends),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_union_and_gaps), cmocka_unit_test(test_gap_ender),
		cmocka_unit_test(test_classes),	       cmocka_unit_test(test_window),
		cmocka_unit_test(test_streams),	       cmocka_unit_test(test_pids),
		cmocka_unit_test(test_nothing),	       cmocka_unit_test(test_random),
		cmocka_unit_test(test_union), cmocka_unit_test(test_extended),
		cmocka_unit_test(test_overlap),	       cmocka_unit_test(test_operators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

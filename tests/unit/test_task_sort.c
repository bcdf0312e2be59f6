/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of device tasks by stream: with few streams, with one, with more than are distributed in one pass, and in any
 * input order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/model/task_sort.h"
#include "tests/unit/small_model.h"

#define TASKS 5000

static uint64_t chance;

static uint32_t any(uint32_t below)
{
	chance = chance * UINT64_C(6364136223846793005) + 1442695040888963407ull;
	return (uint32_t)(chance >> 33) % below;
}

/* @every: all rows, otherwise about every second one is left out; @swapped: rows are in any order. */
static void sort_streams(uint32_t streams, bool every, bool swapped)
{
	struct model *model = small_model(0, 10 * TASKS);
	uint32_t *rows = calloc(TASKS, sizeof(*rows)), count = 0;
	bool *left = calloc(TASKS, sizeof(*left));

	small_device(model, INDEX_NONE, "gpu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	for (uint32_t i = 0; i < TASKS; i++) {
		small_task(model, 0, 1 + i, 2 + i)->stream = UINT64_C(0x55d000001000) * (1 + any(streams));
		if (every || any(2))
			rows[count++] = i;
		else
			left[i] = true;
	}
	for (uint32_t i = 0; swapped && i < count; i++) {
		uint32_t other = any(count), row = rows[i];

		rows[i] = rows[other];
		rows[other] = row;
	}
	tasks_sort_by_stream(model, rows, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct device_task *tasks = model->tasks.row;

		assert_false(left[rows[i]]);
		left[rows[i]] = true;
		if (!i || tasks[rows[i - 1]].stream < tasks[rows[i]].stream)
			continue;
		assert_int_equal(tasks[rows[i - 1]].stream, tasks[rows[i]].stream);
		assert_true(rows[i - 1] < rows[i]);
	}
	free(left);
	free(rows);
	model_free(model);
}

static void streams_are_sorted(void **state)
{
	static const uint32_t STREAMS[] = { 1, 2, 7, 1024, 4000 };

	(void)state;
	for (size_t i = 0; i < sizeof(STREAMS) / sizeof(STREAMS[0]); i++) {
		chance = i;
		sort_streams(STREAMS[i], true, false);
		sort_streams(STREAMS[i], false, false);
		sort_streams(STREAMS[i], false, true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(streams_are_sorted) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

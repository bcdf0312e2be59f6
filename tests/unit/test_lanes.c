/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes for overlapping slices, and device tasks by stream. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/export/timeline/lanes.h"
#include "analyzer/export/timeline/task_order.h"
#include "tests/unit/small_model.h"

/* Places a slice as a writer does; returns its lane's number and its depth there. */
static uint32_t place(struct lanes *lanes, uint64_t start_ns, uint64_t end_ns, uint32_t *depth)
{
	struct lane *lane = lanes_place(lanes, start_ns, end_ns);
	uint64_t ended_ns;

	assert_non_null(lane);
	while (lane_pop(lane, start_ns, &ended_ns))
		assert_true(ended_ns <= start_ns);
	*depth = lane->depth;
	lane_push(lane, end_ns);
	return (uint32_t)(lane - lanes->lane);
}

static void slices_inside_each_other(void **state)
{
	struct lanes lanes = { .nest = true };
	uint32_t depth;

	assert_int_equal(place(&lanes, 0, 100, &depth), 0);
	assert_int_equal(place(&lanes, 0, 50, &depth), 0);
	assert_int_equal(depth, 1);
	assert_int_equal(place(&lanes, 50, 100, &depth), 0);
	assert_int_equal(depth, 1);
	/* It begins inside and ends outside. */
	assert_int_equal(place(&lanes, 60, 101, &depth), 1);
	assert_int_equal(depth, 0);
	assert_int_equal(place(&lanes, 100, 110, &depth), 0);
	assert_int_equal(depth, 0);
	/* Without length, at the end of another slice. */
	assert_int_equal(place(&lanes, 110, 110, &depth), 0);
	assert_int_equal(depth, 0);
	lanes_free(&lanes);
}

static void slices_beside_each_other(void **state)
{
	struct lanes lanes = { 0 };
	uint32_t depth;

	assert_int_equal(place(&lanes, 0, 100, &depth), 0);
	assert_int_equal(place(&lanes, 10, 20, &depth), 1);
	assert_int_equal(place(&lanes, 20, 30, &depth), 1);
	assert_int_equal(place(&lanes, 25, 40, &depth), 2);
	assert_int_equal(place(&lanes, 100, 130, &depth), 0);
	assert_int_equal(depth, 0);
	lanes_free(&lanes);
}

static void depth_is_bounded(void **state)
{
	struct lanes lanes = { .nest = true };
	uint32_t depth;

	for (uint32_t i = 0; i < LANE_DEPTH; i++)
		assert_int_equal(place(&lanes, i, 1000 - i, &depth), 0);
	assert_int_equal(place(&lanes, LANE_DEPTH, 1000 - LANE_DEPTH, &depth), 1);
	lanes_free(&lanes);
}

static void lanes_are_bounded(void **state)
{
	struct lanes lanes = { 0 };
	uint32_t depth;

	for (uint32_t i = 0; i < LANES_MAX; i++)
		assert_int_equal(place(&lanes, i, 1000000, &depth), i);
	assert_null(lanes_place(&lanes, 5000, 6000));
	/* A lane that becomes free is used again. */
	assert_non_null(lanes_place(&lanes, 1000000, 1000001));
	lanes_clear(&lanes);
	assert_int_equal(place(&lanes, 0, 1, &depth), 0);
	lanes_free(&lanes);
}

static void tasks_by_stream(void **state)
{
	struct model *model = small_model(0, 10000);
	uint32_t process = small_process(model, 10, "job", true);
	uint32_t first = small_device(model, process, "A", 0);
	uint32_t second = small_device(model, process, "B", 0);
	static const uint32_t expected[] = { 1, 3, 0, 2, 5 };
	uint32_t count, *order;

	small_task(model, first, 100, 200)->stream = 7;
	small_task(model, first, 150, 250)->stream = 3;
	small_task(model, first, 300, 400)->stream = 7;
	small_task(model, first, 350, 360)->stream = 3;
	small_task(model, first, 0, 0)->flags = MODEL_TASK_UNTIMED;
	small_task(model, second, 50, 60)->stream = 3;
	small_task(model, 77, 50, 60);
	order = task_order(model, &count);
	assert_non_null(order);
	assert_int_equal(count, sizeof(expected) / sizeof(expected[0]));
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(order[i], expected[i]);
	free(order);
	model_free(model);
}

static void queue_counts_tasks(void **state)
{
	struct model *model = small_model(0, 10000);
	uint32_t process = small_process(model, 10, "job", true);
	uint32_t device = small_device(model, process, "A", 0);
	static const struct task_queue_step expected[] = {
		{ 80, 1 }, { 90, 2 }, { 200, 1 }, { 250, 2 }, { 300, 0 }
	};
	struct task_queue_step *steps;
	uint32_t tasks, count, *order;

	small_task(model, device, 100, 200)->enqueue_ns = 80;
	small_task(model, device, 200, 300)->queued_ns = 90;
	/* Enqueued after its end (clocks disagree); and without length. */
	small_task(model, device, 250, 300)->enqueue_ns = 5000;
	small_task(model, device, 300, 300);
	order = task_order(model, &tasks);
	steps = task_queue_compute(model, order, tasks, &count);
	assert_int_equal(count, sizeof(expected) / sizeof(expected[0]));
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(steps[i].ns, expected[i].ns);
		assert_int_equal(steps[i].depth, expected[i].depth);
	}
	free(steps);
	free(order);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_inside_each_other),
		cmocka_unit_test(slices_beside_each_other),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(lanes_are_bounded),
		cmocka_unit_test(tasks_by_stream),
		cmocka_unit_test(queue_counts_tasks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

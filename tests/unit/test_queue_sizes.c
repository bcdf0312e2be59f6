/* SPDX-License-Identifier: Apache-2.0 */
/* The number of elements in a pipeline's queue, from pushes, pops and waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyzer/analyse/pipeline/pipeline_series.h"
#include "analyzer/frameworks/framework.h"

#define MS 1000000ull

static void event(struct pipeline *pipeline, uint64_t start_ns, uint64_t end_ns, int32_t change)
{
	struct pipeline_queue_event row = {
		.start_ns = start_ns, .end_ns = end_ns, .change = change, .size = -1
	};

	assert_true(MODEL_PUSH(&pipeline->queue_events, row));
}

static struct pipeline *one_queue(struct pipelines *pipelines, uint32_t capacity)
{
	struct pipeline *pipeline = pipeline_add(pipelines, "test", 0);
	struct pipeline_queue queue = { .to = INDEX_NONE, .capacity = capacity };

	assert_non_null(pipeline);
	assert_true(MODEL_PUSH(&pipeline->queues, queue));
	return pipeline;
}

static void sizes_from_start(void **state)
{
	struct pipelines pipelines = { { 0 } };
	struct pipeline *pipeline = one_queue(&pipelines, 4);

	pipeline->queues.row[0].from_start = true;
	/* The pop's return is recorded before that of the push that ended its wait. */
	event(pipeline, 10, 5 * MS, -1);
	event(pipeline, 4 * MS, 5 * MS + 10, 1);
	event(pipeline, 6 * MS, 6 * MS + 10, 1);
	pipeline_sort(pipeline);
	pipeline_count_sizes(pipeline, MS);
	assert_int_equal(pipeline->queues.row[0].first_size, 0);
	assert_int_equal(pipeline->queue_events.row[2].size, 1);
	pipelines_free(&pipelines);
}

static void sizes_from_waits(void **state)
{
	struct pipelines pipelines = { { 0 } };
	struct pipeline *pipeline = one_queue(&pipelines, 4);

	/* Two elements are popped before a pop has to wait: the element was pushed in the meantime. */
	event(pipeline, 10, 20, -1);
	event(pipeline, 30, 40, -1);
	event(pipeline, 3 * MS, 3 * MS + 10, 1);
	event(pipeline, 50, 3 * MS + 20, -1);
	pipeline_sort(pipeline);
	pipeline_count_sizes(pipeline, MS);
	assert_int_equal(pipeline->queues.row[0].first_size, 2);
	assert_int_equal(pipeline->queue_events.row[0].size, 1);
	assert_int_equal(pipeline->queue_events.row[3].size, 0);
	pipelines_free(&pipelines);
}

/* The waiting thread gets the CPU late, after a second push: the size at that time would be impossible. */
static void sizes_that_are_possible(void **state)
{
	struct pipelines pipelines = { { 0 } };
	struct pipeline *pipeline = one_queue(&pipelines, 4);

	event(pipeline, 10, 20, -1);
	event(pipeline, 30, 40, -1);
	event(pipeline, 3 * MS, 3 * MS + 10, 1);
	event(pipeline, 3 * MS + 11, 3 * MS + 15, 1);
	event(pipeline, 50, 3 * MS + 20, -1);
	pipeline_sort(pipeline);
	pipeline_count_sizes(pipeline, MS);
	assert_int_equal(pipeline->queues.row[0].first_size, 2);
	assert_int_equal(pipeline->queue_events.row[4].size, 1);
	pipelines_free(&pipelines);
}

static void sized(struct pipeline *pipeline, uint32_t queue, uint64_t end_ns, int32_t size)
{
	struct pipeline_queue_event row = { .queue = queue, .end_ns = end_ns, .size = size };

	assert_true(MODEL_PUSH(&pipeline->queue_events, row));
}

/* The size at each instant is that after the last event; an event of unknown size changes nothing. */
static void sizes_at_instants(void **state)
{
	static const uint32_t counted[] = { 3, 4, 5, 5, 2, 2 }, told[] = { 4, 4, 5, 5, 2, 2 };
	struct pipelines pipelines = { { 0 } };
	struct pipeline *pipeline = one_queue(&pipelines, 8);
	struct pipeline_queue second = { .to = INDEX_NONE, .capacity = 8, .first_size = 3 };
	uint32_t sizes[6];

	assert_true(MODEL_PUSH(&pipeline->queues, second));
	sized(pipeline, 0, 15, -1);
	sized(pipeline, 1, 10, 4);
	sized(pipeline, 1, 20, 5);
	sized(pipeline, 1, 30, -1);
	sized(pipeline, 1, 40, 2);
	assert_false(pipeline_queue_sizes(pipeline, 0, 0, 10, 6, sizes));
	assert_true(pipeline_queue_sizes(pipeline, 1, 0, 10, 6, sizes));
	assert_memory_equal(sizes, counted, sizeof(sizes));
	/* For a queue to a device the time before its first known size is unknown; that size is used. */
	pipeline->queues.row[1].to_device = true;
	assert_true(pipeline_queue_sizes(pipeline, 1, 0, 10, 6, sizes));
	assert_memory_equal(sizes, told, sizeof(sizes));
	pipelines_free(&pipelines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_from_start),
		cmocka_unit_test(sizes_from_waits),
		cmocka_unit_test(sizes_that_are_possible),
		cmocka_unit_test(sizes_at_instants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

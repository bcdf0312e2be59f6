/* SPDX-License-Identifier: Apache-2.0 */
/* How many elements a pipeline's queue holds, by who came and who waited. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

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
	/* The pop's return is recorded before that of the push which let it go. */
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

	/* Two elements are popped before one has to be waited for: it was pushed meanwhile. */
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

/* Who waited gets the CPU late, when a second element is there: the size it tells is not possible. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_from_start),
		cmocka_unit_test(sizes_from_waits),
		cmocka_unit_test(sizes_that_are_possible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

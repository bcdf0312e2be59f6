/* SPDX-License-Identifier: Apache-2.0 */
/* Shuffle's queue, whose pushes are no calls: the counters in the operator's memory show them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/frameworks/framework.h"
#include "tests/unit/small_model.h"

#define US 1000ull
#define DATASET "_ZN9mindspore7dataset"
#define CAPACITY 2
#define QUEUE 0x1000
#define INPUT 0x2000 /* the queue from which Shuffle takes rows */

enum { HANDLE = PROFBPF__FUNCTION__ROLE__HANDLE, VALUE = PROFBPF__FUNCTION__ROLE__VALUE,
       COUNT = PROFBPF__FUNCTION__ROLE__COUNT };

struct scene {
	struct model *model;
	uint32_t trainer, shuffle;
	uint32_t fetch, next, push, keep;
	struct pipelines pipelines;
};

static uint32_t function(struct model *model, const char *symbol, const uint8_t *roles)
{
	uint32_t i = small_function(model, "mindspore", symbol, PROFBPF__FUNCTION__KIND__QUEUE);

	model->functions.row[i].symbol = model_string(model, symbol);
	for (uint32_t r = 0; r < 3; r++)
		model->functions.row[i].roles[r] = roles[r];
	return i;
}

static uint32_t operator_thread(struct scene *s, uint32_t process, uint32_t tid, int32_t op,
				const char *name)
{
	uint32_t thread = small_thread(s->model, process, tid, "python");
	struct thread_role row = { .ts_ns = 1,
				   .thread = thread,
				   .op = op,
				   .tree = 0x7000,
				   .name = model_string(s->model, name),
				   .framework = model_string(s->model, "MindData") };

	assert_true(MODEL_PUSH(&s->model->thread_roles, row));
	return thread;
}

static struct scene set_scene(void)
{
	struct model *model = small_model(0, 100000 * US);
	struct scene s = { .model = model };
	uint32_t process = small_process(model, 1, "python", true);

	s.trainer = small_thread(model, process, 1, "python");
	s.fetch = function(model, DATASET "16IteratorConsumer15GetNextAsVectorEPv",
			   (uint8_t[3]){ 0 });
	s.next = function(model, DATASET "9DatasetOp10GetNextRowEPNS0_9TensorRowE",
			  (uint8_t[3]){ HANDLE, VALUE, COUNT });
	s.push = function(model, DATASET "5QueueINS0_9TensorRowEE3AddEOS2_",
			  (uint8_t[3]){ HANDLE, VALUE, COUNT });
	s.keep = function(model,
			  DATASET "9ShuffleOp21AddRowToShuffleBufferENS0_9TensorRowE",
			  (uint8_t[3]){ HANDLE, COUNT, VALUE });
	s.shuffle = operator_thread(&s, process, 2, 0, "ShuffleOp(ID:0)");
	operator_thread(&s, process, 3, 1, "GeneratorOp(ID:1)");
	return s;
}

static void call(struct scene *s, uint32_t thread, uint32_t function, uint64_t us, uint64_t to_us,
		 uint64_t first, uint64_t second, uint64_t third)
{
	uint32_t i = small_call(s->model, thread, function, us * US, to_us * US);

	s->model->calls.row[i].depth = function == s->next && thread == s->trainer;
	s->model->calls.row[i].args[0] = first;
	s->model->calls.row[i].args[1] = second;
	s->model->calls.row[i].args[2] = third;
}

/* Shuffle fetches a row for 4 us, then keeps it for 1 us. */
static void ask(struct scene *s, uint64_t us, uint64_t asked)
{
	call(s, s->shuffle, s->next, us, us + 4, INPUT, 1ull << 32 | CAPACITY, asked);
}

static void keep(struct scene *s, uint64_t us, uint64_t pushed, uint64_t popped)
{
	call(s, s->shuffle, s->keep, us, us + 1, QUEUE, popped, pushed);
}

static void take(struct scene *s, uint64_t us, uint64_t to_us, uint64_t popped)
{
	call(s, s->trainer, s->fetch, us, to_us + 1, 0, 0, 0);
	call(s, s->trainer, s->next, us, to_us, QUEUE, CAPACITY, popped);
}

struct expected {
	uint64_t us;
	int32_t change;
	int32_t size;
};

static void expect(struct scene *s, const struct expected *expected, uint32_t count)
{
	const struct pipeline *pipeline;
	uint32_t queue = 0, seen = 0;

	small_index(s->model);
	assert_int_equal(frameworks_build(s->model, &s->pipelines), 0);
	assert_int_equal(s->pipelines.list.count, 1);
	pipeline = &s->pipelines.list.row[0];
	while (queue < pipeline->queues.count &&
	       pipeline->operators.row[pipeline->queues.row[queue].from].id != 0)
		queue++;
	assert_true(queue < pipeline->queues.count);
	for (uint32_t i = 0; i < pipeline->queue_events.count; i++) {
		const struct pipeline_queue_event *event = &pipeline->queue_events.row[i];

		if (event->queue != queue)
			continue;
		assert_true(seen < count);
		assert_int_equal(event->end_ns, expected[seen].us * US);
		assert_int_equal(event->change, expected[seen].change);
		assert_int_equal(event->size, expected[seen].size);
		seen++;
	}
	assert_int_equal(seen, count);
	assert_int_equal(pipeline->queues.row[queue].pushes_unseen, count == 0);
	pipelines_free(&s->pipelines);
	model_free(s->model);
}

/* A buffer of three rows; five come, then the end of the epoch. */
static void use_epoch(struct scene *s)
{
	for (uint64_t i = 0; i < 3; i++) { /* fills its buffer */
		ask(s, 100 + 10 * i, i);
		keep(s, 105 + 10 * i, 0, 0);
	}
	ask(s, 130, 3); /* a push before that call, and one before the next */
	keep(s, 135, 1, 0);
	ask(s, 140, 4);
	keep(s, 145, 2, 0);
	ask(s, 220, 5); /* the queue was full until 200; no more rows arrive */
	call(s, s->shuffle, s->push, 430, 600, QUEUE, 1, 5); /* the end of the epoch, as soon as there is room */
	take(s, 199, 200, 0);
	take(s, 299, 300, 1);
	take(s, 399, 400, 2);
	take(s, 599, 600, 3);
	take(s, 699, 700, 4);
	take(s, 799, 800, 5);
}

static void sizes(void **state)
{
	const struct expected expected[] = {
		{ 130, 1, 1 }, { 140, 1, 2 }, { 200, -1, 1 }, { 220, 1, 2 }, /* it waited for room */
		{ 300, 1, 2 }, { 300, -1, 2 }, { 400, 1, 2 }, { 400, -1, 2 }, /* the rest of the buffer */
		{ 600, 1, 2 }, { 600, -1, 2 }, { 700, -1, 1 }, { 800, -1, 0 },
	};
	struct scene s = set_scene();

	(void)state;
	use_epoch(&s);
	expect(&s, expected, sizeof(expected) / sizeof(expected[0]));
}

/* Rows taken since the counters were read make room at once. */
static void taken_meanwhile(void **state)
{
	const struct expected expected[] = {
		{ 120, 1, 1 }, { 130, 1, 2 }, { 137, -1, 1 }, { 138, -1, 0 }, { 140, 1, 1 },
		{ 144, 1, 2 }, { 300, 1, 2 },  { 300, -1, 2 }, { 400, -1, 1 },
	};
	struct scene s = set_scene();

	(void)state;
	ask(&s, 110, 0);
	keep(&s, 115, 0, 0);
	ask(&s, 120, 1);
	keep(&s, 125, 1, 0);
	ask(&s, 130, 2);
	keep(&s, 135, 2, 0);
	ask(&s, 140, 3);
	call(&s, s.shuffle, s.push, 150, 300, QUEUE, 2, 4); /* the end of all epochs */
	take(&s, 136, 137, 0);
	take(&s, 138, 138, 1);
	take(&s, 299, 300, 2);
	take(&s, 399, 400, 3);
	expect(&s, expected, sizeof(expected) / sizeof(expected[0]));
}

/* Fewer rows than the buffer has room for: all are pushed after the end of the epoch arrived. */
static void small_epoch(void **state)
{
	const struct expected expected[] = {
		{ 124, 1, 1 }, { 124, 1, 2 }, { 200, -1, 1 }, { 210, 1, 2 }, { 300, -1, 1 }, { 400, -1, 0 },
	};
	struct scene s = set_scene();

	(void)state;
	for (uint64_t i = 0; i < 2; i++) {
		ask(&s, 100 + 10 * i, i);
		keep(&s, 105 + 10 * i, 0, 0);
	}
	ask(&s, 120, 2);
	call(&s, s.shuffle, s.push, 130, 210, QUEUE, 1, 2);
	take(&s, 199, 200, 0);
	take(&s, 299, 300, 1);
	take(&s, 399, 400, 2);
	expect(&s, expected, sizeof(expected) / sizeof(expected[0]));
}

/* Builds without push records: the last push at the end of an epoch is the epoch's end, not a row. */
static void untold_end(void **state)
{
	struct scene s = set_scene();
	const struct pipeline *pipeline;
	uint32_t rows = 0;

	(void)state;
	ask(&s, 100, 0);
	keep(&s, 105, 0, 0);
	ask(&s, 110, 1);
	keep(&s, 115, 0, 0);
	ask(&s, 120, 2);
	ask(&s, 500, 3); /* the next epoch: two rows and an end were pushed */
	keep(&s, 505, 3, 3);
	take(&s, 199, 200, 0);
	take(&s, 299, 300, 1);
	take(&s, 399, 400, 2);
	small_index(s.model);
	assert_int_equal(frameworks_build(s.model, &s.pipelines), 0);
	pipeline = &s.pipelines.list.row[0];
	for (uint32_t i = 0; i < pipeline->outputs.count; i++)
		rows += pipeline->operators.row[pipeline->outputs.row[i].op].id == 0;
	assert_int_equal(rows, 2);
	assert_int_equal(pipeline->fetches.count, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(pipeline->fetches.row[i].end_of_data, i == 2);
	pipelines_free(&s.pipelines);
	model_free(s.model);
}

/* Recording begins in the middle: two elements are in the queue, the third is pushed before the first record. */
static void from_the_middle(void **state)
{
	const struct expected expected[] = {
		{ 200, -1, 1 }, { 220, 1, 2 }, { 300, -1, 1 }, { 400, -1, 0 },
	};
	struct scene s = set_scene();

	(void)state;
	keep(&s, 145, 72, 70);
	ask(&s, 220, 75);
	keep(&s, 225, 73, 71);
	take(&s, 199, 200, 70);
	take(&s, 299, 300, 71);
	take(&s, 399, 400, 72);
	expect(&s, expected, sizeof(expected) / sizeof(expected[0]));
}

/* A build that keeps its operators elsewhere: the values cannot be counters. */
static void other_build(void **state)
{
	struct scene s = set_scene();
	const struct pipeline *pipeline;

	(void)state;
	for (uint64_t i = 0; i < 6; i++) {
		ask(&s, 120 + 10 * i, i);
		keep(&s, 125 + 10 * i, 1ull << 40, i << 20);
		take(&s, 199 + 100 * i, 200 + 100 * i, i);
	}
	small_index(s.model);
	assert_int_equal(frameworks_build(s.model, &s.pipelines), 0);
	pipeline = &s.pipelines.list.row[0];
	for (uint32_t i = 0; i < pipeline->queue_events.count; i++)
		assert_true(pipeline->queue_events.row[i].change <= 0);
	pipelines_free(&s.pipelines);
	model_free(s.model);
}

/* Wrong counters: a million more at each of a few calls must not create as many events each. */
static void bounded(void **state)
{
	struct scene s = set_scene();
	uint64_t events = 0;

	(void)state;
	for (uint64_t i = 0; i < 8; i++) {
		ask(&s, 120 + 10 * i, i);
		keep(&s, 125 + 10 * i, i << 20, (i << 20) - (i > 0));
		take(&s, 199 + 100 * i, 200 + 100 * i, i);
	}
	small_index(s.model);
	assert_int_equal(frameworks_build(s.model, &s.pipelines), 0);
	for (uint32_t i = 0; i < s.pipelines.list.count; i++)
		events += s.pipelines.list.row[i].queue_events.count;
	assert_in_range(events, 1, (1u << 20) + 64);
	pipelines_free(&s.pipelines);
	model_free(s.model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(small_epoch),
		cmocka_unit_test(untold_end),
		cmocka_unit_test(taken_meanwhile),
		cmocka_unit_test(from_the_middle),
		cmocka_unit_test(other_build),
		cmocka_unit_test(bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

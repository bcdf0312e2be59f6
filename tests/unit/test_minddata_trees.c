/* SPDX-License-Identifier: Apache-2.0 */
/* Several trees of MindData in one process: the tree of each thread and fetch. */
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
#define CAPACITY 4
#define TRAIN 0x7000 /* addresses of groups */
#define EVALUATE 0x8000

struct scene {
	struct model *model;
	uint32_t process, trainer, threads;
	uint32_t fetch, next, push, task, launch;
	struct pipelines pipelines;
};

/* A function with up to three recorded arguments. */
static uint32_t function(struct model *model, const char *symbol, const uint8_t *roles)
{
	uint32_t i = small_function(model, "mindspore", symbol, PROFBPF__FUNCTION__KIND__QUEUE);

	model->functions.row[i].symbol = model_string(model, symbol);
	for (uint32_t r = 0; r < 3; r++)
		model->functions.row[i].roles[r] = roles[r];
	return i;
}

static struct scene set_scene(void)
{
	enum { HANDLE = PROFBPF__FUNCTION__ROLE__HANDLE, VALUE = PROFBPF__FUNCTION__ROLE__VALUE,
	       GROUP = PROFBPF__FUNCTION__ROLE__CORRELATION };
	struct model *model = small_model(0, 100000 * US);
	struct scene s = { .model = model };

	s.process = small_process(model, 1, "python", true);
	s.trainer = small_thread(model, s.process, 1, "python");
	s.threads = 1;
	s.fetch = function(model, DATASET "16IteratorConsumer15GetNextAsVectorEPv", (uint8_t[3]){ 0 });
	s.next = function(model, DATASET "9DatasetOp10GetNextRowEPNS0_9TensorRowE",
			  (uint8_t[3]){ HANDLE, VALUE });
	s.push = function(model, DATASET "5QueueINS0_9TensorRowEE3AddEOS2_",
			  (uint8_t[3]){ HANDLE, VALUE });
	s.task = function(model, DATASET "4TaskclEv", (uint8_t[3]){ GROUP, VALUE });
	s.launch = function(model, DATASET "13ExecutionTree6LaunchEv", (uint8_t[3]){ GROUP });
	return s;
}

static void call(struct scene *s, uint32_t thread, uint32_t function, uint64_t us, uint64_t to_us,
		 uint8_t depth, uint64_t first, uint64_t second)
{
	uint32_t i = small_call(s->model, thread, function, us * US, to_us * US);

	s->model->calls.row[i].depth = depth;
	s->model->calls.row[i].args[0] = first;
	s->model->calls.row[i].args[1] = second;
}

/* Adds a thread of a batch operator, number 0 of its tree, that existed when recording began. */
static uint32_t found(struct scene *s, uint64_t group)
{
	uint32_t thread = small_thread(s->model, s->process, ++s->threads, "python");
	struct thread_role row = { .ts_ns = 1,
				   .thread = thread,
				   .op = 0,
				   .tree = group,
				   .name = model_string(s->model, "BatchOp(ID:0)"),
				   .framework = model_string(s->model, "MindData") };

	assert_true(MODEL_PUSH(&s->model->thread_roles, row));
	return thread;
}

/* Adds such a thread that begins at @us. */
static uint32_t started(struct scene *s, uint64_t us, uint64_t group)
{
	uint32_t thread = small_thread(s->model, s->process, ++s->threads, "python");
	uint32_t i = small_call(s->model, thread, s->task, us * US, 100000 * US);

	s->model->calls.row[i].args[0] = group;
	s->model->calls.row[i].args[1] = 0;
	s->model->calls.row[i].text = model_string(s->model, "BatchOp(ID:0)");
	return thread;
}

static void launch(struct scene *s, uint64_t us, uint64_t group)
{
	call(s, s->trainer, s->launch, us, us + 1, 0, group, 0);
}

/* Adds batches of a thread into a queue, and the trainer's fetches from it, one after the other. */
static void use(struct scene *s, uint32_t thread, uint64_t queue, uint64_t us, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		call(s, thread, s->push, us + 10 * i, us + 10 * i + 1, 1, queue, 0);
		call(s, s->trainer, s->fetch, us + 10 * i + 2, us + 10 * i + 5, 0, 0, 0);
		call(s, s->trainer, s->next, us + 10 * i + 3, us + 10 * i + 4, 1, queue, CAPACITY);
	}
}

static uint32_t pushes(const struct pipeline *pipeline)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < pipeline->queue_events.count; i++)
		count += pipeline->queue_events.row[i].change > 0;
	return count;
}

/* Checks the resulting trees, with their fetches and pushes. */
static void expect(struct scene *s, uint32_t trees, const uint32_t *fetches)
{
	small_index(s->model);
	assert_int_equal(frameworks_build(s->model, &s->pipelines), 0);
	assert_int_equal(s->pipelines.list.count, trees);
	for (uint32_t i = 0; i < trees; i++) {
		const struct pipeline *pipeline = &s->pipelines.list.row[i];

		assert_string_equal(pipeline->framework, "MindData");
		assert_int_equal(pipeline->operators.count, 1);
		assert_int_equal(pipeline->fetches.count, fetches[i]);
		assert_int_equal(pushes(pipeline), fetches[i]);
	}
	pipelines_free(&s->pipelines);
	model_free(s->model);
}

/* Both ran before recording began; the daemon read each thread's group. */
static void both_found(void **state)
{
	struct scene s = set_scene();
	uint32_t train = found(&s, TRAIN), evaluate = found(&s, EVALUATE);

	(void)state;
	use(&s, train, 0x100, 100, 3);
	use(&s, evaluate, 0x200, 200, 2);
	use(&s, train, 0x100, 300, 4);
	expect(&s, 2, (uint32_t[]){ 7, 2 });
}

/* One of the two starts another thread after a third tree was launched, which has ended by then. */
static void threads_start_late(void **state)
{
	struct scene s = set_scene();
	uint32_t first = found(&s, TRAIN), later, third;

	(void)state;
	launch(&s, 10, EVALUATE);
	third = started(&s, 11, EVALUATE);
	later = started(&s, 50, TRAIN);
	use(&s, first, 0x100, 100, 3);
	use(&s, later, 0x100, 200, 2);
	use(&s, third, 0x200, 300, 4);
	expect(&s, 2, (uint32_t[]){ 5, 4 });
}

/* Two trees are launched before the first one's threads have begun. */
static void launched_together(void **state)
{
	struct scene s = set_scene();
	uint32_t train, evaluate;

	(void)state;
	launch(&s, 10, TRAIN);
	launch(&s, 20, EVALUATE);
	train = started(&s, 30, TRAIN);
	evaluate = started(&s, 31, EVALUATE);
	use(&s, train, 0x100, 100, 3);
	use(&s, evaluate, 0x200, 200, 2);
	expect(&s, 2, (uint32_t[]){ 3, 2 });
}

/* The second tree reuses the memory of the first, including its queue's. */
static void memory_again(void **state)
{
	struct scene s = set_scene();
	uint32_t first, second;

	(void)state;
	launch(&s, 10, TRAIN);
	first = started(&s, 11, TRAIN);
	use(&s, first, 0x100, 100, 3);
	launch(&s, 200, TRAIN);
	second = started(&s, 201, TRAIN);
	use(&s, second, 0x100, 300, 2);
	expect(&s, 2, (uint32_t[]){ 3, 2 });
}

/* A build with another value at that place: a thread belongs to the last tree launched before it began. */
static void groups_elsewhere(void **state)
{
	struct scene s = set_scene();
	uint32_t first, second;

	(void)state;
	launch(&s, 10, TRAIN);
	first = started(&s, 11, 12);
	launch(&s, 20, EVALUATE);
	second = started(&s, 21, 12);
	use(&s, first, 0x100, 100, 3);
	use(&s, second, 0x200, 200, 2);
	expect(&s, 2, (uint32_t[]){ 3, 2 });
}

/* In such a build, too, a thread that begins while no tree was launched belongs to the tree from before recording. */
static void groups_found_only(void **state)
{
	struct scene s = set_scene();
	uint32_t first = found(&s, TRAIN), later;

	(void)state;
	later = started(&s, 50, 12);
	use(&s, first, 0x100, 100, 3);
	use(&s, later, 0x100, 200, 2);
	expect(&s, 1, (uint32_t[]){ 5 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_found),	     cmocka_unit_test(threads_start_late),
		cmocka_unit_test(launched_together), cmocka_unit_test(memory_again),
		cmocka_unit_test(groups_elsewhere),  cmocka_unit_test(groups_found_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

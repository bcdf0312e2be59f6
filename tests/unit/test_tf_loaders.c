/* SPDX-License-Identifier: Apache-2.0 */
/* Data sets of one process that iterates over several with tf.data: from synthetic calls with known answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/frameworks/framework.h"
#include "tests/unit/small_model.h"

#define US 1000ull
#define TRAIN 0x1000 /* addresses of data sets */
#define EVALUATE 0x2000
#define FETCHES 3 /* per epoch() */

struct scene {
	struct model *model;
	uint32_t job, main, next, fetch, set;
	struct pipelines pipelines;
};

static uint32_t function(struct model *model, const char *symbol)
{
	uint32_t row = small_function(model, "tensorflow", symbol, PROFBPF__FUNCTION__KIND__QUEUE);

	model->functions.row[row].runtime = model_string(model, "tensorflow");
	model->functions.row[row].symbol = model_string(model, symbol);
	return row;
}

static struct scene set_scene(void)
{
	struct scene s = { .model = small_model(0, 1000000 * US) };

	s.job = small_process(s.model, 10, "python", true);
	s.main = small_thread(s.model, s.job, 10, "python");
	s.next = function(s.model, "_ZN10tensorflow4data19DatasetBaseIterator7GetNextEx");
	s.fetch = function(s.model, "_ZN10tensorflow4data16IteratorResource7GetNextEx");
	s.set = function(s.model, "_ZN10tensorflow4data16IteratorResource22SetIteratorFromDatasetEx");
	s.model->functions.row[s.next].roles[0] = PROFBPF__FUNCTION__ROLE__HANDLE;
	s.model->functions.row[s.next].roles[1] = PROFBPF__FUNCTION__ROLE__CORRELATION;
	s.model->functions.row[s.next].roles[2] = PROFBPF__FUNCTION__ROLE__VALUE;
	s.model->functions.row[s.fetch].roles[0] = PROFBPF__FUNCTION__ROLE__HANDLE;
	s.model->functions.row[s.set].roles[0] = PROFBPF__FUNCTION__ROLE__HANDLE;
	s.model->functions.row[s.set].roles[1] = PROFBPF__FUNCTION__ROLE__VALUE;
	return s;
}

static void build(struct scene *s, uint32_t count)
{
	small_index(s->model);
	s->model->timelines.count = 0;
	assert_int_equal(frameworks_build(s->model, &s->pipelines), 0);
	assert_int_equal(s->pipelines.list.count, count);
}

static void release(struct scene *s)
{
	pipelines_free(&s->pipelines);
	model_free(s->model);
}

static void set(struct scene *s, uint64_t us, uint64_t resource, uint64_t data)
{
	uint32_t row = small_call(s->model, s->main, s->set, us * US, (us + 1) * US);

	s->model->calls.row[row].args[0] = resource;
	s->model->calls.row[row].args[1] = data;
}

static void next(struct scene *s, uint32_t thread, uint64_t us, uint64_t to_us, uint8_t depth,
		 uint64_t iterator, uint64_t asked_by, const char *path)
{
	uint32_t row = small_call(s->model, thread, s->next, us * US, to_us * US);

	s->model->calls.row[row].depth = depth;
	s->model->calls.row[row].args[0] = iterator;
	s->model->calls.row[row].args[1] = asked_by;
	s->model->calls.row[row].text = model_string(s->model, path);
}

/* The trainer takes a batch in 10 us: Root, at @root, calls a Prefetch at the next address. */
static void fetch(struct scene *s, uint64_t us, uint64_t resource, uint64_t root)
{
	uint32_t row = small_call(s->model, s->main, s->fetch, us * US, (us + 10) * US);

	s->model->calls.row[row].args[0] = resource;
	next(s, s->main, us + 1, us + 9, 1, root, 0, "Iterator::Root");
	next(s, s->main, us + 2, us + 8, 2, root + 1, root, "Iterator::Root::Prefetch");
}

static void epoch(struct scene *s, uint64_t us, uint64_t resource, uint64_t root)
{
	for (uint64_t i = 0; i < FETCHES; i++)
		fetch(s, us + 20 * i, resource, root);
}

/* The Prefetch's thread makes a batch in 5 us: a Map calls a Range. */
static void make(struct scene *s, uint32_t thread, uint64_t us, uint64_t root)
{
	next(s, thread, us, us + 5, 0, root + 2, root + 1, "Iterator::Root::Prefetch::Map");
	next(s, thread, us + 1, us + 2, 1, root + 3, root + 2, "Iterator::Root::Prefetch::Map::Range");
}

static bool has_thread(const struct pipeline *pipeline, uint32_t thread)
{
	for (uint32_t i = 0; i < pipeline->threads.count; i++)
		if (pipeline->threads.row[i].thread == thread)
			return true;
	return false;
}

static uint32_t outputs(const struct model *model, const struct pipeline *pipeline, const char *type)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < pipeline->outputs.count; i++) {
		const struct pipeline_output *output = &pipeline->outputs.row[i];

		count += strcmp(model_text(model, pipeline->operators.row[output->op].type), type) == 0;
	}
	return count;
}

/*
 * Both existed before recording began, have equal pipelines and are used in turn; each has a thread that works ahead.
 */
static void in_turn(void **state)
{
	struct scene s = set_scene();
	uint32_t one = small_thread(s.model, s.job, 11, "one");
	uint32_t two = small_thread(s.model, s.job, 12, "two");

	(void)state;
	for (uint64_t i = 0; i < 4; i++) {
		fetch(&s, 100 * i, 0x51, 0x100);
		if (i % 2)
			fetch(&s, 100 * i + 50, 0x52, 0x200);
	}
	for (uint64_t i = 0; i < 5; i++)
		make(&s, one, 100 * i, 0x100);
	for (uint64_t i = 0; i < 3; i++)
		make(&s, two, 100 * i, 0x200);
	build(&s, 2);
	assert_int_equal(s.pipelines.list.row[0].fetches.count, 4);
	assert_int_equal(s.pipelines.list.row[1].fetches.count, 2);
	assert_int_equal(outputs(s.model, &s.pipelines.list.row[0], "Map"), 5);
	assert_int_equal(outputs(s.model, &s.pipelines.list.row[1], "Map"), 3);
	assert_true(has_thread(&s.pipelines.list.row[0], one));
	assert_false(has_thread(&s.pipelines.list.row[0], two));
	assert_true(has_thread(&s.pipelines.list.row[1], two));
	release(&s);
}

/* Epochs of two data sets, whose resources and iterators are all at the same addresses. */
static void epochs(void **state)
{
	struct scene s = set_scene();
	uint32_t worker = small_thread(s.model, s.job, 11, "worker");

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		set(&s, 1000 * i + 10, 0x51, TRAIN);
		epoch(&s, 1000 * i + 100, 0x51, 0x100);
		set(&s, 1000 * i + 500, 0x51, EVALUATE);
		epoch(&s, 1000 * i + 600, 0x51, 0x100);
	}
	for (uint64_t i = 0; i < 3; i++) {
		/* Before the first fetch, but after the resource was filled. */
		make(&s, worker, 1000 * i + 20, 0x100);
		make(&s, worker, 1000 * i + 120, 0x100);
		make(&s, worker, 1000 * i + 510, 0x100);
	}
	build(&s, 2);
	assert_int_equal(s.pipelines.list.row[0].fetches.count, 3 * FETCHES);
	assert_int_equal(s.pipelines.list.row[1].fetches.count, 3 * FETCHES);
	assert_int_equal(outputs(s.model, &s.pipelines.list.row[0], "Range"), 6);
	assert_int_equal(outputs(s.model, &s.pipelines.list.row[1], "Range"), 3);
	release(&s);
}

/*
 * Recording begins in the middle of an epoch: the next epoch of the same data set is recognized by its turn, or by
 * being the only one.
 */
static void middle(void **state)
{
	struct scene s = set_scene();

	(void)state;
	epoch(&s, 100, 0x51, 0x100);
	set(&s, 500, 0x52, EVALUATE);
	epoch(&s, 600, 0x52, 0x200);
	set(&s, 900, 0x51, TRAIN);
	epoch(&s, 1000, 0x51, 0x100);
	set(&s, 1400, 0x52, EVALUATE);
	epoch(&s, 1500, 0x52, 0x200);
	build(&s, 2);
	assert_int_equal(s.pipelines.list.row[0].fetches.count, 2 * FETCHES);
	assert_int_equal(s.pipelines.list.row[0].fetches.row[FETCHES].start_ns, 1000 * US);
	release(&s);

	s = set_scene();
	epoch(&s, 100, 0x51, 0x100);
	set(&s, 500, 0x51, TRAIN);
	epoch(&s, 600, 0x51, 0x100);
	build(&s, 1);
	release(&s);
}

/* Two data sets used in turn before recording began: each continues as one of the two that are used in turn later. */
static void both_in_the_middle(void **state)
{
	struct scene s = set_scene();

	(void)state;
	for (uint64_t e = 0; e < 2; e++) {
		uint64_t from = 1000 * e, root = 0x1000 * e;

		if (e) {
			set(&s, from + 10, 0x51, TRAIN);
			set(&s, from + 20, 0x52, EVALUATE);
		}
		for (uint64_t i = 0; i < 3; i++)
			fetch(&s, from + 100 * i + 100, 0x51, root + 0x100);
		fetch(&s, from + 150, 0x52, root + 0x200);
		fetch(&s, from + 250, 0x52, root + 0x200);
	}
	build(&s, 2);
	assert_int_equal(s.pipelines.list.row[0].fetches.count, 6);
	assert_int_equal(s.pipelines.list.row[1].fetches.count, 4);
	release(&s);
}

/* A data set still in use while another one is used is not that one's earlier epoch. */
static void at_once(void **state)
{
	struct scene s = set_scene();

	(void)state;
	fetch(&s, 100, 0x51, 0x100);
	set(&s, 500, 0x52, EVALUATE);
	epoch(&s, 600, 0x52, 0x200);
	fetch(&s, 900, 0x51, 0x100);
	build(&s, 2);
	assert_int_equal(s.pipelines.list.row[0].fetches.count, 2);
	assert_int_equal(s.pipelines.list.row[1].fetches.count, FETCHES);
	release(&s);
}

/* A data set with another pipeline does not become the same because an address is reused. */
static void address_again(void **state)
{
	struct scene s = set_scene();
	uint32_t worker = small_thread(s.model, s.job, 11, "worker");

	(void)state;
	set(&s, 10, 0x51, TRAIN);
	epoch(&s, 100, 0x51, 0x100);
	set(&s, 500, 0x52, TRAIN);
	epoch(&s, 600, 0x52, 0x200);
	make(&s, worker, 150, 0x100);
	next(&s, worker, 650, 655, 0, 0x202, 0x201, "Iterator::Root::Prefetch::Batch");
	build(&s, 2);
	release(&s);
}

/*
 * An iterator that is called only once, before its callers were recorded, has an unknown caller: it belongs to the
 * only data set with that pipeline.
 */
static void way_up_unknown(void **state)
{
	struct scene s = set_scene();
	uint32_t worker = small_thread(s.model, s.job, 11, "worker");

	(void)state;
	epoch(&s, 100, 0x51, 0x100);
	next(&s, worker, 150, 155, 0, 0x305, 0x304, "Iterator::Root::Prefetch::Map::Shuffle::Range");
	build(&s, 1);
	assert_int_equal(s.pipelines.list.row[0].fetches.count, FETCHES);
	assert_int_equal(outputs(s.model, &s.pipelines.list.row[0], "Range"), 1);
	release(&s);
}

/* A file from before iterators were distinguished: all are one data set. */
static void no_addresses(void **state)
{
	struct scene s = set_scene();
	struct function *row;

	(void)state;
	for (uint32_t i = 0; i < s.model->functions.count; i++) {
		row = &s.model->functions.row[i];
		memset(row->roles, 0, sizeof(row->roles));
	}
	epoch(&s, 100, 0x51, 0x100);
	epoch(&s, 600, 0x52, 0x200);
	build(&s, 1);
	assert_int_equal(s.pipelines.list.row[0].fetches.count, 2 * FETCHES);
	release(&s);
}

#define FUTEX 202
#define PARALLEL_MAP "Iterator::Root::Prefetch::ParallelMapV2"

static void wake(struct model *model, uint64_t us, uint32_t waker, uint32_t thread)
{
	struct wake row = { .ts_ns = us * US, .waker_thread = waker, .thread = thread };

	assert_true(MODEL_PUSH(&model->wakes, row));
}

/*
 * The Prefetch's thread takes four elements, 100 us apart, of a parallel map(), whose function the threads of a pool
 * run in turn for 80 us each; @ahead: two elements are in progress at a time. Returns the reported number of workers.
 */
static uint32_t pool_workers(bool ahead)
{
	struct scene s = set_scene();
	uint32_t ask = small_thread(s.model, s.job, 11, "prefetch"), pool[2], workers = UINT32_MAX;

	for (uint32_t i = 0; i < 2; i++)
		pool[i] = small_thread(s.model, s.job, 12 + i, "pool");
	fetch(&s, 10, 0x100, TRAIN);
	for (uint64_t i = 0; i < 4; i++)
		next(&s, ask, 1000 + 100 * i, 1095 + 100 * i, 0, TRAIN + 2, TRAIN + 1, PARALLEL_MAP);
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t us = 1000 + 100 * i;

		small_span(s.model, ask, us * US, (us + 10) * US, STATE_RUNNING);
		small_sleep(s.model, ask, (us + 10) * US, (us + 90) * US, FUTEX, pool[i % 2], 0);
	}
	for (uint32_t k = 0; k < 2; k++) {
		uint64_t last_us = 900;

		for (uint64_t i = k; i < 4; i += 2) {
			uint64_t end_us = 1090 + 100 * i, start_us = end_us - (ahead && i ? 170 : 80);

			small_sleep(s.model, pool[k], last_us * US, start_us * US, FUTEX, ask, 0);
			small_span(s.model, pool[k], start_us * US, end_us * US, STATE_RUNNING);
			last_us = end_us;
		}
	}
	for (uint64_t i = 0; i < 4; i++) {
		if (!ahead || !i)
			wake(s.model, 1010 + 100 * i, ask, pool[i % 2]);
		if (ahead && i < 3)
			wake(s.model, 1020 + 100 * i, ask, pool[(i + 1) % 2]);
		wake(s.model, 1090 + 100 * i, pool[i % 2], ask);
	}
	small_index(s.model);
	assert_int_equal(frameworks_build(s.model, &s.pipelines), 0);
	assert_int_equal(s.pipelines.list.count, 1);
	for (uint32_t op = 0; op < s.pipelines.list.row[0].operators.count; op++) {
		const struct pipeline_operator *row = &s.pipelines.list.row[0].operators.row[op];

		if (strcmp(model_text(s.model, row->type), "ParallelMapV2") == 0)
			workers = row->workers;
	}
	release(&s);
	return workers;
}

/* Which of a pool's threads takes the next element is chance: workers are the threads at work at the same time. */
static void pool_in_turn(void **state)
{
	assert_int_equal(pool_workers(false), 1);
	assert_int_equal(pool_workers(true), 2);
}

/*
 * The thread of a parallel map() takes elements of a Generator, whose function a thread of the pool runs meanwhile:
 * the time counts once for the Generator, and not for the map.
 */
static void pool_of_generator(void **state)
{
	struct scene s = set_scene();
	uint32_t ask = small_thread(s.model, s.job, 11, "map"), pool, works = 0;
	const struct pipeline *pipeline;

	pool = small_thread(s.model, s.job, 12, "pool");
	fetch(&s, 10, 0x100, TRAIN);
	for (uint64_t i = 0; i < 4; i++)
		next(&s, ask, 1000 + 100 * i, 1095 + 100 * i, 0, TRAIN + 2, TRAIN + 1,
		     PARALLEL_MAP "::Generator");
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t us = 1000 + 100 * i;

		small_span(s.model, ask, us * US, (us + 10) * US, STATE_RUNNING);
		small_sleep(s.model, ask, (us + 10) * US, (us + 90) * US, FUTEX, pool, 0);
	}
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t us = 1000 + 100 * i;

		small_sleep(s.model, pool, (us - 10) * US, (us + 10) * US, FUTEX, ask, 0);
		small_span(s.model, pool, (us + 10) * US, (us + 90) * US, STATE_RUNNING);
		wake(s.model, us + 10, ask, pool);
		wake(s.model, us + 90, pool, ask);
	}
	small_index(s.model);
	assert_int_equal(frameworks_build(s.model, &s.pipelines), 0);
	assert_int_equal(s.pipelines.list.count, 1);
	pipeline = &s.pipelines.list.row[0];
	for (uint32_t i = 0; i < pipeline->works.count; i++) {
		const struct pipeline_work *work = &pipeline->works.row[i];

		if (work->thread == s.main)
			continue;
		assert_string_equal(model_text(s.model, pipeline->operators.row[work->op].type),
				    "Generator");
		assert_int_equal(work->thread, ask);
		works++;
	}
	assert_int_equal(works, 4);
	release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_turn),	 cmocka_unit_test(epochs),
		cmocka_unit_test(middle),	 cmocka_unit_test(both_in_the_middle),
		cmocka_unit_test(at_once),
		cmocka_unit_test(address_again), cmocka_unit_test(way_up_unknown),
		cmocka_unit_test(no_addresses), cmocka_unit_test(pool_in_turn),
		cmocka_unit_test(pool_of_generator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

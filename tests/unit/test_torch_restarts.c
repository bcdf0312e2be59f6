/* SPDX-License-Identifier: Apache-2.0 */
/* Worker processes of PyTorch's DataLoader that end with each epoch, and what starting others costs the trainer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/frameworks/framework.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull
#define TENSOR "_ZN2at12MapAllocatorC1ENS_6WithFdEx"
#define ENTER "_ZN5torch8autograd8profiler25record_function_enter_newEx"
#define EXIT "_ZN5torch8autograd8profilerL24record_function_exit_newEx"
#define LOADER "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
#define EPOCHS 3
#define BATCHES 4
#define WORKERS 2
#define BURST 4
#define BURSTS 4
#define UNEVEN 16

/*
 * An epoch takes 200 ms: two workers start 10 and 20 ms after its beginning and have started up 25 ms later; fetches of
 * 10 ms, the first of 30 ms, from 30 ms on; the end of the data from 150 ms on takes 12 ms, until the workers have ended.
 */
struct scene {
	struct model *model;
	uint32_t main, tensor, enter, leave;
	struct pipelines pipelines;
};

static uint32_t function(struct model *model, const char *symbol)
{
	uint32_t row = small_function(model, "torch", symbol, PROFBPF__FUNCTION__KIND__STAGE);

	model->functions.row[row].runtime = model_string(model, "torch");
	model->functions.row[row].symbol = model_string(model, symbol);
	return row;
}

static void call(struct scene *s, uint32_t of, uint64_t ms, const char *text)
{
	uint32_t row = small_call(s->model, s->main, of, ms * MS, ms * MS + 1000);

	s->model->calls.row[row].text = model_string(s->model, text);
}

static void fetch(struct scene *s, uint64_t from_ms, uint64_t to_ms, bool end)
{
	call(s, s->enter, from_ms, LOADER);
	if (!end)
		call(s, s->tensor, to_ms - 1, "");
	call(s, s->leave, to_ms, "");
}

static uint32_t add_worker(struct scene *s, uint32_t pid, uint64_t start_ms, uint64_t ready_ms, uint64_t exit_ms)
{
	uint32_t process = small_process(s->model, pid, "pt_data_worker", true);
	uint32_t thread = small_thread(s->model, process, pid, "pt_data_worker");

	s->model->processes.row[process].parent_pid = 10;
	s->model->processes.row[process].start_ns = start_ms * MS;
	s->model->processes.row[process].exit_ns = exit_ms * MS;
	s->model->threads.row[thread].first_ns = s->model->threads.row[thread].start_ns = start_ms * MS;
	s->model->threads.row[thread].exit_ns = exit_ms * MS;
	s->model->threads.row[thread].named_ns = ready_ms * MS;
	return thread;
}

static void begin(struct scene *s, uint32_t workers, bool persistent)
{
	*s = (struct scene){ .model = small_model(100 * MS, 3000 * MS) };
	s->main = small_thread(s->model, small_process(s->model, 10, "python", true), 10, "python");
	s->tensor = function(s->model, TENSOR);
	s->enter = function(s->model, ENTER);
	s->leave = function(s->model, EXIT);
	for (uint64_t e = 0; e < EPOCHS; e++) {
		uint64_t ms = 200 + 200 * e;
		uint32_t worker[WORKERS];

		for (uint32_t w = 0; w < workers && (!persistent || !e); w++)
			worker[w] = add_worker(s, 11 + 10 * (uint32_t)e + w, ms + 10 + 10 * w, ms + 35 + 10 * w,
					       persistent ? 0 : ms + 160);
		fetch(s, ms + 30, ms + 60, false);
		for (uint64_t i = 1; i < BATCHES; i++)
			fetch(s, ms + 60 + 20 * i, ms + 70 + 20 * i, false);
		for (uint64_t i = 0; i < BATCHES; i++) {
			struct wake wake = { .ts_ns = (i ? ms + 65 + 20 * i : ms + 55) * MS,
					     .thread = s->main,
					     .waker_thread = worker[i % workers],
					     .object = INDEX_NONE };

			assert_true(MODEL_PUSH(&s->model->wakes, wake));
		}
		fetch(s, ms + 150, ms + 162, true);
	}
	small_index(s->model);
	assert_int_equal(frameworks_build(s->model, &s->pipelines), 0);
	assert_int_equal(s->pipelines.list.count, 1);
}

/*
 * Four workers that take 60 ms for a batch each and deliver at once: a burst of four fetches each 60 ms. An epoch takes
 * 400 ms; its first fetch lasts from 30 to 100 ms, while a batch of the workers would have taken 60.
 */
static void begin_bursts(struct scene *s)
{
	*s = (struct scene){ .model = small_model(100 * MS, 3000 * MS) };
	s->main = small_thread(s->model, small_process(s->model, 10, "python", true), 10, "python");
	s->tensor = function(s->model, TENSOR);
	s->enter = function(s->model, ENTER);
	s->leave = function(s->model, EXIT);
	for (uint64_t e = 0; e < EPOCHS; e++) {
		uint64_t ms = 200 + 400 * e, from_ms = ms + 30;
		uint32_t worker[BURST];

		for (uint32_t w = 0; w < BURST; w++)
			worker[w] = add_worker(s, 11 + 10 * (uint32_t)e + w, ms + 10, ms + 35, ms + 360);
		for (uint64_t i = 0; i < BURSTS * BURST; i++) {
			uint64_t to_ms = ms + 100 + 60 * (i / BURST) + 2 * (i % BURST);
			struct wake wake = { .ts_ns = (to_ms - 1) * MS,
					     .thread = s->main,
					     .waker_thread = worker[i % BURST],
					     .object = INDEX_NONE };

			fetch(s, from_ms, to_ms, false);
			assert_true(MODEL_PUSH(&s->model->wakes, wake));
			from_ms = to_ms + 1;
		}
		fetch(s, ms + 350, ms + 362, true);
	}
	small_index(s->model);
	assert_int_equal(frameworks_build(s->model, &s->pipelines), 0);
	assert_int_equal(s->pipelines.list.count, 1);
}

/*
 * One worker, whose batches take 20, 60 or 140 ms in turn; the first of each epoch takes 10 ms more. An epoch takes
 * 1,200 ms, and its first batch is the next one in turn.
 */
static void begin_uneven(struct scene *s, uint64_t epochs)
{
	static const uint64_t BATCH_MS[] = { 20, 20, 140, 20, 60, 20, 20 };
	uint64_t batch = 0;

	*s = (struct scene){ .model = small_model(100 * MS, 10000 * MS) };
	s->main = small_thread(s->model, small_process(s->model, 10, "python", true), 10, "python");
	s->tensor = function(s->model, TENSOR);
	s->enter = function(s->model, ENTER);
	s->leave = function(s->model, EXIT);
	for (uint64_t e = 0; e < epochs; e++) {
		uint64_t ms = 200 + 1200 * e, from_ms = ms + 30;
		uint32_t worker = add_worker(s, 11 + (uint32_t)e, ms + 10, ms + 30, ms + 1160);

		for (uint64_t i = 0; i < UNEVEN; i++) {
			uint64_t to_ms = from_ms + BATCH_MS[batch++ % 7] + (i ? 0 : 10);
			struct wake wake = { .ts_ns = (to_ms - 1) * MS,
					     .thread = s->main,
					     .waker_thread = worker,
					     .object = INDEX_NONE };

			fetch(s, from_ms, to_ms, false);
			assert_true(MODEL_PUSH(&s->model->wakes, wake));
			from_ms = to_ms;
		}
		fetch(s, ms + 1150, ms + 1162, true);
	}
	small_index(s->model);
	assert_int_equal(frameworks_build(s->model, &s->pipelines), 0);
	assert_int_equal(s->pipelines.list.count, 1);
}

static void end(struct scene *s)
{
	pipelines_free(&s->pipelines);
	model_free(s->model);
}

static void expect(const struct scene *s, uint32_t count, uint64_t make_ms, uint64_t wait_ms)
{
	const struct pipeline *pipeline = &s->pipelines.list.row[0];

	assert_int_equal(pipeline->restarts.count, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct pipeline_restart *restart = &pipeline->restarts.row[i];

		assert_int_equal(restart->start_ns, (430 + 200 * i) * MS);
		assert_int_equal(restart->make_ns, make_ms * MS + 12 * MS);
		assert_int_equal(restart->wait_ns, wait_ms * MS);
		assert_int_equal(restart->fetch_ns, 30 * MS);
		assert_int_equal(restart->op, 0);
	}
}

/* The workers of the first epoch are no restart. */
static void each_epoch(void **state)
{
	struct scene s;

	(void)state;
	begin(&s, WORKERS, false);
	/* From 10 ms before the first worker's start, as long as between both, to the first fetch, which waits 5 ms. */
	expect(&s, EPOCHS - 1, 30, 5);
	end(&s);
	begin(&s, 1, false);
	/* A worker makes a batch in 20 ms, but the first one takes 10 ms more. */
	expect(&s, EPOCHS - 1, 20, 10);
	end(&s);
}

static void kept(void **state)
{
	struct scene s;

	(void)state;
	begin(&s, WORKERS, true);
	expect(&s, 0, 0, 0);
	end(&s);
}

/* The first batch's own work is no cost of the start, although three of four fetches take nothing. */
static void bursts(void **state)
{
	struct scene s;

	(void)state;
	begin_bursts(&s);
	assert_int_equal(s.pipelines.list.row[0].restarts.count, EPOCHS - 1);
	for (uint32_t i = 0; i < EPOCHS - 1; i++)
		assert_int_equal(s.pipelines.list.row[0].restarts.row[i].wait_ns, 10 * MS);
	end(&s);
}

/* The cost of a start is told apart from the first batch's own time, which may be anything. */
static void uneven(void **state)
{
	const struct pipeline *pipeline;
	struct scene s;

	(void)state;
	begin_uneven(&s, 8);
	pipeline = &s.pipelines.list.row[0];
	assert_int_equal(pipeline->restarts.count, 7);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(pipeline->restarts.row[i].wait_ns, 10 * MS);
	end(&s);
	/* Of a single start, whose first batch takes 150 ms, only what most batches do not take. */
	begin_uneven(&s, 2);
	pipeline = &s.pipelines.list.row[0];
	assert_int_equal(pipeline->restarts.count, 1);
	assert_int_equal(pipeline->restarts.row[0].wait_ns, 90 * MS);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_epoch),
		cmocka_unit_test(kept),
		cmocka_unit_test(bursts),
		cmocka_unit_test(uneven),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

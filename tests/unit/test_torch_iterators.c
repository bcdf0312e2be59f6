/* SPDX-License-Identifier: Apache-2.0 */
/* Iterators of PyTorch's DataLoader that are created first and then used in turn. */
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
#define BACKWARD "_ZN5torch8autograd6Engine7executeEx"
#define LOADER "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
#define POLL 7 /* x86-64 */
#define SESSION 100
#define FETCHES 80 /* of both together; then one that the end of the recording cuts off */
#define WORKERS 3
#define PIPES 3

/* Even fetches get the first worker's batches, odd ones those of the other two workers. */
struct scene {
	struct model *model;
	uint32_t main;
	uint32_t process[WORKERS], worker[WORKERS];
	uint32_t tensor, enter, leave;
	struct pipelines pipelines;
};

static uint32_t function(struct model *model, const char *symbol)
{
	uint32_t row = small_function(model, "torch", symbol, PROFBPF__FUNCTION__KIND__STAGE);

	model->functions.row[row].runtime = model_string(model, "torch");
	model->functions.row[row].symbol = model_string(model, symbol);
	return row;
}

static void call(struct scene *s, uint32_t thread, uint32_t of, uint64_t ms, const char *text)
{
	uint32_t row = small_call(s->model, thread, of, ms * MS, ms * MS + 1000);

	s->model->calls.row[row].text = model_string(s->model, text);
}

static uint32_t maker(uint32_t fetch)
{
	return fetch % 2 == 0 ? 0 : 1 + fetch / 2 % 2;
}

/* Each fetch takes 10 of 20 ms and opens its batch, except the first odd one, whose batch had arrived before. */
static void begin(struct scene *s, uint64_t workers_start_ms)
{
	uint32_t job;

	*s = (struct scene){ .model = small_model(SESSION * MS, 3000 * MS) };
	job = small_process(s->model, 10, "python", true);
	s->main = small_thread(s->model, job, 10, "python");
	s->tensor = function(s->model, TENSOR);
	s->enter = function(s->model, ENTER);
	s->leave = function(s->model, EXIT);
	for (uint32_t w = 0; w < WORKERS; w++) {
		s->process[w] = small_process(s->model, 11 + w, "pt_data_worker", true);
		s->worker[w] = small_thread(s->model, s->process[w], 11 + w, "pt_data_worker");
		s->model->processes.row[s->process[w]].parent_pid = 10;
		s->model->processes.row[s->process[w]].start_ns = workers_start_ms * MS;
	}
	for (uint32_t i = 0; i <= FETCHES; i++) {
		struct wake wake = { .ts_ns = (205 + 20 * i) * MS,
				     .thread = s->main,
				     .waker_thread = s->worker[maker(i)],
				     .object = INDEX_NONE };

		call(s, s->main, s->enter, 200 + 20 * i, LOADER);
		if (i == FETCHES)
			break;
		if (i != 1)
			call(s, s->main, s->tensor, 206 + 20 * i, "");
		call(s, s->main, s->leave, 210 + 20 * i, "");
		assert_true(MODEL_PUSH(&s->model->wakes, wake));
	}
}

/* Worker @w makes a batch every @every_ms. */
static void make_batches(struct scene *s, uint32_t w, uint32_t every_ms)
{
	for (uint32_t ms = 200; ms < 200 + 20 * FETCHES; ms += every_ms)
		call(s, s->worker[w], s->tensor, ms, "");
}

static void build(struct scene *s, uint32_t loaders)
{
	small_index(s->model);
	assert_int_equal(frameworks_build(s->model, &s->pipelines), 0);
	assert_int_equal(s->pipelines.list.count, loaders);
}

static void expect(const struct scene *s, uint32_t loader, uint32_t workers, uint32_t fetches,
		   uint32_t ends)
{
	const struct pipeline *pipeline = &s->pipelines.list.row[loader];
	uint32_t found = 0;

	assert_int_equal(pipeline->operators.row[0].workers, workers);
	assert_int_equal(pipeline->fetches.count, fetches);
	for (uint32_t i = 0; i < pipeline->fetches.count; i++)
		found += pipeline->fetches.row[i].end_of_data;
	assert_int_equal(found, ends);
}

static void end(struct scene *s)
{
	pipelines_free(&s->pipelines);
	model_free(s->model);
}

/* Workers of one iterator take turns: a worker that makes twice as many batches belongs to another iterator. */
static void by_turns(void **state)
{
	struct scene s;

	begin(&s, 50);
	make_batches(&s, 0, 40);
	make_batches(&s, 1, 80);
	make_batches(&s, 2, 80);
	build(&s, 2);
	expect(&s, 0, 1, 40, 0);
	expect(&s, 1, 2, 41, 0);
	end(&s);

	/* Workers that began in the recording had nothing ready before: a fetch without a batch was an end. */
	begin(&s, SESSION + 1);
	make_batches(&s, 0, 40);
	make_batches(&s, 1, 80);
	make_batches(&s, 2, 80);
	build(&s, 2);
	expect(&s, 0, 1, 40, 0);
	expect(&s, 1, 2, 41, 1);
	end(&s);

	/* Equal numbers of batches: one iterator. */
	begin(&s, 50);
	for (uint32_t w = 0; w < WORKERS; w++)
		make_batches(&s, w, 60);
	build(&s, 1);
	expect(&s, 0, 3, 81, 0);
	end(&s);
}

/* main sleeps at a pipe until the worker has written to it. */
static void wait_at(struct scene *s, uint32_t pipe, uint32_t w, uint64_t ms)
{
	small_sleep(s->model, s->main, ms * MS, (ms + 4) * MS, POLL, s->worker[w], 0);
	s->model->spans.row[s->model->spans.count - 1].object = pipe;
}

/* Each iterator has a pipe. A pipe that a worker wrote to once only signals the worker's end. */
static void by_pipes(void **state)
{
	struct scene s;

	begin(&s, 50);
	for (uint32_t w = 0; w < WORKERS; w++)
		make_batches(&s, w, 60);
	for (uint64_t pipe = 0; pipe < PIPES; pipe++) {
		struct sleep_object object = { .object = 7000 + pipe,
					       .kind = PROFBPF__SLEEP_OBJECTS__KIND__PIPE };

		assert_true(MODEL_PUSH(&s.model->sleep_objects, object));
	}
	wait_at(&s, 2, 2, 200);
	wait_at(&s, 0, 0, 210);
	wait_at(&s, 1, 1, 220);
	wait_at(&s, 0, 0, 230);
	wait_at(&s, 1, 1, 240);
	wait_at(&s, 1, 2, 250);
	wait_at(&s, 1, 2, 260);
	build(&s, 2);
	expect(&s, 0, 1, 40, 0);
	expect(&s, 1, 2, 41, 0);
	end(&s);

	/* Once each: their pipes are unknown. */
	begin(&s, 50);
	for (uint32_t w = 0; w < WORKERS; w++)
		make_batches(&s, w, 60);
	for (uint64_t pipe = 0; pipe < PIPES; pipe++) {
		struct sleep_object object = { .object = 7000 + pipe,
					       .kind = PROFBPF__SLEEP_OBJECTS__KIND__PIPE };

		assert_true(MODEL_PUSH(&s.model->sleep_objects, object));
		wait_at(&s, (uint32_t)pipe, (uint32_t)pipe, 200 + 10 * pipe);
	}
	build(&s, 1);
	end(&s);
}

/* A thread that talks to another loader's workers counts for its own loader only. */
static void of_one_loader(void **state)
{
	struct scene s;

	begin(&s, 50);
	make_batches(&s, 0, 40);
	make_batches(&s, 1, 80);
	make_batches(&s, 2, 80);
	for (uint64_t i = 0; i < 10; i++) {
		struct wake wake = { .ts_ns = (2100 + i) * MS,
				     .thread = s.worker[0],
				     .waker_thread = s.worker[1],
				     .object = INDEX_NONE };

		assert_true(MODEL_PUSH(&s.model->wakes, wake));
	}
	build(&s, 2);
	assert_int_equal(s.pipelines.list.row[0].threads.count, 1);
	assert_int_equal(s.pipelines.list.row[1].threads.count, 2);
	end(&s);
}

/* Returns whether all workers of the only loader are known to take turns, or none. */
static bool turns_known(const struct scene *s)
{
	const struct pipeline *pipeline = &s->pipelines.list.row[0];
	uint32_t known = 0;

	for (uint32_t i = 0; i < pipeline->threads.count; i++)
		known += pipeline->threads.row[i].set != 0;
	assert_true(known == 0 || known == pipeline->threads.count);
	return known;
}

/*
 * One of three workers is slow: the fetch of its batch opens those of the other two as well, which are there already,
 * and the two fetches after it open none. They are no ends of data.
 */
static void slow_worker(void **state)
{
	struct scene s;

	begin(&s, 50);
	s.model->calls.count = s.model->wakes.count = 0;
	for (uint32_t i = 0; i < FETCHES; i++) {
		call(&s, s.main, s.enter, 200 + 20 * i, LOADER);
		for (uint32_t t = 0; t < WORKERS && i % WORKERS == 1; t++)
			call(&s, s.main, s.tensor, 206 + 20 * i, "");
		call(&s, s.main, s.leave, 210 + 20 * i, "");
	}
	for (uint32_t w = 0; w < WORKERS; w++)
		make_batches(&s, w, 60);
	build(&s, 1);
	expect(&s, 0, WORKERS, FETCHES, 0);
	assert_true(turns_known(&s));
	end(&s);
}

/* The same with two workers: every other fetch opens none, but training follows. */
static void slow_of_two(void **state)
{
	struct scene s;
	uint32_t step;

	begin(&s, 50);
	step = function(s.model, BACKWARD);
	s.model->calls.count = s.model->wakes.count = 0;
	for (uint32_t i = 0; i < FETCHES; i++) {
		call(&s, s.main, s.enter, 200 + 20 * i, LOADER);
		for (uint32_t t = 0; t < 2 && i % 2 == 1; t++)
			call(&s, s.main, s.tensor, 206 + 20 * i, "");
		call(&s, s.main, s.leave, 210 + 20 * i, "");
		call(&s, s.main, step, 212 + 20 * i, "");
	}
	for (uint32_t w = 0; w < WORKERS; w++)
		make_batches(&s, w, 60);
	build(&s, 1);
	expect(&s, 0, WORKERS, FETCHES, 0);
	end(&s);
}

/* Each fetch opens its own batch: the workers may be those of several loaders that are read in turn, as by zip(). */
static void zipped(void **state)
{
	struct scene s;

	(void)state;
	begin(&s, 50);
	for (uint32_t w = 0; w < WORKERS; w++)
		make_batches(&s, w, 60);
	build(&s, 1);
	assert_false(turns_known(&s));
	end(&s);

	/* Unless only one of them makes batches. */
	begin(&s, 50);
	make_batches(&s, 0, 20);
	build(&s, 1);
	assert_true(turns_known(&s));
	end(&s);
}

/* The trainer's id is used again by a process that starts later: that one did not start the workers. */
static void trainer_id_again(void **state)
{
	struct scene s;
	uint32_t later;

	(void)state;
	begin(&s, SESSION + 1);
	for (uint32_t w = 0; w < WORKERS; w++)
		make_batches(&s, w, 60);
	later = small_process(s.model, 10, "sh", true);
	s.model->processes.row[later].start_ns = 2900 * MS;
	s.model->threads.row[small_thread(s.model, later, 10, "sh")].first_ns = 2900 * MS;
	build(&s, 1);
	assert_int_equal(s.pipelines.list.row[0].operators.row[0].workers, WORKERS);
	assert_int_equal(s.pipelines.list.row[0].threads.count, WORKERS);
	end(&s);
}

/*
 * Three workers make epochs of @batches of two tensors. A call of @function at the end of each epoch belongs to the
 * epoch that ends, or prepares the next one.
 */
static void expect_epochs(uint32_t batches, const char *function_name, const char *text)
{
	struct scene s;
	uint32_t of;

	begin(&s, SESSION + 1);
	of = strcmp(function_name, ENTER) == 0 ? s.enter : function(s.model, function_name);
	s.model->calls.count = s.model->wakes.count = 0;
	for (uint32_t i = 0; i < 2 * (batches + 1); i++) {
		bool is_end = i % (batches + 1) == batches;

		call(&s, s.main, s.enter, 200 + 20 * i, LOADER);
		for (uint32_t t = 0; t < 2 && !is_end; t++)
			call(&s, s.main, s.tensor, 206 + 20 * i, "");
		call(&s, s.main, s.leave, 210 + 20 * i, "");
		if (!is_end)
			continue;
		call(&s, s.main, of, 212 + 20 * i, text);
		if (of == s.enter)
			call(&s, s.main, s.leave, 214 + 20 * i, "");
	}
	for (uint32_t w = 0; w < WORKERS; w++)
		make_batches(&s, w, 60);
	build(&s, 1);
	expect(&s, 0, WORKERS, 2 * (batches + 1), 2);
	end(&s);
}

/* An optimizer, or few backward passes, after ends of the data do not make these batches. */
static void trains_between_epochs(void **state)
{
	(void)state;
	expect_epochs(4, ENTER, "Optimizer.zero_grad#SGD.zero_grad");
	expect_epochs(2, ENTER, "Optimizer.step#SGD.step");
	expect_epochs(4, BACKWARD, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_turns),
		cmocka_unit_test(by_pipes),
		cmocka_unit_test(of_one_loader),
		cmocka_unit_test(slow_worker),
		cmocka_unit_test(slow_of_two),
		cmocka_unit_test(trainer_id_again),
		cmocka_unit_test(trains_between_epochs),
		cmocka_unit_test(zipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

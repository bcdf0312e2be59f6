/* SPDX-License-Identifier: Apache-2.0 */
/* The work of a loader's worker, and the activity of threads during it: the worker's own, and its helpers'. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "analyzer/analyse/pipeline/work_times.h"
#include "analyzer/frameworks/python_loader.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull

struct scene {
	struct model *model;
	struct pipelines pipelines;
	struct pipeline *pipeline;
	uint32_t trainer, worker, stranger;
};

static void add_thread(struct scene *s, uint32_t thread, bool descendant)
{
	struct pipeline_thread row = { .thread = thread, .descendant = descendant };

	assert_true(MODEL_PUSH(&s->pipeline->threads, row));
}

static void set_scene(struct scene *s)
{
	uint32_t job, other;

	*s = (struct scene){ .model = small_model(0, 1000 * MS) };
	job = small_process(s->model, 10, "python", true);
	s->trainer = small_thread(s->model, job, 10, "python");
	other = small_process(s->model, 11, "pt_data_worker", true);
	s->worker = small_thread(s->model, other, 11, "pt_data_worker");
	s->stranger = small_thread(s->model, small_process(s->model, 12, "server", true), 12, "server");
	s->pipeline = pipeline_add(&s->pipelines, "torch", job);
	assert_int_equal(pipeline_operator_add(s->model, s->pipeline, 0, "worker", "worker"), 0);
	add_thread(s, s->worker, false);
}

static void release(struct scene *s)
{
	pipelines_free(&s->pipelines);
	model_free(s->model);
}

/*
 * Requests from the trainer end at 10 and 60 ms; a read that another process answers, and a pause, belong to the
 * work.
 */
static void act(struct scene *s)
{
	struct model *model = s->model;

	small_sleep(model, s->worker, 0, 10 * MS, SYS_poll, s->trainer, 0);
	small_span(model, s->worker, 10 * MS, 15 * MS, STATE_RUNNABLE);
	small_span(model, s->worker, 15 * MS, 20 * MS, STATE_RUNNING);
	small_sleep(model, s->worker, 20 * MS, 30 * MS, SYS_read, s->stranger, 0);
	small_sleep(model, s->worker, 30 * MS, 40 * MS, SYS_clock_nanosleep, INDEX_NONE, SPAN_WOKEN_TIMER);
	small_sleep(model, s->worker, 40 * MS, 60 * MS, SYS_poll, s->trainer, 0);
	small_span(model, s->worker, 60 * MS, 70 * MS, STATE_RUNNING);
}

static void orders_end_works(void **state)
{
	struct scene s;
	struct work_times times = { 0 };
	const struct analysis_window all = { 0, UINT64_MAX };

	(void)state;
	set_scene(&s);
	act(&s);
	assert_int_equal(loader_works(s.model, s.pipeline, s.pipeline->threads.row, 18 * MS, 65 * MS), 0);
	assert_int_equal(s.pipeline->works.count, 2);
	assert_int_equal(s.pipeline->works.row[0].start_ns, 10 * MS);
	assert_int_equal(s.pipeline->works.row[0].end_ns, 40 * MS);
	assert_true(work_times_sum(s.model, s.pipeline, &all, &times));
	assert_int_equal(times.run_ns, 15 * MS);
	assert_int_equal(times.runnable_ns, 5 * MS);
	assert_int_equal(times.sleep_ns, 20 * MS);
	/* After the last batch of an ended process there is no work. */
	s.pipeline->works.count = 0;
	s.model->threads.row[s.worker].exit_ns = 70 * MS;
	assert_int_equal(loader_works(s.model, s.pipeline, s.pipeline->threads.row, 18 * MS, 65 * MS), 0);
	assert_int_equal(s.pipeline->works.row[1].end_ns, 65 * MS);
	/* For a new process, the time before its first wait is no work... */
	s.pipeline->works.count = 0;
	s.model->threads.row[s.worker].first_ns = 1;
	assert_int_equal(loader_works(s.model, s.pipeline, s.pipeline->threads.row, 18 * MS, 65 * MS), 0);
	assert_int_equal(s.pipeline->works.row[0].start_ns, 10 * MS);
	/* ...nor before it called itself a worker. */
	s.pipeline->works.count = 0;
	s.model->threads.row[s.worker].named_ns = 16 * MS;
	assert_int_equal(loader_works(s.model, s.pipeline, s.pipeline->threads.row, 18 * MS, 65 * MS), 0);
	assert_int_equal(s.pipeline->works.row[0].start_ns, 16 * MS);
	release(&s);
}

/* A recording that attaches while a worker waits for an order: the time before it was no work. */
static void no_work_before(void **state)
{
	struct scene s;

	(void)state;
	set_scene(&s);
	small_sleep(s.model, s.worker, 5 * MS, 10 * MS, SYS_poll, s.trainer, 0);
	small_span(s.model, s.worker, 10 * MS, 15 * MS, STATE_RUNNING);
	assert_int_equal(loader_works(s.model, s.pipeline, s.pipeline->threads.row, UINT64_MAX, 0), 0);
	assert_int_equal(s.pipeline->works.count, 1);
	assert_int_equal(s.pipeline->works.row[0].start_ns, 10 * MS);
	release(&s);
}

/* A worker sleeps until its child process is done, which runs for 6 of these 10 ms; half of that is in the window. */
static void helpers_work(void **state)
{
	struct scene s;
	struct work_times times = { 0 };
	const struct analysis_window all = { 0, UINT64_MAX }, late = { 23 * MS, UINT64_MAX };
	struct pipeline_work work = { .start_ns = 15 * MS, .end_ns = 30 * MS };

	(void)state;
	set_scene(&s);
	act(&s);
	work.thread = s.worker;
	assert_true(MODEL_PUSH(&s.pipeline->works, work));
	add_thread(&s, s.stranger, true);
	small_span(s.model, s.stranger, 0, 26 * MS, STATE_RUNNING);
	small_sleep(s.model, s.stranger, 26 * MS, 100 * MS, SYS_clock_nanosleep, INDEX_NONE,
		    SPAN_WOKEN_TIMER);
	assert_true(work_times_sum(s.model, s.pipeline, &all, &times));
	assert_int_equal(times.run_ns, 11 * MS);
	assert_int_equal(times.sleep_ns, 4 * MS);
	times = (struct work_times){ 0 };
	assert_true(work_times_sum(s.model, s.pipeline, &late, &times));
	assert_int_equal(times.run_ns, 3 * MS);
	assert_int_equal(times.sleep_ns, 4 * MS);
	release(&s);
}

/* The worker runs to 70 ms, and is not recorded further; the next thread runs all the time. */
static struct work_times times_of(uint64_t from_ns, uint64_t to_ns, uint64_t window_ns)
{
	struct scene s;
	struct work_times times = { 0 };
	const struct analysis_window window = { window_ns, UINT64_MAX };
	struct pipeline_work work = { .start_ns = from_ns, .end_ns = to_ns };

	set_scene(&s);
	work.thread = s.worker;
	assert_true(MODEL_PUSH(&s.pipeline->works, work));
	assert_true(MODEL_PUSH(&s.pipeline->works, work));
	s.pipeline->works.count--; /* the second one is behind the last */
	small_span(s.model, s.worker, 0, 70 * MS, STATE_RUNNING);
	small_span(s.model, s.stranger, 0, 100 * MS, STATE_RUNNING);
	assert_true(work_times_sum(s.model, s.pipeline, &window, &times));
	release(&s);
	return times;
}

/* What a worker does behind its last record is not known, and not what another thread does. */
static void works_beyond_records(void **state)
{
	struct work_times times = times_of(60 * MS, 80 * MS, 0);

	(void)state;
	assert_int_equal(times.run_ns, 10 * MS);
	assert_int_equal(times.sleep_ns, 0);
	/* Work before the window is none. */
	times = times_of(15 * MS, 30 * MS, 20 * MS);
	assert_int_equal(times.run_ns, 10 * MS);
	times = times_of(15 * MS, 30 * MS, 40 * MS);
	assert_int_equal(times.run_ns, 0);
}

/* Each thread sleeps until the next one is done, which runs for the last 10 ms of its time: four helpers are followed. */
static void helpers_of_helpers(void **state)
{
	struct scene s;
	struct work_times times = { 0 };
	const struct analysis_window all = { 0, UINT64_MAX };
	struct pipeline_work work = { .start_ns = 0, .end_ns = 100 * MS };
	uint32_t helpers[5];

	(void)state;
	set_scene(&s);
	for (uint32_t i = 0; i < 5; i++) {
		helpers[i] = small_thread(s.model, small_process(s.model, 20 + i, "helper", true), 20 + i, "helper");
		add_thread(&s, helpers[i], true);
	}
	work.thread = s.worker;
	assert_true(MODEL_PUSH(&s.pipeline->works, work));
	small_sleep(s.model, s.worker, 0, 90 * MS, SYS_wait4, helpers[0], 0);
	/* A helper that has the CPU which the worker needs does not work for it. */
	small_span(s.model, s.worker, 90 * MS, 100 * MS, STATE_RUNNABLE)->other = helpers[0];
	for (uint64_t i = 0; i < 5; i++) {
		uint64_t until_ns = (80 - 10 * i) * MS;

		small_sleep(s.model, helpers[i], 0, until_ns, SYS_wait4, i < 4 ? helpers[i + 1] : INDEX_NONE, 0);
		small_span(s.model, helpers[i], until_ns, until_ns + 10 * MS, STATE_RUNNING);
	}
	assert_true(work_times_sum(s.model, s.pipeline, &all, &times));
	assert_int_equal(times.run_ns, 40 * MS);
	assert_int_equal(times.runnable_ns, 10 * MS);
	assert_int_equal(times.sleep_ns, 50 * MS);
	release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_end_works),
		cmocka_unit_test(no_work_before),
		cmocka_unit_test(helpers_work),
		cmocka_unit_test(works_beyond_records),
		cmocka_unit_test(helpers_of_helpers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

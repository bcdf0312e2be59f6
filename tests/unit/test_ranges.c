/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges that a job marked: which calls form a range, and which ranges a thread's row shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/export/timeline/thread_slices.h"
#include "tests/unit/small_model.h"

#define END 1000

static const struct export_window window = { 0, END };

struct job {
	struct model *model;
	uint32_t thread, enter, leave, launch;
};

static struct job job_new(void)
{
	struct job job = { .model = small_model(0, END) };

	job.thread = small_thread(job.model, small_process(job.model, 10, "job", true), 10, "job");
	job.enter = small_function(job.model, "torch", "torch::record_function_enter_new",
				   PROFBPF__FUNCTION__KIND__MARKER);
	job.leave = small_function(job.model, "torch", "torch::record_function_exit_new",
				   PROFBPF__FUNCTION__KIND__MARKER);
	job.launch = small_function(job.model, "cuda", "cudaLaunchKernel", PROFBPF__FUNCTION__KIND__LAUNCH);
	return job;
}

static void enter(struct job *job, uint64_t ns, const char *name)
{
	uint32_t row = small_call(job->model, job->thread, job->enter, ns, ns + 2);

	job->model->calls.row[row].text = model_string(job->model, name);
}

static void leave(struct job *job, uint64_t ns)
{
	small_call(job->model, job->thread, job->leave, ns, ns + 1);
}

struct expected {
	const char *name; /* name of a range; NULL: a call */
	uint64_t start_ns;
	uint64_t end_ns;
	bool open;
};

static void check(struct job *job, const struct expected *expected, size_t count)
{
	struct thread_slices slices;
	struct thread_slice slice;
	struct ranges ranges;
	size_t found = 0;

	small_index(job->model);
	assert_int_equal(ranges_find(job->model, &ranges), 0);
	thread_slices_begin(&slices, job->model, &window, &ranges, job->thread);
	for (; thread_slices_next(&slices, &slice); found++) {
		assert_true(found < count);
		assert_int_equal(slice.range, expected[found].name != NULL);
		if (slice.range)
			assert_string_equal(model_text(job->model, slice.call->text), expected[found].name);
		assert_int_equal(slice.start_ns, expected[found].start_ns);
		assert_int_equal(slice.end_ns, expected[found].end_ns);
		assert_int_equal(slice.open, expected[found].open);
	}
	assert_int_equal(found, count);
	ranges_free(&ranges);
	model_free(job->model);
}

#define CHECK(job, expected) check(job, expected, sizeof(expected) / sizeof(*(expected)))

static void ranges_nest_and_have_their_names(void **state)
{
	static const struct expected EXPECTED[] = {
		{ "step", 100, 301, false },   { "forward", 110, 201, false }, { NULL, 120, 130, false },
		{ "forward", 210, 291, false }, { "step", 400, 451, false },
	};
	struct job job = job_new();

	(void)state;
	enter(&job, 100, "step");
	enter(&job, 110, "forward");
	small_call(job.model, job.thread, job.launch, 120, 130);
	leave(&job, 200);
	enter(&job, 210, "forward");
	leave(&job, 290);
	leave(&job, 300);
	enter(&job, 400, "step");
	leave(&job, 450);
	CHECK(&job, EXPECTED);
}

/* A range that began before the recording has no name; an open range ends with the window, or with its thread. */
static void ends_that_were_not_seen(void **state)
{
	static const struct expected WINDOW[] = {
		{ NULL, 50, 51, false }, { "step", 100, END, true }, { "forward", 110, 201, false },
	};
	static const struct expected THREAD[] = { { "step", 100, 700, true } };
	struct job job = job_new();

	(void)state;
	leave(&job, 50);
	enter(&job, 100, "step");
	enter(&job, 110, "forward");
	leave(&job, 200);
	CHECK(&job, WINDOW);

	job = job_new();
	job.model->threads.row[job.thread].exit_ns = 700;
	enter(&job, 100, "step");
	CHECK(&job, THREAD);
}

/* Where calls were lost, each end may belong to another range. */
static void lost_calls_leave_no_ranges(void **state)
{
	static const struct expected EXPECTED[] = { { NULL, 100, 102, false }, { NULL, 200, 201, false } };
	struct job job = job_new();
	struct source_loss loss = { .name = model_string(job.model, "api"), .reason_count = 1 };

	(void)state;
	loss.reasons[0].count = 1;
	assert_true(MODEL_PUSH(&job.model->sources, loss));
	enter(&job, 100, "step");
	leave(&job, 200);
	CHECK(&job, EXPECTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_nest_and_have_their_names),
		cmocka_unit_test(ends_that_were_not_seen),
		cmocka_unit_test(lost_calls_leave_no_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

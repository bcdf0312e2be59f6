/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of a device's clock from causality: which tasks and waits count, on both sides of each limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/join/clock/clock_bounds.h"
#include "tests/unit/small_model.h"

struct fixture {
	struct model *model;
	uint32_t process, other, thread, stranger, launch, sync, sync_all, copy;
	struct sync_calls syncs;
	struct clock_bounds bounds;
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){ .model = small_model(0, 1000000) };
	f->process = small_process(f->model, 10, "job", true);
	f->other = small_process(f->model, 20, "other", true);
	f->thread = small_thread(f->model, f->process, 10, "job");
	f->stranger = small_thread(f->model, f->other, 20, "other");
	f->launch = small_function(f->model, "cuda", "launch", PROFBPF__FUNCTION__KIND__LAUNCH);
	f->sync = small_function(f->model, "cuda", "sync", PROFBPF__FUNCTION__KIND__SYNC);
	f->sync_all = small_function(f->model, "cuda", "sync all", PROFBPF__FUNCTION__KIND__SYNC);
	f->copy = small_function(f->model, "cuda", "copy", PROFBPF__FUNCTION__KIND__COPY);
	f->model->functions.row[f->launch].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
	f->model->functions.row[f->sync].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
	f->model->functions.row[f->copy].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
	small_device(f->model, f->process, "dev", PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED);
}

static struct call *call(struct fixture *f, uint32_t thread, uint32_t function, uint64_t start_ns, uint64_t end_ns, uint64_t stream)
{
	uint32_t i = small_call(f->model, thread, function, start_ns, end_ns);

	f->model->calls.row[i].args[0] = stream;
	return &f->model->calls.row[i];
}

static struct device_task *task(struct fixture *f, uint64_t stream, uint64_t enqueue_ns, uint64_t start_ns, uint64_t end_ns)
{
	struct device_task *row = small_task(f->model, 0, start_ns, end_ns);

	row->stream = stream;
	row->enqueue_ns = enqueue_ns;
	return row;
}

static void collect(struct fixture *f, uint32_t tasks, bool queued)
{
	small_index(f->model);
	free(f->syncs.row);
	assert_int_equal(sync_calls_collect(f->model, &f->syncs), 0);
	assert_int_equal(clock_bounds_collect(f->model, &f->syncs, 0, tasks, queued, &f->bounds), 0);
}

static void expect(const struct fixture *f, uint32_t at, uint64_t device_ns, uint64_t host_ns, bool upper)
{
	assert_true(at < f->bounds.count);
	assert_int_equal(f->bounds.row[at].time_ns, device_ns);
	assert_true(f->bounds.row[at].offset_ns == (int64_t)(host_ns - device_ns));
	assert_int_equal(f->bounds.row[at].upper, upper);
}

static void end(struct fixture *f)
{
	free(f->syncs.row);
	free(f->bounds.row);
	model_free(f->model);
}

/* A task starts after its call was entered; where the device's queued instants count, they lie within the call. */
static void tasks(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	task(&f, 1, 1000, 50, 60);
	task(&f, 1, 0, 51, 61); /* unknown enqueue time */
	task(&f, 1, 2000, 0, 62); /* unknown start */
	task(&f, 1, 3000, 53, 63)->queued_ns = 33;
	task(&f, 1, 4000, 54, 64)->queued_ns = 44;
	f.model->tasks.row[4].enqueue_dur_ns = 7;
	task(&f, 1, 5000, 55, 65); /* outside of the array's count */
	collect(&f, 5, false);
	assert_int_equal(f.bounds.count, 3);
	expect(&f, 0, 50, 1000, false);
	expect(&f, 1, 53, 3000, false);
	expect(&f, 2, 54, 4000, false);
	collect(&f, 5, true);
	assert_int_equal(f.bounds.count, 4);
	expect(&f, 0, 50, 1000, false);
	expect(&f, 1, 33, 3000, false);
	expect(&f, 2, 44, 4000, false);
	expect(&f, 3, 44, 4007, true);
	/* Without tasks, and for a device that does not exist, there are no bounds. */
	collect(&f, 0, true);
	assert_int_equal(f.bounds.count, 0);
	f.model->tasks.row[0].device = 1;
	collect(&f, 5, true);
	assert_int_equal(f.bounds.count, 0);
	end(&f);
}

/* More bounds than the array's initial size. */
static void many(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	for (uint64_t i = 0; i < 600; i++)
		task(&f, 1, 1000 + i, 50 + i, 0);
	collect(&f, 600, false);
	assert_int_equal(f.bounds.count, 600);
	expect(&f, 599, 649, 1599, false);
	end(&f);
}

/* Tasks of two streams alternate, and were not enqueued in the order of the rows. */
static void alternating(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	for (uint64_t i = 0; i < 40; i++) {
		task(&f, 2, 3000 + i, 0, 700 + i);
		task(&f, 1, 2000 - i, 0, 500 - i);
	}
	task(&f, 3, 1000, 0, 800); /* no wait is for its stream */
	call(&f, f.thread, f.sync, 1971, 5000, 1);
	call(&f, f.thread, f.sync, 3010, 6000, 2);
	collect(&f, 81, false);
	assert_int_equal(f.bounds.count, 2);
	expect(&f, 0, 470, 5000, true); /* enqueued at 1970 */
	expect(&f, 1, 709, 6000, true); /* enqueued at 3009 */
	end(&f);
}

/* A wait that begins after tasks were enqueued ends after the latest end of these. */
static void waits(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	task(&f, 1, 1000, 0, 500);
	task(&f, 1, 1100, 0, 400); /* ends before the task before it */
	task(&f, 1, 1200, 0, 600);
	task(&f, 1, 0, 0, 900); /* unknown enqueue time */
	task(&f, 1, 1050, 0, 0); /* unknown end */
	task(&f, 2, 900, 0, 700);
	task(&f, 1, 1150, 0, 950); /* outside of the array's count */
	call(&f, f.thread, f.sync, 1000, 1001, 1);
	call(&f, f.thread, f.sync, 1001, 1002, 1);
	call(&f, f.thread, f.sync, 1150, 1160, 1);
	call(&f, f.thread, f.sync, 1201, 1300, 1);
	call(&f, f.thread, f.sync, 1400, 1500, 2);
	collect(&f, 6, false);
	assert_int_equal(f.bounds.count, 4);
	expect(&f, 0, 500, 1002, true);
	expect(&f, 1, 500, 1160, true);
	expect(&f, 2, 600, 1300, true);
	expect(&f, 3, 700, 1500, true);
	end(&f);
}

/* Tasks without a process or stream count for the first process and stream 0. */
static void stream_0(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	task(&f, 0, 1000, 0, 500);
	call(&f, f.thread, f.sync, 1100, 1200, 0);
	collect(&f, 1, false);
	assert_int_equal(f.bounds.count, 1);
	expect(&f, 0, 500, 1200, true);
	end(&f);
}

/* Waits without information: of other functions, failed, unfinished, without a stream, of another process. */
static void no_waits(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	task(&f, 1, 1000, 0, 500);
	call(&f, f.thread, f.launch, 1100, 1200, 1);
	call(&f, f.thread, f.copy, 1110, 1200, 1);
	call(&f, f.thread, f.sync, 1120, 1200, 1)->flags = MODEL_CALL_NOT_RETURNED;
	call(&f, f.thread, f.sync, 1130, 1200, 1)->flags = MODEL_CALL_ERROR;
	call(&f, f.thread, f.sync_all, 1140, 1200, 1);
	call(&f, f.thread, INDEX_NONE, 1150, 1200, 1);
	call(&f, f.thread, f.sync, 1160, 1200, 2);
	call(&f, f.stranger, f.sync, 1170, 1200, 1);
	collect(&f, 1, false);
	assert_int_equal(f.syncs.count, 2);
	assert_int_equal(f.bounds.count, 0);
	end(&f);
}

/* In order of process, stream and time; the task that begins at the instant of the look-up is not before it. */
static void found(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	call(&f, f.stranger, f.sync, 50, 60, 1);
	call(&f, f.thread, f.sync, 300, 310, 1);
	call(&f, f.thread, f.sync, 100, 110, 1);
	call(&f, f.thread, f.sync, 200, 210, 0);
	collect(&f, 0, false);
	assert_int_equal(f.syncs.count, 4);
	assert_int_equal(f.syncs.row[0].stream, 0);
	assert_int_equal(f.syncs.row[1].start_ns, 100);
	assert_int_equal(f.syncs.row[3].process, f.other);
	assert_int_equal(sync_calls_find(&f.syncs, f.process, 1, 0), 1);
	assert_int_equal(sync_calls_find(&f.syncs, f.process, 1, 100), 1);
	assert_int_equal(sync_calls_find(&f.syncs, f.process, 1, 101), 2);
	assert_int_equal(sync_calls_find(&f.syncs, f.process, 1, 301), 3);
	assert_int_equal(sync_calls_find(&f.syncs, f.process, 2, 0), 3);
	assert_int_equal(sync_calls_find(&f.syncs, f.other, 1, 0), 3);
	assert_int_equal(sync_calls_find(&f.syncs, f.other, 1, 51), 4);
	end(&f);
}

/* A handle means the stream whose tasks were launched with it; a handle that was reused means no stream. */
static void handles(void **state)
{
	enum { ONE, TWICE, AGAIN, AND_BACK, NOT_SURE, NO_CALL, LARGE, BEHIND };
	static const uint64_t STREAM[] = { [ONE] = 7, [TWICE] = 7,	    [AGAIN] = 0,	 [AND_BACK] = 0,
					   [NOT_SURE] = 0xbeef, [NO_CALL] = 0xbeef, [LARGE] = 0xbeef, [BEHIND] = 7 };

	(void)state;
	for (int what = ONE; what <= BEHIND; what++) {
		struct fixture f;
		uint32_t tasks = what == ONE || what >= NOT_SURE ? 1 : what == AND_BACK ? 3 : 2;

		begin(&f);
		call(&f, f.thread, f.launch, 10, 20, 0xbeef);
		call(&f, f.thread, f.sync, 30, 40, 0xbeef);
		for (uint32_t i = 0; i < tasks + (what == BEHIND); i++) {
			struct device_task *row = task(&f, i == 1 && what != TWICE ? 8 : 7, 10, 0, 0);

			row->call = what == NO_CALL ? INDEX_NONE : 0;
			row->flags = what == NOT_SURE ? 0 : MODEL_TASK_BY_ID;
			if (what == LARGE)
				row->stream = UINT32_MAX - 1;
		}
		f.model->tasks.count = tasks;
		collect(&f, 0, false);
		if (!STREAM[what]) {
			assert_int_equal(f.syncs.count, 0);
		} else {
			assert_int_equal(f.syncs.count, 1);
			assert_true(f.syncs.row[0].stream == STREAM[what]);
		}
		end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests_[] = {
		cmocka_unit_test(tasks),    cmocka_unit_test(many), cmocka_unit_test(alternating),  cmocka_unit_test(waits),
		cmocka_unit_test(stream_0), cmocka_unit_test(no_waits), cmocka_unit_test(found), cmocka_unit_test(handles),
	};

	return cmocka_run_group_tests(tests_, NULL, NULL);
}

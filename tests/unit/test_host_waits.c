/* SPDX-License-Identifier: Apache-2.0 */
/* Threads judged instead of a device: whose waits are analysed, their totals, and the device's busy time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/host_waits.h"
#include "tests/unit/idle_scene.h"
#include "tests/unit/small_model.h"

#define LAUNCHES 12 /* enough launches for a thread to count as submitting */

struct fixture {
	struct model *model;
	uint32_t process, main, worker;
	uint32_t launch, sync, device_sync, copy, copy_in, copy_later;
	struct step_results steps;
	struct analysis_options options;
	struct host_waits waits;
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){ .model = small_model(0, 1000 * US), .steps.main = INDEX_NONE };
	f->process = small_process(f->model, 100, "job", true);
	f->main = small_thread(f->model, f->process, 100, "main");
	f->worker = small_thread(f->model, f->process, 101, "worker");
	f->launch =
		small_function(f->model, "cuda", "cuLaunchKernel", PROFBPF__FUNCTION__KIND__LAUNCH);
	f->sync = small_function(f->model, "cuda", "cuStreamSynchronize",
				 PROFBPF__FUNCTION__KIND__SYNC);
	f->device_sync =
		small_function(f->model, "cuda", "cuCtxSynchronize", PROFBPF__FUNCTION__KIND__SYNC);
	f->copy = small_function(f->model, "cuda", "cuMemcpyDtoH", PROFBPF__FUNCTION__KIND__COPY);
	f->copy_in =
		small_function(f->model, "cuda", "cuMemcpyHtoD", PROFBPF__FUNCTION__KIND__COPY);
	f->copy_later = small_function(f->model, "cuda", "cuMemcpyDtoHAsync",
				       PROFBPF__FUNCTION__KIND__COPY);
	f->model->functions.row[f->launch].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
	f->model->functions.row[f->sync].roles[0] = PROFBPF__FUNCTION__ROLE__STREAM;
}

static void compute(struct fixture *f)
{
	uint64_t ns = 0, run_ns = 0;

	small_index(f->model);
	host_waits_free(&f->waits);
	assert_int_equal(host_waits_analyse(f->model, &f->options, &f->steps, &f->waits), 0);
	for (uint32_t i = 0; i < f->waits.waits.count; i++)
		ns += f->waits.waits.row[i].ns;
	for (uint32_t i = 0; i < f->waits.own.count; i++)
		run_ns += f->waits.own.row[i].ns;
	assert_int_equal(ns, f->waits.waits.total_ns);
	assert_int_equal(run_ns, f->waits.own.total_ns);
	assert_int_equal(ns + run_ns, f->waits.window_ns);
}

static void end(struct fixture *f)
{
	host_waits_free(&f->waits);
	model_free(f->model);
}

static void expect_thread(const struct fixture *f, uint32_t thread, uint8_t why)
{
	assert_int_equal(f->waits.thread_count, 1);
	assert_int_equal(f->waits.threads[0], thread);
	assert_string_equal(waits_why_name(f->waits.why), waits_why_name(why));
}

/* main waits for the worker for 600 us of 1000; the worker computes for 500 of them and sleeps for 100. */
static void follows(void **state)
{
	struct fixture f;

	begin(&f);
	small_span(f.model, f.main, 0, 200 * US, STATE_RUNNING);
	small_sleep(f.model, f.main, 200 * US, 800 * US, FUTEX, f.worker, 0);
	small_span(f.model, f.main, 800 * US, 1000 * US, STATE_RUNNING);
	small_sleep(f.model, f.worker, 0, 300 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
	small_span(f.model, f.worker, 300 * US, 1000 * US, STATE_RUNNING);
	compute(&f);
	expect_thread(&f, f.main, WAITS_OF_MAIN);
	assert_int_equal(f.waits.window_ns, 1000 * US);
	assert_int_equal(f.waits.waits.total_ns, 600 * US);
	assert_int_equal(f.waits.waits.gaps, 1);
	assert_int_equal(f.waits.waits.first_ns[IDLE_LOCK], 600 * US);
	assert_int_equal(f.waits.waits.count, 2);
	assert_int_equal(f.waits.waits.row[0].root.cause, IDLE_USER_CODE);
	assert_int_equal(f.waits.waits.row[0].root.who, f.worker);
	assert_int_equal(f.waits.waits.row[0].ns, 500 * US);
	assert_int_equal(f.waits.waits.row[0].hop_count, 2);
	assert_int_equal(f.waits.waits.row[1].root.cause, IDLE_SLEEP);
	assert_int_equal(f.waits.own.count, 1);
	assert_int_equal(f.waits.own.row[0].root.who, f.main);
	assert_int_equal(f.waits.own.row[0].gaps, 2);
	assert_false(f.waits.bounds.known);
	/* The worker, if the user selects it. */
	f.options.tids = (const uint32_t[]){ 101 };
	f.options.tid_count = 1;
	compute(&f);
	expect_thread(&f, f.worker, WAITS_OF_ASKED);
	assert_int_equal(f.waits.own.total_ns, 700 * US);
	f.options.tids = (const uint32_t[]){ 77 };
	compute(&f);
	assert_int_equal(f.waits.thread_count, 0);
	end(&f);
}

/* A main thread that only sleeps shows nothing; the thread that works is analysed instead. */
static void busiest(void **state)
{
	struct fixture f;

	begin(&f);
	small_sleep(f.model, f.main, 0, 990 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
	small_span(f.model, f.main, 990 * US, 1000 * US, STATE_RUNNING);
	small_span(f.model, f.worker, 0, 11 * US, STATE_RUNNING);
	small_sleep(f.model, f.worker, 11 * US, 1000 * US, FUTEX, INDEX_NONE, SPAN_NO_WAKE);
	compute(&f);
	expect_thread(&f, f.worker, WAITS_OF_BUSIEST);
	end(&f);

	/* No thread works: then the sleeping main thread is analysed. */
	begin(&f);
	small_sleep(f.model, f.main, 0, 990 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
	small_span(f.model, f.main, 990 * US, 1000 * US, STATE_RUNNING);
	small_span(f.model, f.worker, 0, 10 * US, STATE_RUNNING);
	small_sleep(f.model, f.worker, 10 * US, 1000 * US, FUTEX, INDEX_NONE, SPAN_NO_WAKE);
	compute(&f);
	expect_thread(&f, f.main, WAITS_OF_MAIN);
	assert_int_equal(f.waits.waits.row[0].root.cause, IDLE_SLEEP);
	end(&f);

	/* The main thread works for longest. */
	begin(&f);
	small_sleep(f.model, f.main, 0, 980 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
	small_span(f.model, f.main, 980 * US, 1000 * US, STATE_RUNNING);
	small_span(f.model, f.worker, 0, 11 * US, STATE_RUNNING);
	small_sleep(f.model, f.worker, 11 * US, 1000 * US, FUTEX, INDEX_NONE, SPAN_NO_WAKE);
	compute(&f);
	expect_thread(&f, f.main, WAITS_OF_MAIN);
	end(&f);
}

static void sleeps_in_vain(struct fixture *f, uint32_t thread)
{
	small_sleep(f->model, thread, 0, 1000 * US, FUTEX, INDEX_NONE, SPAN_NO_WAKE);
}

static void works_until(struct fixture *f, uint32_t thread, uint64_t until_us)
{
	small_span(f->model, thread, 0, until_us * US, STATE_RUNNING);
	small_sleep(f->model, thread, until_us * US, 1000 * US, FUTEX, INDEX_NONE, SPAN_NO_WAKE);
}

/* Java's launcher waits for the only thread with its name, which runs main(). If there are more, no name tells. */
static void launcher(void **state)
{
	struct fixture f;
	uint32_t program;

	(void)state;
	begin(&f);
	small_thread(f.model, f.process, 104, "VM Periodic Tas");
	program = small_thread(f.model, f.process, 102, "main");
	sleeps_in_vain(&f, f.main);
	small_span(f.model, f.worker, 0, 1000 * US, STATE_RUNNING);
	small_span(f.model, program, 0, 100 * US, STATE_RUNNING);
	small_sleep(f.model, program, 100 * US, 1000 * US, FUTEX, f.worker, 0);
	compute(&f);
	expect_thread(&f, program, WAITS_OF_MAIN);
	assert_int_equal(f.waits.waits.row[0].root.who, f.worker);
	assert_int_equal(f.waits.busy_count, 0);
	small_thread(f.model, f.process, 103, "main");
	compute(&f);
	expect_thread(&f, f.worker, WAITS_OF_BUSIEST);
	end(&f);

	/* In a program that is not Java it is any thread without a name. */
	begin(&f);
	program = small_thread(f.model, f.process, 102, "main");
	sleeps_in_vain(&f, f.main);
	small_span(f.model, f.worker, 0, 1000 * US, STATE_RUNNING);
	small_span(f.model, program, 0, 100 * US, STATE_RUNNING);
	small_sleep(f.model, program, 100 * US, 1000 * US, FUTEX, f.worker, 0);
	compute(&f);
	expect_thread(&f, f.worker, WAITS_OF_BUSIEST);
	end(&f);

	/* It only waits, too. */
	begin(&f);
	small_thread(f.model, f.process, 104, "VM Periodic Tas");
	program = small_thread(f.model, f.process, 102, "main");
	sleeps_in_vain(&f, f.main);
	sleeps_in_vain(&f, program);
	small_span(f.model, f.worker, 0, 1000 * US, STATE_RUNNING);
	compute(&f);
	expect_thread(&f, f.worker, WAITS_OF_BUSIEST);
	end(&f);
}

/* The busiest thread and those of its pool that compute for at least half as long. */
static void pool(void **state)
{
	static const struct {
		const char *name;
		uint64_t until_us;
	} others[] = { { "pool-1-2", 1000 }, { "pool-11-13", 500 }, { "pool-1-4", 499 }, { "pooled", 900 }, { "pool-1-", 900 } };
	struct fixture f;

	(void)state;
	begin(&f);
	sleeps_in_vain(&f, f.main);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		works_until(&f, small_thread(f.model, f.process, 102 + i, others[i].name), others[i].until_us);
	compute(&f);
	assert_int_equal(f.waits.why, WAITS_OF_BUSIEST);
	assert_int_equal(f.waits.busy_count, 3);
	assert_int_equal(f.model->threads.row[f.waits.busy[2]].tid, 106); /* "pool-1-" */
	assert_int_equal(f.waits.busy_run_ns, (1000 + 500 + 900) * US);
	end(&f);
}

/* @thread was in that function whenever it was looked at. */
static void look_at(struct fixture *f, uint32_t thread, const char *function)
{
	struct model *model = f->model;
	struct code_file file = { .path = model_string(model, "/jdk/libjvm.so") };
	struct code_frame frame = { .name = model_string(model, function), .file = model->code_files.count,
				    .kind = PROFBPF__STACKS__KIND__USER };

	assert_true(MODEL_PUSH(&model->code_files, file));
	assert_true(MODEL_PUSH(&model->stack_frames, model->code_frames.count));
	assert_true(MODEL_PUSH(&model->code_frames, frame));
	assert_true(MODEL_PUSH(&model->code_stacks, ((struct code_stack){ model->stack_frames.count - 1, 1 })));
	for (uint64_t i = 0; i < 8; i++)
		assert_true(MODEL_PUSH(&model->stack_samples,
				       ((struct stack_sample){ .thread = thread, .ts_ns = (10 + i) * US,
							       .stack = model->code_stacks.count - 1 })));
}

/* Threads that collect garbage are busy, but not what the program is about. */
static void collectors(void **state)
{
	struct fixture f;
	uint32_t second;

	(void)state;
	begin(&f);
	second = small_thread(f.model, f.process, 102, "GC Thread#1");
	sleeps_in_vain(&f, f.main);
	works_until(&f, f.worker, 900);
	works_until(&f, second, 800);
	look_at(&f, f.worker, "GangWorker::run");
	compute(&f);
	expect_thread(&f, second, WAITS_OF_BUSIEST);
	look_at(&f, second, "PSParallelCompact::fill_blocks");
	compute(&f);
	expect_thread(&f, f.worker, WAITS_OF_BUSIEST); /* all do */
	assert_string_equal(f.waits.own.row[0].word, "Java's garbage collection");
	end(&f);
}

/* A thread of a pool that collects garbage is no more what the program is about, even if no sample shows what it does. */
static void collectors_pool(void **state)
{
	struct fixture f;

	(void)state;
	for (int own_name = 0; own_name < 2; own_name++) {
		const char *name = own_name ? "GC Thread#1" : "job";
		uint32_t first, second;

		begin(&f);
		first = small_thread(f.model, f.process, 102, own_name ? "GC Thread#0" : "job");
		second = small_thread(f.model, f.process, 103, name);
		sleeps_in_vain(&f, f.main);
		works_until(&f, first, 900);
		works_until(&f, second, 800);
		works_until(&f, f.worker, 700);
		look_at(&f, first, "GangWorker::run");
		compute(&f);
		/* Threads with the name of their process got none. */
		expect_thread(&f, own_name ? f.worker : second, WAITS_OF_BUSIEST);
		end(&f);
	}
}

/* The main thread is one of the busy ones: it stays the main thread after a collector was left out, and is none of a pool. */
static void main_is_busy(void **state)
{
	struct fixture f;
	uint32_t second;

	(void)state;
	begin(&f);
	small_sleep(f.model, f.main, 0, 980 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
	small_span(f.model, f.main, 980 * US, 1000 * US, STATE_RUNNING);
	works_until(&f, f.worker, 900);
	look_at(&f, f.worker, "GangWorker::run");
	compute(&f);
	expect_thread(&f, f.main, WAITS_OF_MAIN);
	assert_int_equal(f.waits.busy_count, 0);
	end(&f);

	begin(&f);
	second = small_thread(f.model, f.process, 102, "main");
	small_sleep(f.model, f.main, 0, 980 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
	small_span(f.model, f.main, 980 * US, 1000 * US, STATE_RUNNING);
	works_until(&f, second, 30);
	compute(&f);
	expect_thread(&f, second, WAITS_OF_BUSIEST);
	assert_int_equal(f.waits.busy_count, 1);
	assert_int_equal(f.waits.busy[0], second);
	end(&f);
}

/* A thread that sleeps again and again for a time does so, although the last sleep had not ended yet. */
static void ticker(void **state)
{
	for (int woken = 0; woken < 2; woken++) {
		struct fixture f;

		begin(&f);
		for (uint64_t i = 0; i < 9; i++) {
			small_sleep(f.model, f.main, i * 100 * US, (i * 100 + 99) * US, FUTEX, INDEX_NONE,
				    SPAN_WOKEN_TIMER | SPAN_TIMEOUT);
			small_span(f.model, f.main, (i * 100 + 99) * US, (i + 1) * 100 * US, STATE_RUNNING);
		}
		small_sleep(f.model, f.main, 900 * US, 1000 * US, FUTEX, woken ? f.worker : INDEX_NONE, SPAN_TIMEOUT);
		if (woken)
			small_span(f.model, f.worker, 0, 1000 * US, STATE_RUNNING);
		compute(&f);
		assert_int_equal(f.waits.waits.row[0].root.cause, woken ? IDLE_USER_CODE : IDLE_SLEEP);
		assert_true(f.waits.waits.row[0].ns >= 850 * US);
		end(&f);
	}
}

static void child_process(void **state)
{
	struct fixture f;
	uint32_t child;

	begin(&f);
	child = small_process(f.model, 300, "child", true);
	small_thread(f.model, child, 300, "child");
	f.model->processes.row[child].parent_pid = 100;
	small_span(f.model, f.main, 0, 1000 * US, STATE_RUNNING);
	compute(&f);
	expect_thread(&f, f.main, WAITS_OF_MAIN);
	f.model->processes.row[child].parent_pid = 1;
	compute(&f);
	assert_int_equal(f.waits.thread_count, 2);
	end(&f);
}

/* The parent of a process had ended before the recording; its id was used again later. */
static void parent_id_again(void **state)
{
	struct fixture f;
	uint32_t orphan, later;

	begin(&f);
	orphan = small_process(f.model, 300, "orphan", true);
	small_thread(f.model, orphan, 300, "orphan");
	f.model->processes.row[orphan].parent_pid = 200;
	f.model->processes.row[orphan].start_ns = 100 * US;
	later = small_process(f.model, 200, "later", true);
	f.model->threads.row[small_thread(f.model, later, 200, "later")].first_ns = 500 * US;
	f.model->processes.row[later].parent_pid = 100;
	f.model->processes.row[later].start_ns = 500 * US;
	small_span(f.model, f.main, 0, 1000 * US, STATE_RUNNING);
	compute(&f);
	assert_int_equal(f.waits.thread_count, 2);
	/* Had it begun earlier, it would be the parent. */
	f.model->processes.row[orphan].start_ns = 600 * US;
	compute(&f);
	expect_thread(&f, f.main, WAITS_OF_MAIN);
	end(&f);
}

/* @thread launches from 0 us on, waits until 400 us, and again from 700 us until 1000 us. */
static void launch_and_wait(struct fixture *f, uint32_t thread, uint32_t wait)
{
	small_span(f->model, thread, 0, 20 * US, STATE_RUNNING);
	small_sleep(f->model, thread, 20 * US, 400 * US, FUTEX, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
	small_span(f->model, thread, 400 * US, 720 * US, STATE_RUNNING);
	small_sleep(f->model, thread, 720 * US, 1000 * US, FUTEX, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
	for (int i = 0; i < LAUNCHES; i++)
		small_call(f->model, thread, f->launch, i * US, (i + 1) * US);
	small_call(f->model, thread, wait, 20 * US, 400 * US);
	small_call(f->model, thread, f->launch, 700 * US, 710 * US);
	small_call(f->model, thread, wait, 720 * US, 1000 * US);
}

static void expect_bounds(const struct fixture *f, double at_least, double at_most)
{
	assert_true(f->waits.bounds.known);
	assert_true(f->waits.bounds.at_least_percent > at_least - 0.01 &&
		    f->waits.bounds.at_least_percent < at_least + 0.01);
	assert_true(f->waits.bounds.at_most_percent > at_most - 0.01 &&
		    f->waits.bounds.at_most_percent < at_most + 0.01);
}

static void bounds(void **state)
{
	struct fixture f;

	begin(&f);
	launch_and_wait(&f, f.worker, f.sync);
	compute(&f);
	expect_thread(&f, f.worker, WAITS_OF_LAUNCHES);
	/* 380 and 280 us asleep in calls, less 50 and 100 each; nothing was submitted from 400 to 700 us. */
	expect_bounds(&f, 36, 70);
	assert_int_equal(f.waits.waits.row[0].root.cause, IDLE_DEVICE_WAIT);
	assert_int_equal(f.waits.waits.row[0].ns, 660 * US);
	/* Another stream, for which no call waits. */
	f.model->calls.row[0].args[0] = 7;
	compute(&f);
	expect_bounds(&f, 36, 100);
	/* Calls that were too short to be recorded may have been launches. */
	assert_true(MODEL_PUSH(&f.model->short_calls,
			       ((struct short_calls){ .function = f.launch, .count = 1 })));
	compute(&f);
	assert_false(f.waits.bounds.known);
	end(&f);

	/* A wait for all streams. */
	begin(&f);
	launch_and_wait(&f, f.main, f.device_sync);
	f.model->calls.row[0].args[0] = 7;
	compute(&f);
	expect_bounds(&f, 36, 70);
	end(&f);
}

/*
 * The shortest wait of a function is the cost of the wait itself; calls that are only counted are included if they
 * are certainly complete.
 */
static void shortest_wait(void **state)
{
	struct fixture f;
	struct counted_call row = { .call = { .function = 0, .thread = 0 },
				    .count = 3,
				    .shortest_ns = 1 };

	begin(&f);
	launch_and_wait(&f, f.worker, f.sync);
	row.call.function = f.sync;
	row.call.thread = f.worker;
	row.call.flags = MODEL_CALL_INNER;
	assert_true(MODEL_PUSH(&f.model->counted_calls, row));
	row.call.flags = 0;
	row.unsure = COUNTED_INSIDE;
	assert_true(MODEL_PUSH(&f.model->counted_calls, row));
	compute(&f);
	expect_bounds(&f, 36, 70);
	row.unsure = 0;
	row.shortest_ns = 10 * US;
	assert_true(MODEL_PUSH(&f.model->counted_calls, row));
	compute(&f);
	expect_bounds(&f, 44, 70);
	end(&f);
}

/* Work submitted while a call waits may not be done when the call returns. */
static void submitted_meanwhile(void **state)
{
	struct fixture f;

	begin(&f);
	launch_and_wait(&f, f.main, f.sync);
	small_span(f.model, f.worker, 0, 1000 * US, STATE_RUNNING);
	small_call(f.model, f.worker, f.launch, 100 * US, 110 * US);
	compute(&f);
	expect_bounds(&f, 36, 100);
	end(&f);
}

/* A copy works on the CPU: only its sleep is time of the device. A thread without a CPU shows nothing. */
static void not_busy(void **state)
{
	for (int way = 0; way < 3; way++) {
		struct fixture f;

		begin(&f);
		small_span(f.model, f.main, 0, 200 * US, STATE_RUNNING);
		small_span(f.model, f.main, 200 * US, 500 * US, STATE_RUNNABLE);
		small_span(f.model, f.main, 500 * US, 1000 * US, STATE_RUNNING);
		for (int i = 0; i < LAUNCHES; i++)
			small_call(f.model, f.main, f.launch, i * US, (i + 1) * US);
		small_call(f.model, f.main, f.sync, 20 * US, 600 * US);
		small_call(f.model, f.main,
			   way == 0   ? f.copy
			   : way == 1 ? f.copy_in
				      : f.copy_later,
			   700 * US, 900 * US);
		compute(&f);
		/* 70..200 and 500..600 us; idle from 600 until the copy at 700, and after it, if it is done by then. */
		expect_bounds(&f, 23, way == 0 ? 80 : 90);
		end(&f);
	}
}

/* A thread of the runtime learned of the completion at 700 us, and got a CPU and reported it later. */
static void late_news(void **state)
{
	struct fixture f;

	begin(&f);
	small_span(f.model, f.main, 0, 100 * US, STATE_RUNNING);
	small_sleep(f.model, f.main, 100 * US, 900 * US, FUTEX, f.worker, 0);
	small_span(f.model, f.main, 900 * US, 1000 * US, STATE_RUNNING);
	small_sleep(f.model, f.worker, 0, 700 * US, FUTEX, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
	small_span(f.model, f.worker, 700 * US, 850 * US, STATE_RUNNABLE);
	small_span(f.model, f.worker, 850 * US, 1000 * US, STATE_RUNNING);
	for (int i = 0; i < LAUNCHES; i++)
		small_call(f.model, f.main, f.launch, i * US, (i + 1) * US);
	small_call(f.model, f.main, f.sync, 100 * US, 900 * US);
	compute(&f);
	expect_bounds(&f, 45, 90);
	end(&f);
}

/* A selected thread that does not exist is not replaced by another one. */
static void asked_in_vain(void **state)
{
	uint32_t tids[] = { 77 };
	struct fixture f;

	begin(&f);
	small_span(f.model, f.main, 0, 1000 * US, STATE_RUNNING);
	f.options.tids = tids;
	f.options.tid_count = 1;
	compute(&f);
	assert_int_equal(f.waits.thread_count, 0);
	assert_int_equal(f.waits.why, WAITS_OF_ASKED);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows),
		cmocka_unit_test(busiest),
		cmocka_unit_test(launcher),
		cmocka_unit_test(pool),
		cmocka_unit_test(collectors),
		cmocka_unit_test(collectors_pool),
		cmocka_unit_test(main_is_busy),
		cmocka_unit_test(ticker),
		cmocka_unit_test(child_process),
		cmocka_unit_test(parent_id_again),
		cmocka_unit_test(bounds),
		cmocka_unit_test(shortest_wait),
		cmocka_unit_test(submitted_meanwhile),
		cmocka_unit_test(not_busy),
		cmocka_unit_test(late_news),
		cmocka_unit_test(asked_in_vain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/idle.h"
#include "analyzer/analyse/results.h"
#include "bpf/events.h"
#include "tests/unit/small_model.h"

/* System call numbers of x86-64. */
#define READ 0
#define POLL 7
#define IOCTL 16
#define NANOSLEEP 35
#define RECVFROM 45
#define WAIT4 61
#define FSYNC 74
#define FUTEX 202
#define MUNMAP 11

#define US 1000ull

/*
 * A job with a main thread, a worker, and an outsider; the device runs a task until 100 us and
 * the next one from 200 us on, which the main thread enqueues at 180..190 us, submitted at
 * 185 us. What happens in between is up to the test.
 */
struct scene {
	struct model *model;
	uint32_t process;
	uint32_t main;
	uint32_t worker;
	uint32_t outsider;
	uint32_t sync;
	uint32_t launch;
	struct device_results results;
};

static struct scene make_scene(void)
{
	struct scene scene = { .model = small_model(0, 1000 * US) };
	struct model *model = scene.model;
	uint32_t other;
	struct device_task *task;

	scene.process = small_process(model, 100, "job", true);
	scene.main = small_thread(model, scene.process, 100, "main");
	scene.worker = small_thread(model, scene.process, 101, "worker");
	other = small_process(model, 200, "other", false);
	scene.outsider = small_thread(model, other, 200, "outsider");
	scene.sync = small_function(model, "opencl", "clFinish", PROFBPF__FUNCTION__KIND__SYNC);
	scene.launch = small_function(model, "opencl", "clEnqueueNDRangeKernel",
				      PROFBPF__FUNCTION__KIND__LAUNCH);
	small_device(model, scene.process, "the device", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	small_task(model, 0, 50 * US, 100 * US);
	task = small_task(model, 0, 200 * US, 300 * US);
	task->thread = scene.main;
	task->enqueue_ns = 181 * US;
	task->enqueue_dur_ns = 8 * US;
	task->submit_ns = 185 * US;
	return scene;
}

static void compute(struct scene *scene)
{
	const struct analysis_options options = { 0 };
	const struct idle_result *idle = &scene->results.idle;
	uint64_t totals_ns = 0;

	small_index(scene->model);
	assert_int_equal(device_results_compute(scene->model, &options, &scene->results), 0);
	for (uint32_t i = 0; i < idle->total_count; i++)
		totals_ns += idle->totals[i].ns;
	assert_int_equal(totals_ns, idle->total_ns);
}

static void end_scene(struct scene *scene)
{
	device_results_free(&scene->results);
	model_free(scene->model);
}

/* Parts of the only gap, one by one; who and detail may be NULL: not looked at. */
static void expect(struct scene *scene, uint32_t part, uint64_t start_us, uint64_t end_us,
		   uint8_t cause, const char *who, const char *detail)
{
	const struct idle_result *idle = &scene->results.idle;
	const struct idle_part *row;

	assert_int_equal(idle->gap_count, 1);
	assert_true(part < idle->gaps[0].part_count);
	row = &idle->gaps[0].parts[part];
	assert_int_equal(row->start_ns, start_us * US);
	assert_int_equal(row->end_ns, end_us * US);
	assert_string_equal(idle_cause_name(row->cause), idle_cause_name(cause));
	if (who)
		assert_string_equal(model_text(scene->model, row->who), who);
	if (detail)
		assert_string_equal(model_text(scene->model, row->detail), detail);
}

static void expect_parts(struct scene *scene, uint32_t count)
{
	assert_int_equal(scene->results.idle.gaps[0].part_count, count);
}

/* On CPU all the time: own code, runtime, and then the device's turn. */
static void test_on_cpu(void **state)
{
	struct scene scene = make_scene();

	small_span(scene.model, scene.main, 0, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.launch, 180 * US, 190 * US);
	compute(&scene);
	expect_parts(&scene, 3);
	expect(&scene, 0, 100, 180, IDLE_USER_CODE, "main 100", "");
	expect(&scene, 1, 180, 185, IDLE_RUNTIME, "clEnqueueNDRangeKernel", "");
	expect(&scene, 2, 185, 200, IDLE_DEVICE_WAIT, "the device", "submitted, not started yet");
	assert_int_equal(scene.results.idle.gaps[0].parts[1].thread, scene.main);
	assert_int_equal(scene.results.idle.total_ns, 100 * US);
	assert_int_equal(scene.results.idle.cause_ns[IDLE_USER_CODE], 80 * US);
	end_scene(&scene);
}

/* Interrupts while it ran, a quota that was used up, and a read of a pipe with its object. */
static void test_irq_quota_object(void **state)
{
	struct scene scene = make_scene();
	struct model *model = scene.model;
	struct interrupt interrupt = { .thread = scene.main, .flags = WAKE_SOFTIRQ };
	struct sleep_object pipe = { .kind = SLEEP_PIPE, .object = 4711 };

	small_call(model, scene.main, scene.launch, 180 * US, 190 * US);
	small_span(model, scene.main, 0, 120 * US, STATE_RUNNING);
	interrupt.ts_ns = 105 * US;
	interrupt.dur_ns = 3 * US;
	assert_true(MODEL_PUSH(&model->interrupts, interrupt));
	small_span(model, scene.main, 120 * US, 150 * US, STATE_RUNNABLE)->flags = SPAN_THROTTLED;
	assert_true(MODEL_PUSH(&model->sleep_objects, pipe));
	small_sleep(model, scene.main, 150 * US, 160 * US, READ, scene.worker, 0);
	model->spans.row[model->spans.count - 1].object = 0;
	small_span(model, scene.main, 160 * US, 1000 * US, STATE_RUNNING);
	compute(&scene);
	expect(&scene, 0, 100, 105, IDLE_USER_CODE, "main 100", NULL);
	expect(&scene, 1, 105, 108, IDLE_IRQ, NULL, NULL);
	expect(&scene, 2, 108, 120, IDLE_USER_CODE, "main 100", NULL);
	expect(&scene, 3, 120, 150, IDLE_THROTTLED, NULL, "its cgroup had used up its CPU quota");
	expect(&scene, 4, 150, 160, IDLE_PIPELINE, "worker 101",
	       "asleep in read of a pipe, woken by worker 101, which was doing something not "
	       "recorded 100 %");
	end_scene(&scene);
}

/* Without a submit time the end of the enqueue stands for it; without that the call's end. */
static void test_handover(void **state)
{
	struct scene scene = make_scene();

	scene.model->tasks.row[1].submit_ns = 0;
	small_span(scene.model, scene.main, 0, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.launch, 180 * US, 195 * US);
	compute(&scene);
	expect(&scene, 1, 180, 189, IDLE_RUNTIME, NULL, NULL);
	expect(&scene, 2, 189, 200, IDLE_DEVICE_WAIT, NULL, NULL);
	end_scene(&scene);

	scene = make_scene();
	scene.model->tasks.row[1].submit_ns = 0;
	scene.model->tasks.row[1].enqueue_dur_ns = 0;
	small_span(scene.model, scene.main, 0, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.launch, 180 * US, 195 * US);
	compute(&scene);
	expect(&scene, 1, 180, 195, IDLE_RUNTIME, NULL, NULL);
	end_scene(&scene);

	/* Submitted before the gap began: nothing but the device is to blame. */
	scene = make_scene();
	scene.model->tasks.row[1].enqueue_ns = 10 * US;
	scene.model->tasks.row[1].submit_ns = 20 * US;
	small_span(scene.model, scene.main, 0, 1000 * US, STATE_RUNNING);
	compute(&scene);
	expect_parts(&scene, 1);
	expect(&scene, 0, 100, 200, IDLE_DEVICE_WAIT, "the device", NULL);
	end_scene(&scene);
}

/* Asleep in clFinish: woken by an interrupt, then ready while another process had the CPU. */
static void test_completion_by_interrupt(void **state)
{
	struct scene scene = make_scene();
	struct span *span;

	small_sleep(scene.model, scene.main, 0, 110 * US, IOCTL, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
	span = small_span(scene.model, scene.main, 110 * US, 130 * US, STATE_RUNNABLE);
	span->other = scene.outsider;
	small_span(scene.model, scene.main, 130 * US, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.sync, 40 * US, 140 * US);
	compute(&scene);
	expect(&scene, 0, 100, 110, IDLE_DEVICE_WAIT, "the device",
	       "completion of clFinish reached the thread late");
	expect(&scene, 1, 110, 130, IDLE_RUNNABLE, "outsider of process 200", NULL);
	expect(&scene, 2, 130, 140, IDLE_RUNTIME, "clFinish", NULL);
	expect(&scene, 3, 140, 185, IDLE_USER_CODE, "main 100", NULL);
	end_scene(&scene);
}

/* The runtime's own thread brings the completion, and had to wait for a CPU itself. */
static void test_completion_by_thread(void **state)
{
	struct scene scene = make_scene();
	struct span *span;

	small_sleep(scene.model, scene.main, 0, 130 * US, FUTEX, scene.worker, 0);
	small_span(scene.model, scene.main, 130 * US, 1000 * US, STATE_RUNNING);
	small_span(scene.model, scene.worker, 0, 105 * US, STATE_RUNNING);
	span = small_span(scene.model, scene.worker, 105 * US, 125 * US, STATE_RUNNABLE);
	span->other = scene.outsider;
	small_span(scene.model, scene.worker, 125 * US, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.sync, 40 * US, 140 * US);
	compute(&scene);
	expect(&scene, 0, 100, 105, IDLE_DEVICE_WAIT, "the device",
	       "completion of clFinish reached the thread late, brought by worker 101");
	expect(&scene, 1, 105, 125, IDLE_RUNNABLE, "outsider of process 200",
	       "worker 101, which was to report the completion of clFinish, waited for a CPU");
	expect(&scene, 2, 125, 130, IDLE_DEVICE_WAIT, "the device", NULL);
	expect(&scene, 3, 130, 140, IDLE_RUNTIME, "clFinish", NULL);
	end_scene(&scene);
}

/* In clFinish, but it was a lock of the runtime that another caller of it held. */
static void test_runtime_lock(void **state)
{
	struct scene scene = make_scene();

	small_sleep(scene.model, scene.main, 0, 130 * US, FUTEX, scene.worker, 0);
	small_span(scene.model, scene.main, 130 * US, 1000 * US, STATE_RUNNING);
	small_span(scene.model, scene.worker, 0, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.sync, 40 * US, 140 * US);
	small_call(scene.model, scene.worker, scene.launch, 90 * US, 135 * US);
	compute(&scene);
	expect(&scene, 0, 100, 130, IDLE_LOCK, "worker 101",
	       "asleep in futex inside clFinish, woken by worker 101, which was on CPU in "
	       "clEnqueueNDRangeKernel 100 %");
	end_scene(&scene);
}

/* The task was enqueued long ago, the thread waits for it, the runtime has not submitted it. */
static void test_enqueued(void **state)
{
	struct scene scene = make_scene();

	scene.model->tasks.row[1].enqueue_ns = 60 * US;
	scene.model->tasks.row[1].submit_ns = 195 * US;
	small_sleep(scene.model, scene.main, 0, 400 * US, FUTEX, scene.worker, 0);
	small_call(scene.model, scene.main, scene.sync, 70 * US, 410 * US);
	compute(&scene);
	expect(&scene, 0, 100, 195, IDLE_DEVICE_WAIT, "the device",
	       "enqueued, not submitted by the runtime yet");
	expect(&scene, 1, 195, 200, IDLE_DEVICE_WAIT, "the device", "submitted, not started yet");
	end_scene(&scene);
}

/* Submitted while the thread was in no call: the runtime decided when. */
static void test_submitted_by_runtime(void **state)
{
	struct scene scene = make_scene();

	scene.model->tasks.row[1].enqueue_ns = 100 * US;
	scene.model->tasks.row[1].enqueue_dur_ns = 20 * US;
	scene.model->tasks.row[1].submit_ns = 170 * US;
	small_span(scene.model, scene.main, 0, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.launch, 99 * US, 121 * US);
	compute(&scene);
	expect_parts(&scene, 3);
	expect(&scene, 0, 100, 120, IDLE_RUNTIME, "clEnqueueNDRangeKernel", NULL);
	expect(&scene, 1, 120, 170, IDLE_DEVICE_WAIT, "the device",
	       "enqueued, not submitted by the runtime yet");
	expect(&scene, 2, 170, 200, IDLE_DEVICE_WAIT, "the device", "submitted, not started yet");
	end_scene(&scene);

	/* The same, but the submit time lies in a call of the thread: its flush came late. */
	scene = make_scene();
	scene.model->tasks.row[1].enqueue_ns = 100 * US;
	scene.model->tasks.row[1].enqueue_dur_ns = 20 * US;
	scene.model->tasks.row[1].submit_ns = 170 * US;
	small_span(scene.model, scene.main, 0, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.launch, 99 * US, 121 * US);
	small_call(scene.model, scene.main, scene.sync, 160 * US, 400 * US);
	compute(&scene);
	expect_parts(&scene, 4);
	expect(&scene, 1, 121, 160, IDLE_USER_CODE, "main 100", NULL);
	expect(&scene, 2, 160, 170, IDLE_RUNTIME, "clFinish", NULL);
	end_scene(&scene);
}

/* The submit time is stamped, but the launch has to wait for a lock before it is done. */
static void test_launch_sleeps(void **state)
{
	struct scene scene = make_scene();

	scene.model->functions.row[scene.launch].kind = PROFBPF__FUNCTION__KIND__COPY;
	scene.model->tasks.row[1].enqueue_dur_ns = 300 * US;
	small_span(scene.model, scene.main, 0, 187 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.main, 187 * US, 195 * US, FUTEX, scene.worker, 0);
	small_span(scene.model, scene.main, 195 * US, 197 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.main, 197 * US, 400 * US, FUTEX, scene.worker, 0);
	small_span(scene.model, scene.worker, 0, 190 * US, STATE_RUNNABLE)->other = scene.outsider;
	small_span(scene.model, scene.worker, 190 * US, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.launch, 180 * US, 490 * US);
	compute(&scene);
	expect_parts(&scene, 4);
	expect(&scene, 1, 180, 187, IDLE_RUNTIME, "clEnqueueNDRangeKernel", NULL);
	expect(&scene, 2, 187, 195, IDLE_LOCK, "worker 101",
	       "asleep in futex inside clEnqueueNDRangeKernel, woken by worker 101, which was on "
	       "CPU in its own code 62 %");
	expect(&scene, 3, 195, 200, IDLE_DEVICE_WAIT, "the device", "submitted, not started yet");
	end_scene(&scene);
}

/* A blocking copy, asleep since before the gap until after it: it waits for its own task. */
static void test_blocking_copy(void **state)
{
	struct scene scene = make_scene();

	scene.model->functions.row[scene.launch].kind = PROFBPF__FUNCTION__KIND__COPY;
	scene.model->tasks.row[1].enqueue_ns = 60 * US;
	scene.model->tasks.row[1].enqueue_dur_ns = 300 * US;
	scene.model->tasks.row[1].submit_ns = 170 * US;
	small_span(scene.model, scene.main, 0, 70 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.main, 70 * US, 350 * US, FUTEX, scene.worker, 0);
	small_call(scene.model, scene.main, scene.launch, 59 * US, 361 * US);
	compute(&scene);
	expect_parts(&scene, 2);
	expect(&scene, 0, 100, 170, IDLE_DEVICE_WAIT, "the device",
	       "enqueued, not submitted by the runtime yet");
	expect(&scene, 1, 170, 200, IDLE_DEVICE_WAIT, "the device", "submitted, not started yet");
	end_scene(&scene);
}

/* Asleep outside any runtime call, by what it slept in and what woke it. */
static void sleep_case(int16_t syscall, enum thread_state how, bool by_worker, bool by_outsider,
		       uint8_t flags, uint8_t cause, const char *who)
{
	struct scene scene = make_scene();
	struct span *span = small_span(scene.model, scene.main, 0, 150 * US, how);

	span->syscall = syscall;
	span->flags = flags;
	if (by_worker)
		span->other = scene.worker;
	if (by_outsider)
		span->other = scene.outsider;
	small_span(scene.model, scene.main, 150 * US, 1000 * US, STATE_RUNNING);
	compute(&scene);
	expect(&scene, 0, 100, 150, cause, who, NULL);
	expect(&scene, 1, 150, 185, IDLE_USER_CODE, "main 100", NULL);
	end_scene(&scene);
}

static void test_sleeps(void **state)
{
	const enum thread_state sleep = STATE_SLEEP, disk = STATE_DISK;

	sleep_case(FUTEX, sleep, true, false, 0, IDLE_LOCK, "worker 101");
	sleep_case(FUTEX, sleep, false, false, SPAN_WOKEN_TIMER, IDLE_SLEEP, "");
	/* A timer that interrupted the worker: the worker has nothing to do with it. */
	sleep_case(FUTEX, sleep, true, false, SPAN_WOKEN_TIMER, IDLE_SLEEP, "");
	sleep_case(FUTEX, sleep, false, false, SPAN_NO_WAKE, IDLE_LOCK, "");
	sleep_case(NANOSLEEP, sleep, false, false, SPAN_WOKEN_TIMER, IDLE_SLEEP, "");
	sleep_case(POLL, sleep, true, false, 0, IDLE_PIPELINE, "worker 101");
	sleep_case(POLL, sleep, false, true, 0, IDLE_NO_WORK, "outsider 200");
	sleep_case(POLL, sleep, false, false, SPAN_WOKEN_SOFTIRQ, IDLE_NETWORK, "");
	sleep_case(POLL, sleep, false, false, SPAN_WOKEN_TIMER, IDLE_SLEEP, "");
	sleep_case(READ, disk, false, false, 0, IDLE_IO, "");
	sleep_case(READ, sleep, false, false, SWITCH_IOWAIT, IDLE_IO, "");
	sleep_case(READ, sleep, true, false, 0, IDLE_PIPELINE, "worker 101");
	sleep_case(READ, sleep, false, true, 0, IDLE_NO_WORK, "outsider 200");
	sleep_case(RECVFROM, sleep, false, false, SPAN_WOKEN_SOFTIRQ, IDLE_NETWORK, "");
	sleep_case(RECVFROM, sleep, true, false, 0, IDLE_PIPELINE, "worker 101");
	sleep_case(FSYNC, disk, false, false, 0, IDLE_IO, "");
	sleep_case(WAIT4, sleep, false, true, 0, IDLE_PIPELINE, "outsider 200");
	sleep_case(IOCTL, sleep, false, false, SPAN_WOKEN_HARDIRQ, IDLE_DRIVER, "");
	sleep_case(MUNMAP, disk, true, false, 0, IDLE_LOCK, "worker 101");
	sleep_case(-1, disk, false, false, SWITCH_FAULT, IDLE_PAGE_FAULT, "");
	sleep_case(-1, sleep, false, false, SPAN_NO_WAKE, IDLE_UNKNOWN, "");
	sleep_case(FUTEX, STATE_STOPPED, false, false, 0, IDLE_UNKNOWN, "");
	sleep_case(1000, sleep, false, false, 0, IDLE_UNKNOWN, "");
}

/* What the waker did, and whom it waited for itself. */
static void test_waker_chain(void **state)
{
	struct scene scene = make_scene();
	uint32_t third = small_thread(scene.model, scene.process, 102, "third");
	struct span *span;

	small_sleep(scene.model, scene.main, 0, 180 * US, FUTEX, scene.worker, 0);
	small_span(scene.model, scene.main, 180 * US, 1000 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.worker, 0, 176 * US, FUTEX, third, 0);
	small_span(scene.model, scene.worker, 176 * US, 1000 * US, STATE_RUNNING);
	span = small_span(scene.model, third, 0, 138 * US, STATE_RUNNABLE);
	span->other = scene.outsider;
	small_span(scene.model, third, 138 * US, 1000 * US, STATE_RUNNING);
	compute(&scene);
	expect(&scene, 0, 100, 180, IDLE_LOCK, "worker 101",
	       "asleep in futex, woken by worker 101, which was asleep in futex 95 %, woken by "
	       "third 102, which was on CPU in its own code 50 %");
	end_scene(&scene);
}

static void test_driver(void **state)
{
	struct scene scene = make_scene();
	struct driver driver = { .rdev = 1, .device = model_string(scene.model, "/dev/accel0") };
	struct ioctl_call ioctl = { .start_ns = 120 * US,
				    .end_ns = 160 * US,
				    .thread = scene.main,
				    .driver = 0,
				    .cmd = 0xc0104600 };

	assert_true(MODEL_PUSH(&scene.model->drivers, driver));
	assert_true(MODEL_PUSH(&scene.model->ioctls, ioctl));
	small_span(scene.model, scene.main, 0, 130 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.main, 130 * US, 150 * US, IOCTL, INDEX_NONE,
		    SPAN_WOKEN_HARDIRQ);
	small_span(scene.model, scene.main, 150 * US, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.launch, 110 * US, 190 * US);
	compute(&scene);
	expect(&scene, 0, 100, 110, IDLE_USER_CODE, NULL, NULL);
	expect(&scene, 1, 110, 120, IDLE_RUNTIME, "clEnqueueNDRangeKernel", NULL);
	expect(&scene, 2, 120, 130, IDLE_DRIVER, "/dev/accel0 ioctl 0xc0104600", NULL);
	expect(&scene, 3, 130, 150, IDLE_DRIVER, "/dev/accel0 ioctl 0xc0104600",
	       "asleep in ioctl inside clEnqueueNDRangeKernel");
	expect(&scene, 4, 150, 160, IDLE_DRIVER, NULL, NULL);
	expect(&scene, 5, 160, 185, IDLE_RUNTIME, NULL, NULL);
	end_scene(&scene);
}

/*
 * Where threads of the host are the device, the one that takes the task may wait for a CPU. It
 * is known by the completions that it brings: the bystander runs as well, but brings none.
 */
static void test_cpu_device(void **state)
{
	struct scene scene = make_scene();
	uint32_t bystander = small_thread(scene.model, scene.process, 102, "bystander");
	struct span *span;

	scene.model->devices.row[0].kind = model_string(scene.model, "cpu");
	small_span(scene.model, scene.main, 0, 20 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.main, 20 * US, 30 * US, FUTEX, scene.worker, 0);
	small_span(scene.model, scene.main, 30 * US, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.sync, 10 * US, 35 * US);
	small_span(scene.model, scene.worker, 0, 40 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.worker, 40 * US, 170 * US, FUTEX, scene.main, 0);
	span = small_span(scene.model, scene.worker, 170 * US, 198 * US, STATE_RUNNABLE);
	span->other = scene.outsider;
	small_span(scene.model, scene.worker, 198 * US, 1000 * US, STATE_RUNNING);
	small_span(scene.model, bystander, 199 * US, 1000 * US, STATE_RUNNING);
	compute(&scene);
	expect_parts(&scene, 3);
	expect(&scene, 0, 100, 185, IDLE_USER_CODE, NULL, NULL);
	expect(&scene, 1, 185, 198, IDLE_RUNNABLE, "outsider of process 200",
	       "worker 101, which was to run the task, waited for a CPU");
	expect(&scene, 2, 198, 200, IDLE_DEVICE_WAIT, "the device", "submitted, not started yet");
	end_scene(&scene);
}

static void test_unknowns(void **state)
{
	/* No thread. */
	struct scene scene = make_scene();

	scene.model->tasks.row[1].thread = INDEX_NONE;
	compute(&scene);
	expect_parts(&scene, 2);
	expect(&scene, 0, 100, 185, IDLE_UNKNOWN, "",
	       "the thread that submitted the task is not known");
	expect(&scene, 1, 185, 200, IDLE_DEVICE_WAIT, NULL, NULL);
	end_scene(&scene);

	/* No scheduling records. */
	scene = make_scene();
	compute(&scene);
	expect(&scene, 0, 100, 185, IDLE_UNKNOWN, "", "no scheduling records for this time");
	assert_int_equal(scene.results.idle.gaps[0].parts[0].thread, scene.main);
	end_scene(&scene);

	/* Records lost in the middle; nothing known about when it was submitted. */
	scene = make_scene();
	scene.model->tasks.row[1].submit_ns = scene.model->tasks.row[1].enqueue_ns = 0;
	scene.model->tasks.row[1].enqueue_dur_ns = 0;
	small_span(scene.model, scene.main, 0, 120 * US, STATE_RUNNING);
	small_span(scene.model, scene.main, 120 * US, 150 * US, STATE_UNKNOWN);
	small_span(scene.model, scene.main, 150 * US, 1000 * US, STATE_RUNNABLE);
	compute(&scene);
	expect(&scene, 0, 100, 120, IDLE_USER_CODE, NULL, NULL);
	expect(&scene, 1, 120, 150, IDLE_UNKNOWN, NULL, NULL);
	expect(&scene, 2, 150, 200, IDLE_RUNNABLE, "", "what ran on its CPU is not known");
	end_scene(&scene);

	/* Woken onto an idle CPU. */
	scene = make_scene();
	small_span(scene.model, scene.main, 0, 120 * US, STATE_RUNNING);
	small_span(scene.model, scene.main, 120 * US, 180 * US, STATE_RUNNABLE)->flags =
		SPAN_CPU_IDLE;
	small_span(scene.model, scene.main, 180 * US, 1000 * US, STATE_RUNNING);
	compute(&scene);
	expect(&scene, 1, 120, 180, IDLE_RUNNABLE, "an idle CPU",
	       "nothing had its CPU: that long it took to wake up");
	end_scene(&scene);
}

/* A thread made during the gap: before, its creator is looked at. */
static void test_new_thread(void **state)
{
	struct scene scene = make_scene();

	scene.model->threads.row[scene.main].first_ns = 140 * US;
	scene.model->threads.row[scene.main].parent = scene.worker;
	small_span(scene.model, scene.main, 140 * US, 1000 * US, STATE_RUNNING);
	small_span(scene.model, scene.worker, 0, 1000 * US, STATE_RUNNING);
	compute(&scene);
	expect(&scene, 0, 100, 140, IDLE_USER_CODE, "worker 101", NULL);
	expect(&scene, 1, 140, 185, IDLE_USER_CODE, "main 100", NULL);
	end_scene(&scene);
}

/* Totals over several gaps: sums, counts, order, and only the longest gaps listed. */
static void test_totals(void **state)
{
	struct scene scene = make_scene();
	const struct analysis_options options = { .top = 2, .idle_threshold_ns = 20 * US };
	struct idle_result *idle = &scene.results.idle;

	small_task(scene.model, 0, 310 * US, 400 * US)->thread = scene.main;
	small_task(scene.model, 0, 500 * US, 600 * US)->thread = scene.worker;
	small_span(scene.model, scene.main, 0, 1000 * US, STATE_RUNNING);
	small_span(scene.model, scene.worker, 0, 450 * US, STATE_RUNNING);
	small_span(scene.model, scene.worker, 450 * US, 1000 * US, STATE_RUNNABLE)->other =
		scene.main;
	small_index(scene.model);
	assert_int_equal(device_results_compute(scene.model, &options, &scene.results), 0);
	assert_int_equal(idle->gaps_total, 3);
	assert_int_equal(idle->total_ns, 210 * US);
	assert_int_equal(idle->gap_count, 2);
	assert_int_equal(idle->gaps[0].gap.start_ns, 100 * US);
	assert_int_equal(idle->gaps[1].gap.start_ns, 400 * US);
	assert_int_equal(idle->total_count, 4);
	assert_int_equal(idle->totals[0].cause, IDLE_USER_CODE);
	assert_string_equal(model_text(scene.model, idle->totals[0].who), "main 100");
	assert_int_equal(idle->totals[0].ns, 95 * US);
	assert_int_equal(idle->totals[0].gaps, 2);
	assert_int_equal(idle->totals[3].cause, IDLE_DEVICE_WAIT);
	assert_int_equal(idle->totals[3].ns, 15 * US);
	assert_true(idle->totals[0].percent > 45.2 && idle->totals[0].percent < 45.3);
	end_scene(&scene);
}

/* Whichever thread of a process had the CPU: one row for all of the same name. */
static void test_runner_names(void **state)
{
	struct scene scene = make_scene();
	uint32_t second = small_thread(scene.model, scene.process, 102, "worker");
	const struct idle_result *idle = &scene.results.idle;

	small_span(scene.model, scene.main, 0, 130 * US, STATE_RUNNABLE)->other = scene.worker;
	small_span(scene.model, scene.main, 130 * US, 160 * US, STATE_RUNNABLE)->other = second;
	small_span(scene.model, scene.main, 160 * US, 1000 * US, STATE_RUNNING);
	compute(&scene);
	expect(&scene, 0, 100, 130, IDLE_RUNNABLE, "worker of process 100",
	       "main 100 waited for a CPU that worker 101 had");
	expect(&scene, 1, 130, 160, IDLE_RUNNABLE, "worker of process 100",
	       "main 100 waited for a CPU that worker 102 had");
	assert_int_equal(idle->gaps[0].parts[1].thread, second);
	assert_int_equal(idle->totals[0].ns, 60 * US);
	assert_int_equal(idle->totals[0].gaps, 1);
	end_scene(&scene);
}

static uint64_t up_to(uint64_t limit)
{
	return (uint64_t)rand() % limit;
}

/* Threads, calls, ioctls and tasks without rhyme or reason. */
static void fill_at_random(struct scene *scene)
{
	static const int16_t syscalls[] = { -1, READ, POLL, IOCTL, NANOSLEEP, FUTEX, 999 };
	static const uint8_t flags[] = { 0, 0, SPAN_WOKEN_TIMER, SPAN_NO_WAKE, SWITCH_IOWAIT };
	struct model *model = scene->model;

	model->devices.row[0].kind = model_string(model, rand() % 2 ? "cpu" : "gpu");
	for (uint32_t thread = 0; thread < 2; thread++) {
		uint64_t now_ns = up_to(50 * US);

		while (now_ns < 900 * US) {
			uint64_t end_ns = now_ns + 1 + up_to(30 * US);
			struct span *span = small_span(model, thread, now_ns, end_ns,
						       (enum thread_state)(rand() % 6));

			span->syscall = syscalls[rand() % 7];
			span->flags = flags[rand() % 5];
			span->other = rand() % 4 ? (uint32_t)up_to(3) : INDEX_NONE;
			now_ns = end_ns;
		}
	}
	for (int i = 0; i < 60; i++) {
		uint64_t start_ns = up_to(900 * US);
		struct ioctl_call ioctl = { .start_ns = start_ns,
					    .end_ns = start_ns + up_to(4 * US),
					    .thread = (uint32_t)up_to(2),
					    .driver = (uint32_t)up_to(3) };

		small_call(model, (uint32_t)up_to(2), (uint32_t)up_to(3), start_ns,
			   start_ns + up_to(20 * US));
		assert_true(MODEL_PUSH(&model->ioctls, ioctl));
	}
	for (int i = 0; i < 30; i++) {
		uint64_t start_ns = up_to(900 * US);
		struct device_task *task =
			small_task(model, 0, start_ns, start_ns + up_to(20 * US));

		task->thread = (uint32_t)up_to(4);
		task->enqueue_ns = rand() % 4 ? up_to(start_ns + 1) : 0;
		task->enqueue_dur_ns = up_to(5 * US);
		task->submit_ns = rand() % 2 ? up_to(start_ns + 10 * US) : 0;
	}
}

/* Each gap is covered without holes, and all sums agree to the nanosecond. */
static void test_random(void **state)
{
	srand(20261121);
	for (int round = 0; round < 300; round++) {
		struct scene scene = make_scene();
		const struct device_usage *usage;
		struct idle_splitter *splitter;
		uint64_t parts_ns = 0;

		fill_at_random(&scene);
		compute(&scene);
		usage = &scene.results.devices[0];
		splitter = idle_splitter_new(scene.model);
		assert_non_null(splitter);
		for (uint32_t gap = 0; gap < usage->gap_count; gap++) {
			const struct idle_part *parts;
			int count = idle_split(splitter, &usage->gaps[gap], true, &parts);
			uint64_t now_ns = usage->gaps[gap].start_ns;

			assert_true(count > 0);
			for (int i = 0; i < count; i++) {
				assert_int_equal(parts[i].start_ns, now_ns);
				assert_true(parts[i].end_ns > now_ns);
				assert_true(parts[i].cause < IDLE_CAUSES);
				parts_ns += parts[i].end_ns - parts[i].start_ns;
				now_ns = parts[i].end_ns;
			}
			assert_int_equal(now_ns, usage->gaps[gap].end_ns);
		}
		assert_int_equal(parts_ns, scene.results.idle.total_ns);
		assert_int_equal(parts_ns, usage->idle_ns);
		idle_splitter_free(splitter);
		end_scene(&scene);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_on_cpu),
		cmocka_unit_test(test_irq_quota_object),
		cmocka_unit_test(test_handover),
		cmocka_unit_test(test_completion_by_interrupt),
		cmocka_unit_test(test_completion_by_thread),
		cmocka_unit_test(test_runtime_lock),
		cmocka_unit_test(test_enqueued),
		cmocka_unit_test(test_submitted_by_runtime),
		cmocka_unit_test(test_launch_sleeps),
		cmocka_unit_test(test_blocking_copy),
		cmocka_unit_test(test_sleeps),
		cmocka_unit_test(test_waker_chain),
		cmocka_unit_test(test_driver),
		cmocka_unit_test(test_cpu_device),
		cmocka_unit_test(test_unknowns),
		cmocka_unit_test(test_new_thread),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_runner_names),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Idle time of a device: the cause of each instant of a gap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/idle_scene.h"

/* On a CPU all the time: the job's own code, the runtime, and then the device. */
static void test_on_cpu(void **state)
{
	struct scene scene = scene_make();

	small_span(scene.model, scene.main, 0, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.launch, 180 * US, 190 * US);
	scene_compute(&scene);
	scene_expect_parts(&scene, 3);
	scene_expect(&scene, 0, 100, 180, IDLE_USER_CODE, "main 100", "");
	scene_expect(&scene, 1, 180, 185, IDLE_RUNTIME, "clEnqueueNDRangeKernel", "");
	scene_expect(&scene, 2, 185, 200, IDLE_DEVICE_WAIT, "the device", "submitted, not started yet");
	assert_int_equal(scene.results.idle.gaps[0].parts[1].thread, scene.main);
	assert_int_equal(scene.results.idle.total_ns, 100 * US);
	assert_int_equal(scene.results.idle.cause_ns[IDLE_USER_CODE], 80 * US);
	scene_end(&scene);
}

/* Interrupts while the thread ran, an exhausted quota, and a read of a pipe with its object. */
static void test_irq_quota_object(void **state)
{
	struct scene scene = scene_make();
	struct model *model = scene.model;
	struct interrupt interrupt = { .thread = scene.main,
				       .flags = PROFBPF__WAKES__FLAG__SOFTIRQ };
	struct sleep_object pipe = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__PIPE, .object = 4711 };

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
	scene_compute(&scene);
	scene_expect(&scene, 0, 100, 105, IDLE_USER_CODE, "main 100", NULL);
	scene_expect(&scene, 1, 105, 108, IDLE_IRQ, NULL, NULL);
	scene_expect(&scene, 2, 108, 120, IDLE_USER_CODE, "main 100", NULL);
	scene_expect(&scene, 3, 120, 150, IDLE_THROTTLED, NULL, "its cgroup had used up its CPU quota");
	scene_expect(&scene, 4, 150, 160, IDLE_PIPELINE, "worker 101",
		     "asleep in read of a pipe, woken by worker 101, which was doing something not "
		     "recorded 100 %");
	scene_end(&scene);
}

/* Without a submit time the end of the enqueue is used instead; without that, the call's end. */
static void test_handover(void **state)
{
	struct scene scene = scene_make();

	scene.model->tasks.row[1].submit_ns = 0;
	small_span(scene.model, scene.main, 0, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.launch, 180 * US, 195 * US);
	scene_compute(&scene);
	scene_expect(&scene, 1, 180, 189, IDLE_RUNTIME, NULL, NULL);
	scene_expect(&scene, 2, 189, 200, IDLE_DEVICE_WAIT, NULL, NULL);
	scene_end(&scene);

	scene = scene_make();
	scene.model->tasks.row[1].submit_ns = 0;
	scene.model->tasks.row[1].enqueue_dur_ns = 0;
	small_span(scene.model, scene.main, 0, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.launch, 180 * US, 195 * US);
	scene_compute(&scene);
	scene_expect(&scene, 1, 180, 195, IDLE_RUNTIME, NULL, NULL);
	scene_end(&scene);

	/* Submitted before the gap began: only the device is responsible. */
	scene = scene_make();
	scene.model->tasks.row[1].enqueue_ns = 10 * US;
	scene.model->tasks.row[1].submit_ns = 20 * US;
	small_span(scene.model, scene.main, 0, 1000 * US, STATE_RUNNING);
	scene_compute(&scene);
	scene_expect_parts(&scene, 1);
	scene_expect(&scene, 0, 100, 200, IDLE_DEVICE_WAIT, "the device", NULL);
	scene_end(&scene);
}

/* Asleep in clFinish: woken by an interrupt, then ready while another process used the CPU. */
static void test_completion_by_interrupt(void **state)
{
	struct scene scene = scene_make();
	struct span *span;

	small_sleep(scene.model, scene.main, 0, 110 * US, IOCTL, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
	span = small_span(scene.model, scene.main, 110 * US, 130 * US, STATE_RUNNABLE);
	span->other = scene.outsider;
	small_span(scene.model, scene.main, 130 * US, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.sync, 40 * US, 140 * US);
	scene_compute(&scene);
	scene_expect(&scene, 0, 100, 110, IDLE_DEVICE_WAIT, "the device",
		     "completion of clFinish reached the thread late");
	scene_expect(&scene, 1, 110, 130, IDLE_RUNNABLE, "outsider of process 200", NULL);
	scene_expect(&scene, 2, 130, 140, IDLE_RUNTIME, "clFinish", NULL);
	scene_expect(&scene, 3, 140, 185, IDLE_USER_CODE, "main 100", NULL);
	scene_end(&scene);
}

/* The runtime's own thread reports the completion, after it had to wait for a CPU itself. */
static void test_completion_by_thread(void **state)
{
	struct scene scene = scene_make();
	struct span *span;

	small_sleep(scene.model, scene.main, 0, 130 * US, FUTEX, scene.worker, 0);
	small_span(scene.model, scene.main, 130 * US, 1000 * US, STATE_RUNNING);
	small_span(scene.model, scene.worker, 0, 105 * US, STATE_RUNNING);
	span = small_span(scene.model, scene.worker, 105 * US, 125 * US, STATE_RUNNABLE);
	span->other = scene.outsider;
	small_span(scene.model, scene.worker, 125 * US, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.sync, 40 * US, 140 * US);
	scene_compute(&scene);
	scene_expect(&scene, 0, 100, 105, IDLE_DEVICE_WAIT, "the device",
		     "completion of clFinish reached the thread late, brought by worker 101");
	scene_expect(&scene, 1, 105, 125, IDLE_RUNNABLE, "outsider of process 200",
		     "worker 101, which was to report the completion of clFinish, waited for a CPU");
	scene_expect(&scene, 2, 125, 130, IDLE_DEVICE_WAIT, "the device", NULL);
	scene_expect(&scene, 3, 130, 140, IDLE_RUNTIME, "clFinish", NULL);
	scene_end(&scene);
}

/* In clFinish, but waiting for a lock of the runtime that another caller held. */
static void test_runtime_lock(void **state)
{
	struct scene scene = scene_make();

	small_sleep(scene.model, scene.main, 0, 130 * US, FUTEX, scene.worker, 0);
	small_span(scene.model, scene.main, 130 * US, 1000 * US, STATE_RUNNING);
	small_span(scene.model, scene.worker, 0, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.sync, 40 * US, 140 * US);
	small_call(scene.model, scene.worker, scene.launch, 90 * US, 135 * US);
	scene_compute(&scene);
	scene_expect(&scene, 0, 100, 130, IDLE_LOCK, "worker 101",
		     "asleep in futex inside clFinish, woken by worker 101, which was on CPU in "
		     "clEnqueueNDRangeKernel 100 %");
	scene_end(&scene);
}

/* The task was enqueued long ago and the thread waits for it, but the runtime has not submitted it. */
static void test_enqueued(void **state)
{
	struct scene scene = scene_make();

	scene.model->tasks.row[1].enqueue_ns = 60 * US;
	scene.model->tasks.row[1].submit_ns = 195 * US;
	small_sleep(scene.model, scene.main, 0, 400 * US, FUTEX, scene.worker, 0);
	small_call(scene.model, scene.main, scene.sync, 70 * US, 410 * US);
	scene_compute(&scene);
	scene_expect(&scene, 0, 100, 195, IDLE_DEVICE_WAIT, "the device",
		     "enqueued, not submitted by the runtime yet");
	scene_expect(&scene, 1, 195, 200, IDLE_DEVICE_WAIT, "the device", "submitted, not started yet");
	scene_end(&scene);
}

/* Submitted while the thread was in no call: the runtime chose the time. */
static void test_submitted_by_runtime(void **state)
{
	struct scene scene = scene_make();

	scene.model->tasks.row[1].enqueue_ns = 100 * US;
	scene.model->tasks.row[1].enqueue_dur_ns = 20 * US;
	scene.model->tasks.row[1].submit_ns = 170 * US;
	small_span(scene.model, scene.main, 0, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.launch, 99 * US, 121 * US);
	scene_compute(&scene);
	scene_expect_parts(&scene, 3);
	scene_expect(&scene, 0, 100, 120, IDLE_RUNTIME, "clEnqueueNDRangeKernel", NULL);
	scene_expect(&scene, 1, 120, 170, IDLE_DEVICE_WAIT, "the device",
		     "enqueued, not submitted by the runtime yet");
	scene_expect(&scene, 2, 170, 200, IDLE_DEVICE_WAIT, "the device", "submitted, not started yet");
	scene_end(&scene);

	/* The same, but the submit time lies in a call of the thread: it flushed late. */
	scene = scene_make();
	scene.model->tasks.row[1].enqueue_ns = 100 * US;
	scene.model->tasks.row[1].enqueue_dur_ns = 20 * US;
	scene.model->tasks.row[1].submit_ns = 170 * US;
	small_span(scene.model, scene.main, 0, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.launch, 99 * US, 121 * US);
	small_call(scene.model, scene.main, scene.sync, 160 * US, 400 * US);
	scene_compute(&scene);
	scene_expect_parts(&scene, 4);
	scene_expect(&scene, 1, 121, 160, IDLE_USER_CODE, "main 100", NULL);
	scene_expect(&scene, 2, 160, 170, IDLE_RUNTIME, "clFinish", NULL);
	scene_end(&scene);
}

/* The submit time has passed, but the launch waits for a lock before it returns. */
static void test_launch_sleeps(void **state)
{
	struct scene scene = scene_make();

	scene.model->functions.row[scene.launch].kind = PROFBPF__FUNCTION__KIND__COPY;
	scene.model->tasks.row[1].enqueue_dur_ns = 300 * US;
	small_span(scene.model, scene.main, 0, 187 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.main, 187 * US, 195 * US, FUTEX, scene.worker, 0);
	small_span(scene.model, scene.main, 195 * US, 197 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.main, 197 * US, 400 * US, FUTEX, scene.worker, 0);
	small_span(scene.model, scene.worker, 0, 190 * US, STATE_RUNNABLE)->other = scene.outsider;
	small_span(scene.model, scene.worker, 190 * US, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.main, scene.launch, 180 * US, 490 * US);
	scene_compute(&scene);
	scene_expect_parts(&scene, 4);
	scene_expect(&scene, 1, 180, 187, IDLE_RUNTIME, "clEnqueueNDRangeKernel", NULL);
	scene_expect(&scene, 2, 187, 195, IDLE_LOCK, "worker 101",
		     "asleep in futex inside clEnqueueNDRangeKernel, woken by worker 101, which was on "
		     "CPU in its own code 62 %");
	scene_expect(&scene, 3, 195, 200, IDLE_DEVICE_WAIT, "the device", "submitted, not started yet");
	scene_end(&scene);
}

/* A blocking copy, asleep from before the gap until after it: it waits for its own task. */
static void test_blocking_copy(void **state)
{
	struct scene scene = scene_make();

	scene.model->functions.row[scene.launch].kind = PROFBPF__FUNCTION__KIND__COPY;
	scene.model->tasks.row[1].enqueue_ns = 60 * US;
	scene.model->tasks.row[1].enqueue_dur_ns = 300 * US;
	scene.model->tasks.row[1].submit_ns = 170 * US;
	small_span(scene.model, scene.main, 0, 70 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.main, 70 * US, 350 * US, FUTEX, scene.worker, 0);
	small_call(scene.model, scene.main, scene.launch, 59 * US, 361 * US);
	scene_compute(&scene);
	scene_expect_parts(&scene, 2);
	scene_expect(&scene, 0, 100, 170, IDLE_DEVICE_WAIT, "the device",
		     "enqueued, not submitted by the runtime yet");
	scene_expect(&scene, 1, 170, 200, IDLE_DEVICE_WAIT, "the device", "submitted, not started yet");
	scene_end(&scene);
}

/* Checks a sleep outside any runtime call, by its system call and its waker. */
static void sleep_case(int16_t syscall, enum thread_state how, bool by_worker, bool by_outsider,
		       uint8_t flags, uint8_t cause, const char *who)
{
	struct scene scene = scene_make();
	struct span *span = small_span(scene.model, scene.main, 0, 150 * US, how);

	span->syscall = syscall;
	span->flags = flags;
	if (by_worker)
		span->other = scene.worker;
	if (by_outsider)
		span->other = scene.outsider;
	small_span(scene.model, scene.main, 150 * US, 1000 * US, STATE_RUNNING);
	scene_compute(&scene);
	scene_expect(&scene, 0, 100, 150, cause, who, NULL);
	scene_expect(&scene, 1, 150, 185, IDLE_USER_CODE, "main 100", NULL);
	scene_end(&scene);
}

static void test_sleeps(void **state)
{
	const enum thread_state sleep = STATE_SLEEP, disk = STATE_DISK;

	sleep_case(FUTEX, sleep, true, false, 0, IDLE_LOCK, "worker 101");
	sleep_case(FUTEX, sleep, false, false, SPAN_WOKEN_TIMER, IDLE_SLEEP, "");
	/* The timer interrupted the worker, which is not involved. */
	sleep_case(FUTEX, sleep, true, false, SPAN_WOKEN_TIMER, IDLE_SLEEP, "");
	sleep_case(FUTEX, sleep, false, false, SPAN_NO_WAKE, IDLE_LOCK, "");
	sleep_case(NANOSLEEP, sleep, false, false, SPAN_WOKEN_TIMER, IDLE_SLEEP, "");
	sleep_case(POLL, sleep, true, false, 0, IDLE_PIPELINE, "worker 101");
	sleep_case(POLL, sleep, false, true, 0, IDLE_NO_WORK, "outsider 200");
	sleep_case(POLL, sleep, false, false, SPAN_WOKEN_SOFTIRQ, IDLE_NETWORK, "");
	sleep_case(POLL, sleep, false, false, SPAN_WOKEN_TIMER, IDLE_SLEEP, "");
	sleep_case(READ, disk, false, false, 0, IDLE_IO, "");
	sleep_case(READ, sleep, false, false, SPAN_IOWAIT, IDLE_IO, "");
	sleep_case(READ, sleep, true, false, 0, IDLE_PIPELINE, "worker 101");
	sleep_case(READ, sleep, false, true, 0, IDLE_NO_WORK, "outsider 200");
	sleep_case(RECVFROM, sleep, false, false, SPAN_WOKEN_SOFTIRQ, IDLE_NETWORK, "");
	sleep_case(RECVFROM, sleep, true, false, 0, IDLE_PIPELINE, "worker 101");
	sleep_case(FSYNC, disk, false, false, 0, IDLE_IO, "");
	sleep_case(WAIT4, sleep, false, true, 0, IDLE_PIPELINE, "outsider 200");
	sleep_case(IOCTL, sleep, false, false, SPAN_WOKEN_HARDIRQ, IDLE_DRIVER, "");
	sleep_case(MUNMAP, disk, true, false, 0, IDLE_LOCK, "worker 101");
	sleep_case(-1, disk, false, false, SPAN_FAULT, IDLE_PAGE_FAULT, "");
	sleep_case(-1, sleep, false, false, SPAN_NO_WAKE, IDLE_UNKNOWN, "");
	sleep_case(FUTEX, STATE_STOPPED, false, false, 0, IDLE_UNKNOWN, "");
	sleep_case(1000, sleep, false, false, 0, IDLE_UNKNOWN, "");
}

/* The waker's activity, and the thread for which it waited itself. */
static void test_waker_chain(void **state)
{
	struct scene scene = scene_make();
	uint32_t third = small_thread(scene.model, scene.process, 102, "third");
	struct span *span;

	small_sleep(scene.model, scene.main, 0, 180 * US, FUTEX, scene.worker, 0);
	small_span(scene.model, scene.main, 180 * US, 1000 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.worker, 0, 176 * US, FUTEX, third, 0);
	small_span(scene.model, scene.worker, 176 * US, 1000 * US, STATE_RUNNING);
	span = small_span(scene.model, third, 0, 138 * US, STATE_RUNNABLE);
	span->other = scene.outsider;
	small_span(scene.model, third, 138 * US, 1000 * US, STATE_RUNNING);
	scene_compute(&scene);
	scene_expect(&scene, 0, 100, 180, IDLE_LOCK, "worker 101",
		     "asleep in futex, woken by worker 101, which was asleep in futex 95 %, woken by "
		     "third 102, which was on CPU in its own code 50 %");
	scene_end(&scene);
}

static void test_driver(void **state)
{
	struct scene scene = scene_make();
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
	scene_compute(&scene);
	scene_expect(&scene, 0, 100, 110, IDLE_USER_CODE, NULL, NULL);
	scene_expect(&scene, 1, 110, 120, IDLE_RUNTIME, "clEnqueueNDRangeKernel", NULL);
	scene_expect(&scene, 2, 120, 130, IDLE_DRIVER, "/dev/accel0 ioctl 0xc0104600", NULL);
	scene_expect(&scene, 3, 130, 150, IDLE_DRIVER, "/dev/accel0 ioctl 0xc0104600",
		     "asleep in ioctl inside clEnqueueNDRangeKernel");
	scene_expect(&scene, 4, 150, 160, IDLE_DRIVER, NULL, NULL);
	scene_expect(&scene, 5, 160, 185, IDLE_RUNTIME, NULL, NULL);
	scene_end(&scene);
}

/*
 * If threads of the host are the device, the thread that takes the task may wait for a CPU. It is recognized by the
 * completions that it reports: the bystander runs as well, but reports none.
 */
static void test_cpu_device(void **state)
{
	struct scene scene = scene_make();
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
	scene_compute(&scene);
	scene_expect_parts(&scene, 3);
	scene_expect(&scene, 0, 100, 185, IDLE_USER_CODE, NULL, NULL);
	scene_expect(&scene, 1, 185, 198, IDLE_RUNNABLE, "outsider of process 200",
		     "worker 101, which was to run the task, waited for a CPU");
	scene_expect(&scene, 2, 198, 200, IDLE_DEVICE_WAIT, "the device", "submitted, not started yet");
	scene_end(&scene);
}

static void test_unknowns(void **state)
{
	/* The thread is unknown. */
	struct scene scene = scene_make();

	scene.model->tasks.row[1].thread = INDEX_NONE;
	scene_compute(&scene);
	scene_expect_parts(&scene, 2);
	scene_expect(&scene, 0, 100, 185, IDLE_UNKNOWN, "",
		     "the thread that submitted the task is not known");
	scene_expect(&scene, 1, 185, 200, IDLE_DEVICE_WAIT, NULL, NULL);
	scene_end(&scene);

	/* No scheduling records. */
	scene = scene_make();
	scene_compute(&scene);
	scene_expect(&scene, 0, 100, 185, IDLE_UNKNOWN, "", "no scheduling records for this time");
	assert_int_equal(scene.results.idle.gaps[0].parts[0].thread, scene.main);
	scene_end(&scene);

	/* Records are lost in the middle; the submit time is unknown. */
	scene = scene_make();
	scene.model->tasks.row[1].submit_ns = scene.model->tasks.row[1].enqueue_ns = 0;
	scene.model->tasks.row[1].enqueue_dur_ns = 0;
	small_span(scene.model, scene.main, 0, 120 * US, STATE_RUNNING);
	small_span(scene.model, scene.main, 120 * US, 150 * US, STATE_UNKNOWN);
	small_span(scene.model, scene.main, 150 * US, 1000 * US, STATE_RUNNABLE);
	scene_compute(&scene);
	scene_expect(&scene, 0, 100, 120, IDLE_USER_CODE, NULL, NULL);
	scene_expect(&scene, 1, 120, 150, IDLE_UNKNOWN, NULL, NULL);
	scene_expect(&scene, 2, 150, 200, IDLE_RUNNABLE, "", "what ran on its CPU is not known");
	scene_end(&scene);

	/* Woken onto an idle CPU. */
	scene = scene_make();
	small_span(scene.model, scene.main, 0, 120 * US, STATE_RUNNING);
	small_span(scene.model, scene.main, 120 * US, 180 * US, STATE_RUNNABLE)->flags =
		SPAN_CPU_IDLE;
	small_span(scene.model, scene.main, 180 * US, 1000 * US, STATE_RUNNING);
	scene_compute(&scene);
	scene_expect(&scene, 1, 120, 180, IDLE_RUNNABLE, "an idle CPU",
		     "its CPU was idle: the time is the latency of waking up");
	scene_end(&scene);
}

static uint32_t add_scope(struct scene *scene, const char *name, uint64_t start_us, uint64_t end_us)
{
	uint32_t row = small_function(scene->model, "Python", name, PROFBPF__FUNCTION__KIND__MARKER);

	scene->model->functions.row[row].scope = SCOPE_PYTHON;
	small_call(scene->model, scene->main, row, start_us * US, end_us * US);
	return row;
}

/* A device file's own timeline of the host: who waits for a result is not to blame for the wait. */
static void test_scopes(void **state)
{
	struct scene scene = scene_make();

	scene.model->devices.row[0].own_clock = true;
	add_scope(&scene, "$train.py:12 step", 90, 160);
	add_scope(&scene, "$api.py:3165 try_to_block", 110, 150);
	scene_compute_roots(&scene);
	scene_expect_parts(&scene, 5);
	scene_expect(&scene, 0, 100, 110, IDLE_USER_CODE, "$train.py:12 step",
		     "according to the host timeline of the device file");
	scene_expect(&scene, 1, 110, 150, IDLE_UNKNOWN, "$api.py:3165 try_to_block",
		     "main 100 waited in it for a result; what worked on this meanwhile the device file does "
		     "not tell");
	scene_expect(&scene, 2, 150, 160, IDLE_USER_CODE, "$train.py:12 step", NULL);
	scene_expect(&scene, 3, 160, 185, IDLE_UNKNOWN, "", "no scheduling records for this time");
	scene_end(&scene);
}

/* A device file without a trace may begin while the device does what is not in it. */
static void test_late_start(void **state)
{
	static const struct {
		bool alone;
		uint64_t start_us;
		uint8_t cause;
	} CASES[] = {
		{ true, 10186, IDLE_UNKNOWN },
		{ true, 10185, IDLE_DEVICE_WAIT },
		{ false, 10186, IDLE_DEVICE_WAIT },
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct scene scene = scene_make();
		uint64_t start_us = CASES[i].start_us;
		bool unseen = CASES[i].cause == IDLE_UNKNOWN;

		scene.model->info.end_ns = scene.model->info.session_end_ns = 20000 * US;
		scene.model->devices.row[0].own_clock = CASES[i].alone;
		scene.model->tasks.row[1].start_ns = start_us * US;
		scene.model->tasks.row[1].end_ns = (start_us + 5) * US;
		scene_compute_roots(&scene);
		scene_expect_parts(&scene, 2);
		scene_expect(&scene, 1, 185, start_us, CASES[i].cause, unseen ? "" : "the device",
			     unseen ? "submitted, not started for so long that the device probably did something "
				      "that is not in its file (work from before the file's begin, or of other "
				      "processes), or it waited for the host (callbacks, events of other processes)"
				    : "submitted, not started yet");
		if (unseen)
			assert_int_equal(scene_root(&scene, IDLE_UNKNOWN, INDEX_NONE)->root.cause, IDLE_UNKNOWN);
		scene_end(&scene);
	}
}

/* The task of a device waits for another device's (cudaStreamWaitEvent), which the same file has. */
static void test_late_start_of_two(void **state)
{
	static const struct {
		uint32_t file;
		uint64_t first_us, end_us; /* the other device's work; the gap's end is at 30000 us */
		uint8_t cause;
	} CASES[] = {
		{ 0, 150, 30000, IDLE_DEVICE_WAIT },
		{ 0, 20000, 40000, IDLE_UNKNOWN },
		{ 0, 14000, 40000, IDLE_DEVICE_WAIT },
		{ 1, 150, 30000, IDLE_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct scene scene = scene_make();
		uint64_t middle_us = (CASES[i].first_us + CASES[i].end_us) / 2;

		scene.model->info.end_ns = scene.model->info.session_end_ns = 50000 * US;
		scene.model->devices.row[0].own_clock = true;
		scene.model->tasks.row[1].start_ns = 30000 * US;
		scene.model->tasks.row[1].end_ns = 30005 * US;
		small_device(scene.model, scene.process, "the other", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
		scene.model->devices.row[1].own_clock = true;
		scene.model->devices.row[1].file = CASES[i].file;
		/* On two streams, and one inside the other. */
		small_task(scene.model, 1, CASES[i].first_us * US, CASES[i].end_us * US);
		small_task(scene.model, 1, middle_us * US, (middle_us + 1) * US)->stream = 2;
		scene_compute_roots(&scene);
		scene_expect_parts(&scene, 2);
		scene_expect(&scene, 1, 185, 30000, CASES[i].cause, NULL, NULL);
		scene_end(&scene);
	}
}

/* A thread that was created during the gap: before its start its creator is analysed. */
static void test_new_thread(void **state)
{
	struct scene scene = scene_make();

	scene.model->threads.row[scene.main].first_ns = 140 * US;
	scene.model->threads.row[scene.main].parent = scene.worker;
	small_span(scene.model, scene.main, 140 * US, 1000 * US, STATE_RUNNING);
	small_span(scene.model, scene.worker, 0, 1000 * US, STATE_RUNNING);
	scene_compute(&scene);
	scene_expect(&scene, 0, 100, 140, IDLE_USER_CODE, "worker 101", NULL);
	scene_expect(&scene, 1, 140, 185, IDLE_USER_CODE, "main 100", NULL);
	scene_end(&scene);
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
		cmocka_unit_test(test_scopes),
		cmocka_unit_test(test_late_start),
		cmocka_unit_test(test_late_start_of_two),
		cmocka_unit_test(test_new_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Roots of idle time: whom the waiting of a gap leads to, by which way, and what stays unknown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/device/device_advice.h"
#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/analyse/idle/idle_verdict.h"
#include "bpf/events.h"
#include "tests/unit/idle_scene.h"

#define EPOLL_WAIT 232
#define SIGTIMEDWAIT 128

/* The scene's main thread from when it wakes up: it launches the task at 180 us. */
static void main_launches(struct scene *scene, uint64_t from_us)
{
	small_span(scene->model, scene->main, from_us * US, 1000 * US, STATE_RUNNING);
	small_call(scene->model, scene->main, scene->launch, 180 * US, 190 * US);
}

/* main sleeps for a lock until @waker ends that, at 170 us. */
static void main_waits(struct scene *scene, uint32_t waker)
{
	small_sleep(scene->model, scene->main, 0, 170 * US, FUTEX, waker, 0);
	main_launches(scene, 170);
}

static void compute(struct scene *scene)
{
	const struct idle_roots *roots;
	uint64_t ns = 0, causes_ns = 0;

	scene_compute(scene);
	roots = scene->results.idle.roots;
	for (uint32_t i = 0; i < roots->count; i++) {
		const struct idle_root *row = &roots->row[i];

		ns += row->ns;
		assert_true(row->hop_count > 0 && row->hop_count <= ROOT_DEPTH_MAX);
		assert_int_equal(roots->hops[row->first_hop + row->hop_count - 1].cause,
				 row->root.cause);
		assert_true(roots->hops[row->first_hop].ns <= row->ns);
		assert_true(i == 0 || row->ns <= roots->row[i - 1].ns);
	}
	for (int i = 0; i < IDLE_CAUSES; i++)
		causes_ns += roots->cause_ns[i];
	assert_int_equal(ns, scene->results.idle.total_ns);
	assert_int_equal(causes_ns, ns);
	assert_int_equal(roots->total_ns, ns);
}

/* The row of a cause and the thread that is to blame (INDEX_NONE: any); it has to be there. */
static const struct idle_root *root_of(const struct scene *scene, uint8_t cause, uint32_t who)
{
	const struct idle_roots *roots = scene->results.idle.roots;

	for (uint32_t i = 0; i < roots->count; i++) {
		const struct root *root = &roots->row[i].root;

		if (root->cause == cause && (who == INDEX_NONE || root->who == who))
			return &roots->row[i];
	}
	fail_msg("no root of cause %s", idle_cause_name(cause));
	return NULL;
}

/* The chain of a row is these threads, in this order. */
static void expect_chain(const struct scene *scene, const struct idle_root *row, uint32_t count,
			 const uint32_t *threads)
{
	const struct idle_hop *hops = &scene->results.idle.roots->hops[row->first_hop];

	assert_int_equal(row->hop_count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(hops[i].thread, threads[i]);
}

/* main waits for stage a, which waits for stage b, which computes. */
static void test_chain_of_three(void **state)
{
	struct scene scene = scene_make();
	uint32_t b = small_thread(scene.model, scene.process, 102, "b");
	const struct idle_hop *hops;

	main_waits(&scene, scene.worker);
	small_sleep(scene.model, scene.worker, 0, 160 * US, READ, b, 0);
	small_span(scene.model, scene.worker, 160 * US, 1000 * US, STATE_RUNNING);
	small_span(scene.model, b, 0, 1000 * US, STATE_RUNNING);
	compute(&scene);
	assert_int_equal(scene.results.idle.roots->row[0].root.who, b);
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, b)->ns, 60 * US);
	expect_chain(&scene, root_of(&scene, IDLE_USER_CODE, b), 3,
		     (uint32_t[]){ scene.main, scene.worker, b });
	hops = &scene.results.idle.roots->hops[root_of(&scene, IDLE_USER_CODE, b)->first_hop];
	assert_int_equal(hops[0].cause, IDLE_LOCK);
	assert_int_equal(hops[1].cause, IDLE_PIPELINE);
	assert_int_equal(hops[0].ns, 60 * US);
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, scene.worker)->ns, 10 * US);
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, scene.main)->ns, 10 * US);
	/* What the first hop says has not changed. */
	assert_int_equal(scene.results.idle.cause_ns[IDLE_LOCK], 70 * US);
	scene_end(&scene);
}

/* Across processes: the worker waits for a child, which sleeps because it wants to. */
static void test_process_border(void **state)
{
	struct scene scene = scene_make();
	uint32_t child = small_process(scene.model, 300, "child", true);
	uint32_t main = small_thread(scene.model, child, 300, "child");
	const struct idle_root *root;

	main_waits(&scene, scene.worker);
	small_sleep(scene.model, scene.worker, 0, 170 * US, WAIT4, main, 0);
	small_span(scene.model, scene.worker, 170 * US, 1000 * US, STATE_RUNNING);
	small_sleep(scene.model, main, 0, 150 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
	small_span(scene.model, main, 150 * US, 170 * US, STATE_RUNNING);
	compute(&scene);
	root = root_of(&scene, IDLE_SLEEP, main);
	assert_int_equal(root->ns, 50 * US);
	assert_int_equal(root->root.place_kind, PLACE_SYSCALL);
	assert_int_equal(root->root.place, NANOSLEEP);
	expect_chain(&scene, root, 3, (uint32_t[]){ scene.main, scene.worker, main });
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, main)->ns, 20 * US);
	scene_end(&scene);
}

/* A Python thread that was started with this function. */
static void look_at_python(struct model *model, uint32_t thread, const char *function, uint64_t ts_ns)
{
	struct code_frame frame = { .name = model_string(model, function),
				    .source = model_string(model, "job.py"),
				    .file = INDEX_NONE };
	struct code_stack stack = { .first = model->stack_frames.count, .depth = 1 };
	struct stack_sample sample = { .ts_ns = ts_ns,
				       .thread = thread,
				       .stack = model->code_stacks.count,
				       .flags = MODEL_SAMPLE_PYTHON };

	assert_true(MODEL_PUSH(&model->stack_frames, model->code_frames.count));
	assert_true(MODEL_PUSH(&model->code_frames, frame));
	assert_true(MODEL_PUSH(&model->code_stacks, stack));
	assert_true(MODEL_PUSH(&model->stack_samples, sample));
}

/* A process for each item: those that followed each other are one; those side by side are not. */
static void follow(bool other, bool renamed)
{
	struct scene scene = scene_make();
	struct model *model = scene.model;
	uint32_t child[3];

	for (uint32_t i = 0; i < 3; i++) {
		uint32_t process = small_process(model, 300 + i, "item", true);

		child[i] = small_thread(model, process, 300 + i, "item");
		model->processes.row[process].parent_pid = 100;
		/* The second one begins as the first one ends, the third before that. */
		model->threads.row[child[i]].start_ns = (i == 1 ? 130 : 90 + i) * US;
		model->threads.row[child[i]].exit_ns = (i == 0 ? 130 : 170) * US;
	}
	small_sleep(model, scene.main, 0, 130 * US, WAIT4, child[0], 0);
	small_span(model, scene.main, 130 * US, 140 * US, STATE_RUNNING);
	small_sleep(model, scene.main, 140 * US, 150 * US, WAIT4, child[1], 0);
	small_sleep(model, scene.main, 150 * US, 170 * US, WAIT4, child[2], 0);
	main_launches(&scene, 170);
	small_span(model, child[0], 95 * US, 130 * US, STATE_RUNNING);
	small_span(model, child[1], 130 * US, 170 * US, STATE_RUNNING);
	small_span(model, child[2], 92 * US, 170 * US, STATE_RUNNING);
	if (renamed)
		model->threads.row[child[1]].name = model_string(model, "another");
	for (uint32_t i = 0; i < 2; i++)
		look_at_python(model, child[i], other && i ? "collect" : "decode", (95 + 40 * i) * US);
	compute(&scene);
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, child[2])->ns, 20 * US);
	if (other || renamed) {
		assert_int_equal(root_of(&scene, IDLE_USER_CODE, child[0])->ns, 30 * US);
		assert_int_equal(root_of(&scene, IDLE_USER_CODE, child[1])->ns, 10 * US);
		scene_end(&scene);
		return;
	}
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, child[0])->ns, 40 * US);
	expect_chain(&scene, root_of(&scene, IDLE_USER_CODE, child[0]), 2,
		     (uint32_t[]){ scene.main, child[0] });
	scene_end(&scene);
}

static void test_roles(void **state)
{
	follow(false, false);
}

/* Of the same name, for Python threads all bear that of their process, but not there for the same; or the other way round. */
static void test_other_roles(void **state)
{
	follow(true, false);
	follow(false, true);
}

/* A mutex that goes from c to the worker to main: each has its time of main's wait. */
static void test_handover(void **state)
{
	struct scene scene = scene_make();
	uint32_t c = small_thread(scene.model, scene.process, 102, "c");

	main_waits(&scene, scene.worker);
	small_sleep(scene.model, scene.worker, 0, 130 * US, FUTEX, c, 0);
	small_span(scene.model, scene.worker, 130 * US, 1000 * US, STATE_RUNNING);
	small_span(scene.model, c, 0, 1000 * US, STATE_RUNNING);
	compute(&scene);
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, c)->ns, 30 * US);
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, scene.worker)->ns, 40 * US);
	scene_end(&scene);
}

/* Slices of a wait that a timer ends, with a short look each; the holder ends the last. */
static void test_timer_slices(void **state)
{
	struct scene scene = scene_make();

	for (uint64_t us = 100; us < 160; us += 20) {
		small_sleep(scene.model, scene.main, us * US, (us + 18) * US, FUTEX, INDEX_NONE,
			    SPAN_WOKEN_TIMER);
		small_span(scene.model, scene.main, (us + 18) * US, (us + 19) * US, STATE_RUNNABLE);
		small_span(scene.model, scene.main, (us + 19) * US, (us + 20) * US, STATE_RUNNING);
	}
	small_sleep(scene.model, scene.main, 160 * US, 170 * US, FUTEX, scene.worker, 0);
	main_launches(&scene, 170);
	small_span(scene.model, scene.worker, 0, 1000 * US, STATE_RUNNING);
	compute(&scene);
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, scene.worker)->ns, 70 * US);
	assert_int_equal(scene.results.idle.roots->cause_ns[IDLE_SLEEP], 0);
	assert_int_equal(scene.results.idle.roots->cause_ns[IDLE_RUNNABLE], 0);
	assert_int_equal(scene.results.idle.cause_ns[IDLE_SLEEP], 54 * US);
	scene_end(&scene);
}

/* A timed wait whose time was up, and then went on working, was its own wish. */
static void test_timeout(void **state)
{
	struct scene scene = scene_make();

	small_sleep(scene.model, scene.main, 100 * US, 150 * US, FUTEX, INDEX_NONE,
		    SPAN_WOKEN_TIMER);
	main_launches(&scene, 150);
	compute(&scene);
	assert_int_equal(root_of(&scene, IDLE_SLEEP, scene.main)->ns, 50 * US);
	scene_end(&scene);
}

/* A broadcast wakes main, too; there is nothing for it: what it waits for is what ends the next sleep. */
static void test_broadcast(void **state)
{
	struct scene scene = scene_make();
	uint32_t other = small_thread(scene.model, scene.process, 102, "other");

	small_sleep(scene.model, scene.main, 0, 130 * US, FUTEX, other, 0);
	small_span(scene.model, scene.main, 130 * US, 133 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.main, 133 * US, 170 * US, FUTEX, scene.worker, 0);
	main_launches(&scene, 170);
	small_span(scene.model, scene.worker, 0, 1000 * US, STATE_RUNNING);
	small_span(scene.model, other, 0, 1000 * US, STATE_RUNNING);
	compute(&scene);
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, scene.worker)->ns, 70 * US);
	scene_end(&scene);
}

/* The same with more time on the CPU, a launch, another lock: two waits. */
static void test_two_waits(void **state)
{
	static const struct sleep_object locks[] = { { .kind = SLEEP_FUTEX, .object = 0x1000 },
						     { .kind = SLEEP_FUTEX, .object = 0x2000 } };

	for (int what = 0; what < 3; what++) {
		uint64_t ran_us = what == 0 ? 30 : 3;
		struct scene scene = scene_make();
		uint32_t other = small_thread(scene.model, scene.process, 102, "other");
		uint32_t spans;

		assert_true(MODEL_PUSH(&scene.model->sleep_objects, locks[0]));
		assert_true(MODEL_PUSH(&scene.model->sleep_objects, locks[1]));
		small_sleep(scene.model, scene.main, 0, 130 * US, FUTEX, other, 0);
		small_span(scene.model, scene.main, 130 * US, (130 + ran_us) * US, STATE_RUNNING);
		small_sleep(scene.model, scene.main, (130 + ran_us) * US, 170 * US, FUTEX,
			    scene.worker, 0);
		spans = scene.model->spans.count;
		scene.model->spans.row[spans - 3].object = 0;
		scene.model->spans.row[spans - 1].object = what == 2;
		if (what == 1)
			small_call(scene.model, scene.main, scene.launch, 131 * US, 132 * US);
		main_launches(&scene, 170);
		small_span(scene.model, scene.worker, 0, 1000 * US, STATE_RUNNING);
		small_span(scene.model, other, 0, 1000 * US, STATE_RUNNING);
		compute(&scene);
		assert_int_equal(root_of(&scene, IDLE_USER_CODE, other)->ns, 30 * US);
		scene_end(&scene);
	}
}

/* A stage that takes an item, hands it on by waking main, and waits for the next within microseconds. */
static void test_handed_on(void **state)
{
	struct scene scene = scene_make();
	uint32_t source = small_thread(scene.model, scene.process, 102, "source");
	uint32_t other = small_thread(scene.model, scene.process, 103, "other");
	static const struct sleep_object locks[] = { { .kind = SLEEP_FUTEX, .object = 0x1000 },
						     { .kind = SLEEP_FUTEX, .object = 0x2000 } };

	for (size_t i = 0; i < 2; i++)
		assert_true(MODEL_PUSH(&scene.model->sleep_objects, locks[i]));
	small_sleep(scene.model, scene.main, 0, 170 * US, FUTEX, scene.worker, 0);
	scene.model->spans.row[scene.model->spans.count - 1].object = 1;
	main_launches(&scene, 170);
	small_sleep(scene.model, scene.worker, 0, 169 * US, FUTEX, source, 0);
	scene.model->spans.row[scene.model->spans.count - 1].object = 0;
	small_span(scene.model, scene.worker, 169 * US, 172 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.worker, 172 * US, 1000 * US, FUTEX, other, 0);
	scene.model->spans.row[scene.model->spans.count - 1].object = 0;
	small_span(scene.model, source, 0, 1000 * US, STATE_RUNNING);
	small_sleep(scene.model, other, 0, 1000 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
	compute(&scene);
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, source)->ns, 69 * US);
	assert_int_equal(scene.results.idle.roots->cause_ns[IDLE_SLEEP], 0);
	scene_end(&scene);
}

/* Who waits for somebody that waits for it: with looks in between that can be. */
static void test_circle(void **state)
{
	struct scene scene = scene_make();
	const struct idle_root *root;

	main_waits(&scene, scene.worker);
	small_sleep(scene.model, scene.worker, 0, 165 * US, FUTEX, scene.main, 0);
	small_span(scene.model, scene.worker, 165 * US, 1000 * US, STATE_RUNNING);
	compute(&scene);
	root = root_of(&scene, IDLE_LOCK, scene.main);
	assert_int_equal(root->ns, 65 * US);
	assert_int_equal(root->root.end, ROOT_END_CIRCLE);
	expect_chain(&scene, root, 2, (uint32_t[]){ scene.main, scene.worker });
	scene_end(&scene);
}

/* Threads that wait for each other, @count of them: too many are not followed, and that is said. */
static void wait_in_line(uint32_t count, uint32_t *last, struct scene *scene)
{
	uint32_t thread[64] = { 0 };

	*scene = scene_make();
	for (uint32_t i = 0; i < count; i++)
		thread[i] = small_thread(scene->model, scene->process, 1000 + i, "stage");
	main_waits(scene, thread[0]);
	for (uint32_t i = 0; i + 1 < count; i++) {
		small_sleep(scene->model, thread[i], 0, 170 * US, FUTEX, thread[i + 1], 0);
		small_span(scene->model, thread[i], 170 * US, 1000 * US, STATE_RUNNING);
	}
	small_span(scene->model, thread[count - 1], 0, 1000 * US, STATE_RUNNING);
	*last = thread[count - 1];
	compute(scene);
}

static void test_depth(void **state)
{
	struct scene scene;
	uint32_t last;
	const struct idle_root *root;

	wait_in_line(ROOT_DEPTH_MAX - 1, &last, &scene);
	root = root_of(&scene, IDLE_USER_CODE, last);
	assert_int_equal(root->ns, 70 * US);
	assert_int_equal(root->hop_count, ROOT_DEPTH_MAX);
	scene_end(&scene);
	wait_in_line(ROOT_DEPTH_MAX, &last, &scene);
	root = root_of(&scene, IDLE_UNKNOWN, last);
	assert_int_equal(root->ns, 70 * US);
	assert_int_equal(root->root.end, ROOT_END_DEPTH);
	scene_end(&scene);
}

/* Woken by a thread outside of what was traced; by nobody known; by a thread whose records are lost. */
static void test_unknown(void **state)
{
	struct scene scene = scene_make();
	const struct idle_root *root;

	main_waits(&scene, scene.outsider);
	compute(&scene);
	root = root_of(&scene, IDLE_UNKNOWN, scene.outsider);
	assert_int_equal(root->root.end, ROOT_END_UNTRACED);
	assert_int_equal(root->ns, 70 * US);
	scene_end(&scene);

	scene = scene_make();
	small_sleep(scene.model, scene.main, 0, 170 * US, FUTEX, INDEX_NONE, SPAN_NO_WAKE);
	main_launches(&scene, 170);
	compute(&scene);
	root = root_of(&scene, IDLE_UNKNOWN, scene.main);
	assert_int_equal(root->root.end, ROOT_END_NO_WAKER);
	scene_end(&scene);

	scene = scene_make();
	main_waits(&scene, scene.worker);
	small_span(scene.model, scene.worker, 120 * US, 1000 * US, STATE_RUNNING);
	compute(&scene);
	root = root_of(&scene, IDLE_UNKNOWN, scene.worker);
	assert_int_equal(root->root.end, ROOT_END_NO_RECORD);
	assert_int_equal(root->ns, 20 * US);
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, scene.worker)->ns, 50 * US);
	scene_end(&scene);

	/* Work that comes from outside is an end by itself. */
	scene = scene_make();
	small_sleep(scene.model, scene.main, 0, 170 * US, POLL, scene.outsider, 0);
	main_launches(&scene, 170);
	compute(&scene);
	root = root_of(&scene, IDLE_NO_WORK, scene.outsider);
	assert_int_equal(root->root.end, ROOT_END_UNTRACED);
	scene_end(&scene);
}

/* A worker that sleeps like this is the root of 70 us of this cause. */
static void expect_sleep(int16_t syscall, uint32_t waker, uint8_t flags, uint8_t kind,
			 const char *interrupt, uint8_t cause)
{
	struct scene scene = scene_make();
	uint32_t kworker = small_thread(
		scene.model, small_process(scene.model, 7, "kworker", false), 7, "kworker/0:1");
	struct sleep_object object = { .kind = kind, .name = model_string(scene.model, "/data/x") };
	const struct idle_root *root;
	struct span *span;

	scene.model->threads.row[kworker].kernel = true;
	assert_true(MODEL_PUSH(&scene.model->sleep_objects, object));
	main_waits(&scene, scene.worker);
	small_sleep(scene.model, scene.worker, 0, 170 * US, syscall, waker ? kworker : INDEX_NONE,
		    flags);
	span = &scene.model->spans.row[scene.model->spans.count - 1];
	span->object = kind == SLEEP_NOTHING ? INDEX_NONE : 0;
	if (interrupt)
		span->other = model_string(scene.model, interrupt);
	small_span(scene.model, scene.worker, 170 * US, 1000 * US, STATE_RUNNING);
	compute(&scene);
	root = root_of(&scene, cause, cause == IDLE_UNKNOWN && waker ? INDEX_NONE : scene.worker);
	assert_int_equal(root->ns, 70 * US);
	assert_int_equal(root->root.end != ROOT_END_FOUND, cause == IDLE_UNKNOWN);
	if (kind != SLEEP_NOTHING)
		assert_int_equal(root->root.object_kind, OBJECT_SLEEP);
	scene_end(&scene);
}

/* The kernel's own threads and interrupts are translated to what was waited for. */
static void test_kernel_wakers(void **state)
{
	expect_sleep(FSYNC, 1, 0, SLEEP_FILE, NULL, IDLE_IO);
	expect_sleep(READ, 1, 0, SLEEP_CHARACTER, NULL, IDLE_IO);
	expect_sleep(RECVFROM, 1, 0, SLEEP_INET, NULL, IDLE_NETWORK);
	expect_sleep(READ, 1, 0, SLEEP_INET, NULL, IDLE_NETWORK);
	expect_sleep(MUNMAP, 1, SWITCH_FAULT, SLEEP_FILE, NULL, IDLE_PAGE_FAULT);
	expect_sleep(FUTEX, 1, 0, SLEEP_NOTHING, NULL, IDLE_UNKNOWN);
	expect_sleep(READ, 0, SPAN_WOKEN_SOFTIRQ, SLEEP_FILE, "BLOCK", IDLE_IO);
	expect_sleep(EPOLL_WAIT, 0, SPAN_WOKEN_SOFTIRQ, SLEEP_EPOLL, "NET_RX", IDLE_NETWORK);
	expect_sleep(RECVFROM, 0, SPAN_WOKEN_HARDIRQ, SLEEP_INET, "virtio1-input.0", IDLE_NETWORK);
	expect_sleep(FUTEX, 0, SPAN_WOKEN_HARDIRQ, SLEEP_FUTEX, "nvidia", IDLE_UNKNOWN);
	expect_sleep(EPOLL_WAIT, 0, SPAN_WOKEN_TIMER, SLEEP_NOTHING, NULL, IDLE_SLEEP);
	expect_sleep(IOCTL, 0, SPAN_WOKEN_HARDIRQ, SLEEP_NOTHING, NULL, IDLE_DRIVER);
}

/* A signal ends a sleep: its sender is who was waited for. */
static void test_signal(void **state)
{
	struct scene scene = scene_make();

	small_sleep(scene.model, scene.main, 0, 170 * US, SIGTIMEDWAIT, scene.worker, 0);
	main_launches(&scene, 170);
	small_span(scene.model, scene.worker, 0, 1000 * US, STATE_RUNNING);
	compute(&scene);
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, scene.worker)->ns, 70 * US);
	scene_end(&scene);
}

/* What the worker waits for: a CPU that another has, a quota, a request of its own to a disk. */
static void test_ends(void **state)
{
	struct scene scene = scene_make();
	struct process_stat stat = { .process = scene.process, .ts_ns = 10 * US };
	struct cgroup group = { .id = 1, .path = model_string(scene.model, "/jobs") };
	struct driver disk = { .device = model_string(scene.model, "/dev/vda") };
	struct io_wait wait;
	struct span *span;
	const struct idle_root *root;

	assert_true(MODEL_PUSH(&scene.model->cgroups, group));
	assert_true(MODEL_PUSH(&scene.model->process_stats, stat));
	assert_true(MODEL_PUSH(&scene.model->drivers, disk));
	main_waits(&scene, scene.worker);
	span = small_span(scene.model, scene.worker, 0, 110 * US, STATE_RUNNABLE);
	span->other = scene.outsider;
	span = small_span(scene.model, scene.worker, 110 * US, 130 * US, STATE_RUNNABLE);
	span->flags = SPAN_CPU_IDLE;
	span = small_span(scene.model, scene.worker, 130 * US, 140 * US, STATE_RUNNABLE);
	span->flags = SPAN_THROTTLED;
	small_sleep(scene.model, scene.worker, 140 * US, 165 * US, READ, INDEX_NONE,
		    SPAN_WOKEN_HARDIRQ | SWITCH_IOWAIT);
	wait = (struct io_wait){ .span = scene.model->spans.count - 1 };
	assert_true(MODEL_PUSH(&scene.model->block_requests, (struct block_request){ 0 }));
	assert_true(MODEL_PUSH(&scene.model->io_waits, wait));
	small_span(scene.model, scene.worker, 165 * US, 1000 * US, STATE_RUNNING);
	compute(&scene);
	root = root_of(&scene, IDLE_RUNNABLE, scene.outsider);
	assert_int_equal(root->ns, 10 * US);
	assert_int_equal(root->root.who_kind, WHO_RUNNER);
	expect_chain(&scene, root, 2, (uint32_t[]){ scene.main, scene.worker });
	root = root_of(&scene, IDLE_RUNNABLE, 0);
	assert_int_equal(root->ns, 20 * US);
	assert_int_equal(root->root.who_kind, WHO_IDLE_CPU);
	root = root_of(&scene, IDLE_THROTTLED, scene.worker);
	assert_int_equal(root->ns, 10 * US);
	assert_int_equal(root->root.object_kind, OBJECT_CGROUP);
	root = root_of(&scene, IDLE_IO, scene.worker);
	assert_int_equal(root->ns, 25 * US);
	assert_int_equal(root->root.disk, 0);
	scene_end(&scene);
}

/* Interrupts take their time from who ran; one that took none takes none. */
static void test_interrupts(void **state)
{
	struct scene scene = scene_make();
	const uint64_t at_us[] = { 95, 120, 130 }, took_us[] = { 10, 0, 20 };

	small_span(scene.model, scene.main, 0, 170 * US, STATE_RUNNING);
	main_launches(&scene, 170);
	for (int i = 0; i < 3; i++) {
		struct interrupt row = { .thread = scene.main,
					 .ts_ns = at_us[i] * US,
					 .dur_ns = took_us[i] * US };

		assert_true(MODEL_PUSH(&scene.model->interrupts, row));
	}
	compute(&scene);
	assert_int_equal(root_of(&scene, IDLE_IRQ, scene.main)->ns, 25 * US);
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, scene.main)->ns, 55 * US);
	scene_end(&scene);
}

/* Samples tell the function: Python's for who sleeps, too; of the CPU only for who runs. */
static void test_places(void **state)
{
	struct scene scene = scene_make();
	struct model *model = scene.model;
	const struct code_frame frames[] = {
		{ .name = model_string(model, "ep_poll"),
		  .file = INDEX_NONE,
		  .kind = PROFBPF__STACKS__KIND__KERNEL },
		{ .name = model_string(model, "decode"),
		  .file = INDEX_NONE,
		  .kind = PROFBPF__STACKS__KIND__USER },
		{ .name = model_string(model, "noise"),
		  .source = model_string(model, "/j/train.py"),
		  .line = 19,
		  .file = INDEX_NONE,
		  .kind = PROFBPF__STACKS__KIND__PYTHON },
	};
	const struct code_stack stacks[] = { { 0, 2 }, { 2, 1 } };
	struct stack_sample sample = { .thread = scene.worker };
	const struct idle_root *root;

	for (uint32_t i = 0; i < 3; i++) {
		assert_true(MODEL_PUSH(&model->code_frames, frames[i]));
		assert_true(MODEL_PUSH(&model->stack_frames, i));
	}
	assert_true(MODEL_PUSH(&model->code_stacks, stacks[0]));
	assert_true(MODEL_PUSH(&model->code_stacks, stacks[1]));
	for (sample.ts_ns = 105 * US; sample.ts_ns < 165 * US; sample.ts_ns += 10 * US)
		assert_true(MODEL_PUSH(&model->stack_samples, sample));
	sample = (struct stack_sample){
		.ts_ns = 155 * US, .thread = scene.worker, .stack = 1, .flags = MODEL_SAMPLE_PYTHON
	};
	assert_true(MODEL_PUSH(&model->stack_samples, sample));
	main_waits(&scene, scene.worker);
	small_span(model, scene.worker, 0, 130 * US, STATE_RUNNING);
	small_sleep(model, scene.worker, 130 * US, 160 * US, NANOSLEEP, INDEX_NONE,
		    SPAN_WOKEN_TIMER);
	small_span(model, scene.worker, 160 * US, 1000 * US, STATE_RUNNING);
	compute(&scene);
	root = root_of(&scene, IDLE_USER_CODE, scene.worker);
	assert_int_equal(root->root.place_kind, PLACE_FRAME);
	assert_int_equal(root->root.place, 1);
	assert_int_equal(root->samples, 3);
	root = root_of(&scene, IDLE_SLEEP, scene.worker);
	assert_int_equal(root->root.place, 2);
	assert_int_equal(root->samples, 1);
	scene_end(&scene);
}

/* Samples are taken in the interrupt that ends a stretch; half of them say what it is for. */
static void test_words(void **state)
{
	/* In a page fault of decode, in the kernel for something else, in decode. */
	static const struct code_stack stacks[] = { { 0, 3 }, { 3, 2 }, { 2, 1 } };
	static const uint32_t order[] = { 0, 1, 2, 0, 2 };
	static const uint8_t kinds[] = { PROFBPF__STACKS__KIND__KERNEL,
					 PROFBPF__STACKS__KIND__KERNEL,
					 PROFBPF__STACKS__KIND__USER };
	static const char *const names[] = { "clear_page", "exc_page_fault", "decode" };
	/* What the four samples see, and what that is called: half of them must agree. */
	static const struct {
		uint32_t stack[4];
		const char *word;
	} tries[] = {
		{ { 0, 0, 1, 2 }, "page faults" },
		{ { 0, 1, 1, 2 }, "the kernel's work" },
		{ { 0, 2, 2, 2 }, NULL },
	};

	for (size_t try = 0; try < 3; try++) {
		struct scene scene = scene_make();
		struct model *model = scene.model;
		const struct idle_root *root;
		char text[256];

		for (uint32_t i = 0; i < 3; i++) {
			struct code_frame frame = { .name = model_string(model, names[i]),
						    .file = INDEX_NONE,
						    .kind = kinds[i] };

			assert_true(MODEL_PUSH(&model->code_frames, frame));
			assert_true(MODEL_PUSH(&model->code_stacks, stacks[i]));
		}
		for (uint32_t i = 0; i < 5; i++)
			assert_true(MODEL_PUSH(&model->stack_frames, order[i]));
		for (uint64_t i = 0; i < 4; i++) {
			struct interrupt row = { .thread = scene.worker,
						 .ts_ns = (110 + 10 * i) * US,
						 .dur_ns = US };
			struct stack_sample sample = { .thread = scene.worker,
						       .ts_ns = row.ts_ns + US / 2,
						       .stack = tries[try].stack[i] };

			assert_true(MODEL_PUSH(&model->interrupts, row));
			assert_true(MODEL_PUSH(&model->stack_samples, sample));
		}
		main_waits(&scene, scene.worker);
		small_span(model, scene.worker, 0, 1000 * US, STATE_RUNNING);
		compute(&scene);
		root = root_of(&scene, IDLE_USER_CODE, scene.worker);
		assert_int_equal(root->samples, 4);
		assert_int_equal(root->root.place, 2);
		if (tries[try].word)
			assert_string_equal(root->word, tries[try].word);
		else
			assert_null(root->word);
		/* Where it is known what ran nobody is told to profile. */
		idle_remedy(model, &(struct idle_verdict){ .cause = IDLE_USER_CODE, .most = root }, text,
			    sizeof(text));
		assert_null(strstr(text, "Profile"));
		if (!tries[try].word)
			assert_string_equal(text, "Make decode cheaper, move it off that thread, or "
						  "submit further ahead.");
		scene_end(&scene);
	}
}

/* The worker waits for the device in a call that waits for it: there the way ends. */
static void test_device_wait(void **state)
{
	struct scene scene = scene_make();
	const struct idle_root *root;

	main_waits(&scene, scene.worker);
	small_sleep(scene.model, scene.worker, 0, 150 * US, IOCTL, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
	small_span(scene.model, scene.worker, 150 * US, 1000 * US, STATE_RUNNING);
	small_call(scene.model, scene.worker, scene.sync, 10 * US, 155 * US);
	compute(&scene);
	root = root_of(&scene, IDLE_DEVICE_WAIT, scene.worker);
	assert_int_equal(root->ns, 50 * US);
	root = root_of(&scene, IDLE_RUNTIME, scene.worker);
	assert_int_equal(root->ns, 5 * US);
	assert_int_equal(root->root.place, scene.sync);
	scene_end(&scene);
}

/* Ready all the time, of which three processes have a part each; they are weighed as one. */
static void test_kinds(void **state)
{
	struct scene scene = scene_make();
	uint32_t strangers[3];
	struct idle_verdict verdict;

	for (uint32_t i = 0; i < 3; i++)
		strangers[i] = small_thread(scene.model,
					    small_process(scene.model, 500 + i, "thief", false),
					    500 + i, "thief");
	for (uint32_t i = 0; i < 3; i++)
		small_span(scene.model, scene.main, i ? (100 + i * 15) * US : 0,
			   (115 + i * 15) * US, STATE_RUNNABLE)
			->other = strangers[i];
	main_launches(&scene, 145);
	compute(&scene);
	/* The main thread's own 35 us are the largest row. */
	assert_int_equal(scene.results.idle.roots->row[0].root.cause, IDLE_USER_CODE);
	verdict = idle_verdict(scene.model, scene.results.idle.roots);
	assert_int_equal(verdict.cause, IDLE_RUNNABLE);
	assert_int_equal(verdict.kind, IDLE_KIND_OTHER_CPU);
	assert_int_equal(verdict.ns, 45 * US);
	assert_int_equal(verdict.cause_ns, 45 * US);
	assert_int_equal(verdict.most->ns, 15 * US);
	scene_end(&scene);
}

/* What is advised where the main thread was ready like this until 170 us, or slept in an ioctl (@driver). */
static void expect_advice(uint32_t other, uint8_t flags, const char *driver, uint32_t commands,
			  const char *with)
{
	struct scene scene = scene_make();
	struct advice_results advice = { 0 };
	struct driver row = { .device = driver ? model_string(scene.model, driver) : 0,
			      .command_count = commands };
	struct ioctl_call ioctl = { .thread = scene.main, .end_ns = 170 * US };
	struct driver_command command = { .mask = UINT32_MAX, .value = 1 };

	if (driver) {
		assert_true(MODEL_PUSH(&scene.model->drivers, row));
		assert_true(MODEL_PUSH(&scene.model->commands, command));
		assert_true(MODEL_PUSH(&scene.model->ioctls, ioctl));
		small_sleep(scene.model, scene.main, 0, 170 * US, IOCTL, INDEX_NONE,
			    SPAN_WOKEN_HARDIRQ);
	} else {
		struct span *span =
			small_span(scene.model, scene.main, 0, 170 * US, STATE_RUNNABLE);

		span->other = other;
		span->flags = flags;
	}
	main_launches(&scene, 170);
	compute(&scene);
	assert_int_equal(device_advice_add(scene.model, &scene.results, NULL, NULL, &advice), 0);
	assert_int_equal(advice.advice_count, 1);
	assert_string_equal(advice.list[0].id, "device_idle");
	assert_non_null(strstr(advice.list[0].remedy, with));
	free(advice.list);
	scene_end(&scene);
}

static void test_advice(void **state)
{
	struct scene scene = scene_make();

	expect_advice(scene.outsider, 0, NULL, 0, "Others have the CPUs");
	expect_advice(scene.worker, 0, NULL, 0, "The job's own threads want more CPUs");
	expect_advice(INDEX_NONE, SPAN_CPU_IDLE, NULL, 0, "keep them from deep idle states");
	expect_advice(0, 0, "/dev/nvidia0", 1, "mapped, pinned or allocated beforehand");
	expect_advice(0, 0, "/dev/urandom", 0, "what this driver is asked for");
	scene_end(&scene);
}

/* Causes below what a trace can be off are no finding, however many there are. */
static void test_no_finding(void **state)
{
	struct scene scene = scene_make();
	struct model *model = scene.model;
	struct advice_results advice = { 0 };

	small_sleep(model, scene.main, 0, 120 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
	small_sleep(model, scene.main, 120 * US, 140 * US, FSYNC, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
	small_span(model, scene.main, 140 * US, 160 * US, STATE_RUNNABLE);
	main_launches(&scene, 160);
	compute(&scene);
	scene.results.devices[0].window_ns = 800 * US;
	assert_int_equal(device_advice_add(model, &scene.results, NULL, NULL, &advice), 0);
	assert_int_equal(advice.advice_count, 0);
	scene.results.devices[0].window_ns = 600 * US;
	assert_int_equal(device_advice_add(model, &scene.results, NULL, NULL, &advice), 0);
	assert_int_equal(advice.advice_count, 1);
	free(advice.list);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain_of_three), cmocka_unit_test(test_process_border),
		cmocka_unit_test(test_handover),       cmocka_unit_test(test_timer_slices),
		cmocka_unit_test(test_timeout),	       cmocka_unit_test(test_broadcast),
		cmocka_unit_test(test_two_waits),      cmocka_unit_test(test_circle),
		cmocka_unit_test(test_handed_on),      cmocka_unit_test(test_depth),
		cmocka_unit_test(test_unknown),	       cmocka_unit_test(test_kernel_wakers),
		cmocka_unit_test(test_signal),	       cmocka_unit_test(test_ends),
		cmocka_unit_test(test_places),	       cmocka_unit_test(test_device_wait),
		cmocka_unit_test(test_words),	       cmocka_unit_test(test_roles),
		cmocka_unit_test(test_other_roles),
		cmocka_unit_test(test_interrupts),     cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_advice),	       cmocka_unit_test(test_no_finding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

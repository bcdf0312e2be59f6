/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of the walk to the root of idle time: the kernel, a signal, an ended thread, an interrupt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/idle_roots.h"
#include "tests/unit/idle_scene.h"

#define WRITE 1
#define EPOLL_WAIT 232
#define SIGTIMEDWAIT 128

/* Checks that a worker with this sleep is the root of 70 us of @cause. */
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
	scene_main_waits(&scene, scene.worker);
	small_sleep(scene.model, scene.worker, 0, 170 * US, syscall, waker ? kworker : INDEX_NONE,
		    flags);
	span = &scene.model->spans.row[scene.model->spans.count - 1];
	span->object = kind == PROFBPF__SLEEP_OBJECTS__KIND__NOTHING ? INDEX_NONE : 0;
	if (interrupt)
		span->other = model_string(scene.model, interrupt);
	small_span(scene.model, scene.worker, 170 * US, 1000 * US, STATE_RUNNING);
	scene_compute_roots(&scene);
	root = scene_root(&scene, cause,
			  cause == IDLE_UNKNOWN && waker ? INDEX_NONE : scene.worker);
	assert_int_equal(root->ns, 70 * US);
	assert_int_equal(root->root.end != ROOT_END_FOUND, cause == IDLE_UNKNOWN);
	if (kind != PROFBPF__SLEEP_OBJECTS__KIND__NOTHING)
		assert_int_equal(root->root.object_kind, OBJECT_SLEEP);
	scene_end(&scene);
}

/* Kernel threads and interrupts are translated to the object of the wait. */
static void test_kernel_wakers(void **state)
{
	expect_sleep(FSYNC, 1, 0, PROFBPF__SLEEP_OBJECTS__KIND__FILE, NULL, IDLE_IO);
	expect_sleep(READ, 1, 0, PROFBPF__SLEEP_OBJECTS__KIND__CHARACTER_DEVICE, NULL, IDLE_IO);
	expect_sleep(RECVFROM, 1, 0, PROFBPF__SLEEP_OBJECTS__KIND__INET_SOCKET, NULL, IDLE_NETWORK);
	expect_sleep(READ, 1, 0, PROFBPF__SLEEP_OBJECTS__KIND__INET_SOCKET, NULL, IDLE_NETWORK);
	expect_sleep(MUNMAP, 1, SPAN_FAULT, PROFBPF__SLEEP_OBJECTS__KIND__FILE, NULL,
		     IDLE_PAGE_FAULT);
	expect_sleep(FUTEX, 1, 0, PROFBPF__SLEEP_OBJECTS__KIND__NOTHING, NULL, IDLE_UNKNOWN);
	expect_sleep(READ, 0, SPAN_WOKEN_SOFTIRQ, PROFBPF__SLEEP_OBJECTS__KIND__FILE, "BLOCK",
		     IDLE_IO);
	expect_sleep(EPOLL_WAIT, 0, SPAN_WOKEN_SOFTIRQ, PROFBPF__SLEEP_OBJECTS__KIND__EPOLL,
		     "NET_RX", IDLE_NETWORK);
	expect_sleep(RECVFROM, 0, SPAN_WOKEN_HARDIRQ, PROFBPF__SLEEP_OBJECTS__KIND__INET_SOCKET,
		     "virtio1-input.0", IDLE_NETWORK);
	expect_sleep(FUTEX, 0, SPAN_WOKEN_HARDIRQ, PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, "nvidia",
		     IDLE_UNKNOWN);
	expect_sleep(EPOLL_WAIT, 0, SPAN_WOKEN_TIMER, PROFBPF__SLEEP_OBJECTS__KIND__NOTHING, NULL,
		     IDLE_SLEEP);
	expect_sleep(IOCTL, 0, SPAN_WOKEN_HARDIRQ, PROFBPF__SLEEP_OBJECTS__KIND__NOTHING, NULL,
		     IDLE_DRIVER);
	/* Throttled because memory is short. */
	expect_sleep(SYSCALL_NONE, 0, SPAN_WOKEN_TIMER | SPAN_FAULT,
		     PROFBPF__SLEEP_OBJECTS__KIND__NOTHING, NULL, IDLE_PAGE_FAULT);
}

/*
 * The kernel throttles a thread that writes faster than the disk with a timed wait: not voluntary, unlike a timeout
 * of the thread's own.
 */
static void test_writes_held_back(void **state)
{
	static const struct {
		enum thread_state state;
		uint8_t cause;
	} cases[] = { { STATE_DISK, IDLE_IO }, { STATE_SLEEP, IDLE_SLEEP } };

	for (int i = 0; i < 2; i++) {
		struct scene scene = scene_make();

		small_sleep(scene.model, scene.main, 0, 170 * US, cases[i].state == STATE_DISK ? WRITE : FSYNC,
			    INDEX_NONE, SPAN_WOKEN_TIMER | SPAN_IOWAIT);
		scene.model->spans.row[scene.model->spans.count - 1].state = cases[i].state;
		scene_main_launches(&scene, 170);
		scene_compute_roots(&scene);
		assert_int_equal(scene_root(&scene, cases[i].cause, scene.main)->ns, 70 * US);
		scene_end(&scene);
	}
}

/*
 * A packet comes from the process at the socket's other end; a thread that woke the sleeper at the same time is
 * irrelevant.
 */
static void sent(uint32_t unseen)
{
	struct scene scene = scene_make();
	struct sleep_object peer = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__INET_SOCKET, .peer = 200 };
	const uint32_t wakers[] = { scene.main, INDEX_NONE, scene.outsider };
	const struct idle_root *root;

	assert_true(MODEL_PUSH(&scene.model->sleep_objects, peer));
	scene_main_waits(&scene, scene.worker);
	small_sleep(scene.model, scene.worker, 0, 150 * US, RECVFROM, INDEX_NONE,
		    SPAN_WOKEN_SOFTIRQ);
	scene.model->spans.row[scene.model->spans.count - 1].object = 0;
	small_span(scene.model, scene.worker, 150 * US, 1000 * US, STATE_RUNNING);
	for (int i = 0; i < 3; i++) {
		struct wake wake = { .ts_ns = 150 * US,
				     .waker_thread = wakers[i],
				     .thread = scene.worker,
				     .flags = PROFBPF__WAKES__FLAG__SOFTIRQ };

		assert_true(MODEL_PUSH(&scene.model->wakes, wake));
	}
	/* Without the last wake-ups of the array there is no sender. */
	scene.model->wakes.count -= unseen;
	scene_compute_roots(&scene);
	if (unseen) {
		scene_root(&scene, IDLE_NETWORK, scene.worker);
		scene_end(&scene);
		return;
	}
	root = scene_root(&scene, IDLE_NETWORK, scene.outsider);
	assert_int_equal(root->ns, 50 * US);
	assert_int_equal(root->root.end, ROOT_END_UNTRACED);
	scene_end(&scene);
}

static void test_sender(void **state)
{
	sent(0);
	sent(1);
}

static void begin_at(struct model *model, uint32_t process, uint64_t ns)
{
	model->processes.row[process].start_ns = ns;
	for (uint32_t t = 0; t < model->threads.count; t++)
		if (model->threads.row[t].process == process && ns > model->threads.row[t].first_ns)
			model->threads.row[t].first_ns = ns;
}

/*
 * The process at the other end is one of those that have the socket open: a traced child, or a grandchild, that
 * inherited it sends, too. A process that was not traced is not known to have inherited it, nor is any other,
 * nor the child of a process whose id another process has since.
 */
static void test_inherited_socket(void **state)
{
	static const struct {
		uint32_t parent; /* of process 300, which sends; process 250 is a child of 200 */
		bool target, sends;
		uint64_t peer_us; /* start of the process that has the peer's id when the packet comes */
	} tries[] = { { 200, true, true, 0 },	{ 250, true, true, 0 },	  { 200, false, false, 0 },
		      { 1, true, false, 0 },	{ 200, true, false, 50 }, { 250, true, false, 50 } };

	(void)state;
	for (size_t i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		struct scene scene = scene_make();
		struct model *model = scene.model;
		struct sleep_object peer = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__INET_SOCKET, .peer = 200 };
		uint32_t child = small_process(model, 250, "server", true);
		uint32_t heir = small_process(model, 300, "backend", tries[i].target);
		uint32_t thread = small_thread(model, heir, 300, "backend");

		small_thread(model, child, 250, "server");
		model->processes.row[child].parent_pid = 200;
		model->processes.row[heir].parent_pid = tries[i].parent;
		begin_at(model, child, 10 * US);
		begin_at(model, heir, 20 * US);
		begin_at(model, model->threads.row[scene.outsider].process, tries[i].peer_us * US);
		assert_true(MODEL_PUSH(&model->sleep_objects, peer));
		scene_main_waits(&scene, scene.worker);
		small_sleep(model, scene.worker, 0, 150 * US, RECVFROM, INDEX_NONE, SPAN_WOKEN_SOFTIRQ);
		model->spans.row[model->spans.count - 1].object = 0;
		small_span(model, scene.worker, 150 * US, 1000 * US, STATE_RUNNING);
		small_span(model, thread, 0, 1000 * US, STATE_RUNNING);
		assert_true(MODEL_PUSH(&model->wakes, ((struct wake){ .ts_ns = 150 * US, .waker_thread = thread,
								      .thread = scene.worker,
								      .flags = PROFBPF__WAKES__FLAG__SOFTIRQ })));
		scene_compute_roots(&scene);
		if (tries[i].sends)
			assert_int_equal(scene_root(&scene, IDLE_USER_CODE, thread)->ns, 50 * US);
		else
			assert_int_equal(scene_root(&scene, IDLE_NETWORK, scene.worker)->ns, 50 * US);
		scene_end(&scene);
	}
}

/* A signal ends a sleep: its sender is the thread that was waited for. */
static void test_signal(void **state)
{
	struct scene scene = scene_make();

	small_sleep(scene.model, scene.main, 0, 170 * US, SIGTIMEDWAIT, scene.worker, 0);
	scene_main_launches(&scene, 170);
	small_span(scene.model, scene.worker, 0, 1000 * US, STATE_RUNNING);
	scene_compute_roots(&scene);
	assert_int_equal(scene_root(&scene, IDLE_USER_CODE, scene.worker)->ns, 70 * US);
	scene_end(&scene);
}

/* The worker waits for a CPU that another thread uses, for a quota, for its own disk request. */
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
	scene_main_waits(&scene, scene.worker);
	span = small_span(scene.model, scene.worker, 0, 110 * US, STATE_RUNNABLE);
	span->other = scene.outsider;
	span = small_span(scene.model, scene.worker, 110 * US, 130 * US, STATE_RUNNABLE);
	span->flags = SPAN_CPU_IDLE;
	span = small_span(scene.model, scene.worker, 130 * US, 140 * US, STATE_RUNNABLE);
	span->flags = SPAN_THROTTLED;
	small_sleep(scene.model, scene.worker, 140 * US, 165 * US, READ, INDEX_NONE,
		    SPAN_WOKEN_HARDIRQ | SPAN_IOWAIT);
	wait = (struct io_wait){ .span = scene.model->spans.count - 1 };
	assert_true(MODEL_PUSH(&scene.model->block_requests, (struct block_request){ 0 }));
	assert_true(MODEL_PUSH(&scene.model->io_waits, wait));
	small_span(scene.model, scene.worker, 165 * US, 1000 * US, STATE_RUNNING);
	scene_compute_roots(&scene);
	root = scene_root(&scene, IDLE_RUNNABLE, scene.outsider);
	assert_int_equal(root->ns, 10 * US);
	assert_int_equal(root->root.who_kind, WHO_RUNNER);
	scene_expect_chain(root, 2, (uint32_t[]){ scene.main, scene.worker });
	root = scene_root(&scene, IDLE_RUNNABLE, 0);
	assert_int_equal(root->ns, 20 * US);
	assert_int_equal(root->root.who_kind, WHO_IDLE_CPU);
	root = scene_root(&scene, IDLE_THROTTLED, scene.worker);
	assert_int_equal(root->ns, 10 * US);
	assert_int_equal(root->root.object_kind, OBJECT_CGROUP);
	root = scene_root(&scene, IDLE_IO, scene.worker);
	assert_int_equal(root->ns, 25 * US);
	assert_int_equal(root->root.disk, 0);
	scene_end(&scene);
}

/* The group whose quota it was: that of the process at the end of the wait, as far as it is known. */
static void test_groups(void **state)
{
	static const struct {
		uint64_t us;
		uint32_t process, group; /* the scene's process is 0 */
	} stats[] = { { 100, 0, 0 }, { 140, 0, 1 }, { 140, 0, INDEX_NONE }, { 141, 0, 2 }, { 50, 1, 3 } };
	static const char *const paths[] = { "/before", "/then", "/later", "/stranger" };
	struct scene scene = scene_make();
	const struct idle_root *root;

	for (size_t i = 0; i < 4; i++)
		assert_true(MODEL_PUSH(&scene.model->cgroups, ((struct cgroup){ .id = i + 1,
			.path = model_string(scene.model, paths[i]) })));
	for (size_t i = 0; i < sizeof(stats) / sizeof(*stats); i++)
		assert_true(MODEL_PUSH(&scene.model->process_stats, ((struct process_stat){
			.process = stats[i].process, .ts_ns = stats[i].us * US, .cgroup = stats[i].group })));
	small_span(scene.model, scene.main, 0, 110 * US, STATE_RUNNING);
	small_span(scene.model, scene.main, 110 * US, 140 * US, STATE_RUNNABLE)->flags = SPAN_THROTTLED;
	scene_main_launches(&scene, 140);
	scene_compute_roots(&scene);
	root = scene_root(&scene, IDLE_THROTTLED, scene.main);
	assert_int_equal(root->ns, 30 * US);
	assert_int_equal(root->root.object_kind, OBJECT_CGROUP);
	assert_int_equal(root->root.object, 1);
	scene_end(&scene);
}

/* The main thread's activity in a scope, and before and after it. */
static void test_scopes(void **state)
{
	struct scene scene = scene_make();
	uint32_t decode = small_function(scene.model, "job", "decode", PROFBPF__FUNCTION__KIND__MARKER);
	uint64_t in_ns = 0, out_ns = 0;

	scene.model->functions.row[decode].scope = SCOPE_OPERATOR;
	small_call(scene.model, scene.main, decode, 120 * US, 150 * US);
	small_span(scene.model, scene.main, 0, 170 * US, STATE_RUNNING);
	scene_main_launches(&scene, 170);
	scene_compute_roots(&scene);
	for (uint32_t i = 0; i < scene.results.idle.roots->count; i++) {
		const struct idle_root *row = &scene.results.idle.roots->row[i];

		if (row->root.cause != IDLE_USER_CODE)
			continue;
		assert_int_equal(row->root.place, row->root.place_kind == PLACE_FUNCTION ? decode : 0);
		*(row->root.place_kind == PLACE_FUNCTION ? &in_ns : &out_ns) += row->ns;
	}
	assert_int_equal(in_ns, 30 * US);
	assert_int_equal(out_ns, 50 * US);
	scene_end(&scene);
}

/* An interrupt whose name's string number equals a thread's row number is not that thread. */
static void test_interrupt_of_that_number(void **state)
{
	struct scene scene = scene_make();
	const struct idle_root *root;

	small_sleep(scene.model, scene.main, 0, 170 * US, RECVFROM, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
	scene.model->spans.row[scene.model->spans.count - 1].other = scene.worker;
	scene_main_launches(&scene, 170);
	small_span(scene.model, scene.worker, 0, 1000 * US, STATE_RUNNING);
	scene_compute_roots(&scene);
	root = scene_root(&scene, IDLE_NETWORK, scene.main);
	assert_int_equal(root->ns, 70 * US);
	assert_int_equal(root->hop_count, 1);
	scene_end(&scene);
}

/* A thread that reports a completion late is on the way between the root and the waiting thread. */
static void test_late_completion(void **state)
{
	struct scene scene = scene_make();
	const struct idle_root *root;

	small_call(scene.model, scene.main, scene.sync, 50 * US, 160 * US);
	small_sleep(scene.model, scene.main, 55 * US, 150 * US, IOCTL, scene.worker, 0);
	scene_main_launches(&scene, 150);
	small_sleep(scene.model, scene.worker, 0, 105 * US, IOCTL, INDEX_NONE, SPAN_WOKEN_HARDIRQ);
	small_span(scene.model, scene.worker, 105 * US, 140 * US, STATE_RUNNABLE)->other = scene.outsider;
	small_span(scene.model, scene.worker, 140 * US, 1000 * US, STATE_RUNNING);
	scene_compute_roots(&scene);
	root = scene_root(&scene, IDLE_RUNNABLE, scene.outsider);
	assert_int_equal(root->ns, 35 * US);
	scene_expect_chain(root, 2, (uint32_t[]){ scene.main, scene.worker });
	scene_end(&scene);
}

/* Interrupts with known names are distinguished. */
static void expect_irq(const struct scene *scene, uint8_t kind, const char *name, uint64_t ns)
{
	const struct idle_roots *roots = scene->results.idle.roots;
	uint64_t found_ns = 0;

	for (uint32_t i = 0; i < roots->count; i++) {
		const struct root *root = &roots->row[i].root;

		if (root->cause != IDLE_IRQ || root->object_kind != kind)
			continue;
		assert_string_equal(
			kind == OBJECT_INTERRUPT ? model_text(scene->model, root->object) : "",
			name);
		found_ns += roots->row[i].ns;
	}
	assert_int_equal(found_ns, ns);
}

/* Interrupts take their time from the running thread; an interrupt without duration takes none. */
static void test_interrupts(void **state)
{
	struct scene scene = scene_make();
	const uint64_t at_us[] = { 95, 120, 130 }, took_us[] = { 10, 0, 20 };

	small_span(scene.model, scene.main, 0, 170 * US, STATE_RUNNING);
	scene_main_launches(&scene, 170);
	for (int i = 0; i < 3; i++) {
		struct interrupt row = { .thread = scene.main,
					 .ts_ns = at_us[i] * US,
					 .dur_ns = took_us[i] * US };

		row.name = i == 2 ? model_string(scene.model, "NET_RX") : 0;
		assert_true(MODEL_PUSH(&scene.model->interrupts, row));
	}
	scene_compute_roots(&scene);
	expect_irq(&scene, OBJECT_INTERRUPT_KIND, "", 5 * US);
	expect_irq(&scene, OBJECT_INTERRUPT, "NET_RX", 20 * US);
	assert_int_equal(scene_root(&scene, IDLE_USER_CODE, scene.main)->ns, 55 * US);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_wakers),
		cmocka_unit_test(test_writes_held_back),
		cmocka_unit_test(test_sender),
		cmocka_unit_test(test_inherited_socket),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_scopes),
		cmocka_unit_test(test_interrupt_of_that_number),
		cmocka_unit_test(test_late_completion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

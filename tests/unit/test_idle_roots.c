/* SPDX-License-Identifier: Apache-2.0 */
/* Roots of idle time: the thread at the end of a gap's waits, the way to it, and times that stay unknown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/idle_roots.h"
#include "tests/unit/idle_scene.h"

/* Checks that the way of the stretch that begins at @start_ns consists of these threads. */
static void expect_way(const struct idle_roots *roots, uint64_t start_ns, uint32_t count,
		       const uint32_t *threads)
{
	const struct root_stretch *found = NULL;

	for (uint32_t i = 0; i < roots->times.stretches.count; i++) {
		const struct root_stretch *stretch = &roots->times.stretches.row[i];

		found = stretch->start_ns == start_ns ? stretch : found;
	}
	assert_non_null(found);
	for (uint32_t way = found->way; count > 0; way = roots->ways[way].before) {
		assert_true(way < roots->way_count);
		assert_int_equal(roots->ways[way].depth, count);
		assert_int_equal(roots->ways[way].hop.thread, threads[--count]);
	}
}

/* Checks the cause of the wait of the first thread on the way of the stretch that begins at @start_ns. */
static void expect_first_cause(const struct idle_roots *roots, uint64_t start_ns, uint8_t cause)
{
	uint32_t way = INDEX_NONE;

	for (uint32_t i = 0; i < roots->times.stretches.count; i++)
		if (roots->times.stretches.row[i].start_ns == start_ns)
			way = roots->times.stretches.row[i].way;
	assert_int_not_equal(way, INDEX_NONE);
	while (roots->ways[way].depth > 1)
		way = roots->ways[way].before;
	assert_int_equal(roots->ways[way].hop.cause, cause);
}

/* main waits for stage a, which waits for stage b, which computes. */
static void test_chain_of_three(void **state)
{
	struct scene scene = scene_make();
	uint32_t b = small_thread(scene.model, scene.process, 102, "b");
	const struct idle_hop *hops;

	scene_main_waits(&scene, scene.worker);
	small_sleep(scene.model, scene.worker, 0, 160 * US, READ, b, 0);
	small_span(scene.model, scene.worker, 160 * US, 1000 * US, STATE_RUNNING);
	small_span(scene.model, b, 0, 1000 * US, STATE_RUNNING);
	scene_compute_roots(&scene);
	assert_int_equal(scene.results.idle.roots->row[0].root.who, b);
	assert_int_equal(scene_root(&scene, IDLE_USER_CODE, b)->ns, 60 * US);
	scene_expect_chain(scene_root(&scene, IDLE_USER_CODE, b), 3,
			   (uint32_t[]){ scene.main, scene.worker, b });
	hops = scene_root(&scene, IDLE_USER_CODE, b)->hops;
	assert_int_equal(hops[0].cause, IDLE_LOCK);
	assert_int_equal(hops[1].cause, IDLE_PIPELINE);
	assert_int_equal(hops[0].ns, 60 * US);
	assert_int_equal(scene_root(&scene, IDLE_USER_CODE, scene.worker)->ns, 10 * US);
	assert_int_equal(scene_root(&scene, IDLE_USER_CODE, scene.main)->ns, 10 * US);
	expect_way(scene.results.idle.roots, 100 * US, 3,
		   (uint32_t[]){ scene.main, scene.worker, b });
	/* The causes of the first hop have not changed. */
	assert_int_equal(scene.results.idle.cause_ns[IDLE_LOCK], 70 * US);
	scene_end(&scene);
}

/* Across processes: the worker waits for a child, which sleeps voluntarily. */
static void test_process_border(void **state)
{
	struct scene scene = scene_make();
	uint32_t child = small_process(scene.model, 300, "child", true);
	uint32_t main = small_thread(scene.model, child, 300, "child");
	const struct idle_root *root;

	scene_main_waits(&scene, scene.worker);
	small_sleep(scene.model, scene.worker, 0, 170 * US, WAIT4, main, 0);
	small_span(scene.model, scene.worker, 170 * US, 1000 * US, STATE_RUNNING);
	small_sleep(scene.model, main, 0, 150 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
	small_span(scene.model, main, 150 * US, 170 * US, STATE_RUNNING);
	scene_compute_roots(&scene);
	root = scene_root(&scene, IDLE_SLEEP, main);
	assert_int_equal(root->ns, 50 * US);
	assert_int_equal(root->root.place_kind, PLACE_SYSCALL);
	assert_int_equal(root->root.place, NANOSLEEP);
	scene_expect_chain(root, 3, (uint32_t[]){ scene.main, scene.worker, main });
	assert_int_equal(scene_root(&scene, IDLE_USER_CODE, main)->ns, 20 * US);
	scene_end(&scene);
}

/* Adds a sample of a Python thread that was started with this function. */
static void look_at_python(struct model *model, uint32_t thread, const char *function,
			   uint64_t ts_ns)
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

/*
 * One process per item: processes that ran one after the other become one row; those that ran at the same time do
 * not.
 */
static void follow(bool other, bool renamed)
{
	struct scene scene = scene_make();
	struct model *model = scene.model;
	uint32_t child[3];

	for (uint32_t i = 0; i < 3; i++) {
		uint32_t process = small_process(model, 300 + i, "item", true);

		child[i] = small_thread(model, process, 300 + i, "item");
		model->processes.row[process].parent_pid = 100;
		/* The start of the first process was not recorded. */
		if (i)
			model->threads.row[child[i]].parent = scene.main;
		/* The second process begins as the first one ends, the third one earlier. */
		model->threads.row[child[i]].start_ns = (i == 1 ? 130 : 90 + i) * US;
		model->threads.row[child[i]].exit_ns = (i == 0 ? 130 : 170) * US;
	}
	small_sleep(model, scene.main, 0, 130 * US, WAIT4, child[0], 0);
	small_span(model, scene.main, 130 * US, 140 * US, STATE_RUNNING);
	small_sleep(model, scene.main, 140 * US, 150 * US, WAIT4, child[1], 0);
	small_sleep(model, scene.main, 150 * US, 170 * US, WAIT4, child[2], 0);
	scene_main_launches(&scene, 170);
	small_span(model, child[0], 95 * US, 130 * US, STATE_RUNNING);
	small_span(model, child[1], 130 * US, 170 * US, STATE_RUNNING);
	small_span(model, child[2], 92 * US, 170 * US, STATE_RUNNING);
	if (renamed)
		model->threads.row[child[1]].name = model_string(model, "another");
	for (uint32_t i = 0; i < 2; i++)
		look_at_python(model, child[i], other && i ? "collect" : "decode",
			       (95 + 40 * i) * US);
	scene_compute_roots(&scene);
	assert_int_equal(scene_root(&scene, IDLE_USER_CODE, child[2])->ns, 20 * US);
	if (other || renamed) {
		assert_int_equal(scene_root(&scene, IDLE_USER_CODE, child[0])->ns, 30 * US);
		assert_int_equal(scene_root(&scene, IDLE_USER_CODE, child[1])->ns, 10 * US);
		scene_end(&scene);
		return;
	}
	assert_int_equal(scene_root(&scene, IDLE_USER_CODE, child[0])->ns, 40 * US);
	scene_expect_chain(scene_root(&scene, IDLE_USER_CODE, child[0]), 2,
			   (uint32_t[]){ scene.main, child[0] });
	/* The chain contains roles, the ways of stretches contain the actual threads. */
	expect_way(scene.results.idle.roots, 140 * US, 2, (uint32_t[]){ scene.main, child[1] });
	scene_end(&scene);
}

/* Adds process @pid, started by @parent's thread, and returns its first thread. */
static uint32_t start_process(struct model *model, uint32_t pid, const char *name, uint32_t parent)
{
	uint32_t thread = small_thread(model, small_process(model, pid, name, true), pid, name);

	model->threads.row[thread].parent = parent;
	return thread;
}

/* A shell per item, each running the same command: the commands become one row, too, and so do their threads. */
static void test_roles_of_children(void **state)
{
	struct scene scene = scene_make();
	struct model *model = scene.model;
	uint32_t shell[2], item[2], helper[2];

	for (uint32_t i = 0; i < 2; i++) {
		shell[i] = start_process(model, 300 + i, "sh", scene.main);
		item[i] = start_process(model, 400 + i, "item", shell[i]);
		helper[i] = small_thread(model, model->threads.row[item[i]].process, 500 + i, "helper");
		for (uint32_t t = shell[i]; t <= helper[i]; t++) {
			model->threads.row[t].start_ns = ((i ? 140 : 90) + t - shell[i]) * US;
			model->threads.row[t].exit_ns = (i ? 180 : 140) * US;
		}
	}
	for (uint64_t i = 0; i < 2; i++) {
		small_sleep(model, scene.main, (100 + 40 * i) * US, (120 + 40 * i) * US, WAIT4, item[i], 0);
		small_sleep(model, scene.main, (120 + 40 * i) * US, (140 + 40 * i) * US, WAIT4, helper[i], 0);
	}
	scene_main_launches(&scene, 180);
	for (uint32_t i = 0; i < 2; i++) {
		small_span(model, item[i], (95 + 50 * i) * US, (140 + 40 * i) * US, STATE_RUNNING);
		small_span(model, helper[i], (95 + 50 * i) * US, (140 + 40 * i) * US, STATE_RUNNING);
	}
	scene_compute_roots(&scene);
	assert_int_equal(scene_root(&scene, IDLE_USER_CODE, item[0])->ns, 35 * US);
	assert_int_equal(scene_root(&scene, IDLE_USER_CODE, helper[0])->ns, 40 * US);
	scene_end(&scene);
}

static void test_roles(void **state)
{
	follow(false, false);
}

/*
 * Threads of the same name (all Python threads have their process's name) but with different functions, or the other
 * way round.
 */
static void test_other_roles(void **state)
{
	follow(true, false);
	follow(false, true);
}

/* A mutex is handed from c to the worker to main: each has its part of main's wait. */
static void test_handover(void **state)
{
	struct scene scene = scene_make();
	uint32_t c = small_thread(scene.model, scene.process, 102, "c");

	scene_main_waits(&scene, scene.worker);
	small_sleep(scene.model, scene.worker, 0, 130 * US, FUTEX, c, 0);
	small_span(scene.model, scene.worker, 130 * US, 1000 * US, STATE_RUNNING);
	small_span(scene.model, c, 0, 1000 * US, STATE_RUNNING);
	scene_compute_roots(&scene);
	assert_int_equal(scene_root(&scene, IDLE_USER_CODE, c)->ns, 30 * US);
	assert_int_equal(scene_root(&scene, IDLE_USER_CODE, scene.worker)->ns, 40 * US);
	scene_end(&scene);
}

/* Slices of a wait that a timer ends, each followed by a short run; the holder ends the last slice. */
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
	scene_main_launches(&scene, 170);
	small_span(scene.model, scene.worker, 0, 1000 * US, STATE_RUNNING);
	scene_compute_roots(&scene);
	assert_int_equal(scene_root(&scene, IDLE_USER_CODE, scene.worker)->ns, 70 * US);
	assert_int_equal(scene.results.idle.roots->cause_ns[IDLE_SLEEP], 0);
	assert_int_equal(scene.results.idle.roots->cause_ns[IDLE_RUNNABLE], 0);
	assert_int_equal(scene.results.idle.cause_ns[IDLE_SLEEP], 54 * US);
	scene_end(&scene);
}

/* A timed wait that timed out, after which the thread continued its work, was voluntary. */
static void test_timeout(void **state)
{
	struct scene scene = scene_make();

	small_sleep(scene.model, scene.main, 100 * US, 150 * US, FUTEX, INDEX_NONE,
		    SPAN_WOKEN_TIMER);
	scene_main_launches(&scene, 150);
	scene_compute_roots(&scene);
	assert_int_equal(scene_root(&scene, IDLE_SLEEP, scene.main)->ns, 50 * US);
	scene_end(&scene);
}

/* A broadcast wakes main, too, without work for it: the next sleep's end is the end of the wait. */
static void test_broadcast(void **state)
{
	struct scene scene = scene_make();
	uint32_t other = small_thread(scene.model, scene.process, 102, "other");

	small_sleep(scene.model, scene.main, 0, 130 * US, FUTEX, other, 0);
	small_span(scene.model, scene.main, 130 * US, 133 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.main, 133 * US, 170 * US, FUTEX, scene.worker, 0);
	scene_main_launches(&scene, 170);
	small_span(scene.model, scene.worker, 0, 1000 * US, STATE_RUNNING);
	small_span(scene.model, other, 0, 1000 * US, STATE_RUNNING);
	scene_compute_roots(&scene);
	assert_int_equal(scene_root(&scene, IDLE_USER_CODE, scene.worker)->ns, 70 * US);
	scene_end(&scene);
}

/* The same with more time on the CPU, a launch, another lock: two waits. */
static void test_two_waits(void **state)
{
	static const struct sleep_object locks[] = {
		{ .kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = 0x1000 },
		{ .kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = 0x2000 }
	};

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
		scene_main_launches(&scene, 170);
		small_span(scene.model, scene.worker, 0, 1000 * US, STATE_RUNNING);
		small_span(scene.model, other, 0, 1000 * US, STATE_RUNNING);
		scene_compute_roots(&scene);
		assert_int_equal(scene_root(&scene, IDLE_USER_CODE, other)->ns, 30 * US);
		scene_end(&scene);
	}
}

/* A stage that takes an item, passes it on by waking main, and waits for the next one within microseconds. */
static void test_handed_on(void **state)
{
	struct scene scene = scene_make();
	uint32_t source = small_thread(scene.model, scene.process, 102, "source");
	uint32_t other = small_thread(scene.model, scene.process, 103, "other");
	static const struct sleep_object locks[] = {
		{ .kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = 0x1000 },
		{ .kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = 0x2000 }
	};

	for (size_t i = 0; i < 2; i++)
		assert_true(MODEL_PUSH(&scene.model->sleep_objects, locks[i]));
	small_sleep(scene.model, scene.main, 0, 170 * US, FUTEX, scene.worker, 0);
	scene.model->spans.row[scene.model->spans.count - 1].object = 1;
	scene_main_launches(&scene, 170);
	small_sleep(scene.model, scene.worker, 0, 169 * US, FUTEX, source, 0);
	scene.model->spans.row[scene.model->spans.count - 1].object = 0;
	small_span(scene.model, scene.worker, 169 * US, 172 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.worker, 172 * US, 1000 * US, FUTEX, other, 0);
	scene.model->spans.row[scene.model->spans.count - 1].object = 0;
	small_span(scene.model, source, 0, 1000 * US, STATE_RUNNING);
	small_sleep(scene.model, other, 0, 1000 * US, NANOSLEEP, INDEX_NONE, SPAN_WOKEN_TIMER);
	scene_compute_roots(&scene);
	assert_int_equal(scene_root(&scene, IDLE_USER_CODE, source)->ns, 69 * US);
	assert_int_equal(scene.results.idle.roots->cause_ns[IDLE_SLEEP], 0);
	scene_end(&scene);
}

/* Two threads wait for each other, which is possible with short runs in between. The last wait gives the cause. */
static void test_circle(void **state)
{
	static const struct {
		int16_t syscall;
		uint8_t cause;
	} waits[] = { { FUTEX, IDLE_LOCK }, { READ, IDLE_PIPELINE }, { NANOSLEEP, IDLE_LOCK }, { -1, IDLE_LOCK } };

	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		struct scene scene = scene_make();
		const struct idle_root *root;

		scene_main_waits(&scene, scene.worker);
		small_sleep(scene.model, scene.worker, 0, 165 * US, waits[i].syscall, scene.main, 0);
		small_span(scene.model, scene.worker, 165 * US, 1000 * US, STATE_RUNNING);
		scene_compute_roots(&scene);
		root = scene_root(&scene, waits[i].cause, scene.main);
		assert_int_equal(root->ns, 65 * US);
		assert_int_equal(root->root.end, ROOT_END_CIRCLE);
		scene_expect_chain(root, 2, (uint32_t[]){ scene.main, scene.worker });
		scene_end(&scene);
	}
}

/* Sums up the time of the rows with a value in a member of their root. */
#define NS_OF(roots, member, value)                                               \
	({                                                                        \
		uint64_t ns = 0;                                                  \
		for (uint32_t r = 0; r < (roots)->count; r++)                     \
			if ((roots)->row[r].root.member == (value))               \
				ns += (roots)->row[r].ns;                         \
		ns;                                                               \
	})

/* One root reached by two ways, which differ only in the middle, or only in a cause. */
static void test_two_ways(void **state)
{
	struct scene scene = scene_make();
	uint32_t a = small_thread(scene.model, scene.process, 102, "a");
	uint32_t b = small_thread(scene.model, scene.process, 103, "b");
	const struct idle_roots *roots;

	for (uint64_t i = 0; i < 2; i++)
		assert_true(MODEL_PUSH(&scene.model->sleep_objects, ((struct sleep_object){
			.kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = 0x1000 * (i + 1) })));
	small_sleep(scene.model, scene.main, 0, 120 * US, FUTEX, scene.worker, 0);
	scene.model->spans.row[scene.model->spans.count - 1].object = 0;
	small_span(scene.model, scene.main, 120 * US, 130 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.main, 130 * US, 140 * US, FUTEX, a, 0);
	scene.model->spans.row[scene.model->spans.count - 1].object = 1;
	small_span(scene.model, scene.main, 140 * US, 150 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.main, 150 * US, 170 * US, READ, a, 0);
	scene_main_launches(&scene, 170);
	small_sleep(scene.model, scene.worker, 0, 120 * US, FUTEX, b, 0);
	small_span(scene.model, scene.worker, 120 * US, 1000 * US, STATE_RUNNING);
	small_sleep(scene.model, a, 0, 170 * US, FUTEX, b, 0);
	small_span(scene.model, a, 170 * US, 1000 * US, STATE_RUNNING);
	small_span(scene.model, b, 0, 1000 * US, STATE_RUNNING);
	scene_compute_roots(&scene);
	roots = scene.results.idle.roots;
	assert_int_equal(scene_root(&scene, IDLE_USER_CODE, b)->ns, 50 * US);
	expect_way(roots, 100 * US, 3, (uint32_t[]){ scene.main, scene.worker, b });
	expect_way(roots, 130 * US, 3, (uint32_t[]){ scene.main, a, b });
	expect_way(roots, 150 * US, 3, (uint32_t[]){ scene.main, a, b });
	expect_first_cause(roots, 130 * US, IDLE_LOCK);
	expect_first_cause(roots, 150 * US, IDLE_PIPELINE);
	scene_end(&scene);
}

/* Consecutive roots with the same way that differ in a single member are two rows. */
static void test_one_difference(void **state)
{
	struct scene scene = scene_make();
	const struct idle_roots *roots;

	/* Commands of one driver, while the thread runs. */
	assert_true(MODEL_PUSH(&scene.model->drivers, ((struct driver){ .rdev = 1 })));
	for (uint32_t i = 0; i < 2; i++)
		assert_true(MODEL_PUSH(&scene.model->ioctls, ((struct ioctl_call){ .start_ns = (110 + 20 * i) * US,
			.end_ns = (130 + 20 * i) * US, .thread = scene.main, .cmd = 7 + i })));
	small_span(scene.model, scene.main, 0, 170 * US, STATE_RUNNING);
	scene_main_launches(&scene, 170);
	scene_compute_roots(&scene);
	roots = scene.results.idle.roots;
	assert_int_equal(NS_OF(roots, command, 7), 20 * US);
	assert_int_equal(NS_OF(roots, command, 8), 20 * US);
	scene_end(&scene);

	/* Disks that the thread waits for. */
	scene = scene_make();
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(MODEL_PUSH(&scene.model->drivers, ((struct driver){ .rdev = i })));
		assert_true(MODEL_PUSH(&scene.model->block_requests, ((struct block_request){ .driver = i })));
		small_sleep(scene.model, scene.main, i ? 130 * US : 0, (130 + 30 * i) * US, READ, INDEX_NONE,
			    SPAN_WOKEN_HARDIRQ | SPAN_IOWAIT);
		assert_true(MODEL_PUSH(&scene.model->io_waits, ((struct io_wait){
			.span = scene.model->spans.count - 1, .request = i })));
	}
	scene_main_launches(&scene, 160);
	scene_compute_roots(&scene);
	roots = scene.results.idle.roots;
	assert_int_equal(NS_OF(roots, disk, 0), 30 * US);
	assert_int_equal(NS_OF(roots, disk, 1), 30 * US);
	scene_end(&scene);

	/* A fault, and the system call with the number 0. */
	scene = scene_make();
	small_sleep(scene.model, scene.main, 0, 130 * US, READ, scene.outsider, 0);
	small_sleep(scene.model, scene.main, 130 * US, 170 * US, READ, scene.outsider, SPAN_FAULT);
	scene_main_launches(&scene, 170);
	scene_compute_roots(&scene);
	roots = scene.results.idle.roots;
	assert_int_equal(NS_OF(roots, place_kind, PLACE_SYSCALL), 30 * US);
	assert_int_equal(NS_OF(roots, place_kind, PLACE_FAULT), 40 * US);
	scene_end(&scene);

	/* A CPU that thread 0 uses, and an idle one. */
	scene = scene_make();
	assert_int_equal(scene.main, 0);
	scene_main_waits(&scene, scene.worker);
	small_span(scene.model, scene.worker, 0, 120 * US, STATE_RUNNABLE)->other = scene.main;
	small_span(scene.model, scene.worker, 120 * US, 170 * US, STATE_RUNNABLE)->flags = SPAN_CPU_IDLE;
	small_span(scene.model, scene.worker, 170 * US, 1000 * US, STATE_RUNNING);
	scene_compute_roots(&scene);
	roots = scene.results.idle.roots;
	assert_int_equal(NS_OF(roots, who_kind, WHO_RUNNER), 20 * US);
	assert_int_equal(NS_OF(roots, who_kind, WHO_IDLE_CPU), 50 * US);
	scene_end(&scene);

	/* A thread without any records, and a sleep with an unknown waker. */
	scene = scene_make();
	scene_main_waits(&scene, scene.worker);
	small_span(scene.model, scene.worker, 0, 90 * US, STATE_RUNNING);
	small_sleep(scene.model, scene.worker, 120 * US, 170 * US, -1, INDEX_NONE, SPAN_NO_WAKE);
	small_span(scene.model, scene.worker, 170 * US, 1000 * US, STATE_RUNNING);
	scene_compute_roots(&scene);
	roots = scene.results.idle.roots;
	assert_int_equal(NS_OF(roots, end, ROOT_END_NO_RECORD), 20 * US);
	assert_int_equal(NS_OF(roots, end, ROOT_END_NO_WAKER), 50 * US);
	scene_end(&scene);
}

/* @count threads wait for each other in a line: beyond a limit the walk stops, and the result says so. */
static void wait_in_line(uint32_t count, uint32_t *last, struct scene *scene)
{
	uint32_t thread[64] = { 0 };

	*scene = scene_make();
	for (uint32_t i = 0; i < count; i++)
		thread[i] = small_thread(scene->model, scene->process, 1000 + i, "stage");
	scene_main_waits(scene, thread[0]);
	for (uint32_t i = 0; i + 1 < count; i++) {
		small_sleep(scene->model, thread[i], 0, 170 * US, FUTEX, thread[i + 1], 0);
		small_span(scene->model, thread[i], 170 * US, 1000 * US, STATE_RUNNING);
	}
	small_span(scene->model, thread[count - 1], 0, 1000 * US, STATE_RUNNING);
	*last = thread[count - 1];
	scene_compute_roots(scene);
}

static void test_depth(void **state)
{
	struct scene scene;
	uint32_t last;
	const struct idle_root *root;

	wait_in_line(ROOT_DEPTH_MAX - 1, &last, &scene);
	root = scene_root(&scene, IDLE_USER_CODE, last);
	assert_int_equal(root->ns, 70 * US);
	assert_int_equal(root->hop_count, ROOT_DEPTH_MAX);
	scene_end(&scene);
	wait_in_line(ROOT_DEPTH_MAX, &last, &scene);
	root = scene_root(&scene, IDLE_UNKNOWN, last);
	assert_int_equal(root->ns, 70 * US);
	assert_int_equal(root->root.end, ROOT_END_DEPTH);
	scene_end(&scene);
}

/* Woken by a thread outside of the traced processes; by an unknown one; by a thread whose records are lost. */
static void test_unknown(void **state)
{
	struct scene scene = scene_make();
	const struct idle_root *root;

	scene_main_waits(&scene, scene.outsider);
	scene_compute_roots(&scene);
	root = scene_root(&scene, IDLE_UNKNOWN, scene.outsider);
	assert_int_equal(root->root.end, ROOT_END_UNTRACED);
	assert_int_equal(root->ns, 70 * US);
	scene_end(&scene);

	scene = scene_make();
	small_sleep(scene.model, scene.main, 0, 170 * US, FUTEX, INDEX_NONE, SPAN_NO_WAKE);
	scene_main_launches(&scene, 170);
	scene_compute_roots(&scene);
	root = scene_root(&scene, IDLE_UNKNOWN, scene.main);
	assert_int_equal(root->root.end, ROOT_END_NO_WAKER);
	scene_end(&scene);

	scene = scene_make();
	scene_main_waits(&scene, scene.worker);
	small_span(scene.model, scene.worker, 120 * US, 1000 * US, STATE_RUNNING);
	scene_compute_roots(&scene);
	root = scene_root(&scene, IDLE_UNKNOWN, scene.worker);
	assert_int_equal(root->root.end, ROOT_END_NO_RECORD);
	assert_int_equal(root->ns, 20 * US);
	assert_int_equal(scene_root(&scene, IDLE_USER_CODE, scene.worker)->ns, 50 * US);
	scene_end(&scene);

	/* Work that arrives from outside is a root by itself. */
	scene = scene_make();
	small_sleep(scene.model, scene.main, 0, 170 * US, POLL, scene.outsider, 0);
	scene_main_launches(&scene, 170);
	scene_compute_roots(&scene);
	root = scene_root(&scene, IDLE_NO_WORK, scene.outsider);
	assert_int_equal(root->root.end, ROOT_END_UNTRACED);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain_of_three), cmocka_unit_test(test_process_border),
		cmocka_unit_test(test_roles_of_children),
		cmocka_unit_test(test_roles),	       cmocka_unit_test(test_other_roles),
		cmocka_unit_test(test_handover),       cmocka_unit_test(test_timer_slices),
		cmocka_unit_test(test_timeout),	       cmocka_unit_test(test_broadcast),
		cmocka_unit_test(test_two_waits),      cmocka_unit_test(test_handed_on),
		cmocka_unit_test(test_circle),	       cmocka_unit_test(test_depth),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_two_ways),       cmocka_unit_test(test_one_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

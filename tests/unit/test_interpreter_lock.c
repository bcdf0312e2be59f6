/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for the lock of a CPython interpreter: slices become one wait, which leads to the thread that held the lock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/analyse/idle/interpreter_lock.h"
#include "tests/unit/idle_scene.h"

#define LOCK 0x1000 /* the lock of the scene's process: condition variable and mutex */
#define LOCK_END 0x10b0

/* Indices into sleep_objects. */
enum { CONDITION, MUTEX, TAKEN, ELSEWHERE };

static struct scene make(uint32_t python)
{
	static const struct sleep_object objects[] = {
		[CONDITION] = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = LOCK + 40 },
		[MUTEX] = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = LOCK + 48 },
		[TAKEN] = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = LOCK + 132 },
		[ELSEWHERE] = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = LOCK_END },
	};
	struct scene scene = scene_make();
	struct python_interpreter row = { .process = python == INDEX_NONE ? scene.process : python,
					  .lock_first = LOCK,
					  .lock_last = LOCK_END,
					  .lock_known = true };

	for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++)
		assert_true(MODEL_PUSH(&scene.model->sleep_objects, objects[i]));
	assert_true(MODEL_PUSH(&scene.model->pythons, row));
	return scene;
}

static void waits(struct scene *scene, uint32_t thread, uint64_t from_us, uint64_t to_us,
		  uint32_t object, uint32_t waker, uint8_t flags)
{
	small_sleep(scene->model, thread, from_us * US, to_us * US, FUTEX, waker, flags);
	scene->model->spans.row[scene->model->spans.count - 1].object = object;
}

/* The main thread sleeps for a slice until @to_us, then 50 us without a CPU and 2 us on one. */
static void slice_without_cpu(struct scene *scene)
{
	waits(scene, scene->main, 90, 118, CONDITION, INDEX_NONE, SPAN_TIMEOUT | SPAN_WOKEN_TIMER);
	small_span(scene->model, scene->main, 118 * US, 168 * US, STATE_RUNNABLE);
	small_span(scene->model, scene->main, 168 * US, 170 * US, STATE_RUNNING);
}

static void main_launches(struct scene *scene)
{
	small_span(scene->model, scene->main, 170 * US, 1000 * US, STATE_RUNNING);
	small_call(scene->model, scene->main, scene->launch, 180 * US, 190 * US);
}

static const struct idle_root *root_of(const struct scene *scene, uint8_t cause, uint32_t who)
{
	const struct idle_roots *roots = scene->results.idle.roots;

	for (uint32_t i = 0; i < roots->count; i++)
		if (roots->row[i].root.cause == cause && roots->row[i].root.who == who)
			return &roots->row[i];
	fail_msg("no root of cause %s", idle_cause_name(cause));
	return NULL;
}

/*
 * A slice that a timer ends; then the holder sleeps for the mutex that main has, and main for the lock: together one
 * wait for the worker. A longer run on a CPU in between, or a sleep elsewhere, would separate them (test_one_wait.c).
 */
static void test_slices(void **state)
{
	struct scene scene = make(INDEX_NONE);

	waits(&scene, scene.main, 0, 150, CONDITION, INDEX_NONE, SPAN_TIMEOUT | SPAN_WOKEN_TIMER);
	small_span(scene.model, scene.main, 150 * US, 156 * US, STATE_RUNNING);
	waits(&scene, scene.main, 156, 157, MUTEX, scene.outsider, 0);
	small_span(scene.model, scene.main, 157 * US, 159 * US, STATE_RUNNING);
	waits(&scene, scene.main, 159, 170, CONDITION, scene.worker, SPAN_TIMEOUT);
	main_launches(&scene);
	small_span(scene.model, scene.worker, 0, 150 * US, STATE_RUNNING);
	waits(&scene, scene.worker, 150, 155, MUTEX, scene.main, 0);
	small_span(scene.model, scene.worker, 155 * US, 1000 * US, STATE_RUNNING);
	scene_compute(&scene);
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, scene.worker)->ns, 65 * US);
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, scene.worker)->hop_count, 2);
	assert_int_equal(scene.results.idle.roots->cause_ns[IDLE_SLEEP], 0);
	scene_end(&scene);
}

/* The thread that woke main from an earlier slice released the lock then; another thread took it. */
static void test_given_away(void **state)
{
	struct scene scene = make(INDEX_NONE);
	uint32_t other = small_thread(scene.model, scene.process, 102, "other");

	waits(&scene, scene.main, 0, 130, CONDITION, other, SPAN_TIMEOUT);
	small_span(scene.model, scene.main, 130 * US, 132 * US, STATE_RUNNING);
	waits(&scene, scene.main, 132, 170, CONDITION, scene.worker, SPAN_TIMEOUT);
	main_launches(&scene);
	small_span(scene.model, scene.worker, 0, 1000 * US, STATE_RUNNING);
	small_span(scene.model, other, 0, 1000 * US, STATE_RUNNING);
	scene_compute(&scene);
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, other)->ns, 30 * US);
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, scene.worker)->ns, 38 * US);
	scene_end(&scene);
}

/*
 * The lock is free by the time that main has a CPU: main wakes the thread that waits for that, or a thread wants it
 * back, or a sample shows it, or nothing does.
 */
static void test_free_meanwhile(void **state)
{
	for (int what = 0; what < 4; what++) {
		struct scene scene = make(INDEX_NONE);
		struct stack_sample look = { .ts_ns = 110 * US,
					     .thread = scene.worker,
					     .stack = INDEX_NONE,
					     .waker = INDEX_NONE,
					     .flags = MODEL_SAMPLE_PYTHON | MODEL_SAMPLE_LOCK };
		uint32_t who = what == 3 ? 0 : scene.worker;

		slice_without_cpu(&scene);
		main_launches(&scene);
		small_span(scene.model, scene.worker, 0, 130 * US, STATE_RUNNING);
		if (what == 0)
			waits(&scene, scene.worker, 130, 169, TAKEN, scene.main, 0);
		else
			small_span(scene.model, scene.worker, 130 * US, 169 * US, STATE_RUNNING);
		if (what == 1)
			waits(&scene, scene.worker, 169, 1000, CONDITION, scene.main, SPAN_TIMEOUT);
		else
			small_span(scene.model, scene.worker, 169 * US, 1000 * US, STATE_RUNNING);
		if (what == 2)
			assert_true(MODEL_PUSH(&scene.model->stack_samples, look));
		scene_compute(&scene);
		assert_int_equal(root_of(&scene, what == 3 ? IDLE_LOCK : IDLE_USER_CODE, who)->ns,
				 18 * US);
		assert_int_equal(scene.results.idle.roots->cause_ns[IDLE_SLEEP], 0);
		scene_end(&scene);
	}
}

/* A sleep outside of the lock, or for that of another process, is an ordinary timeout. */
static void test_others(void **state)
{
	for (int what = 0; what < 2; what++) {
		struct scene scene = make(what ? 1 : INDEX_NONE);

		waits(&scene, scene.main, 0, 170, what ? CONDITION : ELSEWHERE, INDEX_NONE,
		      SPAN_TIMEOUT | SPAN_WOKEN_TIMER);
		main_launches(&scene);
		scene_compute(&scene);
		assert_int_equal(root_of(&scene, IDLE_SLEEP, scene.main)->ns, 70 * US);
		scene_end(&scene);
	}
}

/*
 * The same slices with an unknown interpreter: the thread that main wakes after a timeout waits for the mutex beside.
 */
static void test_not_known(void **state)
{
	struct scene scene = make(1);

	waits(&scene, scene.main, 0, 150, CONDITION, INDEX_NONE, SPAN_TIMEOUT | SPAN_WOKEN_TIMER);
	small_span(scene.model, scene.main, 150 * US, 156 * US, STATE_RUNNING);
	waits(&scene, scene.main, 156, 170, CONDITION, scene.worker, SPAN_TIMEOUT);
	main_launches(&scene);
	small_span(scene.model, scene.worker, 0, 150 * US, STATE_RUNNING);
	waits(&scene, scene.worker, 150, 155, MUTEX, scene.main, 0);
	small_span(scene.model, scene.worker, 155 * US, 1000 * US, STATE_RUNNING);
	scene_compute(&scene);
	assert_int_equal(root_of(&scene, IDLE_USER_CODE, scene.worker)->ns, 65 * US);
	assert_int_equal(scene.results.idle.roots->cause_ns[IDLE_SLEEP], 0);
	scene_end(&scene);
}

/* The lock spans from its first byte to before its end, in its own process; an unknown lock contains nothing. */
static void test_range(void **state)
{
	struct scene scene = make(INDEX_NONE);
	struct model *model = scene.model;
	struct interpreter_locks *locks;
	struct sleep_object first = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = LOCK };
	struct sleep_object file = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__FILE, .object = LOCK };

	assert_true(MODEL_PUSH(&model->sleep_objects, first));
	assert_true(MODEL_PUSH(&model->sleep_objects, file));
	small_index(model);
	locks = interpreter_locks_new(model);
	assert_non_null(locks);
	assert_true(interpreter_lock_is(locks, scene.main, MUTEX));
	assert_true(interpreter_lock_is(locks, scene.worker, ELSEWHERE + 1));
	assert_false(interpreter_lock_is(locks, scene.main, ELSEWHERE));
	assert_false(interpreter_lock_is(locks, scene.main, ELSEWHERE + 2));
	assert_false(interpreter_lock_is(locks, scene.main, ELSEWHERE + 3));
	assert_false(interpreter_lock_is(locks, scene.outsider, MUTEX));
	assert_false(interpreter_lock_is(locks, INDEX_NONE, MUTEX));
	assert_false(interpreter_lock_is(locks, scene.main, INDEX_NONE));
	interpreter_locks_free(locks);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slices),	       cmocka_unit_test(test_given_away),
		cmocka_unit_test(test_free_meanwhile), cmocka_unit_test(test_others),
		cmocka_unit_test(test_not_known),      cmocka_unit_test(test_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Advice about a pipeline of an unknown framework whose threads sleep: it fits the way in which they sleep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/verdict_scene.h"

#define ELEMENTS 10
#define ELEMENT_US 100

/* main waits for an element of the worker each 100 us; the pipeline is known from wake-ups alone. */
static void begin(struct verdict_scene *f)
{
	verdict_begin(f);
	for (uint64_t i = 0; i < ELEMENTS; i++)
		small_sleep(f->scene.model, f->scene.main, i * ELEMENT_US * US, (i + 1) * ELEMENT_US * US, FUTEX,
			    f->scene.worker, 0);
	verdict_add_pipeline(f);
	f->pipelines.list.row[0].by_wakes = f->pipelines.list.row[0].of_main = true;
	f->pipelines.list.row[0].process = f->scene.process;
	f->pipelines.list.row[0].operators.row[0].workers = 1;
	f->all_steps.main = INDEX_NONE;
}

static void wake(struct verdict_scene *f, uint64_t us)
{
	struct wake wake = { .ts_ns = us * US, .waker_thread = f->scene.worker, .thread = f->scene.main };

	assert_true(MODEL_PUSH(&f->scene.model->wakes, wake));
}

/* The worker sleeps @times until it wakes main, for each element. */
static void worker_sleeps(struct verdict_scene *f, uint64_t times)
{
	uint64_t part = ELEMENT_US / times;

	for (uint64_t i = 0; i < ELEMENTS * times; i++) {
		small_sleep(f->scene.model, f->scene.worker, i * part * US, ((i + 1) * part - 1) * US, NANOSLEEP,
			    INDEX_NONE, SPAN_WOKEN_TIMER);
		small_span(f->scene.model, f->scene.worker, ((i + 1) * part - 1) * US, (i + 1) * part * US,
			   STATE_RUNNING);
		if ((i + 1) % times == 0)
			wake(f, (i + 1) * part - 1);
	}
}

static void sleeps_once(void **state)
{
	struct verdict_scene f;

	begin(&f);
	worker_sleeps(&f, 1);
	verdict_judge_waits(&f);
	verdict_says(&f, "It waits for Map(ID:2) (1 thread) for 100.0 %: nanosleep");
	verdict_says(&f, "do       It has one worker, which sleeps while others wait for it. If it makes an element");
	verdict_says(&f, "if it holds a lock, it should sleep without it.");
	f.pipelines.list.row[0].operators.row[0].workers = 2;
	verdict_says(&f, "do       Its workers sleep while others wait for them.");
	verdict_end(&f);
}

static void sleeps_again(void **state)
{
	struct verdict_scene f;

	begin(&f);
	worker_sleeps(&f, 2);
	verdict_judge_waits(&f);
	/* Exactly half of the sleeps follow another one. */
	verdict_says_not(&f, "several times");
	verdict_end(&f);
	begin(&f);
	worker_sleeps(&f, 4);
	verdict_judge_waits(&f);
	verdict_says(&f, "do       It sleeps several times before it wakes anybody. If it polls, look at those who make");
	verdict_end(&f);
	/* A wake-up by an interrupt on the worker's CPU is not the worker's. */
	begin(&f);
	worker_sleeps(&f, 1);
	for (uint32_t i = 0; i < f.scene.model->wakes.count; i++)
		f.scene.model->wakes.row[i].flags = PROFBPF__WAKES__FLAG__SOFTIRQ;
	verdict_judge_waits(&f);
	verdict_says(&f, "do       It sleeps several times");
	verdict_end(&f);
}

/* While one worker sleeps for @held_us with the lock held, the other one waits for the lock, then they change over. */
static void lock_held(struct verdict_scene *f, uint64_t held_us, uint64_t free_us)
{
	struct model *model = f->scene.model;
	uint32_t workers[2] = { f->scene.worker, small_thread(model, f->scene.process, 102, "worker") };
	struct pipeline_thread row = { .thread = workers[1], .role = PIPELINE_WORKER };

	assert_true(MODEL_PUSH(&f->pipelines.list.row[0].threads, row));
	f->pipelines.list.row[0].operators.row[0].workers = 2;
	for (uint32_t w = 0; w < 2; w++) {
		for (uint64_t i = 0, us = 0; i < ELEMENTS; i++) {
			bool holds = i % 2 == w;

			small_sleep(model, workers[w], us * US, (us + held_us) * US, holds ? NANOSLEEP : FUTEX,
				    holds ? INDEX_NONE : workers[!w], holds ? SPAN_WOKEN_TIMER : 0);
			us += held_us;
			small_sleep(model, workers[w], us * US, (us + free_us) * US, NANOSLEEP, INDEX_NONE,
				    SPAN_WOKEN_TIMER);
			us += free_us;
		}
	}
}

static void takes_turns(void **state)
{
	struct verdict_scene f;

	begin(&f);
	lock_held(&f, 70, 30);
	verdict_judge_waits(&f);
	verdict_says(&f, "do       Its workers take turns: one sleeps with a lock held, and the others wait for that lock.");
	/* Threads of one process of a pipeline of processes are one worker. */
	f.pipelines.list.row[0].process = f.scene.process + 1;
	verdict_says_not(&f, "take turns");
	verdict_end(&f);
	/* 30 % of their sleep. */
	begin(&f);
	lock_held(&f, 60, 40);
	verdict_judge_waits(&f);
	verdict_says_not(&f, "take turns");
	verdict_end(&f);
}

/* Goroutines: one thread sleeps in epoll until a timer is due and wakes another one, which waits for work in the pool. */
static void sleeps_for_timer(void **state)
{
	static const struct sleep_object objects[] = { { .kind = PROFBPF__SLEEP_OBJECTS__KIND__PIPE },
						       { .kind = PROFBPF__SLEEP_OBJECTS__KIND__EPOLL } };

	(void)state;
	for (uint32_t object = 0; object < 2; object++) {
		struct verdict_scene f;
		struct model *model;

		begin(&f);
		model = f.scene.model;
		lock_held(&f, 70, 30);
		for (uint32_t i = 0; i < 2; i++)
			assert_true(MODEL_PUSH(&model->sleep_objects, objects[i]));
		for (uint32_t i = 0; i < model->spans.count; i++)
			if (model->spans.row[i].flags & SPAN_WOKEN_TIMER) {
				model->spans.row[i].syscall = POLL;
				model->spans.row[i].object = object;
			}
		verdict_judge_waits(&f);
		verdict_says(&f, object ? "do       It is an event loop that sleeps until its next timer"
					: "do       Its workers take turns");
		verdict_end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sleeps_once),
		cmocka_unit_test(sleeps_again),
		cmocka_unit_test(takes_turns),
		cmocka_unit_test(sleeps_for_timer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

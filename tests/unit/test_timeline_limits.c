/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's state between its events: several at one instant, at both ends of the session, and as far back as
 * records are contiguous.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/join/thread/timelines.h"
#include "proto/trace.pb-c.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull
#define START (10 * MS)
#define END (100 * MS)

#define SLEEP PROFBPF__SWITCHES__STATE__SLEEP
#define PREEMPTED PROFBPF__SWITCHES__STATE__PREEMPTED

struct fixture {
	struct model *model;
	uint32_t thread, a, b; /* ids 11, 12, 13: all belong to the job */
};

static void begin(struct fixture *f)
{
	uint32_t process;

	f->model = small_model(START, END);
	process = small_process(f->model, 11, "job", true);
	f->thread = small_thread(f->model, process, 11, "thread");
	f->a = small_thread(f->model, process, 12, "a");
	f->b = small_thread(f->model, process, 13, "b");
}

/* A switch between two of the threads; INDEX_NONE: idle. */
static struct cpu_switch *change(struct fixture *f, uint16_t cpu, uint64_t ts_ns, uint32_t prev, uint32_t next, uint8_t why)
{
	struct cpu_switch row = { .ts_ns = ts_ns,
				  .cpu = cpu,
				  .prev_thread = prev,
				  .next_thread = next,
				  .prev_tid = prev == INDEX_NONE ? 0 : 11 + prev,
				  .next_tid = next == INDEX_NONE ? 0 : 11 + next,
				  .state = why,
				  .syscall = -1,
				  .object = INDEX_NONE };

	assert_true(MODEL_PUSH(&f->model->switches, row));
	return &f->model->switches.row[f->model->switches.count - 1];
}

static void out(struct fixture *f, uint64_t ts_ns, uint8_t why)
{
	change(f, 0, ts_ns, f->thread, INDEX_NONE, why);
}

static void in(struct fixture *f, uint64_t ts_ns)
{
	change(f, 0, ts_ns, INDEX_NONE, f->thread, 0);
}

static void wake(struct fixture *f, uint64_t ts_ns, uint32_t object)
{
	struct wake row = { .ts_ns = ts_ns, .thread = f->thread, .waker_thread = f->a, .object = object };

	assert_true(MODEL_PUSH(&f->model->wakes, row));
}

static void account(struct fixture *f, uint32_t thread, uint64_t ts_ns, uint8_t flags)
{
	struct account row = { .ts_ns = ts_ns, .thread = thread, .flags = flags, .syscall = 5 };

	assert_true(MODEL_PUSH(&f->model->accounts, row));
}

static void build(struct fixture *f)
{
	small_index(f->model);
	assert_int_equal(timelines_build(f->model), 0);
}

/* Returns the thread's span that ends at this instant. */
static const struct span *ends(const struct fixture *f, uint64_t end_ns, uint8_t state, uint8_t flags, uint32_t other)
{
	const struct timeline *line = &f->model->timelines.row[f->thread];

	for (uint32_t i = 0; i < line->count; i++) {
		const struct span *span = &f->model->spans.row[line->first + i];

		if (span->end_ns != end_ns)
			continue;
		assert_int_equal(span->state, state);
		assert_int_equal(span->flags, flags);
		assert_int_equal(span->other, other);
		return span;
	}
	fail_msg("no span ends at %llu", (unsigned long long)end_ns);
	return NULL;
}

static uint32_t count(const struct fixture *f)
{
	return f->model->timelines.row[f->thread].count;
}

/*
 * A preempted thread: the threads that had its CPU, one after the other, and the thread that took it if it never
 * returns.
 */
static void occupants(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	change(&f, 0, 20 * MS, f.thread, f.a, PREEMPTED);
	change(&f, 0, 30 * MS, f.a, f.b, SLEEP);
	change(&f, 0, 40 * MS, f.b, f.thread, SLEEP);
	change(&f, 0, 50 * MS, f.thread, f.a, PREEMPTED);
	build(&f);
	ends(&f, 30 * MS, STATE_RUNNABLE, 0, f.a);
	ends(&f, 40 * MS, STATE_RUNNABLE, 0, f.b);
	ends(&f, 50 * MS, STATE_RUNNING, 0, INDEX_NONE);
	ends(&f, END, STATE_RUNNABLE, 0, f.a);
	assert_int_equal(count(&f), 5);
	model_free(f.model);
}

/*
 * A CPU counts as idle if no thread is known to have had it: not if an unrecorded thread had it, nor where the thread
 * was preempted.
 */
static void idle_cpu(void **state)
{
	for (int what = 0; what < 3; what++) {
		struct fixture f;

		(void)state;
		begin(&f);
		if (what == 1) {
			change(&f, 1, 20 * MS, f.thread, f.a, PREEMPTED);
		} else {
			out(&f, 20 * MS, SLEEP);
			wake(&f, 30 * MS, INDEX_NONE);
		}
		change(&f, 0, 40 * MS, INDEX_NONE, f.thread, 0)->prev_tid = what == 2 ? 77 : 0;
		build(&f);
		ends(&f, 40 * MS, STATE_RUNNABLE, what == 0 ? SPAN_CPU_IDLE : 0, what == 1 ? f.a : INDEX_NONE);
		model_free(f.model);
	}
}

/* 65 threads before it are distinguished. */
static void many_occupants(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	out(&f, 20 * MS, SLEEP);
	wake(&f, 21 * MS, INDEX_NONE);
	for (uint64_t i = 0; i < 80; i++)
		change(&f, 0, 22 * MS + i, i % 2 ? f.b : f.a, i % 2 ? f.a : f.b, PREEMPTED);
	change(&f, 0, 22 * MS + 80, f.a, f.thread, PREEMPTED);
	build(&f);
	/* Before that unknown, asleep; after it on a CPU. */
	assert_int_equal(count(&f), 65 + 3);
	model_free(f.model);
}

/*
 * A wake-up up to a millisecond before the thread leaves its CPU belongs to its sleep, if the thread returns without
 * another one.
 */
static void woken_early(void **state)
{
	static const struct {
		uint64_t after_ns;
		bool comes_back, woken_again, ready;
	} CASES[] = {
		{ MS, true, false, true },
		{ MS + 1, true, false, false },
		{ MS, false, false, false },
		{ MS, true, true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		uint64_t off_ns = 30 * MS + CASES[i].after_ns;
		struct fixture f;

		begin(&f);
		in(&f, 20 * MS);
		wake(&f, 30 * MS, INDEX_NONE);
		out(&f, off_ns, SLEEP);
		if (CASES[i].woken_again)
			wake(&f, 40 * MS, INDEX_NONE);
		if (CASES[i].comes_back)
			in(&f, 50 * MS);
		/* The next thread's first event is a switch in. */
		change(&f, 1, 60 * MS, INDEX_NONE, f.a, 0);
		build(&f);
		if (CASES[i].ready)
			ends(&f, 50 * MS, STATE_RUNNABLE, SPAN_CPU_IDLE, INDEX_NONE);
		else if (!CASES[i].comes_back)
			ends(&f, END, STATE_SLEEP, 0, INDEX_NONE);
		else if (CASES[i].woken_again)
			ends(&f, 40 * MS, STATE_SLEEP, 0, f.a);
		else
			ends(&f, 50 * MS, STATE_SLEEP, SPAN_NO_WAKE, INDEX_NONE);
		model_free(f.model);
	}
}

/* For any kind of sleep: a thread that returns without a wake-up was woken by a thread that was not recorded. */
static void unseen_wakes(void **state)
{
	static const uint8_t STATES[][2] = { { SLEEP, STATE_SLEEP },
					     { PROFBPF__SWITCHES__STATE__DISK_SLEEP, STATE_DISK },
					     { PROFBPF__SWITCHES__STATE__STOPPED, STATE_STOPPED } };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct fixture f;

		begin(&f);
		out(&f, 20 * MS, STATES[i][0]);
		in(&f, 30 * MS);
		build(&f);
		ends(&f, 30 * MS, STATES[i][1], SPAN_NO_WAKE, INDEX_NONE);
		model_free(f.model);
	}
}

/* At one instant a thread is woken, then gets a CPU, then leaves it, on any CPU. */
static void one_instant(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	change(&f, 0, 20 * MS, f.thread, INDEX_NONE, SLEEP);
	change(&f, 0, 30 * MS, f.thread, INDEX_NONE, SLEEP);
	change(&f, 1, 30 * MS, INDEX_NONE, f.thread, 0);
	wake(&f, 30 * MS, 0); /* this object does not exist */
	build(&f);
	assert_int_equal(ends(&f, 30 * MS, STATE_SLEEP, 0, f.a)->object, INDEX_NONE);
	ends(&f, END, STATE_SLEEP, 0, INDEX_NONE);
	model_free(f.model);
}

/* The state at the session's start: from the thread's account, or from the event before. */
static void first_state(void **state)
{
	enum { NO_EVENT, RUNS, NOT_FIRST, OTHERS, AT_ONCE, CONTRADICTS, READY_BEFORE, ASLEEP_BEFORE };
	static const struct {
		uint8_t flags, state;
		int16_t syscall;
	} CASES[] = {
		[NO_EVENT] = { PROFBPF__ACCOUNTS__FLAG__FIRST, STATE_SLEEP, 5 },
		[RUNS] = { PROFBPF__ACCOUNTS__FLAG__FIRST | PROFBPF__ACCOUNTS__FLAG__RUNNING, STATE_RUNNING, -1 },
		[NOT_FIRST] = { 0, STATE_UNKNOWN, -1 },
		[OTHERS] = { PROFBPF__ACCOUNTS__FLAG__FIRST, STATE_UNKNOWN, -1 },
		[AT_ONCE] = { PROFBPF__ACCOUNTS__FLAG__FIRST, STATE_RUNNING, -1 },
		[CONTRADICTS] = { PROFBPF__ACCOUNTS__FLAG__FIRST, STATE_UNKNOWN, -1 },
		[READY_BEFORE] = { PROFBPF__ACCOUNTS__FLAG__FIRST, STATE_RUNNABLE, -1 },
		[ASLEEP_BEFORE] = { PROFBPF__ACCOUNTS__FLAG__FIRST | PROFBPF__ACCOUNTS__FLAG__RUNNING, STATE_SLEEP, -1 },
	};

	(void)state;
	for (int what = NO_EVENT; what <= ASLEEP_BEFORE; what++) {
		struct fixture f;
		const struct span *span;

		begin(&f);
		account(&f, what == OTHERS ? f.a : f.thread, 15 * MS, CASES[what].flags);
		if (what == READY_BEFORE)
			in(&f, 14 * MS);
		else if (what == ASLEEP_BEFORE)
			wake(&f, 14 * MS, INDEX_NONE);
		else if (what >= AT_ONCE)
			change(&f, 3, what == AT_ONCE ? 15 * MS : 16 * MS, f.thread, INDEX_NONE, SLEEP);
		/* There are records of switches. */
		change(&f, 1, 60 * MS, INDEX_NONE, f.a, 0);
		build(&f);
		span = &f.model->spans.row[f.model->timelines.row[f.thread].first];
		if (span->state != CASES[what].state || span->syscall != CASES[what].syscall)
			fail_msg("case %d: state %d, system call %d", what, span->state, span->syscall);
		assert_int_equal(span->cpu, what == AT_ONCE ? 3 : 0);
		if (what == NO_EVENT)
			assert_int_equal(span->end_ns, END);
		model_free(f.model);
	}
}

/* Events up to the thread's last recorded instant count; after that its state is unknown. */
static void last_instant(void **state)
{
	for (uint64_t late = 0; late < 2; late++) {
		struct fixture f;

		(void)state;
		begin(&f);
		out(&f, 20 * MS, SLEEP);
		in(&f, 50 * MS + late);
		f.model->threads.row[f.thread].dropped_ns = 50 * MS;
		build(&f);
		ends(&f, 50 * MS, STATE_SLEEP, late ? 0 : SPAN_NO_WAKE, INDEX_NONE);
		ends(&f, END, STATE_UNKNOWN, 0, INDEX_NONE);
		model_free(f.model);
	}
}

/* Events of the next thread do not count, nor events after the thread's end. */
static void nothing_more(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	out(&f, 20 * MS, SLEEP);
	change(&f, 1, 60 * MS, INDEX_NONE, f.a, 0);
	build(&f);
	ends(&f, END, STATE_SLEEP, 0, INDEX_NONE);
	model_free(f.model);
	begin(&f);
	out(&f, 20 * MS, PROFBPF__SWITCHES__STATE__DEAD);
	in(&f, 60 * MS);
	build(&f);
	assert_int_equal(count(&f), 1);
	model_free(f.model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(occupants),	cmocka_unit_test(idle_cpu),	cmocka_unit_test(many_occupants),
		cmocka_unit_test(woken_early),	cmocka_unit_test(unseen_wakes), cmocka_unit_test(one_instant),
		cmocka_unit_test(first_state),	cmocka_unit_test(last_instant), cmocka_unit_test(nothing_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

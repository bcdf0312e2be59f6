/* SPDX-License-Identifier: Apache-2.0 */
/* Which consecutive sleeps count as one wait: on both sides of each limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/analyse/idle/one_wait.h"
#include "tests/unit/idle_scene.h"

/* The second thread sleeps from 1,000 to 1,400 us, runs for 10 us, and sleeps again until 1,500 us. */
#define ASLEEP (1000 * US)
#define AWAKE (1400 * US)
#define AGAIN (1410 * US)
#define DONE (1500 * US)

/* The range of the lock of Python's interpreter. */
#define LOCK_FIRST 0x1000
#define LOCK_LAST 0x1100

/* Indices into sleep_objects: words of memory at some distance from the first one, files, and parts of the lock. */
enum { AT, AT_8, AT_9, AT_128, AT_129, FILE_AT, FILE_BESIDE, CONDITION, MUTEX, AN_EPOLL, SEVERAL, SOCKET, OBJECTS };

struct fixture {
	struct model *model;
	struct syscall_table *syscalls;
	struct waits *waits;
	uint32_t process, first, thread, worker, third;
	uint32_t sleep, run, again; /* spans of the second thread */
};

static void begin(struct fixture *f)
{
	static const struct sleep_object objects[OBJECTS] = {
		[AT] = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = 5000 },
		[AT_8] = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = 5008 },
		[AT_9] = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = 5009 },
		[AT_128] = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = 5128 },
		[AT_129] = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = 5129 },
		[FILE_AT] = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__FILE, .object = 5000 },
		[FILE_BESIDE] = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__FILE, .object = 5001 },
		[CONDITION] = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = LOCK_FIRST },
		[MUTEX] = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__FUTEX, .object = LOCK_LAST - 1 },
		[AN_EPOLL] = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__EPOLL },
		[SEVERAL] = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__SEVERAL, .object = 2 },
		[SOCKET] = { .kind = PROFBPF__SLEEP_OBJECTS__KIND__INET_SOCKET, .object = 7000, .peer = 10 },
	};
	struct python_interpreter python = {
		.lock_first = LOCK_FIRST, .lock_last = LOCK_LAST, .lock_known = true
	};

	*f = (struct fixture){ .model = small_model(0, 10000 * US) };
	f->process = small_process(f->model, 10, "job", true);
	f->first = small_thread(f->model, f->process, 10, "first");
	f->thread = small_thread(f->model, f->process, 11, "thread");
	f->worker = small_thread(f->model, f->process, 12, "worker");
	f->third = small_thread(f->model, f->process, 13, "third");
	python.process = f->process;
	assert_true(MODEL_PUSH(&f->model->pythons, python));
	for (size_t i = 0; i < OBJECTS; i++)
		assert_true(MODEL_PUSH(&f->model->sleep_objects, objects[i]));
	f->syscalls = syscall_table_new("x86_64");
}

/* Adds a sleep; returns its span. */
static uint32_t asleep(struct fixture *f, uint32_t thread, uint64_t start_ns, uint64_t end_ns, int16_t syscall,
		       uint32_t object, uint32_t waker, uint8_t flags)
{
	small_sleep(f->model, thread, start_ns, end_ns, syscall, waker, flags);
	f->model->spans.row[f->model->spans.count - 1].object = object;
	return f->model->spans.count - 1;
}

static uint32_t runs(struct fixture *f, uint32_t thread, uint64_t start_ns, uint64_t end_ns)
{
	small_span(f->model, thread, start_ns, end_ns, STATE_RUNNING);
	return f->model->spans.count - 1;
}

static void compute(struct fixture *f)
{
	small_index(f->model);
	f->waits = waits_new(f->model, f->syscalls);
	assert_non_null(f->waits);
}

static void end(struct fixture *f)
{
	waits_free(f->waits);
	syscall_table_free(f->syscalls);
	model_free(f->model);
}

/* Two sleeps that are one wait, unless an event happens in between. */
static void two_sleeps(struct fixture *f)
{
	f->sleep = asleep(f, f->thread, ASLEEP, AWAKE, FUTEX, AT, f->third, 0);
	f->run = runs(f, f->thread, AWAKE, AGAIN);
	f->again = asleep(f, f->thread, AGAIN, DONE, FUTEX, AT, f->third, 0);
	runs(f, f->thread, DONE, 2000 * US);
}

static void expect_one(struct fixture *f, bool one, const char *what)
{
	compute(f);
	if (wait_end(f->waits, f->sleep) != (one ? f->again : f->sleep) ||
	    wait_end(f->waits, f->run) != (one ? f->again : INDEX_NONE))
		fail_msg("%s: %s", what, one ? "two waits" : "one wait");
	assert_int_equal(wait_end(f->waits, f->again), f->again);
	end(f);
}

/* The objects of the two sleeps, how the first one ended, and the durations of the first one and of the run between. */
static void pairs(void **state)
{
	static const struct {
		const char *what;
		int16_t syscall, next_syscall;
		uint32_t object, next_object;
		uint32_t waker; /* 3: the third thread */
		uint8_t flags;
		uint32_t slept_us;
		uint64_t ran_ns;
		bool one;
	} CASES[] = {
		{ "the same word", FUTEX, FUTEX, AT, AT, 3, 0, 400, 10 * US, true },
		{ "a word 8 bytes behind", FUTEX, FUTEX, AT, AT_8, 3, 0, 400, 10 * US, true },
		{ "a word 8 bytes before", FUTEX, FUTEX, AT_8, AT, 3, 0, 400, 10 * US, true },
		{ "9 bytes behind", FUTEX, FUTEX, AT, AT_9, 3, 0, 400, 10 * US, false },
		{ "9 bytes before", FUTEX, FUTEX, AT_9, AT, 3, 0, 400, 10 * US, false },
		{ "128 bytes behind", FUTEX, FUTEX, AT, AT_128, 3, 0, 400, 10 * US, false },
		{ "128 bytes, a timer", FUTEX, FUTEX, AT, AT_128, -1, SPAN_WOKEN_TIMER, 400, 10 * US, true },
		{ "129 bytes, a timer", FUTEX, FUTEX, AT, AT_129, -1, SPAN_WOKEN_TIMER, 400, 10 * US, false },
		{ "a word, then a file", FUTEX, FUTEX, AT, FILE_AT, 3, 0, 400, 10 * US, false },
		{ "a file, then a word", FUTEX, FUTEX, FILE_AT, AT, 3, 0, 400, 10 * US, false },
		{ "another file", POLL, POLL, FILE_AT, FILE_BESIDE, 3, 0, 400, 10 * US, false },
		{ "the same file", POLL, POLL, FILE_AT, FILE_AT, 3, 0, 400, 10 * US, true },
		{ "nobody knows what for", POLL, POLL, INDEX_NONE, INDEX_NONE, 3, 0, 400, 10 * US, true },
		{ "nobody knows, then a word", FUTEX, FUTEX, INDEX_NONE, AT, 3, 0, 400, 10 * US, false },
		{ "a word, then nobody knows", FUTEX, FUTEX, AT, INDEX_NONE, 3, 0, 400, 10 * US, false },
		{ "another system call", FUTEX, POLL, AT, AT, 3, 0, 400, 10 * US, false },
		{ "read() gets something", READ, READ, FILE_AT, FILE_AT, 3, 0, 400, 10 * US, false },
		{ "nobody woke it", FUTEX, FUTEX, AT, AT, -1, 0, 400, 10 * US, false },
		{ "a timer", FUTEX, FUTEX, AT, AT, -1, SPAN_WOKEN_TIMER, 400, 10 * US, true },
		{ "a wake-up was lost", FUTEX, FUTEX, AT, AT, 3, SPAN_NO_WAKE, 400, 10 * US, false },
		{ "a page fault", FUTEX, FUTEX, AT, AT, 3, SPAN_FAULT, 400, 10 * US, false },
		{ "an interrupt", FUTEX, FUTEX, AT, AT, 1, SPAN_WOKEN_HARDIRQ, 400, 10 * US, false },
		{ "a softirq", POLL, POLL, AT, AT, 1, SPAN_WOKEN_SOFTIRQ, 400, 10 * US, false },
		/* Which of several descriptors is ready is known only then. */
		{ "epoll in slices, then data", POLL, POLL, AN_EPOLL, SOCKET, -1, SPAN_WOKEN_TIMER, 400, 10 * US, true },
		{ "poll in slices, then data", POLL, POLL, SEVERAL, SOCKET, -1, SPAN_WOKEN_TIMER, 400, 10 * US, true },
		{ "poll in slices, another socket", POLL, POLL, SOCKET, FILE_AT, -1, SPAN_WOKEN_TIMER, 400, 10 * US,
		  false },
		{ "epoll, not in slices", POLL, POLL, AN_EPOLL, SOCKET, 3, 0, 400, 10 * US, false },
		{ "epoll, then read", POLL, READ, AN_EPOLL, SOCKET, -1, SPAN_WOKEN_TIMER, 400, 10 * US, false },
		{ "data, then epoll", POLL, POLL, SOCKET, AN_EPOLL, 1, SPAN_WOKEN_SOFTIRQ, 400, 10 * US, false },
		/* An eighth of the sleep, and 50 us at most. */
		{ "an eighth", FUTEX, FUTEX, AT, AT, 3, 0, 80, 10 * US, true },
		{ "more than an eighth", FUTEX, FUTEX, AT, AT, 3, 0, 80, 10 * US + 1, false },
		{ "50 us", FUTEX, FUTEX, AT, AT, 3, 0, 800, 50 * US, true },
		{ "more than 50 us", FUTEX, FUTEX, AT, AT, 3, 0, 800, 50 * US + 1, false },
		{ "an eighth, which is 50 us", FUTEX, FUTEX, AT, AT, 3, 0, 400, 50 * US, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		uint64_t woken_ns = ASLEEP + CASES[i].slept_us * US, again_ns = woken_ns + CASES[i].ran_ns;
		struct fixture f;

		begin(&f);
		f.sleep = asleep(&f, f.thread, ASLEEP, woken_ns, CASES[i].syscall, CASES[i].object, CASES[i].waker,
				 CASES[i].flags);
		f.run = runs(&f, f.thread, woken_ns, again_ns);
		f.again = asleep(&f, f.thread, again_ns, again_ns + 90 * US, CASES[i].next_syscall,
				 CASES[i].next_object, f.third, 0);
		expect_one(&f, CASES[i].one, CASES[i].what);
	}
}

/*
 * The thread begins a call or an ioctl in the run between: from its first instant on, but before the next sleep;
 * calls of other threads do not matter.
 */
static void calls_in_between(void **state)
{
	static const struct {
		uint64_t ts_ns;
		int thread; /* 0: the thread before, 1: the waiting thread, 2: the thread after */
		bool one;
	} CASES[] = {
		{ AWAKE - 1, 1, true }, { AWAKE, 1, false }, { AGAIN - 1, 1, false }, { AGAIN, 1, true },
		{ AWAKE + 1, 0, true }, { AWAKE + 1, 2, true },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(CASES) / sizeof(CASES[0]); i++) {
		uint64_t ts_ns = CASES[i / 2].ts_ns;
		struct fixture f;
		uint32_t thread, function;

		begin(&f);
		thread = f.first + (uint32_t)CASES[i / 2].thread;
		function = small_function(f.model, "cuda", "cuInit", PROFBPF__FUNCTION__KIND__OTHER);
		two_sleeps(&f);
		if (i % 2) {
			struct ioctl_call row = { .start_ns = ts_ns, .end_ns = ts_ns + 1, .thread = thread };

			assert_true(MODEL_PUSH(&f.model->ioctls, row));
		} else {
			small_call(f.model, thread, function, ts_ns, ts_ns + 1);
		}
		expect_one(&f, CASES[i / 2].one, i % 2 ? "an ioctl" : "a call");
	}
}

/*
 * If the thread wakes another one in the run between, it passes work on, unless both wait for the same object: then
 * they take turns.
 */
static void wakes_in_between(void **state)
{
	enum { BY_FIRST, BY_THREAD, BY_THIRD, BY_TIMER, READY };
	static const struct {
		uint64_t ts_ns;
		uint32_t object;
		int by;
		bool one;
	} CASES[] = {
		{ AWAKE - 1, FILE_AT, BY_THREAD, true },     { AWAKE, FILE_AT, BY_THREAD, false },
		{ AGAIN - 1, FILE_AT, BY_THREAD, false },    { AGAIN, FILE_AT, BY_THREAD, true },
		{ AWAKE + 1, AT, BY_THREAD, true },	     { AWAKE + 1, AT_8, BY_THREAD, true },
		{ AWAKE + 1, AT_9, BY_THREAD, false },	     { AWAKE + 1, INDEX_NONE, BY_THREAD, false },
		{ AWAKE + 1, FILE_AT, BY_FIRST, true },	     { AWAKE + 1, FILE_AT, BY_THIRD, true },
		{ AWAKE + 1, FILE_AT, BY_TIMER, true },	     { AWAKE + 1, FILE_AT, READY, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct fixture f;
		uint32_t waker;

		begin(&f);
		waker = CASES[i].by == BY_FIRST ? f.first : CASES[i].by == BY_THIRD ? f.third : f.thread;
		two_sleeps(&f);
		asleep(&f, f.worker, 0, CASES[i].ts_ns, FUTEX, CASES[i].object, waker,
		       CASES[i].by == BY_TIMER ? SPAN_WOKEN_TIMER : 0);
		if (CASES[i].by == READY)
			f.model->spans.row[f.model->spans.count - 1].state = STATE_RUNNABLE;
		runs(&f, f.worker, CASES[i].ts_ns, 2000 * US);
		expect_one(&f, CASES[i].one, "a wake-up");
	}
}

/*
 * The thread may be ready for long; unknown or stopped time is not such a run. The rest of a wait may lie outside of
 * the kept rows.
 */
static void looks(void **state)
{
	(void)state;
	for (int what = 0; what < 6; what++) {
		struct fixture f;

		begin(&f);
		f.sleep = asleep(&f, f.thread, ASLEEP, AWAKE, FUTEX, AT, f.third, 0);
		f.run = runs(&f, f.thread, AWAKE, AWAKE + 5 * US);
		if (what == 1)
			small_span(f.model, f.thread, AWAKE + 5 * US, AGAIN, STATE_STOPPED);
		else if (what == 2)
			small_span(f.model, f.thread, AWAKE + 5 * US, AGAIN, STATE_UNKNOWN);
		else
			small_span(f.model, f.thread, AWAKE + 5 * US, AGAIN + 60 * US, STATE_RUNNABLE);
		if (what == 3)
			runs(&f, f.thread, AGAIN + 60 * US, AGAIN + 106 * US);
		f.again = asleep(&f, f.thread, AGAIN + 106 * US, AGAIN + 200 * US, FUTEX, AT, f.third, 0);
		if (what >= 4) {
			f.model->survey.from_ns = 1;
			f.model->survey.to_ns = AGAIN + 106 * US - (what == 5);
		}
		expect_one(&f, what == 0 || what == 4, "a look");
	}
}

/* After a thread's last span the array continues with the next thread, which sleeps for the same object. */
static void last_span(void **state)
{
	for (int runs_last = 0; runs_last < 2; runs_last++) {
		struct fixture f;

		(void)state;
		begin(&f);
		f.first = runs(&f, f.first, 0, 9 * US); /* the span before */
		f.sleep = asleep(&f, f.thread, ASLEEP, AWAKE, FUTEX, AT, f.third, 0);
		if (runs_last)
			f.run = runs(&f, f.thread, AWAKE, AGAIN);
		asleep(&f, f.worker, AGAIN, DONE, FUTEX, AT, f.third, 0);
		compute(&f);
		assert_int_equal(wait_end(f.waits, f.first), INDEX_NONE);
		assert_int_equal(wait_end(f.waits, f.sleep), f.sleep);
		assert_int_equal(wait_end(f.waits, f.sleep + 1), runs_last ? INDEX_NONE : f.sleep + 1);
		assert_int_equal(wait_end(f.waits, INDEX_NONE), INDEX_NONE);
		assert_false(wait_interpreter(f.waits, f.thread, INDEX_NONE));
		end(&f);
	}
}

/* Three sleeps, with runs in between. */
static void chain(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	two_sleeps(&f);
	f.model->timelines.row[f.thread].count--; /* the run after them is not in the thread's spans */
	f.model->spans.count--;
	runs(&f, f.thread, DONE, DONE + 5 * US);
	asleep(&f, f.thread, DONE + 5 * US, DONE + 90 * US, FUTEX, AT, f.third, 0);
	compute(&f);
	for (uint32_t span = f.sleep; span <= f.again + 2; span++)
		assert_int_equal(wait_end(f.waits, span), f.again + 2);
	end(&f);
}

/* Slices of a wait for the interpreter's lock: up to 50 us on a CPU in between, however short the slices are. */
static void slices(void **state)
{
	static const struct {
		uint32_t object, waker;
		uint8_t flags;
		uint64_t ran_ns;
		uint32_t next_object;
		bool called, one;
	} CASES[] = {
		{ CONDITION, INDEX_NONE, SPAN_TIMEOUT | SPAN_WOKEN_TIMER, 50 * US, CONDITION, false, true },
		{ CONDITION, INDEX_NONE, SPAN_TIMEOUT | SPAN_WOKEN_TIMER, 50 * US + 1, CONDITION, false, false },
		{ CONDITION, INDEX_NONE, SPAN_TIMEOUT | SPAN_WOKEN_TIMER, 50 * US, MUTEX, false, true },
		{ CONDITION, INDEX_NONE, SPAN_TIMEOUT | SPAN_WOKEN_TIMER, 50 * US, AT, false, false },
		{ CONDITION, INDEX_NONE, SPAN_TIMEOUT | SPAN_WOKEN_TIMER, 50 * US, CONDITION, true, false },
		/* A thread woken by another thread on the condition variable, in a timed wait, has the lock. */
		{ CONDITION, 3, SPAN_TIMEOUT, 50 * US, CONDITION, false, false },
		{ MUTEX, 3, 0, 50 * US, CONDITION, false, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		uint64_t again_ns = ASLEEP + 5 * US + CASES[i].ran_ns;
		uint32_t function;
		struct fixture f;

		begin(&f);
		function = small_function(f.model, "cuda", "cuInit", PROFBPF__FUNCTION__KIND__OTHER);
		f.sleep = asleep(&f, f.thread, ASLEEP, ASLEEP + 5 * US, FUTEX, CASES[i].object, CASES[i].waker,
				 CASES[i].flags);
		f.run = runs(&f, f.thread, ASLEEP + 5 * US, again_ns);
		f.again = asleep(&f, f.thread, again_ns, again_ns + 9 * US, FUTEX, CASES[i].next_object, f.third,
				 SPAN_TIMEOUT);
		if (CASES[i].called)
			small_call(f.model, f.thread, function, ASLEEP + 6 * US, ASLEEP + 7 * US);
		expect_one(&f, CASES[i].one, "a slice");
	}
}

/* The slice that a timer ended at AWAKE was the last one: the thread has the lock, and runs until AGAIN. */
static void takes_lock(struct fixture *f)
{
	begin(f);
	f->sleep = asleep(f, f->thread, ASLEEP, AWAKE, FUTEX, CONDITION, INDEX_NONE, SPAN_TIMEOUT | SPAN_WOKEN_TIMER);
	f->run = runs(f, f->thread, AWAKE, AGAIN);
}

static void expect_holder(struct fixture *f, uint32_t holder)
{
	compute(f);
	assert_true(wait_interpreter(f->waits, f->thread, f->sleep));
	assert_int_equal(wait_holder(f->waits, f->sleep), holder);
	end(f);
}

/* The previous holder waits until the thread has taken the lock, which signals that while it runs. */
static void woken_for_taking(void **state)
{
	static const struct {
		uint64_t ts_ns;
		uint32_t object;
		bool other, holder;
	} CASES[] = {
		{ AWAKE - 1, CONDITION, false, false }, { AWAKE, CONDITION, false, true },
		{ AGAIN - 1, CONDITION, false, true },	{ AGAIN, CONDITION, false, false },
		{ AWAKE + 1, AT, false, false },	{ AWAKE + 1, CONDITION, true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct fixture f;

		takes_lock(&f);
		asleep(&f, f.thread, AGAIN, DONE, POLL, FILE_AT, f.first, 0);
		/* Its wait began before that. */
		asleep(&f, f.worker, 0, CASES[i].ts_ns, FUTEX, CASES[i].object, CASES[i].other ? f.third : f.thread, 0);
		runs(&f, f.worker, CASES[i].ts_ns, 2000 * US);
		expect_holder(&f, CASES[i].holder ? f.worker : INDEX_NONE);
	}
}

/* The previous holder wants the lock back while the thread runs: the begin of a wait counts, not a continued one. */
static void wants_back(void **state)
{
	static const struct {
		uint64_t ts_ns;
		uint32_t object;
		bool sliced, holder;
	} CASES[] = {
		{ AWAKE - 1, CONDITION, false, false }, { AWAKE, CONDITION, false, true },
		{ AGAIN - 1, CONDITION, false, true },	{ AGAIN, CONDITION, false, false },
		{ AWAKE + 1, CONDITION, true, false },	{ AWAKE + 1, AT, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct fixture f;
		uint64_t ts_ns = CASES[i].ts_ns;

		takes_lock(&f);
		asleep(&f, f.thread, AGAIN, DONE, POLL, FILE_AT, f.first, 0);
		if (CASES[i].sliced)
			asleep(&f, f.worker, 0, ts_ns - 2, FUTEX, CONDITION, INDEX_NONE, SPAN_TIMEOUT | SPAN_WOKEN_TIMER);
		runs(&f, f.worker, CASES[i].sliced ? ts_ns - 2 : 0, ts_ns);
		asleep(&f, f.worker, ts_ns, DONE, FUTEX, CASES[i].object, f.first, SPAN_TIMEOUT);
		expect_holder(&f, CASES[i].holder ? f.worker : INDEX_NONE);
	}
}

/* A thread that was given the lock, and wants it back after some microseconds, begins a new wait. */
static void given_and_wanted_back(void **state)
{
	struct fixture f;

	(void)state;
	takes_lock(&f);
	asleep(&f, f.thread, AGAIN, DONE, POLL, FILE_AT, f.first, 0);
	asleep(&f, f.worker, 0, AWAKE - 20 * US, FUTEX, CONDITION, f.first, SPAN_TIMEOUT);
	runs(&f, f.worker, AWAKE - 20 * US, AWAKE + 5 * US);
	asleep(&f, f.worker, AWAKE + 5 * US, DONE, FUTEX, CONDITION, f.first, SPAN_TIMEOUT);
	expect_holder(&f, f.worker);
}

/* Only samples show the holder: the last sample during the wait. Activity after a thread's last span is unknown. */
static void seen_with_lock(void **state)
{
	static const struct {
		uint64_t ts_ns;
		bool holder;
	} CASES[] = { { ASLEEP - 1, false }, { ASLEEP, true }, { AWAKE - 1, true }, { AWAKE, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct fixture f;
		struct stack_sample look = { .ts_ns = CASES[i].ts_ns,
					     .stack = INDEX_NONE,
					     .waker = INDEX_NONE,
					     .flags = MODEL_SAMPLE_PYTHON | MODEL_SAMPLE_LOCK };

		takes_lock(&f);
		look.thread = f.third;
		assert_true(MODEL_PUSH(&f.model->stack_samples, look));
		runs(&f, f.worker, 0, AGAIN + 50 * US);
		asleep(&f, f.third, AGAIN + 20 * US, DONE, FUTEX, CONDITION, f.first, SPAN_TIMEOUT);
		expect_holder(&f, CASES[i].holder ? f.third : INDEX_NONE);
	}
}

/* Another process's thread does not want this lock; nor does the thread that takes it, when it waits for it again. */
static void not_theirs(void **state)
{
	struct python_interpreter python = {
		.lock_first = LOCK_FIRST, .lock_last = LOCK_LAST, .lock_known = true
	};
	struct fixture f;
	uint32_t stranger;

	(void)state;
	takes_lock(&f);
	runs(&f, f.thread, AGAIN, AGAIN + 60 * US);
	asleep(&f, f.thread, AGAIN + 60 * US, DONE, FUTEX, CONDITION, f.first, SPAN_TIMEOUT);
	python.process = small_process(f.model, 20, "other", true);
	assert_true(MODEL_PUSH(&f.model->pythons, python));
	stranger = small_thread(f.model, python.process, 20, "stranger");
	runs(&f, f.third, 0, 9 * US);
	asleep(&f, stranger, AWAKE + 1, DONE, FUTEX, CONDITION, INDEX_NONE, SPAN_TIMEOUT | SPAN_WOKEN_TIMER);
	expect_holder(&f, INDEX_NONE);
}

/* A holder is known only for the interpreter's lock; for a sleep that a thread ended, it is that thread. */
static void other_sleeps(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	f.sleep = asleep(&f, f.thread, ASLEEP, AWAKE, FUTEX, AT, INDEX_NONE, SPAN_WOKEN_TIMER);
	runs(&f, f.thread, AWAKE, AGAIN);
	f.again = asleep(&f, f.thread, AGAIN, DONE, FUTEX, CONDITION, f.third, SPAN_TIMEOUT);
	runs(&f, f.worker, 0, AWAKE + 1);
	asleep(&f, f.worker, AWAKE + 1, DONE, FUTEX, CONDITION, f.first, SPAN_TIMEOUT);
	compute(&f);
	assert_false(wait_interpreter(f.waits, f.thread, f.sleep));
	assert_int_equal(wait_holder(f.waits, f.sleep), INDEX_NONE);
	assert_true(wait_interpreter(f.waits, f.thread, f.again));
	assert_int_equal(wait_holder(f.waits, f.again), f.third);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs),	    cmocka_unit_test(calls_in_between),
		cmocka_unit_test(wakes_in_between), cmocka_unit_test(looks),
		cmocka_unit_test(last_span),	    cmocka_unit_test(chain),
		cmocka_unit_test(slices),	    cmocka_unit_test(woken_for_taking),
		cmocka_unit_test(wants_back),	    cmocka_unit_test(given_and_wanted_back),
		cmocka_unit_test(seen_with_lock),   cmocka_unit_test(not_theirs),
		cmocka_unit_test(other_sleeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/one_wait.h"

#include <stdlib.h>

#include "analyzer/analyse/device/device_workers.h"
#include "analyzer/analyse/idle/interpreter_lock.h"
#include "analyzer/analyse/idle/polls.h"
#include "proto/trace.pb-c.h"
#include "lib/base/bisect.h"
#include "lib/base/map.h"

/* Maximum distance in bytes between the futexes of one condition variable, or of one queue's locks. */
#define FUTEX_NEAR 8

/* A sleep that another thread, the waker, ended. */
struct ended {
	uint64_t ts_ns;
	uint32_t waker;
	uint32_t sleeper;
	uint32_t object; /* for which the sleeper waited */
};

/* A thread began to wait for its interpreter's lock. */
struct begun {
	uint64_t ts_ns;
	uint32_t process;
	uint32_t thread;
};

struct waits {
	const struct model *model;
	struct syscall_table *syscalls;
	struct interpreter_locks *locks;
	struct polls *polls;
	uint32_t *end; /* by span */
	struct map holders; /* last span of a wait for an interpreter's lock -> its holder, if no wake-up shows it */
	/* Used while waits are searched. */
	MODEL_ARRAY(struct ended) ended; /* by waker, then time */
	MODEL_ARRAY(struct begun) begun; /* by process, then time */
	/* Hints for searches: sleeps are searched in time order, from the last result on. */
	uint32_t near_call, near_ioctl, near_ended;
};

static bool is_asleep(const struct span *span)
{
	return span->state == STATE_SLEEP || span->state == STATE_DISK;
}

static bool same_object(const struct model *model, uint32_t a, uint32_t b, uint64_t near)
{
	const struct sleep_object *objects = model->sleep_objects.row;

	if (a == b)
		return true;
	return a < model->sleep_objects.count && b < model->sleep_objects.count &&
	       objects[a].kind == PROFBPF__SLEEP_OBJECTS__KIND__FUTEX &&
	       objects[b].kind == PROFBPF__SLEEP_OBJECTS__KIND__FUTEX &&
	       objects[a].object - objects[b].object + near <= 2 * near; /* either way */
}

/*
 * Did the sleep end because none of several descriptors was ready in time? Which one is ready is only known if one is:
 * the next sleep may have that one as its object.
 */
static bool found_none_ready(const struct waits *waits, const struct span *span)
{
	const struct model *model = waits->model;
	uint32_t kind = span->object < model->sleep_objects.count ? model->sleep_objects.row[span->object].kind
								  : PROFBPF__SLEEP_OBJECTS__KIND__NOTHING;

	return span->flags & SPAN_WOKEN_TIMER && (kind == PROFBPF__SLEEP_OBJECTS__KIND__EPOLL ||
						  kind == PROFBPF__SLEEP_OBJECTS__KIND__SEVERAL);
}

/* Can the wait continue after this sleep? Not after an interrupt: it delivered the awaited data. */
static bool may_go_on(const struct waits *waits, const struct span *span)
{
	enum syscall_class class = syscall_class(waits->syscalls, span->syscall);

	if (class != SYSCALL_LOCK && class != SYSCALL_POLL)
		return false;
	if (span->flags & (SPAN_NO_WAKE | SPAN_FAULT))
		return false;
	return span->flags & SPAN_WOKEN_TIMER ||
	       (span->other != INDEX_NONE &&
		!(span->flags & (SPAN_WOKEN_HARDIRQ | SPAN_WOKEN_SOFTIRQ)));
}

/* Did the thread begin a traced call or an ioctl in that time? */
static bool did_something(struct waits *waits, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	const struct model *model = waits->model;
	const struct call *calls = model->calls.row;
	const struct ioctl_call *ioctls = model->ioctls.row;
	uint32_t first, count = model_thread_calls(model, thread, &first);
	uint32_t next = BISECT_NEAR(i, first, first + count, waits->near_call,
				    calls[i].start_ns < from_ns);

	waits->near_call = next;
	if (next < first + count && calls[next].start_ns < to_ns)
		return true;
	count = model_thread_ioctls(model, thread, &first);
	next = BISECT_NEAR(i, first, first + count, waits->near_ioctl, ioctls[i].start_ns < from_ns);
	waits->near_ioctl = next;
	return next < first + count && ioctls[next].start_ns < to_ns;
}

static int by_waker(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;

	if (x->waker != y->waker)
		return x->waker < y->waker ? -1 : 1;
	return x->ts_ns < y->ts_ns ? -1 : x->ts_ns > y->ts_ns;
}

static bool collect_ended(struct waits *waits)
{
	const struct model *model = waits->model;

	for (uint32_t thread = 0; thread < model->timelines.count; thread++) {
		uint32_t first = model->timelines.row[thread].first;

		for (uint32_t i = first; i < first + model->timelines.row[thread].count; i++) {
			const struct span *span = &model->spans.row[i];

			if (is_asleep(span) && span_woken_by_thread(span) &&
			    !MODEL_PUSH(&waits->ended, ((struct ended){ span->end_ns, span->other,
									thread, span->object })))
				return false;
		}
	}
	if (waits->ended.count)
		qsort(waits->ended.row, waits->ended.count, sizeof(*waits->ended.row), by_waker);
	return true;
}

/* Returns the first sleep that a thread ended at or after an instant. */
static uint32_t first_ended(struct waits *waits, uint32_t thread, uint64_t from_ns)
{
	const struct ended *rows = waits->ended.row;

	return waits->near_ended = BISECT_NEAR(
		       k, 0, waits->ended.count, waits->near_ended,
		       rows[k].waker < thread ||
			       (rows[k].waker == thread && rows[k].ts_ns < from_ns));
}

/* Did the thread wake another one in that time? Not counting threads that wait for the same object: they take turns. */
static bool woke_somebody(struct waits *waits, uint32_t thread, const struct span *sleep,
			  uint64_t to_ns, uint64_t near)
{
	const struct ended *rows = waits->ended.row;
	uint32_t i = first_ended(waits, thread, sleep->end_ns);
	uint32_t end = first_ended(waits, thread, to_ns);

	for (; i < end; i++)
		if (!same_object(waits->model, rows[i].object, sleep->object, near))
			return true;
	return false;
}

/* Returns the thread's next sleep before @end, after at most @most_ns on a CPU, if that time was loaded; else @at. */
static uint32_t sleep_after(const struct waits *waits, uint32_t at, uint32_t end, uint64_t most_ns)
{
	const struct span *spans = waits->model->spans.row;
	uint64_t ran_ns = 0;

	for (uint32_t next = at + 1; next < end; next++) {
		if (is_asleep(&spans[next]))
			return model_has_time(waits->model, spans[at].end_ns, spans[next].start_ns)
				       ? next
				       : at;
		if (spans[next].state == STATE_RUNNING)
			ran_ns += spans[next].end_ns - spans[next].start_ns;
		else if (spans[next].state != STATE_RUNNABLE)
			return at;
		if (ran_ns > most_ns)
			return at;
	}
	return at;
}

static bool for_interpreter(const struct waits *waits, uint32_t thread, uint32_t span)
{
	return interpreter_lock_is(waits->locks, thread, waits->model->spans.row[span].object);
}

/* Did a thread end a sleep on the condition variable? Only sleeps there have a timeout. */
static bool was_given(const struct span *span)
{
	return span->flags & SPAN_TIMEOUT && span_woken_by_thread(span);
}

/* Returns the sleep before @end that continues the wait of sleep @at for the interpreter's lock; else @at. */
static uint32_t next_slice(struct waits *waits, uint32_t thread, uint32_t at, uint32_t end)
{
	const struct span *spans = waits->model->spans.row;
	uint32_t next;

	if (was_given(&spans[at]))
		return at;
	next = sleep_after(waits, at, end, LOOK_NS);
	if (next == at || !for_interpreter(waits, thread, next) ||
	    did_something(waits, thread, spans[at].end_ns, spans[next].start_ns))
		return at;
	return next;
}

/* Returns the sleep before @end that continues the wait of sleep @at; else @at. */
static uint32_t next_sleep(struct waits *waits, uint32_t thread, uint32_t at, uint32_t end)
{
	const struct model *model = waits->model;
	const struct span *spans = model->spans.row, *sleep = &spans[at];
	uint64_t most_ns = (sleep->end_ns - sleep->start_ns) / LOOK_PART;
	uint64_t near = sleep->flags & SPAN_WOKEN_TIMER ? FUTEX_BESIDE : FUTEX_NEAR;
	uint32_t next;

	if (!may_go_on(waits, sleep))
		return at;
	next = sleep_after(waits, at, end, most_ns < LOOK_NS ? most_ns : LOOK_NS);
	if (next == at || spans[next].syscall != sleep->syscall ||
	    !(found_none_ready(waits, sleep) ||
	      same_object(model, spans[next].object, sleep->object, near)) ||
	    did_something(waits, thread, sleep->end_ns, spans[next].start_ns) ||
	    woke_somebody(waits, thread, sleep, spans[next].start_ns, near))
		return at;
	return next;
}

/* Returns the time of the thread's next sleep, or the end of its timeline. */
static uint64_t awake_until(const struct waits *waits, uint32_t at, uint32_t end)
{
	const struct span *spans = waits->model->spans.row;

	while (at + 1 < end && !is_asleep(&spans[at + 1]))
		at++;
	return spans[at].end_ns;
}

/* Returns the thread that waits until @thread has taken over the lock, which wakes it in that time: the last holder. */
static uint32_t woken_for_taking(struct waits *waits, uint32_t thread, uint64_t from_ns,
				 uint64_t to_ns)
{
	const struct ended *rows = waits->ended.row;
	uint32_t i = first_ended(waits, thread, from_ns);
	uint32_t end = first_ended(waits, thread, to_ns);

	for (; i < end; i++)
		if (interpreter_lock_is(waits->locks, rows[i].sleeper, rows[i].object))
			return rows[i].sleeper;
	return INDEX_NONE;
}

/* Returns the first wait for the lock by a thread of the process that began at or after an instant. */
static uint32_t first_begun(const struct waits *waits, uint32_t process, uint64_t from_ns)
{
	const struct begun *rows = waits->begun.row;

	return BISECT(k, 0, waits->begun.count,
		      rows[k].process < process ||
			      (rows[k].process == process && rows[k].ts_ns < from_ns));
}

/* Returns another thread that begins to wait for the lock in that time: it was on a CPU with the lock until then. */
static uint32_t wants_back(const struct waits *waits, uint32_t thread, uint64_t from_ns,
			   uint64_t to_ns)
{
	const struct begun *rows = waits->begun.row;
	uint32_t process = waits->model->threads.row[thread].process;
	uint32_t i = first_begun(waits, process, from_ns);
	uint32_t end = first_begun(waits, process, to_ns);

	for (; i < end; i++)
		if (rows[i].thread != thread)
			return rows[i].thread;
	return INDEX_NONE;
}

/*
 * Finds the last holder if no thread ended sleep @at, the last one of a wait for the interpreter's lock: the lock was
 * free when the thread checked it. Returns false without memory.
 */
static bool find_holder(struct waits *waits, uint32_t thread, uint32_t at, uint32_t end)
{
	const struct span *sleep = &waits->model->spans.row[at];
	uint64_t to_ns = awake_until(waits, at, end);
	uint32_t holder = woken_for_taking(waits, thread, sleep->end_ns, to_ns);

	if (holder == INDEX_NONE)
		holder = wants_back(waits, thread, sleep->end_ns, to_ns);
	if (holder == INDEX_NONE)
		holder = interpreter_lock_seen(waits->locks, thread, sleep->start_ns,
					       sleep->end_ns);
	return holder == INDEX_NONE || map_put(&waits->holders, at, holder);
}

static int by_begin(const void *a, const void *b)
{
	const struct begun *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->ts_ns < y->ts_ns ? -1 : x->ts_ns > y->ts_ns;
}

/* Collects the beginnings of waits for interpreters' locks: only the first slice of each wait. */
static bool collect_begun(struct waits *waits)
{
	const struct model *model = waits->model;

	if (!interpreter_locks_any(waits->locks))
		return true;
	for (uint32_t thread = 0; thread < model->timelines.count; thread++) {
		uint32_t first = model->timelines.row[thread].first;
		uint32_t end = first + model->timelines.row[thread].count, before = INDEX_NONE;

		for (uint32_t at = first; at < end; at++) {
			const struct span *span = &model->spans.row[at];
			bool goes_on;

			if (!is_asleep(span) || !for_interpreter(waits, thread, at))
				continue;
			goes_on = before != INDEX_NONE &&
				  next_slice(waits, thread, before, end) == at;
			before = at;
			if (!goes_on &&
			    !MODEL_PUSH(&waits->begun,
					((struct begun){ span->start_ns,
							 model->threads.row[thread].process,
							 thread })))
				return false;
		}
	}
	if (waits->begun.count)
		qsort(waits->begun.row, waits->begun.count, sizeof(*waits->begun.row), by_begin);
	return true;
}

/*
 * Is the thread's last sleep one that had not ended yet, after a slice that a timer ended? Then only the slices' ends are
 * known, and no thread is known to be waited for.
 */
static bool was_still_open(const struct waits *waits, uint32_t at, uint32_t next, uint32_t end)
{
	const struct span *spans = waits->model->spans.row;
	const uint8_t ended = SPAN_WOKEN_HARDIRQ | SPAN_WOKEN_SOFTIRQ | SPAN_WOKEN_TIMER;

	return next == end - 1 && spans[next].other == INDEX_NONE && !(spans[next].flags & ended) &&
	       spans[at].flags & SPAN_WOKEN_TIMER;
}

/* Goes backwards, so that the end of a wait is known when its beginning is reached. Returns false without memory. */
static bool find(struct waits *waits, uint32_t thread)
{
	const struct model *model = waits->model;
	const struct timeline *timeline = &model->timelines.row[thread];
	uint32_t first = timeline->first, end = first + timeline->count;

	for (uint32_t at = end; at-- > first;) {
		bool interpreter;
		uint32_t next;

		waits->end[at] = INDEX_NONE;
		if (!is_asleep(&model->spans.row[at]))
			continue;
		interpreter = for_interpreter(waits, thread, at);
		next = interpreter ? next_slice(waits, thread, at, end)
				   : next_sleep(waits, thread, at, end);
		if (!interpreter && next != at && was_still_open(waits, at, next, end))
			next = at;
		waits->end[at] = at;
		for (uint32_t look = next; look-- > at;)
			waits->end[look] = waits->end[next];
		if (interpreter && next == at && !span_woken_by_thread(&model->spans.row[at]) &&
		    !find_holder(waits, thread, at, end))
			return false;
	}
	return true;
}

struct waits *waits_new(const struct model *model, struct syscall_table *syscalls)
{
	struct waits *waits = calloc(1, sizeof(*waits));
	bool done;

	if (!waits)
		return NULL;
	waits->model = model;
	waits->syscalls = syscalls;
	waits->locks = interpreter_locks_new(model);
	waits->polls = waits->locks ? polls_new(model, syscalls, waits->locks) : NULL;
	waits->end = indices_none(model->spans.count);
	done = waits->polls && waits->end && collect_ended(waits) && collect_begun(waits);
	for (uint32_t thread = 0; done && thread < model->timelines.count; thread++)
		done = find(waits, thread);
	free(waits->ended.row);
	free(waits->begun.row);
	waits->ended.row = NULL;
	waits->begun.row = NULL;
	if (done)
		return waits;
	waits_free(waits);
	return NULL;
}

void waits_free(struct waits *waits)
{
	if (!waits)
		return;
	polls_free(waits->polls);
	interpreter_locks_free(waits->locks);
	map_free(&waits->holders);
	free(waits->ended.row);
	free(waits->begun.row);
	free(waits->end);
	free(waits);
}

uint32_t wait_end(const struct waits *waits, uint32_t span)
{
	return span == INDEX_NONE ? INDEX_NONE : waits->end[span];
}

bool wait_interpreter(const struct waits *waits, uint32_t thread, uint32_t end)
{
	return end != INDEX_NONE && for_interpreter(waits, thread, end);
}

uint32_t wait_holder(const struct waits *waits, uint32_t end)
{
	const struct span *span = &waits->model->spans.row[end];
	uint32_t holder = map_get(&waits->holders, end);

	if (span_woken_by_thread(span))
		return span->other;
	return holder == MAP_NONE ? INDEX_NONE : holder;
}

uint32_t wait_polled(const struct waits *waits, uint32_t thread, uint32_t end)
{
	return end == INDEX_NONE ? INDEX_NONE : poll_maker(waits->polls, thread, end);
}

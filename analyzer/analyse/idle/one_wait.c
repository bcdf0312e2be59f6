/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/one_wait.h"

#include <stdlib.h>

#include "analyzer/analyse/device/device_workers.h"
#include "proto/trace.pb-c.h"
#include "lib/base/bisect.h"

/* Words of one condition variable, or of one queue's locks, are no farther from each other. */
#define FUTEX_NEAR 8

/* A sleep of somebody else that a thread ended. */
struct ended {
	uint64_t ts_ns;
	uint32_t waker;
	uint32_t object; /* that was slept for */
};

struct waits {
	const struct model *model;
	struct syscall_table *syscalls;
	uint32_t *end; /* by span */
	MODEL_ARRAY(struct ended) ended; /* by waker, then time; while sleeps are looked for */
};

static bool is_asleep(const struct span *span)
{
	return span->state == STATE_SLEEP || span->state == STATE_DISK;
}

static bool near(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) <= FUTEX_NEAR;
}

static bool same_object(const struct model *model, uint32_t a, uint32_t b)
{
	const struct sleep_object *objects = model->sleep_objects.row;

	if (a == b)
		return true;
	return a < model->sleep_objects.count && b < model->sleep_objects.count &&
	       objects[a].kind == PROFBPF__SLEEP_OBJECTS__KIND__FUTEX &&
	       objects[b].kind == PROFBPF__SLEEP_OBJECTS__KIND__FUTEX &&
	       near(objects[a].object, objects[b].object);
}

/* Can a sleep that ended like this go on? What an interrupt brought was there. */
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
static bool did_something(const struct model *model, uint32_t thread, uint64_t from_ns,
			  uint64_t to_ns)
{
	uint32_t first, count = model_thread_calls(model, thread, &first);
	uint32_t next = BISECT(i, first, first + count, model->calls.row[i].start_ns < from_ns);

	if (next < first + count && model->calls.row[next].start_ns < to_ns)
		return true;
	count = model_thread_ioctls(model, thread, &first);
	next = BISECT(i, first, first + count, model->ioctls.row[i].start_ns < from_ns);
	return next < first + count && model->ioctls.row[next].start_ns < to_ns;
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

	for (uint32_t i = 0; i < model->spans.count; i++) {
		const struct span *span = &model->spans.row[i];

		if (is_asleep(span) && span_woken_by_thread(span) &&
		    !MODEL_PUSH(&waits->ended,
				((struct ended){ span->end_ns, span->other, span->object })))
			return false;
	}
	if (waits->ended.count)
		qsort(waits->ended.row, waits->ended.count, sizeof(*waits->ended.row), by_waker);
	return true;
}

/* Did the thread wake somebody in that time? Not who waits for the same: those take turns at looking. */
static bool woke_somebody(const struct waits *waits, uint32_t thread, const struct span *sleep,
			  uint64_t to_ns)
{
	const struct ended *rows = waits->ended.row;
	uint32_t i = BISECT(k, 0, waits->ended.count,
			    rows[k].waker < thread ||
				    (rows[k].waker == thread && rows[k].ts_ns < sleep->end_ns));

	for (; i < waits->ended.count && rows[i].waker == thread && rows[i].ts_ns < to_ns; i++)
		if (!same_object(waits->model, rows[i].object, sleep->object))
			return true;
	return false;
}

/* The sleep with which the wait of sleep @at goes on, before @end; else @at. */
static uint32_t next_sleep(const struct waits *waits, uint32_t thread, uint32_t at, uint32_t end)
{
	const struct model *model = waits->model;
	const struct span *spans = model->spans.row, *sleep = &spans[at];
	uint64_t most_ns = (sleep->end_ns - sleep->start_ns) / LOOK_PART, ran_ns = 0;
	uint32_t next = at + 1;

	if (!may_go_on(waits, sleep))
		return at;
	if (most_ns > LOOK_NS)
		most_ns = LOOK_NS;
	for (; next < end && !is_asleep(&spans[next]); next++) {
		if (spans[next].state == STATE_RUNNING)
			ran_ns += spans[next].end_ns - spans[next].start_ns;
		else if (spans[next].state != STATE_RUNNABLE)
			return at;
		if (ran_ns > most_ns)
			return at;
	}
	if (next == end || spans[next].syscall != sleep->syscall ||
	    !same_object(model, spans[next].object, sleep->object) ||
	    did_something(model, thread, sleep->end_ns, spans[next].start_ns) ||
	    woke_somebody(waits, thread, sleep, spans[next].start_ns))
		return at;
	return next;
}

/* Backwards: what ends a wait is known when its beginning is looked at. */
static void find(struct waits *waits, uint32_t thread)
{
	const struct model *model = waits->model;
	const struct timeline *timeline = &model->timelines.row[thread];
	uint32_t first = timeline->first, end = first + timeline->count;

	for (uint32_t at = end; at-- > first;) {
		uint32_t next;

		waits->end[at] = INDEX_NONE;
		if (!is_asleep(&model->spans.row[at]))
			continue;
		next = next_sleep(waits, thread, at, end);
		waits->end[at] = next == at ? at : waits->end[next];
		for (uint32_t look = at + 1; look < next; look++)
			waits->end[look] = waits->end[next];
	}
}

struct waits *waits_new(const struct model *model, struct syscall_table *syscalls)
{
	struct waits *waits = calloc(1, sizeof(*waits));

	if (!waits)
		return NULL;
	waits->model = model;
	waits->syscalls = syscalls;
	waits->end = calloc((size_t)model->spans.count + 1, sizeof(*waits->end));
	if (!waits->end || !collect_ended(waits)) {
		waits_free(waits);
		return NULL;
	}
	for (uint32_t i = 0; i < model->spans.count; i++)
		waits->end[i] = INDEX_NONE;
	for (uint32_t thread = 0; thread < model->timelines.count; thread++)
		find(waits, thread);
	free(waits->ended.row);
	waits->ended.row = NULL;
	return waits;
}

void waits_free(struct waits *waits)
{
	if (!waits)
		return;
	free(waits->ended.row);
	free(waits->end);
	free(waits);
}

uint32_t wait_end(const struct waits *waits, uint32_t span)
{
	return span < waits->model->spans.count ? waits->end[span] : INDEX_NONE;
}

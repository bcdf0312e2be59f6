/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/polls.h"

#include <stdlib.h>
#include <sys/param.h>

#include "analyzer/analyse/device/device_workers.h"

/* A sleep until a time. */
struct slice {
	uint64_t start_ns, end_ns;
	bool last; /* of its poll */
};

/* A thread ended the sleep of another one. */
struct ended {
	uint32_t waker;
	uint64_t ts_ns;
};

struct polls {
	const struct model *model;
	struct syscall_table *syscalls;
	const struct interpreter_locks *locks;
	uint32_t *maker; /* by thread */
	/* Used while makers are searched. */
	MODEL_ARRAY(struct slice) slices; /* of one thread */
	MODEL_ARRAY(struct ended) ended; /* by waker, then time */
	uint32_t at; /* next row of ended */
	uint64_t looked; /* at slices and spans of threads that may be makers */
};

/* How often a thread was at work in the slices of another one. */
struct presence {
	uint64_t last, others; /* number of slices */
	uint64_t last_ns;
};

static bool is_slice(const struct polls *polls, const struct span *span)
{
	return span->state == STATE_SLEEP && span->flags & SPAN_WOKEN_TIMER &&
	       syscall_class(polls->syscalls, span->syscall) == SYSCALL_SLEEP;
}

static bool may_poll(const struct polls *polls, uint32_t thread)
{
	const struct timeline *line = &polls->model->timelines.row[thread];
	uint32_t slices = 0;

	for (uint32_t i = 0; i < line->count && slices < 2 * POLLS_MIN; i++)
		slices += is_slice(polls, &polls->model->spans.row[line->first + i]);
	return slices >= 2 * POLLS_MIN;
}

static int by_waker(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;

	if (x->waker != y->waker)
		return x->waker < y->waker ? -1 : 1;
	return x->ts_ns < y->ts_ns ? -1 : x->ts_ns > y->ts_ns;
}

/* Collects the sleeps that threads which may poll ended; polls->maker marks these threads. */
static bool collect_ended(struct polls *polls)
{
	const struct model *model = polls->model;

	for (uint32_t thread = 0; thread < model->timelines.count; thread++) {
		const struct timeline *line = &model->timelines.row[thread];

		for (uint32_t i = line->first; i < line->first + line->count; i++) {
			const struct span *span = &model->spans.row[i];

			if (span->state == STATE_SLEEP && span_woken_by_thread(span) &&
			    span->other < model->timelines.count && polls->maker[span->other] != INDEX_NONE &&
			    !interpreter_lock_is(polls->locks, thread, span->object) &&
			    !MODEL_PUSH(&polls->ended, ((struct ended){ span->other, span->end_ns })))
				return false;
		}
	}
	if (polls->ended.count)
		qsort(polls->ended.row, polls->ended.count, sizeof(*polls->ended.row), by_waker);
	return true;
}

/* Did the thread end a sleep in (from_ns, to_ns]? It is asked for threads and times in their order. */
static bool woke(struct polls *polls, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	const struct ended *row = polls->ended.row;

	while (polls->at < polls->ended.count &&
	       (row[polls->at].waker < thread ||
		(row[polls->at].waker == thread && row[polls->at].ts_ns <= from_ns)))
		polls->at++;
	return polls->at < polls->ended.count && row[polls->at].waker == thread &&
	       row[polls->at].ts_ns <= to_ns;
}

/* Fills in polls->slices; returns the number of those that are the last of their poll. */
static bool find_slices(struct polls *polls, uint32_t thread, uint32_t *last)
{
	const struct timeline *line = &polls->model->timelines.row[thread];
	uint64_t ran_ns = 0;

	*last = 0;
	polls->slices.count = 0;
	for (uint32_t i = line->first; i < line->first + line->count; i++) {
		const struct span *span = &polls->model->spans.row[i];
		struct slice *before =
			polls->slices.count ? &polls->slices.row[polls->slices.count - 1] : NULL;

		if (span->state == STATE_RUNNING)
			ran_ns += span->end_ns - span->start_ns;
		if (!is_slice(polls, span))
			continue;
		if (before)
			before->last = woke(polls, thread, before->end_ns, span->start_ns) ||
				       ran_ns >= POLL_WORK_NS;
		*last += before && before->last;
		ran_ns = 0;
		if (!MODEL_PUSH(&polls->slices, ((struct slice){ span->start_ns, span->end_ns, false })))
			return false;
	}
	return true;
}

static struct presence presence_of(const struct polls *polls, uint32_t thread)
{
	const struct timeline *line = &polls->model->timelines.row[thread];
	const struct span *spans = &polls->model->spans.row[line->first];
	struct presence found = { 0 };
	uint32_t at = 0;

	for (uint32_t i = 0; i < polls->slices.count; i++) {
		const struct slice *slice = &polls->slices.row[i];
		uint64_t ran_ns = 0;

		while (at < line->count && spans[at].end_ns <= slice->start_ns)
			at++;
		for (uint32_t k = at; k < line->count && spans[k].start_ns < slice->end_ns; k++)
			if (spans[k].state == STATE_RUNNING)
				ran_ns += MIN(spans[k].end_ns, slice->end_ns) -
					  MAX(spans[k].start_ns, slice->start_ns);
		if (!ran_ns)
			continue;
		found.last += slice->last;
		found.others += !slice->last;
		found.last_ns += slice->last ? ran_ns : 0;
	}
	return found;
}

/* Are the last sleeps of polls about as long as the others? */
static bool are_as_long(const struct polls *polls, uint32_t last)
{
	uint64_t last_ns = 0, others_ns = 0;

	for (uint32_t i = 0; i < polls->slices.count; i++) {
		const struct slice *slice = &polls->slices.row[i];

		*(slice->last ? &last_ns : &others_ns) += slice->end_ns - slice->start_ns;
	}
	last_ns /= last;
	others_ns /= polls->slices.count - last;
	return last_ns <= POLL_LENGTHS * others_ns && others_ns <= POLL_LENGTHS * last_ns;
}

static uint32_t find_maker(struct polls *polls, uint32_t thread, uint32_t last)
{
	const struct model *model = polls->model;
	uint64_t others = polls->slices.count - last, most_ns = 0;
	uint32_t maker = INDEX_NONE;

	if (last < POLLS_MIN || others < last || !are_as_long(polls, last))
		return INDEX_NONE;
	for (uint32_t t = 0; t < model->timelines.count; t++) {
		struct presence there;

		if (t == thread || model->threads.row[t].process != model->threads.row[thread].process)
			continue;
		polls->looked += polls->slices.count + model->timelines.row[t].count;
		if (polls->looked > POLLS_LOOKED_MAX)
			return INDEX_NONE;
		there = presence_of(polls, t);
		if (100 * there.last < POLL_LAST_PERCENT * (uint64_t)last || there.last_ns <= most_ns ||
		    100 * there.others > (100 * there.last / last - POLL_LESS_PERCENT) * others)
			continue;
		most_ns = there.last_ns;
		maker = t;
	}
	return maker;
}

static bool find_all(struct polls *polls)
{
	for (uint32_t thread = 0; thread < polls->model->timelines.count; thread++)
		polls->maker[thread] = may_poll(polls, thread) ? thread : INDEX_NONE;
	if (!collect_ended(polls))
		return false;
	for (uint32_t thread = 0; thread < polls->model->timelines.count; thread++) {
		uint32_t last;

		if (polls->maker[thread] == INDEX_NONE)
			continue;
		if (!find_slices(polls, thread, &last))
			return false;
		polls->maker[thread] = find_maker(polls, thread, last);
	}
	return true;
}

struct polls *polls_new(const struct model *model, struct syscall_table *syscalls,
			const struct interpreter_locks *locks)
{
	struct polls *polls = calloc(1, sizeof(*polls));
	bool done;

	if (!polls)
		return NULL;
	polls->model = model;
	polls->syscalls = syscalls;
	polls->locks = locks;
	polls->maker = calloc((size_t)model->threads.count + 1, sizeof(*polls->maker));
	done = polls->maker && find_all(polls);
	free(polls->slices.row);
	free(polls->ended.row);
	polls->slices.row = NULL;
	polls->ended.row = NULL;
	if (done)
		return polls;
	polls_free(polls);
	return NULL;
}

void polls_free(struct polls *polls)
{
	if (!polls)
		return;
	free(polls->slices.row);
	free(polls->ended.row);
	free(polls->maker);
	free(polls);
}

uint32_t poll_maker(const struct polls *polls, uint32_t thread, uint32_t span)
{
	return thread < polls->model->timelines.count && is_slice(polls, &polls->model->spans.row[span])
		       ? polls->maker[thread]
		       : INDEX_NONE;
}

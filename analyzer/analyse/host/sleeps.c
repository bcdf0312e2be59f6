/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/sleeps.h"

#include <stdlib.h>

#include "analyzer/join/thread/sleep_causes.h"

#define ENDINGS (SPAN_WOKEN_HARDIRQ | SPAN_WOKEN_SOFTIRQ | SPAN_WOKEN_TIMER | SPAN_NO_WAKE)

static bool is_asleep(const struct span *span)
{
	return span->state == STATE_SLEEP || span->state == STATE_DISK ||
	       span->state == STATE_STOPPED;
}

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_likeness(const void *a, const void *b)
{
	const struct sleep_sum *x = a, *y = b;
	int by = order(x->object, y->object);

	if (!by)
		by = order(x->waker, y->waker);
	if (!by)
		by = order(x->interrupt, y->interrupt);
	if (!by)
		by = order(x->disk, y->disk);
	if (!by)
		by = order((uint16_t)x->syscall, (uint16_t)y->syscall);
	if (!by)
		by = order(x->state, y->state);
	if (!by)
		by = order(x->flags, y->flags);
	return by;
}

static int by_time(const void *a, const void *b)
{
	const struct sleep_sum *x = a, *y = b;
	int by = order(y->ns, x->ns);

	return by ? by : by_likeness(a, b);
}

static uint32_t woken_by(const struct span *span)
{
	bool interrupt = span->flags & (SPAN_WOKEN_HARDIRQ | SPAN_WOKEN_SOFTIRQ) &&
			 !(span->flags & (SPAN_WOKEN_TIMER | SPAN_NO_WAKE));

	return interrupt && span->other != INDEX_NONE ? span->other : 0;
}

/* What the sleep waited for at a disk. */
static void add_disk(const struct model *model, const struct span *span, struct sleep_sum *sum)
{
	const struct block_request *request = sleep_request(model, span);

	sum->disk = INDEX_NONE;
	if (!request)
		return;
	sum->disk = request->driver;
	sum->disk_ns = request->dur_ns - request->wait_ns;
}

static struct sleep_sum sum_of(const struct model *model, const struct span *span,
			       const struct analysis_window *window)
{
	uint64_t from = span->start_ns > window->from_ns ? span->start_ns : window->from_ns;
	uint64_t to = span->end_ns < window->to_ns ? span->end_ns : window->to_ns;
	struct sleep_sum sum = {
		.count = span->end_ns < window->to_ns,
		.ns = to - from,
		.max_ns = to - from,
		.object = span->object,
		.waker = span->flags & ENDINGS ? INDEX_NONE : span->other,
		.interrupt = woken_by(span),
		.syscall = span->syscall,
		.state = span->state,
		.flags = span->flags,
	};

	add_disk(model, span, &sum);
	/* Asleep to the end: nobody has ended it. */
	if (!sum.count) {
		sum.waker = INDEX_NONE;
		sum.interrupt = 0;
		sum.flags |= SPAN_NO_WAKE;
	}
	return sum;
}

static void merge(struct sleep_sums *sums)
{
	uint32_t kept = 0;

	qsort(sums->row, sums->count, sizeof(*sums->row), by_likeness);
	for (uint32_t i = 1; i < sums->count; i++) {
		struct sleep_sum *last = &sums->row[kept];
		const struct sleep_sum *row = &sums->row[i];

		if (by_likeness(last, row)) {
			sums->row[++kept] = *row;
			continue;
		}
		last->count += row->count;
		last->ns += row->ns;
		last->disk_ns += row->disk_ns;
		if (row->max_ns > last->max_ns)
			last->max_ns = row->max_ns;
	}
	sums->count = kept + 1;
	qsort(sums->row, sums->count, sizeof(*sums->row), by_time);
}

bool sleeps_sum(const struct model *model, const struct analysis_window *window, uint32_t thread,
		struct sleep_sums *sums)
{
	const struct timeline *timeline = &model->timelines.row[thread];

	sums->count = 0;
	for (uint32_t i = 0; i < timeline->count; i++) {
		const struct span *span = &model->spans.row[timeline->first + i];

		if (!is_asleep(span) || span->end_ns <= window->from_ns ||
		    span->start_ns >= window->to_ns)
			continue;
		if (!MODEL_PUSH(sums, sum_of(model, span, window)))
			return false;
	}
	if (sums->count)
		merge(sums);
	return true;
}

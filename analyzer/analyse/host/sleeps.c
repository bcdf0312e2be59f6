/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/sleeps.h"

#include <stdlib.h>

#include "analyzer/join/thread/sleep_causes.h"
#include "lib/base/map.h"

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

/* Sets the disk that the sleep waited for, and the latency of its request. */
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
	/* Asleep to the end of the window: no waker. */
	if (!sum.count) {
		sum.waker = INDEX_NONE;
		sum.interrupt = 0;
		sum.flags |= SPAN_NO_WAKE;
	}
	return sum;
}

/* Most sleeps belong to few kinds. */
#define SEEN 64 /* a power of 2 */

struct summing {
	struct sleep_sums *sums;
	struct map known; /* hash of the common values of sleeps -> row */
	uint32_t seen[SEEN]; /* 1 + rows of recent sleeps */
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static uint64_t hash_of(const struct sleep_sum *sum)
{
	uint64_t hash = mix((uint64_t)sum->object << 32 | sum->waker,
			    (uint64_t)sum->interrupt << 32 | sum->disk);

	return mix(hash, (uint64_t)(uint16_t)sum->syscall << 16 | (uint64_t)sum->state << 8 |
				 sum->flags);
}

/* Returns the row for sleeps like @like; INDEX_NONE without memory. */
static uint32_t row_of(struct summing *summing, const struct sleep_sum *like)
{
	struct sleep_sums *sums = summing->sums;
	uint64_t key = hash_of(like);
	uint32_t *seen = &summing->seen[key % SEEN], row = *seen - 1;
	struct sleep_sum empty = *like;

	if (*seen && by_likeness(&sums->row[row], like) == 0)
		return row;
	while ((row = map_get(&summing->known, key)) != MAP_NONE &&
	       by_likeness(&sums->row[row], like) != 0)
		key++;
	if (row == MAP_NONE) {
		row = sums->count;
		empty.count = empty.ns = empty.max_ns = empty.disk_ns = 0;
		if (!map_put(&summing->known, key, row) || !MODEL_PUSH(sums, empty))
			return INDEX_NONE;
	}
	*seen = row + 1;
	return row;
}

static bool add(struct summing *summing, const struct sleep_sum *sleep)
{
	uint32_t row = row_of(summing, sleep);
	struct sleep_sum *sum;

	if (row == INDEX_NONE)
		return false;
	sum = &summing->sums->row[row];
	sum->count += sleep->count;
	sum->ns += sleep->ns;
	sum->disk_ns += sleep->disk_ns;
	if (sleep->max_ns > sum->max_ns)
		sum->max_ns = sleep->max_ns;
	return true;
}

bool sleeps_sum(const struct model *model, const struct analysis_window *window, uint32_t thread,
		struct sleep_sums *sums)
{
	const struct timeline *timeline = &model->timelines.row[thread];
	struct summing summing = { .sums = sums };
	bool ok = true;

	sums->count = 0;
	for (uint32_t i = 0; i < timeline->count && ok; i++) {
		const struct span *span = &model->spans.row[timeline->first + i];
		struct sleep_sum sleep;

		if (!is_asleep(span) || span->end_ns <= window->from_ns ||
		    span->start_ns >= window->to_ns)
			continue;
		sleep = sum_of(model, span, window);
		ok = add(&summing, &sleep);
	}
	map_free(&summing.known);
	if (ok && sums->count)
		qsort(sums->row, sums->count, sizeof(*sums->row), by_time);
	return ok;
}

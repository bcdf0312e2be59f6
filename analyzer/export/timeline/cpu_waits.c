/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/timeline/cpu_waits.h"

#include <errno.h>
#include <stdlib.h>

#include "proto/trace.pb-c.h"

/* One sorted row of events to merge: the switches of a CPU, or all wake-ups. */
struct stream {
	uint64_t ts_ns; /* time of the next event */
	uint32_t next;
	uint32_t end;
	bool wakes;
};

struct merge {
	const struct model *model;
	struct stream *heap; /* smallest instant on top */
	uint32_t count;
};

enum wait_state { WAIT_ASLEEP = 0, WAIT_RUNNING, WAIT_PREEMPTED, WAIT_WOKEN };

struct waiter {
	uint64_t since_ns;
	uint16_t cpu; /* WAIT_PREEMPTED: the CPU */
	uint8_t state; /* enum wait_state */
};

/* A wake-up comes before the switch that it leads to, also at the same instant. */
static bool earlier(const struct stream *a, const struct stream *b)
{
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns;
	return a->wakes && !b->wakes;
}

static void sift_down(struct merge *merge, uint32_t at)
{
	for (;;) {
		uint32_t least = at, child = 2 * at + 1;

		if (child < merge->count && earlier(&merge->heap[child], &merge->heap[least]))
			least = child;
		child++;
		if (child < merge->count && earlier(&merge->heap[child], &merge->heap[least]))
			least = child;
		if (least == at)
			return;
		struct stream swap = merge->heap[at];
		merge->heap[at] = merge->heap[least];
		merge->heap[least] = swap;
		at = least;
	}
}

static uint64_t instant(const struct merge *merge, const struct stream *stream)
{
	return stream->wakes ? merge->model->wakes.row[stream->next].ts_ns
			     : merge->model->switches.row[stream->next].ts_ns;
}

static bool merge_begin(struct merge *merge, const struct model *model)
{
	uint32_t cpus = 0;

	for (uint32_t i = 0; i < model->switches.count; i++)
		cpus += i == 0 || model->switches.row[i].cpu != model->switches.row[i - 1].cpu;
	merge->model = model;
	merge->count = 0;
	merge->heap = calloc(cpus + 1, sizeof(*merge->heap));
	if (!merge->heap)
		return false;
	for (uint32_t i = 0; i < model->switches.count; i++) {
		if (i == 0 || model->switches.row[i].cpu != model->switches.row[i - 1].cpu)
			merge->heap[merge->count++] = (struct stream){ .next = i };
		merge->heap[merge->count - 1].end = i + 1;
	}
	if (model->wakes.count)
		merge->heap[merge->count++] =
			(struct stream){ .end = model->wakes.count, .wakes = true };
	for (uint32_t i = 0; i < merge->count; i++)
		merge->heap[i].ts_ns = instant(merge, &merge->heap[i]);
	for (uint32_t i = merge->count / 2; i-- > 0;)
		sift_down(merge, i);
	return true;
}

/* Takes the next event of all streams; returns false at the end. */
static bool merge_next(struct merge *merge, uint32_t *row, bool *is_wake)
{
	struct stream *top = &merge->heap[0];

	if (merge->count == 0)
		return false;
	*row = top->next++;
	*is_wake = top->wakes;
	if (top->next == top->end)
		*top = merge->heap[--merge->count];
	else
		top->ts_ns = instant(merge, top);
	sift_down(merge, 0);
	return true;
}

static bool add_wait(struct cpu_waits *waits, uint64_t start_ns, uint64_t end_ns, uint16_t cpu)
{
	if (end_ns <= start_ns)
		return true;
	if (!(waits->count < waits->capacity || model_grow((void **)&waits->row, &waits->capacity,
							   waits->count, sizeof(*waits->row))))
		return false;
	waits->row[waits->count++] =
		(struct cpu_wait){ .start_ns = start_ns, .end_ns = end_ns, .cpu = cpu };
	return true;
}

static bool switched(struct cpu_waits *waits, struct waiter *waiters, const bool *chosen,
		     uint32_t threads, const struct cpu_switch *row)
{
	uint32_t prev = row->prev_thread, next = row->next_thread;

	if (row->flags & PROFBPF__SWITCHES__FLAG__PREV_TARGET && prev < threads && chosen[prev]) {
		waiters[prev].state = row->state == PROFBPF__SWITCHES__STATE__PREEMPTED
					      ? WAIT_PREEMPTED
					      : WAIT_ASLEEP;
		waiters[prev].since_ns = row->ts_ns;
		waiters[prev].cpu = row->cpu;
	}
	if (row->flags & PROFBPF__SWITCHES__FLAG__NEXT_TARGET && next < threads && chosen[next]) {
		struct waiter *waiter = &waiters[next];
		uint16_t cpu = waiter->state == WAIT_PREEMPTED ? waiter->cpu : row->cpu;

		if (waiter->state >= WAIT_PREEMPTED &&
		    !add_wait(waits, waiter->since_ns, row->ts_ns, cpu))
			return false;
		waiter->state = WAIT_RUNNING;
	}
	return true;
}

static int by_cpu_and_start(const void *a, const void *b)
{
	const struct cpu_wait *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Sorts the waits and unites those that overlap or touch. */
static void unite(struct cpu_waits *waits)
{
	uint32_t kept = 0;

	if (waits->count == 0)
		return;
	qsort(waits->row, waits->count, sizeof(*waits->row), by_cpu_and_start);
	for (uint32_t i = 1; i < waits->count; i++) {
		struct cpu_wait *last = &waits->row[kept], *row = &waits->row[i];

		if (row->cpu != last->cpu || row->start_ns > last->end_ns)
			waits->row[++kept] = *row;
		else if (row->end_ns > last->end_ns)
			last->end_ns = row->end_ns;
	}
	waits->count = kept + 1;
}

int cpu_waits_find(const struct model *model, const bool *chosen, struct cpu_waits *waits)
{
	struct waiter *waiters = calloc(model->threads.count + 1, sizeof(*waiters));
	struct merge merge = { 0 };
	bool is_wake, fine = false;
	uint32_t row;
	uint64_t end_ns = model->info.session_end_ns;

	*waits = (struct cpu_waits){ 0 };
	if (!waiters || !merge_begin(&merge, model))
		goto cleanup;
	while (merge_next(&merge, &row, &is_wake)) {
		const struct wake *wake = is_wake ? &model->wakes.row[row] : NULL;

		if (!wake) {
			if (!switched(waits, waiters, chosen, model->threads.count,
				      &model->switches.row[row]))
				goto cleanup;
		} else if (wake->thread < model->threads.count && chosen[wake->thread] &&
			   waiters[wake->thread].state == WAIT_ASLEEP) {
			waiters[wake->thread].state = WAIT_WOKEN;
			waiters[wake->thread].since_ns = wake->ts_ns;
		}
	}
	/* Threads that still wait at the end: only the CPU of preempted threads is known. */
	for (uint32_t i = 0; i < model->threads.count; i++) {
		const struct waiter *waiter = &waiters[i];

		if (waiter->state == WAIT_PREEMPTED &&
		    !add_wait(waits, waiter->since_ns, end_ns, waiter->cpu))
			goto cleanup;
	}
	unite(waits);
	fine = true;
cleanup:
	free(merge.heap);
	free(waiters);
	return fine ? 0 : -ENOMEM;
}

void cpu_waits_free(struct cpu_waits *waits)
{
	free(waits->row);
	*waits = (struct cpu_waits){ 0 };
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/far_rows.h"

#include <string.h>

#include "analyzer/load/survey.h"
#include "lib/trace/column.h"

#define THREADS_MAX 512 /* of a batch; batches with more are rare, and loaded row by row */
#define PLACES (2 * THREADS_MAX) /* a power of 2 */
#define NEVER UINT32_MAX

/* The rows of a batch that name a thread. */
struct far_thread {
	uint32_t tid;
	uint32_t first, last; /* first and last row with the thread in any role */
	uint32_t near[EDGES]; /* the row nearest to the part, by role; NEVER: none */
};

struct far_threads {
	struct far_thread thread[THREADS_MAX];
	uint32_t count;
	uint16_t place[PLACES]; /* 1 + index of a thread */
	uint64_t *ts_ns; /* of each row */
	bool before; /* the batch is before the part */
};

/* Converts differences to instants; NULL if there is not one for each row, if one overflows, or without memory. */
static uint64_t *instants(struct loader *loader, const uint64_t *differences, size_t count, size_t rows)
{
	ProtobufCAllocator *allocator = &loader->arena.allocator;
	uint64_t *ts_ns, now_ns = 0;

	if (!rows || count != rows || rows >= NEVER)
		return NULL;
	ts_ns = allocator->alloc(allocator->allocator_data, rows * sizeof(*ts_ns));
	for (size_t i = 0; ts_ns && i < rows; i++) {
		if (__builtin_add_overflow(now_ns, differences[i], &now_ns))
			return NULL;
		ts_ns[i] = now_ns;
	}
	return ts_ns;
}

/* Returns NULL if the batch names too many threads. */
static struct far_thread *thread_of(struct far_threads *of, uint32_t tid, uint32_t row)
{
	uint32_t at = tid * UINT32_C(0x9e3779b1) >> 22;
	struct far_thread *new = &of->thread[of->count];

	_Static_assert(PLACES == 1 << 10, "the hash has as many bits");
	while (of->place[at]) {
		if (of->thread[of->place[at] - 1].tid == tid)
			return &of->thread[of->place[at] - 1];
		at = (at + 1) % PLACES;
	}
	if (of->count == THREADS_MAX)
		return NULL;
	*new = (struct far_thread){ tid, row, row, { NEVER, NEVER, NEVER, NEVER } };
	of->place[at] = (uint16_t)++of->count;
	return new;
}

static void note(const struct far_threads *of, struct far_thread *thread, enum edge edge, uint32_t row)
{
	thread->last = row;
	if (of->before || thread->near[edge] == NEVER)
		thread->near[edge] = row;
}

/* Records when each thread was seen. New threads are added in the order of their rows. */
static bool saw_threads(struct loader *loader, const struct far_threads *of)
{
	for (uint32_t i = 0; i < of->count; i++) {
		const struct far_thread *thread = &of->thread[i];

		if (!loader_saw_thread(loader, thread->tid, 0, of->ts_ns[thread->first]) ||
		    !loader_saw_thread(loader, thread->tid, 0, of->ts_ns[thread->last]))
			return false;
	}
	return true;
}

static bool begin(struct loader *loader, struct far_threads *of, uint64_t *ts_ns, size_t rows)
{
	if (!ts_ns || !loader->window.wanted ||
	    !window_is_far(&loader->window, ts_ns[0], ts_ns[rows - 1], &of->before))
		return false;
	of->ts_ns = ts_ns;
	of->count = 0;
	memset(of->place, 0, sizeof(of->place));
	return true;
}

/* ---- Switches */

struct far_switches {
	struct far_threads threads;
	const Profbpf__Switches *switches;
	uint32_t *prev_tid; /* by row */
	uint32_t missing;
	struct survey_switch last; /* last switch of the CPU, after this batch */
};

static size_t entry_of(const Profbpf__Switches *s, size_t i)
{
	return s->n_shape ? s->shape[i] : i;
}

static bool states_known(const Profbpf__Switches *s)
{
	for (size_t i = 0; i < s->n_state; i++)
		if ((uint32_t)s->state[i] > PROFBPF__SWITCHES__STATE__DEAD)
			return false;
	return true;
}

/* Reads the batch without side effects outside of @of. */
static bool look_at_switches(struct far_switches *of, size_t rows)
{
	const Profbpf__Switches *s = of->switches;
	struct far_thread *at = NULL; /* the thread on the CPU */
	uint32_t next_tid = 0;

	for (size_t i = 0; i < rows; i++) {
		size_t entry = entry_of(s, i);
		uint32_t prev_tid = s->n_shape ? next_tid ^ COLUMN_AT(s, prev_change, i)
					       : COLUMN_AT(s, prev_tid, i);
		uint32_t flags = COLUMN_AT(s, flags, entry);
		bool of_target = flags & PROFBPF__SWITCHES__FLAG__PREV_TARGET || of->last.next_target;

		of->missing += of->last.any && of_target && prev_tid != of->last.next_tid;
		of->prev_tid[i] = prev_tid;
		next_tid = COLUMN_AT(s, next_tid, entry);
		of->last = (struct survey_switch){
			true, (flags & PROFBPF__SWITCHES__FLAG__NEXT_TARGET) != 0, next_tid
		};
		if (prev_tid && (!at || at->tid != prev_tid))
			at = thread_of(&of->threads, prev_tid, (uint32_t)i);
		if (prev_tid && !at)
			return false;
		if (prev_tid)
			note(&of->threads, at, EDGE_OUT, (uint32_t)i);
		at = next_tid ? thread_of(&of->threads, next_tid, (uint32_t)i) : NULL;
		if (next_tid && !at)
			return false;
		if (at)
			note(&of->threads, at, EDGE_IN, (uint32_t)i);
	}
	return true;
}

static struct cpu_switch switch_at(const struct loader *loader, const struct far_switches *of, size_t i)
{
	size_t entry = entry_of(of->switches, i);
	struct cpu_switch row = { .prev_thread = INDEX_NONE,
				  .next_thread = INDEX_NONE,
				  .cpu = (uint16_t)of->switches->cpu,
				  .ts_ns = of->threads.ts_ns[i],
				  .prev_tid = of->prev_tid[i] };

	load_switch_values(loader, of->switches, entry, &row);
	return row;
}

static bool note_edges(struct loader *loader, const struct far_switches *of, size_t rows)
{
	bool before = of->threads.before;
	struct cpu_switch row = switch_at(loader, of, before ? rows - 1 : 0);
	bool ok = window_note_switch(&loader->window, before, EDGE_CPU, &row);

	for (uint32_t i = 0; ok && i < of->threads.count; i++) {
		for (enum edge edge = EDGE_OUT; ok && edge <= EDGE_IN; edge++) {
			uint32_t near = of->threads.thread[i].near[edge];

			if (near == NEVER)
				continue;
			row = switch_at(loader, of, near);
			ok = window_note_switch(&loader->window, before, edge, &row);
		}
	}
	return ok;
}

enum far_batch far_switches(struct loader *loader, const Profbpf__Switches *switches, size_t rows)
{
	ProtobufCAllocator *allocator = &loader->arena.allocator;
	struct far_switches of;
	struct survey_switch *last;

	if (!begin(loader, &of.threads, instants(loader, switches->ts_ns, switches->n_ts_ns, rows), rows) ||
	    !states_known(switches))
		return FAR_NOT;
	last = survey_last_switch(loader, switches->cpu);
	of.switches = switches;
	of.prev_tid = allocator->alloc(allocator->allocator_data, rows * sizeof(*of.prev_tid));
	of.missing = 0;
	if (!last || !of.prev_tid)
		return FAR_FAILED;
	of.last = *last;
	if (!look_at_switches(&of, rows))
		return FAR_NOT;
	*last = of.last;
	loader->model->survey.switches += rows;
	loader->model->survey.switches_missing += of.missing;
	loader_reached(loader, of.threads.ts_ns[rows - 1]);
	return saw_threads(loader, &of.threads) && note_edges(loader, &of, rows) ? FAR_TAKEN : FAR_FAILED;
}

/* ---- Wake-ups */

struct far_wakes {
	struct far_threads threads;
	uint32_t woken[THREADS_MAX]; /* indices of threads, by their first wake-up */
	uint32_t woken_count;
	uint64_t bad;
};

static size_t wake_entry(const Profbpf__Wakes *w, size_t i)
{
	return w->n_shape ? w->shape[i] : i;
}

static bool look_at_wakes(struct far_wakes *of, const Profbpf__Wakes *w, size_t rows)
{
	for (size_t i = 0; i < rows; i++) {
		size_t entry = wake_entry(w, i);
		uint32_t tid = COLUMN_AT(w, tid, entry), waker_tid = COLUMN_AT(w, waker_tid, entry);
		struct far_thread *thread;

		if (!tid) {
			of->bad++;
			continue;
		}
		thread = thread_of(&of->threads, tid, (uint32_t)i);
		if (!thread)
			return false;
		if (thread->near[EDGE_WAKE] == NEVER)
			of->woken[of->woken_count++] = (uint32_t)(thread - of->threads.thread);
		note(&of->threads, thread, EDGE_WAKE, (uint32_t)i);
		thread = waker_tid ? thread_of(&of->threads, waker_tid, (uint32_t)i) : thread;
		if (!thread)
			return false;
		thread->last = (uint32_t)i;
	}
	return true;
}

static bool note_wakes(struct loader *loader, const struct far_wakes *of, const Profbpf__Wakes *w)
{
	for (uint32_t i = 0; i < of->woken_count; i++) {
		uint32_t near = of->threads.thread[of->woken[i]].near[EDGE_WAKE];
		struct wake row = { .waker_thread = INDEX_NONE,
				    .cpu = (uint16_t)w->cpu,
				    .ts_ns = of->threads.ts_ns[near] };

		load_wake_values(loader, w, wake_entry(w, near), &row);
		if (!window_note_wake(&loader->window, of->threads.before, &row))
			return false;
	}
	return true;
}

enum far_batch far_wakes(struct loader *loader, const Profbpf__Wakes *wakes, size_t rows)
{
	struct far_wakes of;

	of.woken_count = 0;
	of.bad = 0;
	if (!begin(loader, &of.threads, instants(loader, wakes->ts_ns, wakes->n_ts_ns, rows), rows) ||
	    !look_at_wakes(&of, wakes, rows) || of.bad)
		return FAR_NOT;
	loader->model->survey.wakes += rows;
	loader_reached(loader, of.threads.ts_ns[rows - 1]);
	return saw_threads(loader, &of.threads) && note_wakes(loader, &of, wakes) ? FAR_TAKEN : FAR_FAILED;
}

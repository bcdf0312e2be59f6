/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/window.h"

#include <stdlib.h>

static uint64_t later(uint64_t ns, uint64_t more_ns)
{
	return ns > UINT64_MAX - more_ns ? UINT64_MAX : ns + more_ns;
}

/* Computes the part's instants once: later the session may turn out to begin earlier than its first segment said. */
static void reckon(struct load_window *window)
{
	uint64_t start_ns = window->model->info.session_start_ns, from_ns;

	if (window->session_start_ns || !start_ns)
		return;
	from_ns = later(start_ns, window->after_start_ns);
	window->session_start_ns = start_ns;
	window->from_ns = from_ns > window->before_start_ns ? from_ns - window->before_start_ns : 0;
	window->to_ns = later(start_ns, window->until_ns);
	window->model->survey.from_ns = window->from_ns;
	window->model->survey.to_ns = window->to_ns;
}

bool window_has(struct load_window *window, uint64_t first_ns, uint64_t last_ns)
{
	if (!window->wanted)
		return true;
	reckon(window);
	return !window->session_start_ns ||
	       (last_ns >= window->from_ns && first_ns <= window->to_ns);
}

bool window_is_far(struct load_window *window, uint64_t first_ns, uint64_t last_ns, bool *before)
{
	if (window_has(window, first_ns, last_ns))
		return false;
	*before = last_ns < window->from_ns;
	return true;
}

/* Is a row at @ts_ns nearer to the part than the known row? */
static bool nearer(bool before, uint64_t ts_ns, uint64_t known_ns)
{
	return before ? ts_ns >= known_ns : ts_ns < known_ns;
}

static uint32_t key_of(enum edge edge, const struct cpu_switch *row)
{
	switch (edge) {
	case EDGE_OUT: return row->prev_tid;
	case EDGE_IN: return row->next_tid;
	default: return row->cpu;
	}
}

/* Returns the row at the edge; MAP_NONE: none yet. Most switches belong to few threads. */
static uint32_t find_switch(struct edge_rows *rows, enum edge edge, uint32_t key)
{
	uint32_t *seen = &rows->seen[edge][key % EDGE_SEEN];
	uint32_t index;

	if (*seen && key_of(edge, &rows->switches.row[*seen - 1]) == key)
		return *seen - 1;
	index = map_get(&rows->known[edge], key);
	if (index != MAP_NONE)
		*seen = index + 1;
	return index;
}

bool window_note_switch(struct load_window *window, bool before, enum edge edge,
			const struct cpu_switch *row)
{
	struct edge_rows *rows = before ? &window->before : &window->after;
	uint32_t key = key_of(edge, row);
	uint32_t index = find_switch(rows, edge, key);

	if (index != MAP_NONE) {
		if (nearer(before, row->ts_ns, rows->switches.row[index].ts_ns))
			rows->switches.row[index] = *row;
		return true;
	}
	return map_put(&rows->known[edge], key, rows->switches.count) &&
	       MODEL_PUSH(&rows->switches, *row);
}

static uint32_t find_wake(struct edge_rows *rows, uint32_t tid)
{
	uint32_t *seen = &rows->seen[EDGE_WAKE][tid % EDGE_SEEN];
	uint32_t index;

	if (*seen && rows->wakes.row[*seen - 1].thread == tid)
		return *seen - 1;
	index = map_get(&rows->known[EDGE_WAKE], tid);
	if (index != MAP_NONE)
		*seen = index + 1;
	return index;
}

bool window_note_wake(struct load_window *window, bool before, const struct wake *row)
{
	struct edge_rows *rows = before ? &window->before : &window->after;
	uint32_t index = find_wake(rows, row->thread);

	if (index != MAP_NONE) {
		if (nearer(before, row->ts_ns, rows->wakes.row[index].ts_ns))
			rows->wakes.row[index] = *row;
		return true;
	}
	return map_put(&rows->known[EDGE_WAKE], row->thread, rows->wakes.count) &&
	       MODEL_PUSH(&rows->wakes, *row);
}

bool window_takes_switch(struct load_window *window, const struct cpu_switch *row)
{
	bool before;

	if (!window_is_far(window, row->ts_ns, row->ts_ns, &before))
		return true;
	if (!window_note_switch(window, before, EDGE_CPU, row) ||
	    (row->prev_tid && !window_note_switch(window, before, EDGE_OUT, row)) ||
	    (row->next_tid && !window_note_switch(window, before, EDGE_IN, row)))
		window->no_memory = true;
	return false;
}

bool window_takes_wake(struct load_window *window, const struct wake *row)
{
	bool before;

	if (!window_is_far(window, row->ts_ns, row->ts_ns, &before))
		return true;
	if (!window_note_wake(window, before, row))
		window->no_memory = true;
	return false;
}

static int by_cpu(const void *a, const void *b)
{
	const struct cpu_switch *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	if (x->prev_tid != y->prev_tid)
		return x->prev_tid < y->prev_tid ? -1 : 1;
	return x->next_tid < y->next_tid ? -1 : x->next_tid > y->next_tid;
}

/* One switch may be the edge row of two threads and of a CPU. */
static bool add_edge(struct model *model, struct edge_rows *rows)
{
	if (rows->switches.count)
		qsort(rows->switches.row, rows->switches.count, sizeof(*rows->switches.row),
		      by_cpu);
	for (uint32_t i = 0; i < rows->switches.count; i++) {
		if (i && by_cpu(&rows->switches.row[i - 1], &rows->switches.row[i]) == 0)
			continue;
		if (!MODEL_PUSH(&model->switches, rows->switches.row[i]))
			return false;
		model->survey.switches--;
	}
	for (uint32_t i = 0; i < rows->wakes.count; i++) {
		if (!MODEL_PUSH(&model->wakes, rows->wakes.row[i]))
			return false;
		model->survey.wakes--;
	}
	return true;
}

bool window_finish(struct load_window *window)
{
	return add_edge(window->model, &window->before) &&
	       add_edge(window->model, &window->after);
}

static void free_edge(struct edge_rows *rows)
{
	for (int edge = 0; edge < EDGES; edge++)
		map_free(&rows->known[edge]);
	free(rows->switches.row);
	free(rows->wakes.row);
}

void window_free(struct load_window *window)
{
	free_edge(&window->before);
	free_edge(&window->after);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/exit_budget.h"

#include <stdlib.h>

struct exit_budget {
	uint32_t call_ns;
	double budget;
	struct hot_watch watch;
	uint64_t looked_ns; /* 0 = not yet */
	uint32_t hits[EXITS_MAX]; /* of each exit, as of the last look */
	uint32_t hot_hits[CAPTURE_PROBES_MAX]; /* calls of each function that is hot, likewise */
	bool hot[CAPTURE_PROBES_MAX]; /* as the programs and the trace know it */
};

struct exit_budget *exit_budget_new(uint32_t call_ns, double part)
{
	struct exit_budget *budget = calloc(1, sizeof(*budget));

	if (!budget)
		return NULL;
	budget->call_ns = call_ns;
	budget->budget = part;
	return budget;
}

void exit_budget_free(struct exit_budget *budget)
{
	free(budget);
}

/* Is the end of its calls seen at exits of their own? */
static bool costs(const struct file_entry *e, size_t i)
{
	return e->places.ways[i] == END_BY_EXITS && !e->file.functions[i].exit_at_entry;
}

static uint32_t exit_calls(const struct exit_budget *b, const struct file_entry *e, size_t i,
			   const volatile uint32_t *hits)
{
	const struct function_exits *exits = &e->file.functions[i].exits;
	uint32_t calls = 0;

	for (size_t k = 0; k < exits->count; k++) {
		const struct exit_place *place = file_places_at(&e->places, exits->exits[k].offset);
		uint32_t number = place ? (uint32_t)place->cookie : 0;

		if (place)
			calls += hits[number] - b->hits[number];
	}
	return calls;
}

static void take_rates(const struct exit_budget *b, struct file_setting *s, struct file_entry *e,
		       double seconds)
{
	const volatile uint32_t *hits = capture_exit_hits(s->capture);

	for (size_t i = 0; i < e->file.count; i++) {
		uint32_t probe = e->cookies[i];
		uint32_t calls = 0;

		if (b->hot[probe])
			calls = capture_hot_hits(s->capture, probe) - b->hot_hits[probe];
		else if (costs(e, i))
			calls = exit_calls(b, e, i, hits);
		e->hot[i].calls_per_second = calls / seconds;
	}
}

static void take_counts(struct exit_budget *b, struct file_setting *s)
{
	const volatile uint32_t *hits = capture_exit_hits(s->capture);

	for (uint32_t i = 0; i < s->next_exit; i++)
		b->hits[i] = hits[i];
	for (uint32_t i = 0; i < s->next_probe; i++)
		b->hot_hits[i] = capture_hot_hits(s->capture, i);
}

static struct hot_function **those_that_cost(struct file_entry **files, size_t file_count,
					     size_t *count)
{
	struct hot_function **functions;
	size_t most = 0;

	*count = 0;
	for (size_t i = 0; i < file_count; i++)
		most += files[i]->file.count;
	functions = calloc(most + 1, sizeof(struct hot_function *));
	for (size_t i = 0; i < file_count && functions; i++)
		for (size_t k = 0; k < files[i]->file.count; k++)
			if (costs(files[i], k))
				functions[(*count)++] = &files[i]->hot[k];
	return functions;
}

static void tell(struct file_setting *s, uint32_t probe, const struct hot_function *f, bool seen,
		 uint64_t now_ns)
{
	struct ends_row row = {
		.function = probe,
		.calls_per_second = f->calls_per_second < UINT32_MAX ? f->calls_per_second
								     : UINT32_MAX,
		.ts_ns = now_ns,
		.seen = seen,
	};
	struct item *item = item_new(ITEM_ENDS, sizeof(row));

	if (item && !item_append(item, &row, sizeof(row)))
		item_queue_push(s->queue, item);
	else
		item_free(item);
}

/* Calls of functions that have become hot have no end from now on; their exits are left for a look longer. */
static void begin_heat(struct exit_budget *b, struct file_setting *s, struct file_entry *e,
		       uint64_t now_ns)
{
	for (size_t i = 0; i < e->file.count; i++) {
		uint32_t probe = e->cookies[i];

		if (e->hot[i].hot == b->hot[probe])
			continue;
		e->exits_stale = true;
		if (!e->hot[i].hot)
			continue;
		b->hot[probe] = true;
		capture_set_hot(s->capture, probe, true);
		tell(s, probe, &e->hot[i], false, now_ns);
	}
}

void exit_budget_look(struct exit_budget *b, struct file_setting *s, struct file_entry **files,
		      size_t count, uint64_t now_ns)
{
	double seconds = (now_ns - b->looked_ns) / 1e9;
	struct hot_function **functions;
	size_t function_count;

	functions = those_that_cost(files, count, &function_count);
	if (!functions)
		return;
	for (size_t i = 0; i < count; i++)
		take_rates(b, s, files[i], seconds);
	take_counts(b, s);
	if (b->looked_ns &&
	    hot_functions_judge(&b->watch, functions, function_count, b->call_ns, b->budget))
		for (size_t i = 0; i < count; i++)
			begin_heat(b, s, files[i], now_ns);
	b->looked_ns = now_ns;
	free(functions);
}

void exit_budget_probed(struct exit_budget *b, struct file_setting *s, struct file_entry *e,
			uint64_t now_ns)
{
	for (size_t i = 0; i < e->file.count; i++) {
		uint32_t probe = e->cookies[i];

		if (e->hot[i].hot || !b->hot[probe])
			continue;
		b->hot[probe] = false;
		capture_set_hot(s->capture, probe, false);
		tell(s, probe, &e->hot[i], true, now_ns);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/exit_budget.h"

#include <pthread.h>
#include <stdlib.h>

struct exit_budget {
	struct end_prices prices;
	pthread_mutex_t lock; /* protects the next two members */
	struct ends_budget may;
	double seen; /* calls per second */
	struct hot_watch watch;
	uint64_t looked_ns; /* 0 = not yet */
	uint32_t hits[EXITS_MAX]; /* per exit, at the last check */
	uint32_t hot_hits[CAPTURE_PROBES_MAX]; /* per function, its calls while hot, at the last check */
	uint64_t short_calls[CAPTURE_PROBES_MAX], short_before[CAPTURE_PROBES_MAX]; /* if short calls are filtered */
	bool hot[CAPTURE_PROBES_MAX]; /* the state that programs and trace have */
};

struct exit_budget *exit_budget_new(const struct end_prices *prices, double part)
{
	struct exit_budget *budget = calloc(1, sizeof(*budget));

	if (!budget)
		return NULL;
	budget->prices = *prices;
	budget->may = (struct ends_budget){ .most = part, .room = part };
	pthread_mutex_init(&budget->lock, NULL);
	return budget;
}

void exit_budget_free(struct exit_budget *budget)
{
	if (budget)
		pthread_mutex_destroy(&budget->lock);
	free(budget);
}

void exit_budget_set(struct exit_budget *b, struct ends_budget now)
{
	pthread_mutex_lock(&b->lock);
	b->may = now;
	pthread_mutex_unlock(&b->lock);
}

double exit_budget_seen(struct exit_budget *b)
{
	double seen;

	pthread_mutex_lock(&b->lock);
	seen = b->seen;
	pthread_mutex_unlock(&b->lock);
	return seen;
}

/* Does the function have probes on its exits, apart from its entry probe? */
static bool has_exits(const struct file_entry *e, size_t i)
{
	return e->places.ways[i] == END_BY_EXITS && !e->file.functions[i].exit_at_entry;
}

static bool is_filtered(const struct exit_budget *b, const struct file_entry *e, size_t i)
{
	return b->prices.return_ns && e->places.ways[i] == END_BY_RETURN_PROBE;
}

static bool costs(const struct exit_budget *b, const struct file_entry *e, size_t i)
{
	return has_exits(e, i) || is_filtered(b, e, i);
}

static uint32_t price_of(const struct exit_budget *b, const struct file_entry *e, size_t i)
{
	const struct function_exits *exits = &e->file.functions[i].exits;

	if (!has_exits(e, i))
		return b->prices.return_ns;
	for (size_t k = 0; k < exits->count; k++)
		if (exits->exits[k].stepped)
			return b->prices.exit_ns;
	return b->prices.early_ns ? b->prices.early_ns : b->prices.exit_ns;
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

/* Adds the calls per second whose exits are seen to *@seen. */
static void take_rates(const struct exit_budget *b, struct file_setting *s, struct file_entry *e,
		       double seconds, double *seen)
{
	const volatile uint32_t *hits = capture_exit_hits(s->capture);

	for (size_t i = 0; i < e->file.count; i++) {
		uint32_t probe = e->cookies[i];
		uint64_t calls = 0;

		if (b->hot[probe])
			calls = capture_hot_hits(s->capture, probe) - b->hot_hits[probe];
		else if (has_exits(e, i))
			calls = exit_calls(b, e, i, hits);
		else if (is_filtered(b, e, i))
			calls = b->short_calls[probe] - b->short_before[probe];
		e->hot[i].calls_per_second = calls / seconds;
		e->hot[i].call_ns = price_of(b, e, i);
		if (has_exits(e, i) && !b->hot[probe])
			*seen += calls / seconds;
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

static void add_short(void *context, const struct short_key *key, const struct short_value *value)
{
	struct exit_budget *b = context;

	if (key->probe < CAPTURE_PROBES_MAX)
		b->short_calls[key->probe] += value->count - value->unended;
}

static void count_short_calls(struct exit_budget *b, struct file_setting *s)
{
	if (!b->prices.return_ns)
		return;
	memcpy(b->short_before, b->short_calls, sizeof(b->short_before));
	memset(b->short_calls, 0, sizeof(b->short_calls));
	capture_short_calls(s->capture, add_short, b);
}

static struct hot_function **those_that_cost(const struct exit_budget *b, struct file_entry **files,
					     size_t file_count, size_t *count)
{
	struct hot_function **functions;
	size_t most = 0;

	*count = 0;
	for (size_t i = 0; i < file_count; i++)
		most += files[i]->file.count;
	functions = calloc(most + 1, sizeof(struct hot_function *));
	for (size_t i = 0; i < file_count && functions; i++)
		for (size_t k = 0; k < files[i]->file.count; k++)
			if (costs(b, files[i], k))
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

static void change(struct exit_budget *b, struct file_setting *s, struct file_entry *e, size_t i,
		   uint64_t now_ns)
{
	uint32_t probe = e->cookies[i];

	b->hot[probe] = e->hot[i].hot;
	capture_set_hot(s->capture, probe, e->hot[i].hot);
	tell(s, probe, &e->hot[i], !e->hot[i].hot, now_ns);
}

/*
 * From now on calls of new hot functions are recorded without an end; the probes on their exits stay for one more
 * check. Return probes are decided for each call, so these functions also stop being hot here.
 */
static void begin_heat(struct exit_budget *b, struct file_setting *s, struct file_entry *e,
		       uint64_t now_ns)
{
	for (size_t i = 0; i < e->file.count; i++) {
		uint32_t probe = e->cookies[i];

		if (e->hot[i].hot == b->hot[probe])
			continue;
		if (has_exits(e, i))
			e->exits_stale = true;
		if (e->hot[i].hot || !has_exits(e, i))
			change(b, s, e, i, now_ns);
	}
}

void exit_budget_look(struct exit_budget *b, struct file_setting *s, struct file_entry **files,
		      size_t count, uint64_t now_ns)
{
	double seconds = (now_ns - b->looked_ns) / 1e9;
	struct hot_function **functions;
	struct ends_budget may;
	size_t function_count;
	double seen = 0;

	functions = those_that_cost(b, files, count, &function_count);
	if (!functions)
		return;
	count_short_calls(b, s);
	for (size_t i = 0; i < count; i++)
		take_rates(b, s, files[i], seconds, &seen);
	take_counts(b, s);
	pthread_mutex_lock(&b->lock);
	may = b->may;
	b->seen = b->looked_ns ? seen : 0;
	pthread_mutex_unlock(&b->lock);
	if (b->looked_ns &&
	    hot_functions_judge(&b->watch, functions, function_count, may.most, may.room))
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

		if (!e->hot[i].hot && b->hot[probe])
			change(b, s, e, i, now_ns);
	}
}

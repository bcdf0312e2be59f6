/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/hot_functions.h"

/* Hysteresis: once the budget is exceeded, the cost is cut to a part of it, because calls come in bursts. */
#define AFTERWARDS 0.8
#define FAR_BELOW 0.5

/* Returns a part of a CPU's time. */
static double cost(const struct hot_function *f)
{
	return f->calls_per_second * f->call_ns / 1e9;
}

static double total(struct hot_function **functions, size_t count)
{
	double all = 0;

	for (size_t i = 0; i < count; i++)
		if (!functions[i]->hot)
			all += cost(functions[i]);
	return all;
}

static struct hot_function *costliest(struct hot_function **functions, size_t count)
{
	struct hot_function *most = NULL;

	for (size_t i = 0; i < count; i++)
		if (!functions[i]->hot && (!most || cost(functions[i]) > cost(most)))
			most = functions[i];
	return most;
}

static struct hot_function *cheapest_hot(struct hot_function **functions, size_t count)
{
	struct hot_function *least = NULL;

	for (size_t i = 0; i < count; i++)
		if (functions[i]->hot && (!least || cost(functions[i]) < cost(least)))
			least = functions[i];
	return least;
}

static bool heat(struct hot_function **functions, size_t count, double most)
{
	double all = total(functions, count);
	bool changed = false;

	while (all > most) {
		struct hot_function *f = costliest(functions, count);

		if (!f || cost(f) <= 0)
			break;
		all -= cost(f);
		f->hot = changed = true;
	}
	return changed;
}

static bool cool(struct hot_function **functions, size_t count, double most)
{
	double all = total(functions, count);
	bool changed = false;
	struct hot_function *f;

	while ((f = cheapest_hot(functions, count)) && all + cost(f) <= most) {
		all += cost(f);
		f->hot = false;
		changed = true;
	}
	return changed;
}

static bool can_cool(struct hot_function **functions, size_t count, double most)
{
	const struct hot_function *f = cheapest_hot(functions, count);

	return f && total(functions, count) + cost(f) <= most;
}

bool hot_functions_judge(struct hot_watch *watch, struct hot_function **functions, size_t count,
			 double most, double room)
{
	watch->above = total(functions, count) > most ? watch->above + 1 : 0;
	watch->below = can_cool(functions, count, FAR_BELOW * room) ? watch->below + 1 : 0;
	if (watch->above >= HOT_TICKS) {
		watch->above = 0;
		return heat(functions, count, AFTERWARDS * most);
	}
	if (watch->below >= HOT_TICKS) {
		watch->below = 0;
		return cool(functions, count, FAR_BELOW * room);
	}
	return false;
}

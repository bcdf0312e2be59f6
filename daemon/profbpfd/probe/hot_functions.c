/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/hot_functions.h"

/* Once it is too much, room is made for calls that come in bursts, so that it does not change all the time. */
#define AFTERWARDS 0.8
#define FAR_BELOW 0.5

static double total(struct hot_function **functions, size_t count)
{
	double calls = 0;

	for (size_t i = 0; i < count; i++)
		if (!functions[i]->hot)
			calls += functions[i]->calls_per_second;
	return calls;
}

static struct hot_function *costliest(struct hot_function **functions, size_t count)
{
	struct hot_function *most = NULL;

	for (size_t i = 0; i < count; i++)
		if (!functions[i]->hot &&
		    (!most || functions[i]->calls_per_second > most->calls_per_second))
			most = functions[i];
	return most;
}

static struct hot_function *cheapest_hot(struct hot_function **functions, size_t count)
{
	struct hot_function *least = NULL;

	for (size_t i = 0; i < count; i++)
		if (functions[i]->hot &&
		    (!least || functions[i]->calls_per_second < least->calls_per_second))
			least = functions[i];
	return least;
}

static bool heat(struct hot_function **functions, size_t count, double most)
{
	double calls = total(functions, count);
	bool changed = false;

	while (calls > most) {
		struct hot_function *f = costliest(functions, count);

		if (!f || f->calls_per_second <= 0)
			break;
		calls -= f->calls_per_second;
		f->hot = changed = true;
	}
	return changed;
}

static bool cool(struct hot_function **functions, size_t count, double most)
{
	double calls = total(functions, count);
	bool changed = false;
	struct hot_function *f;

	while ((f = cheapest_hot(functions, count)) && calls + f->calls_per_second <= most) {
		calls += f->calls_per_second;
		f->hot = false;
		changed = true;
	}
	return changed;
}

static bool can_cool(struct hot_function **functions, size_t count, double most)
{
	const struct hot_function *f = cheapest_hot(functions, count);

	return f && total(functions, count) + f->calls_per_second <= most;
}

bool hot_functions_judge(struct hot_watch *watch, struct hot_function **functions, size_t count,
			 uint32_t call_ns, double budget)
{
	double most = call_ns ? budget * 1e9 / call_ns : 0;

	if (most <= 0)
		return false;
	watch->above = total(functions, count) > most ? watch->above + 1 : 0;
	watch->below = can_cool(functions, count, FAR_BELOW * most) ? watch->below + 1 : 0;
	if (watch->above >= HOT_TICKS) {
		watch->above = 0;
		return heat(functions, count, AFTERWARDS * most);
	}
	if (watch->below >= HOT_TICKS) {
		watch->below = 0;
		return cool(functions, count, FAR_BELOW * most);
	}
	return false;
}

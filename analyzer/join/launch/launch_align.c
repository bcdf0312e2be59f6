/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/launch/launch_align.h"

#include <stdlib.h>

#define ROUNDS_MAX 32 /* rounds of narrowing; ranges that are still wider then are unsure */

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* Can the call have launched the task? Names and kinds of calls that launch several tasks say nothing. */
static bool can(const struct alignment *a, uint32_t call_index, uint32_t task_index)
{
	const struct align_call *call = &a->calls[call_index];
	const struct align_task *task = &a->tasks[task_index];

	if (call->most == 1 && (call->copies != task->copies ||
				(a->names && call->name && call->name != task->name &&
				 call->name != task->type)))
		return false;
	if (a->clock.error_ns == UINT64_MAX)
		return true;
	if (task->start_ns && plus(clock_line_apply(&a->clock.line, task->start_ns),
				   a->clock.error_ns) < call->start_ns)
		return false;
	return !task->end_ns || clock_line_apply(&a->clock.line, task->end_ns) <=
					plus(call->done_ns, a->clock.error_ns);
}

static bool can_pair(const struct alignment *a, uint32_t shorter, uint32_t longer)
{
	return a->tasks_short ? can(a, longer, shorter) : can(a, shorter, longer);
}

/* A call that may have launched no task need not have a place. */
static bool needs_place(const struct alignment *a, uint32_t shorter)
{
	return a->tasks_short || a->calls[shorter].least > 0;
}

/*
 * Finds the first place that each element of the shorter side can have when all before it have theirs, and the last
 * one. All correspondences lie between these two, and both are possible themselves.
 */
static bool embed(struct alignment *a)
{
	uint32_t shorter = a->tasks_short ? a->task_count : a->call_count;
	uint32_t longer = a->tasks_short ? a->call_count : a->task_count;
	uint32_t place = 0;

	for (uint32_t i = 0; i < shorter; i++) {
		a->earliest[i] = place;
		if (!needs_place(a, i))
			continue;
		while (place < longer && !can_pair(a, i, place))
			place++;
		if (place == longer)
			return false;
		a->earliest[i] = place++;
	}
	place = longer;
	for (uint32_t i = shorter; i-- > 0;) {
		a->latest[i] = place ? place - 1 : 0;
		if (!needs_place(a, i))
			continue;
		while (place > 0 && !can_pair(a, i, place - 1))
			place--;
		if (place == 0)
			return false;
		a->latest[i] = --place;
	}
	a->ranges = true;
	return true;
}

static bool is_single(const struct align_call *call)
{
	return call->least == 1 && call->most == 1;
}

/* Assigns tasks to calls with a certain place; other tasks within range of a call are unsure. */
static void place_calls(struct alignment *a)
{
	uint32_t unsure_to = 0;

	for (uint32_t i = 0; i < a->task_count; i++)
		a->task_call[i] = ALIGN_NONE;
	for (uint32_t i = 0; i < a->call_count; i++) {
		uint32_t from = a->earliest[i], to = a->latest[i] + 1;

		if (is_single(&a->calls[i]) && from + 1 == to) {
			a->task_call[from] = i;
			continue;
		}
		/* A call that launches several tasks may reach up to the next call's place. */
		if (a->calls[i].most > 1)
			to = i + 1 < a->call_count ? a->latest[i + 1] : a->task_count;
		for (uint32_t k = from > unsure_to ? from : unsure_to; k < to; k++) {
			if (a->task_call[k] == ALIGN_NONE)
				a->task_call[k] = ALIGN_UNSURE;
		}
		unsure_to = to > unsure_to ? to : unsure_to;
	}
}

static void place_tasks(struct alignment *a)
{
	for (uint32_t i = 0; i < a->task_count; i++)
		a->task_call[i] = a->earliest[i] == a->latest[i] ? a->earliest[i] : ALIGN_UNSURE;
}

static bool all_fit_in_order(struct alignment *a)
{
	for (uint32_t i = 0; i < a->call_count; i++) {
		a->earliest[i] = a->latest[i] = a->task_call[i] = i;
		if (!can(a, i, i))
			return false;
	}
	a->ranges = true;
	return true;
}

/*
 * A division of all tasks among the calls: boundary i is the index of the first task after those of the first i calls;
 * it lies from low[i] to high[i].
 */
struct division {
	struct alignment *a;
	uint32_t *low, *high;
	uint32_t *least, *most; /* number of tasks, by call */
	bool changed;
};

static void raise(struct division *division, uint32_t *value, uint64_t least)
{
	if (least <= *value)
		return;
	*value = least > UINT32_MAX ? UINT32_MAX : (uint32_t)least;
	division->changed = true;
}

static void lower(struct division *division, uint32_t *value, int64_t most)
{
	if (most >= (int64_t)*value)
		return;
	*value = most < 0 ? 0 : (uint32_t)most;
	division->changed = true;
}

/* Narrows the boundaries from the first call to the last: where the first i calls can end. */
static bool narrow_forward(struct division *division)
{
	const struct alignment *a = division->a;
	uint32_t *low = division->low, *high = division->high;

	for (uint32_t i = 1; i <= a->call_count; i++) {
		uint32_t call = i - 1;

		raise(division, &low[i], (uint64_t)low[i - 1] + division->least[call]);
		lower(division, &high[i], (int64_t)high[i - 1] + division->most[call]);
		while (division->least[call] && low[i] <= high[i] && !can(a, call, low[i] - 1))
			raise(division, &low[i], (uint64_t)low[i] + 1);
		while (division->least[call] && high[i] >= low[i] && !can(a, call, high[i] - 1))
			lower(division, &high[i], (int64_t)high[i] - 1);
		if (low[i] > high[i])
			return false;
	}
	return true;
}

static bool narrow_backward(struct division *division)
{
	const struct alignment *a = division->a;
	uint32_t *low = division->low, *high = division->high;

	for (uint32_t i = a->call_count; i-- > 0;) {
		int64_t most = (int64_t)high[i + 1] - division->least[i];

		if (most < 0)
			return false;
		lower(division, &high[i], most);
		if (low[i + 1] > division->most[i])
			raise(division, &low[i], low[i + 1] - division->most[i]);
		while (division->least[i] && high[i] > low[i] && !can(a, i, high[i]))
			lower(division, &high[i], (int64_t)high[i] - 1);
		while (division->least[i] && low[i] <= high[i] && !can(a, i, low[i]))
			raise(division, &low[i], (uint64_t)low[i] + 1);
		if (low[i] > high[i])
			return false;
	}
	return true;
}

/* Calls of one group launch equally many tasks, and the total is the number of tasks. */
static bool narrow_group(struct division *division, uint32_t group)
{
	const struct alignment *a = division->a;
	uint64_t least = 0, most = UINT32_MAX, others_least = 0, others_most = 0, count = 0;

	for (uint32_t i = 0; i < a->call_count; i++) {
		if (a->calls[i].group != group) {
			others_least += division->least[i];
			others_most += division->most[i];
			continue;
		}
		count++;
		if (division->least[i] > least)
			least = division->least[i];
		if (division->most[i] < most)
			most = division->most[i];
		if (division->low[i + 1] > division->high[i] &&
		    division->low[i + 1] - division->high[i] > least)
			least = division->low[i + 1] - division->high[i];
		if (division->high[i + 1] - division->low[i] < most)
			most = division->high[i + 1] - division->low[i];
	}
	if (others_least > a->task_count || !count)
		return false;
	if ((a->task_count - others_least) / count < most)
		most = (a->task_count - others_least) / count;
	if (others_most < a->task_count && (a->task_count - others_most + count - 1) / count > least)
		least = (a->task_count - others_most + count - 1) / count;
	if (least > most)
		return false;
	for (uint32_t i = 0; i < a->call_count; i++) {
		if (a->calls[i].group != group)
			continue;
		raise(division, &division->least[i], least);
		lower(division, &division->most[i], (int64_t)most);
	}
	return true;
}

static uint32_t group_count(const struct alignment *a)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < a->call_count; i++) {
		if (a->calls[i].group != ALIGN_NONE && a->calls[i].group >= count)
			count = a->calls[i].group + 1;
	}
	return count;
}

static bool narrow(struct division *division)
{
	const struct alignment *a = division->a;
	uint32_t groups = group_count(a);

	for (uint32_t i = 0; i <= a->call_count; i++) {
		division->low[i] = i < a->call_count ? 0 : a->task_count;
		division->high[i] = i ? a->task_count : 0;
		if (i == a->call_count)
			break;
		division->least[i] = a->calls[i].least;
		division->most[i] = a->calls[i].most;
	}
	for (int round = 0; round < ROUNDS_MAX; round++) {
		division->changed = false;
		if (!narrow_forward(division) || !narrow_backward(division))
			return false;
		for (uint32_t group = 0; group < groups; group++) {
			if (!narrow_group(division, group))
				return false;
		}
		if (!division->changed)
			break;
	}
	return true;
}

/* Assigns the tasks that lie between two calls' boundaries for any position of these. */
static void place_parts(const struct division *division)
{
	struct alignment *a = division->a;

	for (uint32_t i = 0; i < a->task_count; i++)
		a->task_call[i] = ALIGN_UNSURE;
	for (uint32_t i = 0; i < a->call_count; i++) {
		for (uint32_t k = division->high[i]; k < division->low[i + 1]; k++)
			a->task_call[k] = i;
	}
}

static bool divide(struct alignment *a)
{
	struct division division = { .a = a };
	uint32_t *room = calloc(4 * ((size_t)a->call_count + 1), sizeof(*room));
	bool ok = false;

	if (room) {
		division.low = room;
		division.high = division.low + a->call_count + 1;
		division.least = division.high + a->call_count + 1;
		division.most = division.least + a->call_count + 1;
		ok = narrow(&division);
	}
	if (ok)
		place_parts(&division);
	free(room);
	return ok;
}

static bool any_launches_several(const struct alignment *a)
{
	for (uint32_t i = 0; i < a->call_count; i++) {
		if (!is_single(&a->calls[i]))
			return true;
	}
	return false;
}

bool launch_align(struct alignment *a)
{
	bool several = any_launches_several(a);

	a->ranges = a->tasks_short = false;
	if (!a->call_count || !a->task_count)
		return false;
	if (a->call_count == a->task_count)
		return all_fit_in_order(a);
	if (several && !a->calls_lost && !a->tasks_lost && a->whole)
		return divide(a);
	a->tasks_short = a->task_count < a->call_count;
	/* The longer side must contain all elements, and there must be a reason for its additional ones. */
	if (a->tasks_short ? a->calls_lost || !a->whole || several
			   : a->tasks_lost || (a->whole && !a->calls_lost))
		return false;
	if (!embed(a))
		return false;
	if (a->tasks_short)
		place_tasks(a);
	else
		place_calls(a);
	return true;
}

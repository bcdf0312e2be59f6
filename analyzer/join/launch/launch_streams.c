/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/launch/launch_streams.h"

#include <errno.h>
#include <stdlib.h>

#define STREAMS_MAX 4096 /* on one side; each is compared with each */
#define LOST_STREAMS_MAX 64 /* the same for streams with different numbers of calls and tasks */

/* Can each call have launched its task? */
static int fits(const struct order *order, const struct group *task, const struct group *call,
		bool *fit)
{
	struct launch_pair pair;
	int err;

	*fit = false;
	if (task->paired || call->paired ||
	    order->tasks.items[task->first].process != order->calls.items[call->first].process ||
	    (order->equal_only && call->end - call->first != task->end - task->first) ||
	    !order_one_device(order, task))
		return 0;
	err = order_make_pair(order, task, call, &pair);
	if (!err)
		*fit = launch_align(&pair.alignment);
	return err;
}

/* Groups that may be the same stream: one row for each group of tasks, one column for each group of calls. */
struct table {
	struct side *tasks, *calls;
	uint8_t *fits;
};

static uint8_t *cell(const struct table *table, uint32_t task, uint32_t call)
{
	return &table->fits[(size_t)task * table->calls->group_count + call];
}

static int fill_table(const struct order *order, const struct table *table)
{
	for (uint32_t i = 0; i < table->tasks->group_count; i++) {
		for (uint32_t k = 0; k < table->calls->group_count; k++) {
			struct group *task = &table->tasks->groups[i];
			struct group *call = &table->calls->groups[k];
			bool fit;
			int err = fits(order, task, call, &fit);

			if (err)
				return err;
			*cell(table, i, k) = fit;
			task->fits += fit;
			call->fits += fit;
			task->ever_fit |= fit;
		}
	}
	return 0;
}

static void take(const struct table *table, uint32_t task, uint32_t call)
{
	for (uint32_t k = 0; k < table->calls->group_count; k++) {
		table->calls->groups[k].fits -= *cell(table, task, k);
		*cell(table, task, k) = 0;
	}
	for (uint32_t i = 0; i < table->tasks->group_count; i++) {
		table->tasks->groups[i].fits -= *cell(table, i, call);
		*cell(table, i, call) = 0;
	}
	table->tasks->groups[task].other = call;
	table->tasks->groups[task].settled = table->calls->groups[call].settled = true;
}

/* Settles groups with a single remaining counterpart, and excludes that counterpart for all other groups. */
static void settle(const struct table *table)
{
	bool settled = true;

	for (uint32_t round = 0; settled && round < LOST_STREAMS_MAX; round++) {
		settled = false;
		for (uint32_t i = 0; i < table->tasks->group_count; i++) {
			for (uint32_t k = 0; k < table->calls->group_count; k++) {
				if (!*cell(table, i, k) ||
				    (table->tasks->groups[i].fits > 1 &&
				     table->calls->groups[k].fits > 1))
					continue;
				take(table, i, k);
				settled = true;
			}
		}
	}
}

/* If one stream of a process has no counterpart, or several, the match of another stream may be a coincidence. */
static bool all_settled(const struct side *side, uint32_t process)
{
	for (uint32_t i = 0; i < side->group_count; i++) {
		if (!side->groups[i].paired &&
		    side->items[side->groups[i].first].process == process &&
		    !side->groups[i].settled)
			return false;
	}
	return true;
}

int launch_streams_pair(struct order *order)
{
	struct table table = { .tasks = &order->tasks, .calls = &order->calls };
	uint32_t rows = order->tasks.group_count, columns = order->calls.group_count;
	int err;

	if (rows > STREAMS_MAX || columns > STREAMS_MAX)
		return 0;
	order->equal_only = rows > LOST_STREAMS_MAX || columns > LOST_STREAMS_MAX;
	table.fits = calloc((size_t)rows + 1, (size_t)columns + 1);
	if (!table.fits)
		return -ENOMEM;
	err = fill_table(order, &table);
	if (!err)
		settle(&table);
	for (uint32_t i = 0; i < rows && !err; i++) {
		struct group *task = &order->tasks.groups[i];
		uint32_t process = order->tasks.items[task->first].process;

		if (task->paired || !task->ever_fit)
			continue;
		if (all_settled(&order->tasks, process) && all_settled(&order->calls, process))
			err = order_add_pair(order, task, &order->calls.groups[task->other]);
		else
			order->ambiguous += task->end - task->first;
	}
	free(table.fits);
	return err;
}

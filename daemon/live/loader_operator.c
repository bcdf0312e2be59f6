/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/live/loader_operator.h"

#include <stdio.h>

#include "daemon/live/live_instances.h"

#define WAIT_NS 1000000 /* a pop that takes longer has slept: the queue was empty */
#define SOON_NS 2000000 /* a pop within this time after the push: the consumer was waiting */

static void stay(struct loader_operator *op, uint64_t to_ns)
{
	if (to_ns <= op->last_ns)
		return;
	op->area += (double)op->net * (double)(to_ns - op->last_ns);
	op->last_ns = to_ns;
}

void loader_operator_begin(struct loader_operator *op, uint64_t from_ns)
{
	if (op->last_ns < from_ns)
		op->last_ns = from_ns;
}

static void note_net(struct loader_operator *op)
{
	if (op->net < op->least)
		op->least = op->net;
	if (op->net > op->most)
		op->most = op->net;
}

void loader_operator_push(struct loader_operator *op, uint64_t end_ns)
{
	stay(op, end_ns);
	op->net++;
	op->pushes++;
	op->last_push_ns = end_ns;
	note_net(op);
}

void loader_operator_pop(struct loader_operator *op, uint64_t end_ns, uint64_t dur_ns, bool told)
{
	stay(op, end_ns);
	op->net--;
	op->pops++;
	op->pop_wait_ns += dur_ns;
	op->told += told;
	op->soon += told ? dur_ns >= WAIT_NS : end_ns - op->last_push_ns <= SOON_NS;
	note_net(op);
}

/* Most pops have waited, so the smallest size was 0. */
static void find_empty(struct loader_operator *op)
{
	if (op->pops && 2 * op->soon > op->pops) {
		op->empty = op->least;
		op->known = true;
	}
	if (op->least < op->empty)
		op->empty = op->least;
}

void loader_operator_show(struct loader_operator *op, uint64_t from_ns, uint64_t to_ns, int32_t id,
			  struct live_operator *row)
{
	*row = (struct live_operator){ .pid = op->pid,
				       .id = id,
				       .instance = op->instance,
				       .run_ns = op->run_ns,
				       .runnable_ns = op->runnable_ns,
				       .elements = op->elements };
	snprintf(row->name, sizeof(row->name), "%.*s", (int)sizeof(row->name) - 1, live_last_name(op->path));
	stay(op, to_ns);
	find_empty(op);
	row->has_queue = op->buffer;
	row->pushes = op->pushes;
	row->pops = op->pops;
	row->has_pop_wait = op->times_pops;
	row->pop_wait_ns = op->pop_wait_ns;
	row->has_size = op->known && op->most > op->empty && to_ns > from_ns;
	row->never_empty = !op->known && op->pops && op->told == op->pops && op->soon == 0;
	if (row->has_size) {
		row->capacity = (uint32_t)(op->most - op->empty);
		row->mean_size = op->area / (double)(to_ns - from_ns) - (double)op->empty;
		row->mean_size = row->mean_size < 0		  ? 0
				 : row->mean_size > row->capacity ? row->capacity
								  : row->mean_size;
	}
	op->run_ns = op->runnable_ns = op->elements = 0;
	op->pushes = op->pops = op->soon = op->told = op->pop_wait_ns = 0;
	op->area = 0;
	op->least = op->net;
}

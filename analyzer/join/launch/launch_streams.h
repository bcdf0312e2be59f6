/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_streams.h - which stream of the calls is which of the tasks; parts of launch_order.c.
 *
 * Where calls know a stream by a handle and tasks by the device's number, a handle's stream is the one
 * whose tasks its calls can have launched. If several can be, what is one's only one is none
 * of the others'. All streams of a process have to be settled so: else another one's may be a coincidence.
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_STREAMS_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_STREAMS_H

#include "analyzer/join/clock/clock_bounds.h"
#include "analyzer/join/launch/launch_clock.h"
#include "analyzer/model/model.h"

/* A task or a call, by what it is to be joined on. */
struct item {
	uint32_t process;
	uint32_t row;
	uint64_t stream;
	uint64_t ts_ns; /* task: when it was queued or started; call: start */
};

/* The items of one stream: [first, end) of tasks or of calls. */
struct group {
	uint32_t first;
	uint32_t end;
	uint32_t fits; /* groups of the other side that it may be the same stream as */
	uint32_t other; /* that which it is, if settled */
	bool settled;
	bool ever_fit;
	bool paired; /* by the number of the stream */
};

struct side {
	struct item *items;
	uint32_t count;
	struct group *groups;
	uint32_t group_count;
};

struct order {
	struct model *model;
	bool first; /* devices of which nothing is known, before the clock join */
	struct side tasks, calls;
	struct align_task *align_tasks; /* of tasks.items */
	struct align_call *align_calls;
	uint32_t *task_call; /* what launch_align() fills in, by task */
	uint32_t *earliest, *latest; /* the same, of all pairs one after the other */
	uint32_t used; /* of these two */
	struct launch_pair *pairs;
	uint32_t pair_count;
	struct sync_calls syncs;
	bool *unknown; /* by device: it is one of those of launch_order_join_first() */
	bool calls_lost, tasks_lost;
	bool equal_only; /* there are too many streams to try those of which records were lost */
	uint64_t joined, ambiguous;
};

/* Are the tasks of one device? Those of several tell no order. */
bool order_one_device(const struct order *order, const struct group *task);

/* A pair, in room that the next one takes, too. Returns 0 or -ENOMEM. */
int order_make_pair(const struct order *order, const struct group *task, const struct group *call,
		    struct launch_pair *pair);

/* Add a pair to order->pairs. Returns 0 or -ENOMEM. */
int order_add_pair(struct order *order, const struct group *task, const struct group *call);

/*
 * launch_streams_pair - add the pairs of streams that are not known to both sides by one number
 *
 * Tasks of streams that may be several ones of the calls are counted as ambiguous. Work is quadratic
 * in the number of streams, above 4,096 of which it does nothing. Returns 0 or -ENOMEM.
 */
int launch_streams_pair(struct order *order);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_STREAMS_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_streams.h - matches the streams of calls with the streams of tasks; a part of launch_order.c.
 *
 * Calls may identify a stream by a handle and tasks by the device's number: then a handle's stream is the one whose
 * tasks its calls can have launched. If several are possible, a stream that is the only choice of one handle is
 * excluded for the others. All streams of a process must be settled this way; otherwise a match may be a coincidence.
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_STREAMS_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_STREAMS_H

#include "analyzer/join/clock/clock_bounds.h"
#include "analyzer/join/launch/launch_clock.h"
#include "analyzer/model/model.h"

/* A task or a call, with the values by which it is joined. */
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
	uint32_t fits; /* number of groups of the other side that may be the same stream */
	uint32_t other; /* the matching group, if settled */
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
	bool first; /* handles devices about which nothing is known, before the clock join */
	struct side tasks, calls;
	struct align_task *align_tasks; /* of tasks.items */
	struct align_call *align_calls;
	uint32_t *task_call; /* result of launch_align(), by task */
	uint32_t *earliest, *latest; /* further results of it, of all pairs in succession */
	uint32_t used; /* entries of these two in use */
	struct launch_pair *pairs;
	uint32_t pair_count;
	struct sync_calls syncs;
	bool *unknown; /* by device: launch_order_join_first() handles it */
	bool calls_lost, tasks_lost;
	bool equal_only; /* there are too many streams to try streams with lost records */
	uint64_t joined, ambiguous;
};

/* Are all tasks of one device? Tasks of several devices have no common order. */
bool order_one_device(const struct order *order, const struct group *task);

/* Makes a pair in memory that the next call uses again. Returns 0 or -ENOMEM. */
int order_make_pair(const struct order *order, const struct group *task, const struct group *call,
		    struct launch_pair *pair);

/* Adds a pair to order->pairs. Returns 0 or -ENOMEM. */
int order_add_pair(struct order *order, const struct group *task, const struct group *call);

/*
 * launch_streams_pair - adds the pairs of streams that have no common number on both sides
 *
 * Tasks of streams that match several streams of the calls are counted as ambiguous. Work is quadratic in the number
 * of streams; above 4,096 streams it does nothing. Returns 0 or -ENOMEM.
 */
int launch_streams_pair(struct order *order);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_STREAMS_H */

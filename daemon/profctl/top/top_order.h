/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_order.h - which processes of a frame are listed, and in which order these and calls are.
 */
#ifndef PROFBPF_DAEMON_PROFCTL_TOP_TOP_ORDER_H
#define PROFBPF_DAEMON_PROFCTL_TOP_TOP_ORDER_H

#include "daemon/profctl/top/top_state.h"

enum top_order {
	TOP_BY_CPU,
	TOP_BY_READY,
	TOP_BY_BLOCKED,
	TOP_BY_IO,
	TOP_BY_MEMORY,
	TOP_BY_PID,
	TOP_ORDERS
};

#define TOP_FILTER 32

/* The choice and order of processes. */
struct top_choice {
	enum top_order order; /* largest first; by pid smallest first */
	bool targets_only; /* these alone */
	bool tree; /* children below their parents */
	char filter[TOP_FILTER]; /* a part of the command line or name, in any case, or a pid; "" = all */
};

struct top_row {
	const struct top_process *process;
	uint32_t depth; /* in a tree; 0 = its parent is not listed */
};

/* top_order_name - "CPU", ... */
const char *top_order_name(enum top_order order);

/* top_matches - is it in the choice's filter? */
bool top_matches(const struct top_process *process, const char *filter);

/*
 * top_order_rows - the processes that are listed
 *
 * Siblings of a tree are in the order, too. *@rows is to be freed; it is NULL without memory. Returns how many.
 */
size_t top_order_rows(const struct top_frame *frame, const struct top_choice *choice,
		      struct top_row **rows);

/* top_order_calls - a frame's calls, most first, then by name */
void top_order_calls(struct top_frame *frame);

#endif /* PROFBPF_DAEMON_PROFCTL_TOP_TOP_ORDER_H */

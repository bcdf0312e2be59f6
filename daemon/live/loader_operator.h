/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader_operator.h - one operator of a data loader: its CPU time, and the number of elements in its queue
 *
 * For live_loaders.c, whose header explains how sizes are determined.
 */
#ifndef PROFBPF_DAEMON_LIVE_LOADER_OPERATOR_H
#define PROFBPF_DAEMON_LIVE_LOADER_OPERATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/live/live_pipeline.h"

#define LOADER_PATH 256

struct loader_operator {
	uint32_t pid; /* of the trainer */
	uint32_t instance; /* of tf.data; 0 = not known */
	char path[LOADER_PATH];
	uint64_t run_ns, runnable_ns, elements;
	bool buffer;
	bool gone; /* its process has ended */
	bool times_pops; /* the duration of a pop is the wait; pops of other loaders begin after the wait */
	/* Its queue: pushes minus pops since it was first seen, and the value of that when the queue is empty. */
	int64_t net, least, empty, most;
	bool known;
	uint64_t last_ns, last_push_ns;
	double area;
	uint64_t pushes, pops, soon, pop_wait_ns;
	uint64_t told; /* pops for which it is known whether they waited */
};

/* loader_operator_begin - a frame began then */
void loader_operator_begin(struct loader_operator *op, uint64_t from_ns);

/* loader_operator_push, loader_operator_pop - called in the order of their ends; @told: @dur_ns shows whether the pop waited */
void loader_operator_push(struct loader_operator *op, uint64_t end_ns);
void loader_operator_pop(struct loader_operator *op, uint64_t end_ns, uint64_t dur_ns, bool told);

/* loader_operator_show - fills row @id with the figures of the frame, and starts a new frame */
void loader_operator_show(struct loader_operator *op, uint64_t from_ns, uint64_t to_ns, int32_t id,
			  struct live_operator *row);

#endif /* PROFBPF_DAEMON_LIVE_LOADER_OPERATOR_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_pipeline.h - operators of MindSpore's data pipelines, live: what their threads
 * used and how full their queues are.
 *
 * Which thread works for which operator is told when the session begins; each call by
 * which an operator hands a row on, or asks the one below it for one, is in the stream.
 */
#ifndef PROFBPF_DAEMON_LIVE_LIVE_PIPELINE_H
#define PROFBPF_DAEMON_LIVE_LIVE_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/trace/pbt.h"
#include "proto/trace.pb-c.h"

/* Growth within a frame. */
struct live_operator {
	uint32_t pid;
	int32_t id; /* the framework's number */
	uint64_t tree; /* which of the process's pipelines: an address; 0 = not known */
	uint32_t instance; /* of tf.data: which of the process's data sets, from 1; 0 = not known */
	char name[64];
	uint64_t run_ns, runnable_ns; /* summed over its threads */
	bool has_queue; /* the rest is known of its output queue */
	uint32_t capacity;
	bool has_size;
	double mean_size; /* elements, weighted by time */
	bool never_empty; /* size unknown, but it is known that nobody had to wait for an element */
	uint64_t elements; /* handed on; 0 where pops tell */
	uint64_t pushes, pops;
	bool has_push_wait, has_pop_wait; /* what follows is known */
	uint64_t push_wait_ns, pop_wait_ns; /* time inside pushes and pops */
	bool to_trainer; /* what waits for an element is the trainer */
};

struct live_pipeline;

/* live_pipeline_new - nothing seen yet, or NULL without memory; live_pipeline_free() accepts NULL */
struct live_pipeline *live_pipeline_new(void);
void live_pipeline_free(struct live_pipeline *pipeline);

/* live_pipeline_function - a description of a function; those of no interest are passed over */
void live_pipeline_function(struct live_pipeline *pipeline, const Profbpf__Function *function);

/* A call that has returned. */
struct live_called {
	uint32_t function, pid, tid;
	uint32_t text; /* string id of its string argument; 0 = none */
	uint32_t depth; /* probed functions of the thread around it */
	uint64_t end_ns, dur_ns;
	uint64_t args[3]; /* by the function's roles */
};

/* live_role_at - where the argument with that role is in args, -1 = nowhere */
int live_role_at(const Profbpf__Function *function, Profbpf__Function__Role role);

/* Who is told of each. */
struct top_counting {
	void (*count)(void *context, const struct live_called *call);
	void *context;
};

/* live_pipeline_roles, live_pipeline_calls - packets of these kinds; damaged ones are passed over */
void live_pipeline_roles(struct live_pipeline *pipeline, const struct pbt_packet *packet);
void live_pipeline_calls(struct live_pipeline *pipeline, const struct pbt_packet *packet,
			const struct top_counting *counting);

/* live_pipeline_ran - what a thread used since it was told last */
void live_pipeline_ran(struct live_pipeline *pipeline, uint32_t tid, uint64_t run_ns,
		      uint64_t runnable_ns);

/*
 * live_pipeline_frame - the operators by process and number, and begin anew
 *
 * The frame lasted from @from_ns to @to_ns, CLOCK_MONOTONIC. *@rows is to be freed.
 * Returns how many there are, 0 without memory.
 */
size_t live_pipeline_frame(struct live_pipeline *pipeline, uint64_t from_ns, uint64_t to_ns,
			  struct live_operator **rows);

#endif /* PROFBPF_DAEMON_LIVE_LIVE_PIPELINE_H */

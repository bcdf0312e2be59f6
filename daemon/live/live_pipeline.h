/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_pipeline.h - operators of MindSpore's data pipelines, live: the CPU time of their
 * threads and the fill of their queues.
 *
 * The roles of threads are known from the start of the session; the stream has each call
 * with which an operator passes a row on or requests one from the operator below it.
 */
#ifndef PROFBPF_DAEMON_LIVE_LIVE_PIPELINE_H
#define PROFBPF_DAEMON_LIVE_LIVE_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/trace.pb-c.h"

/* Growth within a frame. */
struct live_operator {
	uint32_t pid;
	int32_t id; /* the framework's number */
	uint64_t tree; /* which of the process's pipelines: an address; 0 = not known */
	uint32_t instance; /* of tf.data: which of the process's data sets, from 1; 0 = not known */
	char name[64];
	uint64_t run_ns, runnable_ns; /* summed over its threads */
	bool has_queue; /* the following figures of its output queue are known */
	uint32_t capacity;
	bool has_size;
	double mean_size; /* elements, weighted by time */
	bool never_empty; /* the size is unknown, but no consumer had to wait for an element */
	uint64_t elements; /* elements passed on; 0 if pops are counted */
	uint64_t pushes, pops;
	bool has_push_wait, has_pop_wait; /* the next figures are known */
	uint64_t push_wait_ns, pop_wait_ns; /* time inside pushes and pops */
	bool to_trainer; /* the consumer is the trainer */
	bool gone; /* its process has ended: this is its last row */
};

struct live_pipeline;

/* live_pipeline_new - empty; NULL without memory. live_pipeline_free() accepts NULL. */
struct live_pipeline *live_pipeline_new(void);
void live_pipeline_free(struct live_pipeline *pipeline);

/* live_pipeline_function - a description of a function; false if it is of no interest, nor are its calls */
bool live_pipeline_function(struct live_pipeline *pipeline, const Profbpf__Function *function);

/* A call that has returned. */
struct live_called {
	uint32_t function, pid, tid;
	uint32_t depth; /* probed functions of the thread around it */
	uint64_t end_ns, dur_ns;
	bool end_unknown; /* left, or only its entry was seen: its duration is 0 */
	uint64_t args[3]; /* by the function's roles */
};

/* live_role_at - where the argument with that role is in args, -1 = nowhere */
int live_role_at(const Profbpf__Function *function, Profbpf__Function__Role role);

/* live_pipeline_roles - takes a packed message ThreadRoles; a damaged one is ignored */
void live_pipeline_roles(struct live_pipeline *pipeline, const uint8_t *body, size_t size);

/* live_pipeline_call - takes a call that has returned; irrelevant calls are ignored */
void live_pipeline_call(struct live_pipeline *pipeline, const struct live_called *call);

/* live_pipeline_gone - a process has ended: it is forgotten after the next frame, which may have its last calls */
void live_pipeline_gone(struct live_pipeline *pipeline, uint32_t pid);

/* live_pipeline_ran - adds a thread's CPU time and waits for a CPU since the last call */
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

/* live_pipeline_left_out - the number of events that found no room, since the start */
uint64_t live_pipeline_left_out(const struct live_pipeline *pipeline);

#endif /* PROFBPF_DAEMON_LIVE_LIVE_PIPELINE_H */

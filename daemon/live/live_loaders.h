/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_loaders.h - data loaders of PyTorch, MegEngine and tf.data, live: the resources
 * of their operators and the number of prefetched elements.
 *
 * PyTorch and MegEngine: one operator per trainer, its worker processes. Elements that they
 * deliver are pushes, elements that the trainer takes are pops: tensors for PyTorch, batches for MegEngine.
 * tf.data: one operator per iterator, by its path and data set (live_instances.h); Prefetch iterators have a queue.
 *
 * The size of a queue is not recorded, only its changes. It is empty when the consumer waits:
 * from then on the size is known. The capacity is the largest size ever seen.
 */
#ifndef PROFBPF_DAEMON_LIVE_LIVE_LOADERS_H
#define PROFBPF_DAEMON_LIVE_LIVE_LOADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/live/live_pipeline.h"

#define LIVE_TORCH "torch workers, tensors" /* name of the operator of a trainer of PyTorch */

struct live_loaders;

/* live_loaders_new - empty; NULL without memory. live_loaders_free() accepts NULL. */
struct live_loaders *live_loaders_new(void);
void live_loaders_free(struct live_loaders *loaders);

/* live_loaders_function - a description of a function; false if it is of no interest, nor are its calls */
bool live_loaders_function(struct live_loaders *loaders, const Profbpf__Function *function);

/* live_loaders_process - adds a process with its parent and its name */
void live_loaders_process(struct live_loaders *loaders, uint32_t pid, uint32_t parent,
			 const char *name);

/* live_loaders_gone - a process has ended: it is forgotten after the next frame, which may have its last calls */
void live_loaders_gone(struct live_loaders *loaders, uint32_t pid);

/* live_loaders_call - a call that has returned; @path is its string argument, "" = none */
void live_loaders_call(struct live_loaders *loaders, const struct live_called *call,
		      const char *path);

/* live_loaders_ran - adds a thread's CPU time and waits for a CPU since the last call */
void live_loaders_ran(struct live_loaders *loaders, uint32_t pid, uint32_t tid, uint64_t run_ns,
		     uint64_t runnable_ns);

/*
 * live_loaders_frame - appends the operators to @count rows, and starts a new frame
 *
 * All calls that ended by @to_ns must have been passed; later ones belong to the next frame.
 * *@rows is reallocated; the caller owns it. Returns the new number of rows; without
 * memory the old one.
 */
size_t live_loaders_frame(struct live_loaders *loaders, uint64_t from_ns, uint64_t to_ns,
			 struct live_operator **rows, size_t count);

/* live_loaders_left_out - the number of events that found no room, since the start */
uint64_t live_loaders_left_out(const struct live_loaders *loaders);

#endif /* PROFBPF_DAEMON_LIVE_LIVE_LOADERS_H */

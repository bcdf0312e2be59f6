/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_loaders.h - data loaders of PyTorch, MegEngine and tf.data, live: what their
 * operators used and how many elements are made ahead.
 *
 * PyTorch and MegEngine: one operator per trainer, its worker processes. What they hand over
 * counts as pushed, what the trainer takes as popped: tensors of PyTorch, batches of MegEngine.
 * tf.data: one per iterator, by its path and data set (live_instances.h); those called Prefetch have a queue.
 *
 * How many elements a queue holds is not told, only how that changes. It is empty where the
 * taker waits: then sizes are known, from there on. Room is the most that was ever there.
 */
#ifndef PROFBPF_DAEMON_LIVE_LIVE_LOADERS_H
#define PROFBPF_DAEMON_LIVE_LIVE_LOADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/live/live_pipeline.h"

#define LIVE_TORCH "torch workers, tensors" /* name of the operator of a trainer of PyTorch */

struct live_loaders;

/* live_loaders_new - nothing seen yet, or NULL without memory; live_loaders_free() accepts NULL */
struct live_loaders *live_loaders_new(void);
void live_loaders_free(struct live_loaders *loaders);

/* live_loaders_function - a description of a function; false if it is of no interest, nor are its calls */
bool live_loaders_function(struct live_loaders *loaders, const Profbpf__Function *function);

/* live_loaders_process - a process that is there, its parent and what it calls itself */
void live_loaders_process(struct live_loaders *loaders, uint32_t pid, uint32_t parent,
			 const char *name);

/* live_loaders_gone - a process has ended: it is forgotten after the next frame, which may have its last calls */
void live_loaders_gone(struct live_loaders *loaders, uint32_t pid);

/* live_loaders_call - a call that has returned; @path is its string argument, "" = none */
void live_loaders_call(struct live_loaders *loaders, const struct live_called *call,
		      const char *path);

/* live_loaders_ran - what a thread used since it was told last */
void live_loaders_ran(struct live_loaders *loaders, uint32_t pid, uint32_t tid, uint64_t run_ns,
		     uint64_t runnable_ns);

/*
 * live_loaders_frame - append the operators to @count rows, and begin anew
 *
 * All that ended by @to_ns has to have been told; what ended later is left to the next frame.
 * *@rows is reallocated and stays the caller's. Returns how many there are then; without
 * memory as many as before.
 */
size_t live_loaders_frame(struct live_loaders *loaders, uint64_t from_ns, uint64_t to_ns,
			 struct live_operator **rows, size_t count);

/* live_loaders_left_out - what found no room, since the beginning */
uint64_t live_loaders_left_out(const struct live_loaders *loaders);

#endif /* PROFBPF_DAEMON_LIVE_LIVE_LOADERS_H */

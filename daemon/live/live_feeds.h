/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_feeds.h - live figures of the data pipelines of all frameworks: work of their operators, trainers' waits.
 *
 * For MindSpore, PyTorch, MegEngine and tf.data, from calls as they arrive (live_pipeline.h, live_loaders.h, live_marks.h). profctl
 * top shows them and profbpfd's metrics contain them. A trainer's wait is the time inside the calls with which trainers of
 * MindSpore and tf.data get a batch, inside PyTorch's marks around these, and for MegEngine, if sleeps are recorded, the time
 * described in live_megengine.h.
 */
#ifndef PROFBPF_DAEMON_LIVE_LIVE_FEEDS_H
#define PROFBPF_DAEMON_LIVE_LIVE_FEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/live/live_pipeline.h"

struct live_feeds;

/* How long a process waited for data within a frame. */
struct live_wait {
	uint32_t pid;
	uint64_t ns; /* of all threads that fetch */
};

/* live_feeds_new - empty; NULL without memory. live_feeds_free() accepts NULL. */
struct live_feeds *live_feeds_new(void);
void live_feeds_free(struct live_feeds *feeds);

/* live_feeds_function - takes the description of a function; irrelevant functions are ignored */
void live_feeds_function(struct live_feeds *feeds, const Profbpf__Function *function);

/* live_feeds_wants - are this function's calls of interest? */
bool live_feeds_wants(const struct live_feeds *feeds, uint32_t function);

/*
 * live_feeds_process - adds a process with its parent and its name
 * live_feeds_gone - the process has ended: it is dropped after the next frame, which may have its last calls
 */
void live_feeds_process(struct live_feeds *feeds, uint32_t pid, uint32_t parent, const char *name);
void live_feeds_gone(struct live_feeds *feeds, uint32_t pid);

/* live_feeds_roles - takes a packed message ThreadRoles; a damaged one is ignored */
void live_feeds_roles(struct live_feeds *feeds, const uint8_t *body, size_t size);

/* live_feeds_call - a call that has returned, with its string argument, "" = none */
void live_feeds_call(struct live_feeds *feeds, const struct live_called *call, const char *text);

/* live_feeds_slept - a thread went to sleep; @syscall: the system call in which, negative = in none */
void live_feeds_slept(struct live_feeds *feeds, uint32_t tid, uint64_t ts_ns, int syscall);

/* live_feeds_ran - adds a thread's CPU time and waits for a CPU since the last call */
void live_feeds_ran(struct live_feeds *feeds, uint32_t pid, uint32_t tid, uint64_t run_ns, uint64_t runnable_ns);

/*
 * live_feeds_frame - returns operators by process and number, and waits by process, and starts a new frame
 *
 * The frame lasted from @from_ns to @to_ns, CLOCK_MONOTONIC; all calls that ended by then must have been passed. The caller frees
 * *@rows and *@waits. A process with an unknown wait has no row in *@waits. Returns the number of operators and sets
 * *@wait_count; 0 without memory.
 */
size_t live_feeds_frame(struct live_feeds *feeds, uint64_t from_ns, uint64_t to_ns, struct live_operator **rows,
			struct live_wait **waits, size_t *wait_count);

/*
 * live_feeds_left_out - how many functions, processes, threads, operators and calls found no room, since the beginning
 *
 * Tables are of a fixed size. Where it is more than 0 figures are too low, or missing.
 */
uint64_t live_feeds_left_out(const struct live_feeds *feeds);

#endif /* PROFBPF_DAEMON_LIVE_LIVE_FEEDS_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_feeds.h - the data pipelines of all frameworks together, live: what their operators do, how long trainers wait.
 *
 * Of MindSpore, PyTorch, MegEngine and tf.data, from calls as they come (live_pipeline.h, live_loaders.h, live_marks.h). profctl
 * top shows it and profbpfd's metrics tell it. A trainer's wait is the time inside the calls by which MindSpore's and tf.data's
 * trainers get a batch, inside PyTorch's marks around the same, and of MegEngine's, where sleeps are told of, that of live_megengine.h.
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

/* live_feeds_new - nothing seen yet, or NULL without memory; live_feeds_free() accepts NULL */
struct live_feeds *live_feeds_new(void);
void live_feeds_free(struct live_feeds *feeds);

/* live_feeds_function - a description of a function; those of no interest are passed over */
void live_feeds_function(struct live_feeds *feeds, const Profbpf__Function *function);

/* live_feeds_wants - are this function's calls of interest? */
bool live_feeds_wants(const struct live_feeds *feeds, uint32_t function);

/*
 * live_feeds_process - a process that is there, its parent and what it calls itself
 * live_feeds_gone - it has ended: it is forgotten after the next frame, which may have its last calls
 */
void live_feeds_process(struct live_feeds *feeds, uint32_t pid, uint32_t parent, const char *name);
void live_feeds_gone(struct live_feeds *feeds, uint32_t pid);

/* live_feeds_roles - a packed message ThreadRoles; a damaged one is passed over */
void live_feeds_roles(struct live_feeds *feeds, const uint8_t *body, size_t size);

/* live_feeds_call - a call that has returned, with its string argument, "" = none */
void live_feeds_call(struct live_feeds *feeds, const struct live_called *call, const char *text);

/* live_feeds_slept - a thread went to sleep; @syscall: the system call in which, negative = in none */
void live_feeds_slept(struct live_feeds *feeds, uint32_t tid, uint64_t ts_ns, int syscall);

/* live_feeds_ran - what a thread used since it was told last */
void live_feeds_ran(struct live_feeds *feeds, uint32_t pid, uint32_t tid, uint64_t run_ns, uint64_t runnable_ns);

/*
 * live_feeds_frame - operators by process and number, and waits by process; and begin anew
 *
 * The frame lasted from @from_ns to @to_ns, CLOCK_MONOTONIC; all that ended by then has to have been told. *@rows and *@waits
 * are to be freed. Processes of which it is not known how long they waited are in no row of *@waits. Returns how
 * many operators there are and sets *@wait_count; 0 without memory.
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

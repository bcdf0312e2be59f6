/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_megengine.h - waits of MegEngine's trainers for data, live.
 *
 * By the report's rules (analyzer/frameworks/megengine.c): a fetch lasts from the first sleep on a pipe after the previous
 * batch to the end of the call that gets the batch. Without records of sleeps its length is unknown.
 */
#ifndef PROFBPF_DAEMON_LIVE_LIVE_MEGENGINE_H
#define PROFBPF_DAEMON_LIVE_LIVE_MEGENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/live/live_pipeline.h"

struct live_megengine;

/* live_megengine_new - empty; NULL without memory. live_megengine_free() accepts NULL. */
struct live_megengine *live_megengine_new(void);
void live_megengine_free(struct live_megengine *megengine);

/* live_megengine_function - a description of a function; false if it is of no interest, nor are its calls */
bool live_megengine_function(struct live_megengine *megengine, const Profbpf__Function *function);

/* live_megengine_call - a call that has returned */
void live_megengine_call(struct live_megengine *megengine, const struct live_called *call);

/* live_megengine_watches - has this thread got batches, so that its sleeps are of interest? */
bool live_megengine_watches(const struct live_megengine *megengine, uint32_t tid);

/* live_megengine_sleep - such a thread went to sleep; @syscall: the system call in which, negative = in none */
void live_megengine_sleep(struct live_megengine *megengine, uint32_t tid, uint64_t ts_ns, int syscall);

/* live_megengine_gone - a process has ended: it has no further calls */
void live_megengine_gone(struct live_megengine *megengine, uint32_t pid);

/*
 * live_megengine_frame - ends the frame at @to_ns
 * live_megengine_threads - the number of threads that have got batches
 * live_megengine_wait - the wait of one of them, from 0 on, for the batches of the last frame; returns false if it is unknown
 */
void live_megengine_frame(struct live_megengine *megengine, uint64_t to_ns);
size_t live_megengine_threads(const struct live_megengine *megengine);
bool live_megengine_wait(const struct live_megengine *megengine, size_t thread, uint32_t *pid, uint64_t *ns);

/* live_megengine_left_out - the number of events that found no room, since the start */
uint64_t live_megengine_left_out(const struct live_megengine *megengine);

#endif /* PROFBPF_DAEMON_LIVE_LIVE_MEGENGINE_H */

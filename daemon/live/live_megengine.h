/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_megengine.h - how long MegEngine's trainers wait for data, live.
 *
 * As the report tells (analyzer/frameworks/megengine.c): a fetch goes from the first sleep for a pipe after the batch
 * before to the end of the call that gets the batch. Where nobody tells of sleeps it is not known how long that is.
 */
#ifndef PROFBPF_DAEMON_LIVE_LIVE_MEGENGINE_H
#define PROFBPF_DAEMON_LIVE_LIVE_MEGENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/live/live_pipeline.h"

struct live_megengine;

/* live_megengine_new - nothing seen yet, or NULL without memory; live_megengine_free() accepts NULL */
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

/* live_megengine_gone - a process has ended: nothing more is told of it */
void live_megengine_gone(struct live_megengine *megengine, uint32_t pid);

/*
 * live_megengine_frame - what was told up to then
 * live_megengine_threads - how many threads have got batches
 * live_megengine_wait - how long one of them, from 0 on, waited for those that it got in the last frame; false if not known
 */
void live_megengine_frame(struct live_megengine *megengine, uint64_t to_ns);
size_t live_megengine_threads(const struct live_megengine *megengine);
bool live_megengine_wait(const struct live_megengine *megengine, size_t thread, uint32_t *pid, uint64_t *ns);

/* live_megengine_left_out - what found no room, since the beginning */
uint64_t live_megengine_left_out(const struct live_megengine *megengine);

#endif /* PROFBPF_DAEMON_LIVE_LIVE_MEGENGINE_H */

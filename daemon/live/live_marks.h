/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_marks.h - how long PyTorch's trainers wait for data, live.
 *
 * A trainer marks each fetch of a batch from its DataLoader by record_function(): from the call that begins the mark
 * to the one that ends it. The report counts the same marks (analyzer/frameworks/torch.c).
 */
#ifndef PROFBPF_DAEMON_LIVE_LIVE_MARKS_H
#define PROFBPF_DAEMON_LIVE_LIVE_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/live/live_pipeline.h"

/* With what the symbol begins by which marks begin, and the mark's name around a fetch. */
#define LIVE_MARK_BEGINS "_ZN5torch8autograd8profiler25record_function_enter_newE"
#define LIVE_MARK_LOADER "enumerate(DataLoader)#"

struct live_marks;

/* live_marks_new - nothing seen yet, or NULL without memory; live_marks_free() accepts NULL */
struct live_marks *live_marks_new(void);
void live_marks_free(struct live_marks *marks);

/* live_marks_function - a description of a function; false if it is of no interest, nor are its calls */
bool live_marks_function(struct live_marks *marks, const Profbpf__Function *function);

/* live_marks_call - a call that has returned; @name is its string argument, "" = none */
void live_marks_call(struct live_marks *marks, const struct live_called *call, const char *name);

/* live_marks_gone - a process has ended: nothing more is told of it */
void live_marks_gone(struct live_marks *marks, uint32_t pid);

/*
 * live_marks_threads - how many threads have marked something
 * live_marks_wait - how long one of them, from 0 on, waited in the last frame; false if that is not known
 */
size_t live_marks_threads(const struct live_marks *marks);
bool live_marks_wait(const struct live_marks *marks, size_t thread, uint32_t *pid, uint64_t *ns);

/*
 * live_marks_frame - waits of the frame, to the rows of PyTorch's loaders; and begin anew
 *
 * All that ended by @to_ns has to have been told; what ended later is left to the next frame. A fetch that goes on
 * counts up to @to_ns. Trainers of which no fetch was seen to begin get none: it is not known;
 * nor is it where an end is the first that is seen.
 */
void live_marks_frame(struct live_marks *marks, uint64_t from_ns, uint64_t to_ns,
		     struct live_operator *rows, size_t count);

/* live_marks_left_out - what found no room, since the beginning */
uint64_t live_marks_left_out(const struct live_marks *marks);

#endif /* PROFBPF_DAEMON_LIVE_LIVE_MARKS_H */

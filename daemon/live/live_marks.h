/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_marks.h - waits of PyTorch's trainers for data, live.
 *
 * A trainer marks each fetch of a batch from its DataLoader by record_function(): from the call that begins the mark
 * to the call that ends it. The report counts the same marks (analyzer/frameworks/torch.c).
 */
#ifndef PROFBPF_DAEMON_LIVE_LIVE_MARKS_H
#define PROFBPF_DAEMON_LIVE_LIVE_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/live/live_pipeline.h"

/* The prefix of the symbol that begins marks, and the name of the mark around a fetch. */
#define LIVE_MARK_BEGINS "_ZN5torch8autograd8profiler25record_function_enter_newE"
#define LIVE_MARK_LOADER "enumerate(DataLoader)#"

struct live_marks;

/* live_marks_new - empty; NULL without memory. live_marks_free() accepts NULL. */
struct live_marks *live_marks_new(void);
void live_marks_free(struct live_marks *marks);

/* live_marks_function - a description of a function; false if it is of no interest, nor are its calls */
bool live_marks_function(struct live_marks *marks, const Profbpf__Function *function);

/* live_marks_call - a call that has returned; @name is its string argument, "" = none */
void live_marks_call(struct live_marks *marks, const struct live_called *call, const char *name);

/* live_marks_gone - a process has ended: it has no further calls */
void live_marks_gone(struct live_marks *marks, uint32_t pid);

/*
 * live_marks_threads - the number of threads with marks
 * live_marks_wait - the wait of one of them, from 0 on, in the last frame; returns false if it is unknown
 */
size_t live_marks_threads(const struct live_marks *marks);
bool live_marks_wait(const struct live_marks *marks, size_t thread, uint32_t *pid, uint64_t *ns);

/*
 * live_marks_frame - adds the waits of the frame to the rows of PyTorch's loaders, and starts a new frame
 *
 * All calls that ended by @to_ns must have been passed; later ones belong to the next frame. An open fetch
 * counts up to @to_ns. The wait of a trainer is unknown if no start of a fetch was seen, or if the first
 * event is the end of a fetch.
 */
void live_marks_frame(struct live_marks *marks, uint64_t from_ns, uint64_t to_ns,
		     struct live_operator *rows, size_t count);

/* live_marks_left_out - the number of events that found no room, since the start */
uint64_t live_marks_left_out(const struct live_marks *marks);

#endif /* PROFBPF_DAEMON_LIVE_LIVE_MARKS_H */

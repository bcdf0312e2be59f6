/* SPDX-License-Identifier: Apache-2.0 */
/* python_loader.h - shared by data loaders with worker processes: Python's multiprocessing. */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_PYTHON_LOADER_H
#define PROFBPF_ANALYZER_FRAMEWORKS_PYTHON_LOADER_H

#include "analyzer/frameworks/pipeline_model.h"

#define LOADER_WORKERS_MAX 256 /* worker processes of one trainer that are analysed */

/* loader_waits - is this a sleep of a reader of a multiprocessing queue, which is a pipe? */
bool loader_waits(const struct span *span);

/*
 * loader_parent - index of the process that started a process, or INDEX_NONE
 *
 * Of several processes that had the parent's pid it is the latest that had started by then. Unlike model_parent() it needs
 * no main thread of the parent, and takes the first of them if all started later: that may be when they were first seen.
 */
uint32_t loader_parent(const struct model *model, uint32_t process);

/* loader_concurrent - the most threads of an operator that lived at once, without descendants */
uint32_t loader_concurrent(const struct model *model, const struct pipeline *pipeline, uint32_t op);

/*
 * loader_works - adds the time between a worker thread's waits for orders as works
 *
 * A worker reads its queue until the trainer writes to it; all other time of its thread is work, whether it runs, is
 * ready, or sleeps until another thread wakes it. @first_made_ns and @last_made_ns: when the process completed its
 * first and last batch; UINT64_MAX and 0 if unknown. A new process starts up until it calls itself a worker, or else
 * until its first wait or batch; after its last batch it ends. Needs timelines; without them adds no works. Returns 0
 * or -ENOMEM.
 */
int loader_works(const struct model *model, struct pipeline *pipeline,
		 const struct pipeline_thread *worker, uint64_t first_made_ns,
		 uint64_t last_made_ns);

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_PYTHON_LOADER_H */

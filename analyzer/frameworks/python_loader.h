/* SPDX-License-Identifier: Apache-2.0 */
/* python_loader.h - what data loaders with worker processes have in common: Python's multiprocessing. */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_PYTHON_LOADER_H
#define PROFBPF_ANALYZER_FRAMEWORKS_PYTHON_LOADER_H

#include "analyzer/frameworks/pipeline_model.h"

#define LOADER_WORKERS_MAX 256 /* processes of one trainer that are looked at */

/* loader_waits - is this a sleep of who reads a multiprocessing queue, which is a pipe? */
bool loader_waits(const struct span *span);

/* loader_process - index of the last life of a pid, or INDEX_NONE */
uint32_t loader_process(const struct model *model, uint32_t pid);

/*
 * loader_concurrent - most threads of an operator that lived at once, descendants left out
 *
 * Each epoch may start new workers. Quadratic in the threads of the pipeline.
 */
uint32_t loader_concurrent(const struct model *model, const struct pipeline *pipeline, uint32_t op);

/*
 * loader_works - what a worker's thread did between its waits for orders, as works
 *
 * A worker reads its queue until the trainer writes to it; everything else that its thread does is work, whether it
 * runs, is ready, or sleeps until somebody else ends it. The first batch and the last one that the process made
 * are over at @first_made_ns and @last_made_ns, UINT64_MAX and 0 if that is not known. A new process starts up until it calls itself a
 * worker, or else until its first wait or batch; after its last batch it ends. Needs timelines; without, there are no works. Returns 0 or -ENOMEM.
 */
int loader_works(const struct model *model, struct pipeline *pipeline,
		 const struct pipeline_thread *worker, uint64_t first_made_ns,
		 uint64_t last_made_ns);

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_PYTHON_LOADER_H */

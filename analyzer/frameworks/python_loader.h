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

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_PYTHON_LOADER_H */

/* SPDX-License-Identifier: Apache-2.0 */
/* worker_processes.h - finds the operator that a trainer's child processes work for, from wake-ups. */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_WORKER_PROCESSES_H
#define PROFBPF_ANALYZER_FRAMEWORKS_WORKER_PROCESSES_H

#include "analyzer/frameworks/pipeline_model.h"

/*
 * worker_processes_charge - adds the threads of such processes to pipeline->threads
 *
 * @owner has the operator of each thread of the model, INDEX_NONE for none, and is updated. Considers only the
 * trainer's children, without those of which another pipeline has threads: @pipeline_of has one such pipeline for each
 * process, INDEX_NONE for none, and @self is this pipeline. Returns false without memory.
 */
bool worker_processes_charge(const struct model *model, struct pipeline *pipeline, uint32_t *owner,
			     const uint32_t *pipeline_of, uint32_t self);

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_WORKER_PROCESSES_H */

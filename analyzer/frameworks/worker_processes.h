/* SPDX-License-Identifier: Apache-2.0 */
/* worker_processes.h - which operator a trainer's child processes work for, by who wakes whom. */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_WORKER_PROCESSES_H
#define PROFBPF_ANALYZER_FRAMEWORKS_WORKER_PROCESSES_H

#include "analyzer/frameworks/pipeline_model.h"

/*
 * worker_processes_charge - add the threads of such processes to pipeline->threads
 *
 * @owner has the operator of each thread of the model, INDEX_NONE for none, and is
 * kept up to date. Only children of the trainer are looked at, but for those of which another pipeline has threads:
 * @pipeline_of has one of them for each process, INDEX_NONE for none, and @self is this one. False without memory.
 */
bool worker_processes_charge(const struct model *model, struct pipeline *pipeline, uint32_t *owner,
			     const uint32_t *pipeline_of, uint32_t self);

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_WORKER_PROCESSES_H */

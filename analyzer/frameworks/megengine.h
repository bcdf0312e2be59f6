/* SPDX-License-Identifier: Apache-2.0 */
/* megengine.h - shared by the files of the plug-in for MegEngine's DataLoader. */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_MEGENGINE_H
#define PROFBPF_ANALYZER_FRAMEWORKS_MEGENGINE_H

#include "analyzer/frameworks/pipeline_model.h"

enum megengine_call { MEGENGINE_NONE = 0, MEGENGINE_SEAL, MEGENGINE_CONTAINS, MEGENGINE_GET };

/* A loader of a training process, and its pipeline. */
struct megengine_loader {
	uint32_t process;
	uint32_t pipeline; /* index into pipelines->list */
};

struct megengine {
	struct model *model;
	struct pipelines *pipelines;
	uint8_t *what; /* enum megengine_call by function */
	uint32_t *loader_of; /* index into loaders by call; INDEX_NONE = no loader, or unknown loader */
	uint32_t *contains; /* by thread: the call that waits for its Get(), or INDEX_NONE */
	uint64_t *fetched_ns; /* by thread: end of its last fetch from any loader; 0 = none yet */
	MODEL_ARRAY(struct megengine_loader) loaders;
};

/*
 * megengine_loaders_find - identifies loaders; fills loaders, and loader_of for the workers' pushes and the trainer's
 * fetches. The caller makes their pipelines.
 *
 * megengine_loaders.c describes the method. Returns 0 or -ENOMEM.
 */
int megengine_loaders_find(struct megengine *megengine);

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_MEGENGINE_H */

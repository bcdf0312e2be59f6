/* SPDX-License-Identifier: Apache-2.0 */
/* megengine.h - what the files of the plug-in for MegEngine's DataLoader share. */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_MEGENGINE_H
#define PROFBPF_ANALYZER_FRAMEWORKS_MEGENGINE_H

#include "analyzer/frameworks/pipeline_model.h"

enum megengine_call { MEGENGINE_NONE = 0, MEGENGINE_SEAL, MEGENGINE_CONTAINS, MEGENGINE_GET };

/* A loader of a process that trains, and its pipeline. */
struct megengine_loader {
	uint32_t process;
	uint32_t pipeline; /* index into pipelines->list */
};

struct megengine {
	struct model *model;
	struct pipelines *pipelines;
	uint8_t *what; /* enum megengine_call by function */
	uint32_t *loader_of; /* index into loaders by call; INDEX_NONE = of none, or not known of which */
	uint32_t *contains; /* call of each thread that waits for its Get(), or INDEX_NONE */
	uint64_t *fetched_ns; /* when each thread got its last batch, of whichever loader; 0 = none yet */
	MODEL_ARRAY(struct megengine_loader) loaders;
};

/*
 * megengine_loaders_find - tell loaders apart; fills loaders, and loader_of for batches that workers hand over and
 * the trainer asks for. Their pipelines are left to the caller.
 *
 * How they are told apart: megengine_loaders.c. Returns 0 or -ENOMEM.
 */
int megengine_loaders_find(struct megengine *megengine);

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_MEGENGINE_H */

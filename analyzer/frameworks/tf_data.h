/* SPDX-License-Identifier: Apache-2.0 */
/* tf_data.h - what the files of the plug-in for tf.data share. */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_TF_DATA_H
#define PROFBPF_ANALYZER_FRAMEWORKS_TF_DATA_H

#include "analyzer/frameworks/pipeline_model.h"
#include "lib/base/map.h"

#define TF_PATH_START "Iterator::"
#define TF_DEPTH_MAX 64 /* of iterators in each other */

enum tf_call { TF_NONE = 0, TF_GET_NEXT, TF_FETCH, TF_SET };

/* A data set that a process iterates over, once or epoch by epoch, and its pipeline. */
struct tf_loader {
	uint32_t process;
	uint32_t pipeline; /* index into pipelines->list */
	struct map operators; /* string id of a path -> operator */
	MODEL_ARRAY(uint32_t) queues; /* of each operator: its buffer, INDEX_NONE = none */
};

/* An operator of a loader; both INDEX_NONE = none. */
struct tf_place {
	uint32_t loader; /* index into loaders */
	uint32_t op;
};

#define TF_NOWHERE ((struct tf_place){ INDEX_NONE, INDEX_NONE })

struct tf_data {
	struct model *model;
	struct pipelines *pipelines;
	uint8_t *what; /* enum tf_call by function */
	uint32_t *loader_of; /* index into loaders by call; INDEX_NONE of those that are no iterator's */
	struct tf_place *works_for; /* by thread */
	bool *asks; /* the thread asks iterators for elements */
	MODEL_ARRAY(struct tf_loader) loaders;
};

/* tf_pipeline - a loader's */
struct pipeline *tf_pipeline(const struct tf_data *tf, const struct tf_loader *loader);

/* tf_operator - the operator with this path (string id) in a loader, or INDEX_NONE */
uint32_t tf_operator(const struct tf_loader *loader, uint32_t path);

/*
 * tf_plain_path - the path without numbers of turns, and without the name of who fills a cache
 *
 * To be freed; NULL without memory.
 */
char *tf_plain_path(const char *path);

/* tf_encloses - is the call @inner within @outer, on the same thread? */
bool tf_encloses(const struct call *outer, const struct call *inner);

/* tf_asynchronous - does it only wait in GetNext() for what other threads make? */
bool tf_asynchronous(const struct model *model, const struct pipeline *pipeline, uint32_t op);

/*
 * tf_loaders_find - tell data sets apart; fills loaders, with a pipeline each, and loader_of
 *
 * How they are told apart: tf_loaders.c. Returns 0 or -ENOMEM.
 */
int tf_loaders_find(struct tf_data *tf);

/*
 * tf_pool_works - what threads of TensorFlow's pools did for operators, as works
 *
 * In place of the waits for them in GetNext(). Needs timelines; nothing is changed without.
 * Returns 0 or -ENOMEM.
 */
int tf_pool_works(struct tf_data *tf);

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_TF_DATA_H */

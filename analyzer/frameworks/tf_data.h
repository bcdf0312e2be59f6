/* SPDX-License-Identifier: Apache-2.0 */
/* tf_data.h - shared by the files of the plug-in for tf.data. */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_TF_DATA_H
#define PROFBPF_ANALYZER_FRAMEWORKS_TF_DATA_H

#include "analyzer/frameworks/pipeline_model.h"
#include "lib/base/map.h"

#define TF_PATH_START "Iterator::"
#define TF_DEPTH_MAX 64 /* nested iterators */

enum tf_call { TF_NONE = 0, TF_GET_NEXT, TF_FETCH, TF_SET };

/* A data set that a process iterates over, one or more times, and its pipeline. */
struct tf_loader {
	uint32_t process;
	uint32_t pipeline; /* index into pipelines->list */
	struct map operators; /* string id of a path -> operator */
	MODEL_ARRAY(uint32_t) queues; /* by operator: its buffer, INDEX_NONE = none */
};

/* An operator of a loader; both INDEX_NONE = no operator. */
struct tf_place {
	uint32_t loader; /* index into loaders */
	uint32_t op;
};

#define TF_NOWHERE ((struct tf_place){ INDEX_NONE, INDEX_NONE })

struct tf_data {
	struct model *model;
	struct pipelines *pipelines;
	uint8_t *what; /* enum tf_call by function */
	uint32_t *loader_of; /* index into loaders by call; INDEX_NONE = not a call of an iterator */
	struct tf_place *works_for; /* by thread */
	bool *asks; /* by thread: it fetches elements from iterators */
	MODEL_ARRAY(struct tf_loader) loaders;
};

/* tf_pipeline - the pipeline of a loader */
struct pipeline *tf_pipeline(const struct tf_data *tf, const struct tf_loader *loader);

/* tf_operator - the operator with this path (string id) in a loader, or INDEX_NONE */
uint32_t tf_operator(const struct tf_loader *loader, uint32_t path);

/*
 * tf_plain_path - the path without iteration numbers, and without the name of the iterator that fills a cache
 *
 * The caller frees it; NULL without memory.
 */
char *tf_plain_path(const char *path);

/* tf_encloses - is the call @inner within @outer, on the same thread? */
bool tf_encloses(const struct call *outer, const struct call *inner);

/* tf_asynchronous - does the operator's GetNext() only wait for elements that other threads make? */
bool tf_asynchronous(const struct model *model, const struct pipeline *pipeline, uint32_t op);

/*
 * tf_loaders_find - identifies data sets; fills loaders, with a pipeline each, and loader_of
 *
 * tf_loaders.c describes the method. Returns 0 or -ENOMEM.
 */
int tf_loaders_find(struct tf_data *tf);

/*
 * tf_pool_works - adds the time of TensorFlow's pool threads for operators as works
 *
 * They replace the waits for these threads in GetNext(). Needs timelines; without them it changes nothing. Returns 0
 * or -ENOMEM.
 */
int tf_pool_works(struct tf_data *tf);

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_TF_DATA_H */

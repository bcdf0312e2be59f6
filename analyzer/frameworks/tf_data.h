/* SPDX-License-Identifier: Apache-2.0 */
/* tf_data.h - what the files of the plug-in for tf.data share. */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_TF_DATA_H
#define PROFBPF_ANALYZER_FRAMEWORKS_TF_DATA_H

#include "analyzer/frameworks/pipeline_model.h"
#include "lib/base/map.h"

enum tf_call { TF_NONE = 0, TF_GET_NEXT, TF_FETCH };

/* One process: its pipelines share a tree, because paths are all that tells them apart. */
struct tf_trainer {
	uint32_t process;
	uint32_t pipeline;
	struct map operators; /* string id of a path -> operator */
	MODEL_ARRAY(uint32_t) queues; /* of each operator: its buffer, INDEX_NONE = none */
};

struct tf_data {
	struct model *model;
	struct pipelines *pipelines;
	uint8_t *what; /* enum tf_call by function */
	uint32_t *thread_op; /* operator that a thread works for; INDEX_NONE = none */
	bool *asks; /* the thread asks iterators for elements */
	MODEL_ARRAY(struct tf_trainer) trainers;
};

/* tf_pipeline - a trainer's */
struct pipeline *tf_pipeline(const struct tf_data *tf, const struct tf_trainer *trainer);

/* tf_operator - the operator with this path (string id) in a pipeline, or INDEX_NONE */
uint32_t tf_operator(const struct tf_trainer *trainer, uint32_t path);

/* tf_asynchronous - does it only wait in GetNext() for what other threads make? */
bool tf_asynchronous(const struct model *model, const struct pipeline *pipeline, uint32_t op);

/*
 * tf_pool_works - what threads of TensorFlow's pools did for operators, as works
 *
 * In place of the waits for them in GetNext(). Needs timelines; nothing is changed without.
 * Returns 0 or -ENOMEM.
 */
int tf_pool_works(struct tf_data *tf);

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_TF_DATA_H */

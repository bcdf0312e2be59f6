/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/frameworks/framework.h"
#include "analyzer/frameworks/worker_processes.h"

static const struct framework *const FRAMEWORKS[] = {
	&FRAMEWORK_MINDDATA,
	&FRAMEWORK_MINDDATA_FILES,
	&FRAMEWORK_TORCH,
	&FRAMEWORK_TF_DATA,
	&FRAMEWORK_MEGENGINE,
	&FRAMEWORK_FEEDERS, /* last: it handles the remaining processes */
};

#define FRAMEWORK_COUNT (sizeof(FRAMEWORKS) / sizeof(FRAMEWORKS[0]))
#define PATTERN_MAX 256

/*
 * Adds the threads and processes that an operator's threads created to the
 * operator. A thread's creator has a smaller start time, so a few rounds over
 * all threads find every generation; the bound is for traces that violate this.
 */
#define GENERATIONS_MAX 16

static bool charge_created(const struct model *model, struct pipeline *pipeline, uint32_t *owner)
{
	bool found = true;

	for (int round = 0; round < GENERATIONS_MAX && found; round++) {
		found = false;
		for (uint32_t i = 0; i < model->threads.count; i++) {
			uint32_t parent = model->threads.row[i].parent;
			struct pipeline_thread row = { .thread = i,
						       .role = PIPELINE_HELPER,
						       .descendant = true };

			if (owner[i] != INDEX_NONE || parent >= model->threads.count ||
			    owner[parent] == INDEX_NONE)
				continue;
			owner[i] = owner[parent];
			row.op = owner[i];
			if (model->threads.row[i].process != model->threads.row[parent].process)
				row.role = PIPELINE_WORKER_PROCESS;
			if (!MODEL_PUSH(&pipeline->threads, row))
				return false;
			found = true;
		}
	}
	return true;
}

/* Returns, by process, a pipeline that contains threads of it according to its framework. */
static uint32_t *find_pipelines(const struct model *model, const struct pipelines *pipelines)
{
	uint32_t *found = indices_none(model->processes.count);

	for (uint32_t i = 0; found && i < pipelines->list.count; i++) {
		const struct pipeline *pipeline = &pipelines->list.row[i];

		for (uint32_t k = 0; k < pipeline->threads.count; k++)
			found[model->threads.row[pipeline->threads.row[k].thread].process] = i;
	}
	return found;
}

static bool charge_descendants(const struct model *model, struct pipelines *pipelines,
			       const uint32_t *pipeline_of, uint32_t self)
{
	struct pipeline *pipeline = &pipelines->list.row[self];
	uint32_t *owner = pipeline_owners(model, pipeline);
	bool memory;

	if (!owner)
		return false;
	memory = charge_created(model, pipeline, owner) &&
		 worker_processes_charge(model, pipeline, owner, pipeline_of, self);
	free(owner);
	return memory;
}

int frameworks_build(struct model *model, struct pipelines *pipelines)
{
	uint32_t *pipeline_of;
	bool memory;

	*pipelines = (struct pipelines){ 0 };
	for (size_t i = 0; i < FRAMEWORK_COUNT; i++) {
		int err = FRAMEWORKS[i]->build(model, pipelines);

		if (err)
			return err;
	}
	pipeline_of = find_pipelines(model, pipelines);
	memory = pipeline_of;
	for (uint32_t i = 0; i < pipelines->list.count && memory; i++)
		memory = charge_descendants(model, pipelines, pipeline_of, i);
	free(pipeline_of);
	return memory ? 0 : -ENOMEM;
}

uint8_t *framework_classify(const struct model *model, const char *runtime,
			    const struct framework_function *functions, size_t count, bool *any)
{
	uint8_t *what = calloc((size_t)model->functions.count + 1, sizeof(*what));
	char pattern[PATTERN_MAX];

	*any = false;
	for (uint32_t i = 0; what && i < model->functions.count; i++) {
		const struct function *function = &model->functions.row[i];

		if (runtime && strcmp(model_text(model, function->runtime), runtime) != 0)
			continue;
		for (size_t f = 0; f < count; f++) {
			snprintf(pattern, sizeof(pattern), "%s*", functions[f].symbol);
			if (fnmatch(pattern, model_text(model, function->symbol), 0) == 0)
				what[i] = functions[f].what;
		}
		*any |= what[i] != 0;
	}
	return what;
}

bool framework_argument(const struct model *model, const struct call *call,
			Profbpf__Function__Role role, uint64_t *value)
{
	const struct function *function = &model->functions.row[call->function];

	for (size_t i = 0; i < sizeof(call->args) / sizeof(call->args[0]); i++) {
		if (function->roles[i] == role) {
			*value = call->args[i];
			return true;
		}
	}
	return false;
}

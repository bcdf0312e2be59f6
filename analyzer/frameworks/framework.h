/* SPDX-License-Identifier: Apache-2.0 */
/*
 * framework.h - plug-ins that know how a framework feeds a training process.
 *
 * A framework is a catalog file (which functions are probed, what their arguments
 * mean) and a function that makes pipelines (pipeline_model.h) of what was recorded. It
 * is added by a line in FRAMEWORKS of frameworks.c; CONTRIBUTING.md shows how.
 */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_FRAMEWORK_H
#define PROFBPF_ANALYZER_FRAMEWORKS_FRAMEWORK_H

#include "analyzer/frameworks/pipeline_model.h"
#include "analyzer/model/model.h"

struct framework {
	const char *name; /* as in reports: "MindData" */

	/*
	 * Add the pipelines of this framework, one per trainer process and data set,
	 * to @pipelines; none if the trace has nothing of it. The model is loaded,
	 * indexed and has timelines; only its strings may be changed. To be linear in
	 * the rows. Returns 0 or -ENOMEM.
	 */
	int (*build)(struct model *model, struct pipelines *pipelines);
};

extern const struct framework FRAMEWORK_MINDDATA;
extern const struct framework FRAMEWORK_MINDDATA_FILES;
extern const struct framework FRAMEWORK_TORCH;
extern const struct framework FRAMEWORK_TF_DATA;
extern const struct framework FRAMEWORK_MEGENGINE;
extern const struct framework FRAMEWORK_FEEDERS; /* processes that no other one knows */

/*
 * frameworks_build - let every framework look for its pipelines
 *
 * Afterwards threads and processes that an operator's threads created are charged
 * to that operator, too, as descendants. Returns 0 or -ENOMEM; in both cases
 * pipelines_free() is to be called.
 */
int frameworks_build(struct model *model, struct pipelines *pipelines);

/* What a plug-in makes of a function: matched by the beginning of the symbol. */
struct framework_function {
	const char *symbol; /* prefix; a * in it stands for anything */
	uint8_t what; /* the plug-in's own number, not 0 */
};

/*
 * framework_classify - what each row of model->functions is to a plug-in
 *
 * The last matching line wins; 0 for those that match none. @runtime limits it to
 * functions of that catalog, NULL does not. *@any tells whether one matched.
 * Returns an array of model->functions.count entries to be freed, NULL without memory.
 */
uint8_t *framework_classify(const struct model *model, const char *runtime,
			    const struct framework_function *functions, size_t count, bool *any);

/*
 * framework_argument - the value of a call's argument with this role
 *
 * False if the function's catalog line names none.
 */
bool framework_argument(const struct model *model, const struct call *call,
			Profbpf__Function__Role role, uint64_t *value);

/* framework_value - the same, 0 if there is none */
static inline uint64_t framework_value(const struct model *model, const struct call *call,
				       Profbpf__Function__Role role)
{
	uint64_t value = 0;

	framework_argument(model, call, role, &value);
	return value;
}

/* framework_process - the process of the thread that called */
static inline uint32_t framework_process(const struct model *model, const struct call *call)
{
	return model->threads.row[call->thread].process;
}

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_FRAMEWORK_H */

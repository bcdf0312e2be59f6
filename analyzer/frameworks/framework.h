/* SPDX-License-Identifier: Apache-2.0 */
/*
 * framework.h - plug-ins that know how a framework feeds a training process.
 *
 * A framework is a catalog file (the probed functions and the meaning of their arguments) and a function that makes
 * pipelines (pipeline_model.h) from the recorded rows. To add a framework, add a line to FRAMEWORKS in frameworks.c;
 * CONTRIBUTING.md shows how.
 */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_FRAMEWORK_H
#define PROFBPF_ANALYZER_FRAMEWORKS_FRAMEWORK_H

#include "analyzer/frameworks/pipeline_model.h"
#include "analyzer/model/model.h"

struct framework {
	const char *name; /* name in reports: "MindData" */

	/*
	 * Adds the pipelines of this framework, one per trainer process and data set, to @pipelines; none if the trace
	 * has no calls of the framework. The model is loaded, indexed and has timelines; the function may change only
	 * its strings. Its time must be linear in the number of rows. Returns 0 or -ENOMEM.
	 */
	int (*build)(struct model *model, struct pipelines *pipelines);
};

extern const struct framework FRAMEWORK_MINDDATA;
extern const struct framework FRAMEWORK_MINDDATA_FILES;
extern const struct framework FRAMEWORK_TORCH;
extern const struct framework FRAMEWORK_TF_DATA;
extern const struct framework FRAMEWORK_MEGENGINE;
extern const struct framework FRAMEWORK_FEEDERS; /* processes that no other framework recognizes */

/*
 * frameworks_build - makes the pipelines of all frameworks
 *
 * Then adds threads and processes that an operator's threads created to that
 * operator, as descendants. Returns 0 or -ENOMEM; in both cases the caller calls
 * pipelines_free().
 */
int frameworks_build(struct model *model, struct pipelines *pipelines);

/* A function that a plug-in uses, identified by the beginning of its symbol. */
struct framework_function {
	const char *symbol; /* prefix; "*" in it matches any text */
	uint8_t what; /* the plug-in's own number of the kind of function, not 0 */
};

/*
 * framework_classify - maps each row of model->functions to the plug-in's number (@functions[].what)
 *
 * The last matching line wins; functions that match no line have 0. @runtime: only functions of that catalog; NULL: of
 * all catalogs. *@any: at least one function matched. Returns an array of model->functions.count entries that the
 * caller frees; NULL without memory.
 */
uint8_t *framework_classify(const struct model *model, const char *runtime,
			    const struct framework_function *functions, size_t count, bool *any);

/*
 * framework_argument - reads the value of a call's argument with this role
 *
 * Returns false if the function's catalog line has no such argument.
 */
bool framework_argument(const struct model *model, const struct call *call,
			Profbpf__Function__Role role, uint64_t *value);

/* framework_value - the same, but returns the value; 0 if there is none */
static inline uint64_t framework_value(const struct model *model, const struct call *call,
				       Profbpf__Function__Role role)
{
	uint64_t value = 0;

	framework_argument(model, call, role, &value);
	return value;
}

/* framework_process - returns the process of the calling thread */
static inline uint32_t framework_process(const struct model *model, const struct call *call)
{
	return model->threads.row[call->thread].process;
}

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_FRAMEWORK_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launched.h - launched kernels, operators and collectives by name.
 *
 * The outermost launching calls are counted (a launch that passes through several layers of a
 * runtime is one launch), under the name that launched_names.h found.
 *
 * An operator in two phases (aclnnAddGetWorkspaceSize, then aclnnAdd) is one operator, counted at
 * the second phase. The two phases are joined by the executor that the first returns and the second
 * takes:
 *   prepared     the executor was made for this call and had not run before
 *   reused       it had run before: the framework keeps executors
 *   unprepared   it was made before the recording, or its making was not seen
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_LAUNCHED_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_LAUNCHED_H

#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

struct launched_usage {
	uint32_t runtime; /* string: the runtime of the outermost call */
	uint32_t name; /* string; 0 = unknown */
	uint32_t process;
	uint8_t named; /* enum call_named: the most frequent among its calls */
	bool phases; /* has a first phase: the last five members are valid */
	uint64_t count;
	uint64_t errors;
	uint64_t returned; /* number of calls whose return was seen */
	uint64_t total_ns; /* total time of these calls */
	uint64_t prepared, reused, unprepared; /* sum up to count, if phases */
	uint64_t prepare_count; /* number of first phases */
	uint64_t prepare_ns; /* their time, where the return was seen */
};

struct launched_results {
	struct launched_usage *rows; /* most often launched first */
	uint32_t row_count;
};

/*
 * launched_analyse - fill @results; needs launched_names_join()
 *
 * Returns 0 or -ENOMEM; in both cases launched_free() is to be called.
 */
int launched_analyse(const struct model *model, const struct analysis_options *options,
		     struct launched_results *results);
void launched_free(struct launched_results *results);

/* "argument", "function", "handle", "symbol", "inner", "task", "unknown". Static text. */
const char *call_named_text(uint8_t named);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_LAUNCHED_H */

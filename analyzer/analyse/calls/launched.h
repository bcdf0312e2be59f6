/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launched.h - kernels, operators and collectives by what they are called.
 *
 * Counted are the outermost launching calls (a launch that passes through several
 * layers of a runtime is one), under the name that launched_names.h found.
 *
 * Operators in two phases (aclnnAddGetWorkspaceSize, then aclnnAdd) are one
 * operator, counted at the second phase. The executor that the first one gives
 * out and the second one takes joins them:
 *   prepared     the executor was made for this call and had not run before
 *   reused       it had run before: the framework keeps executors
 *   unprepared   it was made before the recording, or where nobody saw it
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_LAUNCHED_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_LAUNCHED_H

#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

struct launched_usage {
	uint32_t runtime; /* string: of the outermost call */
	uint32_t name; /* string; 0 = unknown */
	uint32_t process;
	uint8_t named; /* enum call_named: of most of its calls */
	bool phases; /* has a first phase: the counts below mean something */
	uint64_t count;
	uint64_t errors;
	uint64_t returned; /* of count: those that were seen to return */
	uint64_t total_ns; /* in these */
	uint64_t prepared, reused, unprepared; /* sum up to count, if phases */
	uint64_t prepare_count; /* first phases */
	uint64_t prepare_ns; /* in those that were seen to return */
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

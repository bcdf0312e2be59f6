/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - runtime API calls by function and process.
 *
 * A call belongs to the window if it starts in it, and then with its whole
 * duration. Durations are those of calls that returned; open calls are counted
 * and their time so far is kept apart. Both are model_call_ns(). Calls that were left
 * or of which only the entry was seen are counted and have no time.
 * What device files tell of the host besides is in scopes.h.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_API_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_API_H

#include <stdint.h>

#include "analyzer/analyse/durations.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

struct api_usage {
	uint32_t function; /* index into model->functions */
	uint32_t process; /* index into model->processes */
	uint64_t count; /* all calls, also open ones and short ones */
	uint64_t open; /* of these: had not returned when the recording or the thread ended */
	uint64_t open_ns; /* how long they had lasted by then */
	uint64_t left; /* of these: left by an exception, longjmp or unwinding; when is not known */
	uint64_t end_unknown; /* of these: only their entry was seen */
	uint64_t errors; /* of these: returned an error */
	uint64_t inner; /* of these: made inside another call of the same family */
	uint64_t unrecorded; /* of these: shorter than the wanted minimum; counted, not recorded */
	struct durations durations; /* of calls that returned */
};

/* All outermost calls of a runtime in a process: time is counted once. */
struct api_total {
	uint32_t family; /* string */
	uint32_t process;
	uint64_t count; /* outermost calls */
	uint64_t unknown; /* of these: left, or only their entry seen; their time is not known */
	uint64_t total_ns; /* time inside the runtime, open calls' too; sum over threads */
};

struct api_results {
	struct api_usage *rows; /* largest total time first */
	uint32_t row_count;
	struct api_total *totals; /* largest first */
	uint32_t total_count;
};

/*
 * api_analyse - fill @results
 *
 * Returns 0 or -ENOMEM; in both cases api_free() is to be called.
 */
int api_analyse(const struct model *model, const struct analysis_options *options,
		struct api_results *results);
void api_free(struct api_results *results);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_API_H */

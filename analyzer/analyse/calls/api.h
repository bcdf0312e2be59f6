/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - runtime API calls by function and process.
 *
 * A call belongs to the window if it starts in it, and then with its whole duration. Durations are
 * those of calls that returned; open calls are counted, and their time so far is kept apart. Both
 * are model_call_ns(). Calls that were left without a return, or of which only the entry was seen, are
 * counted and have no time. Host slices of device files are in scopes.h.
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
	uint64_t open; /* calls that had not returned when the recording or the thread ended */
	uint64_t open_ns; /* their time so far */
	uint64_t left; /* calls that an exception, longjmp or unwinding left; their ends are unknown */
	uint64_t end_unknown; /* calls of which only the entry was seen */
	uint64_t errors; /* calls that returned an error */
	uint64_t inner; /* calls made inside another call of the same family */
	uint64_t unrecorded; /* calls shorter than the requested minimum: counted, not recorded */
	struct durations durations; /* of calls that returned */
};

/* The outermost calls of a runtime in a process, so that time is counted once. */
struct api_total {
	uint32_t family; /* string */
	uint32_t process;
	uint64_t count; /* outermost calls */
	uint64_t unknown; /* calls that were left, or with an unseen end; their time is unknown */
	uint64_t total_ns; /* time inside the runtime, including open calls; sum over threads */
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

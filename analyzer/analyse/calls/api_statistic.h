/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_statistic.h - calls by level and name, as in msprof's table api_statistic.
 *
 * Levels are msprof's names AscendCL, Runtime, Node, Model and Communication; for other runtimes
 * the level is the runtime's name. Each call counts at its level, also inside another call. The
 * variance is the mean of the squared differences from the mean.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_API_STATISTIC_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_API_STATISTIC_H

#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

struct api_statistic_row {
	const char *level; /* text of the model, or static */
	uint32_t name; /* string */
	uint32_t
		process; /* index into model->processes; INDEX_NONE for rows summed up by a file */
	uint32_t file; /* those rows: index into model->imports; else INDEX_NONE */
	uint64_t count;
	uint64_t total_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	double variance; /* square microseconds; negative = unknown */
};

struct api_statistic_results {
	struct api_statistic_row *rows; /* largest total first */
	uint32_t count;
};

/* The level of a function's calls. Text of the model, or static. */
const char *api_level(const struct model *model, const struct function *function);

/*
 * api_statistic_analyse - fill @results
 *
 * First the calls that returned and started in the window; then the rows of files, whatever the
 * window. Returns 0 or -ENOMEM; in both cases api_statistic_free() is to be called.
 */
int api_statistic_analyse(const struct model *model, const struct analysis_options *options,
			  struct api_statistic_results *results);
void api_statistic_free(struct api_statistic_results *results);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_API_STATISTIC_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h - major page faults by process and file.
 *
 * A fault belongs to the window if it was served in it.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_FAULTS_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_FAULTS_H

#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

struct fault_usage {
	uint32_t process; /* index into model->processes */
	uint32_t file; /* string: path, 0 = no file (memory that was swapped out) or unknown */
	uint64_t count;
	uint64_t slept; /* number of these faults in which the thread slept */
	uint64_t total_ns; /* from the first sleep to the end of the fault */
	uint64_t max_ns;
};

struct fault_results {
	struct fault_usage *rows; /* longest total_ns first */
	uint32_t row_count;
};

/*
 * faults_analyse - fill @results
 *
 * Returns 0 or -ENOMEM; in both cases faults_free() is to be called.
 */
int faults_analyse(const struct model *model, const struct analysis_options *options,
		   struct fault_results *results);
void faults_free(struct fault_results *results);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_FAULTS_H */

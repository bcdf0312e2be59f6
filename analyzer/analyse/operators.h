/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operators.h - device time by task name.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_OPERATORS_H
#define PROFBPF_ANALYZER_ANALYSE_OPERATORS_H

#include <stdint.h>

#include "analyzer/analyse/options.h"
#include "analyzer/model/model.h"

struct operator_usage {
	uint32_t name; /* string of the model; 0 = the source gave none */
	uint32_t device; /* index into model->devices */
	uint8_t kind; /* Profbpf__DeviceTasks__Kind */
	uint64_t count;
	uint64_t total_ns; /* sum of durations; overlapping tasks count each */
	uint64_t min_ns;
	uint64_t max_ns;
	double percent; /* of the sum of all operators of the same device */
};

/*
 * operators_analyse - sum up timed tasks by (device, kind, name)
 *
 * A task belongs to the analysed part if it starts in it, and then with its whole
 * duration. Synchronisation tasks are left out. Rows are sorted by total time,
 * largest first. The caller frees *rows with free(). Returns 0 or -ENOMEM.
 */
int operators_analyse(const struct model *model, const struct analysis_options *options,
		      struct operator_usage **rows, uint32_t *count);

/* Name of a task kind as in reports: "kernel", "copy", ... Static text. */
const char *task_kind_name(uint8_t kind);

#endif /* PROFBPF_ANALYZER_ANALYSE_OPERATORS_H */

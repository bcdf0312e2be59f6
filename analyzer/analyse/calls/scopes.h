/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scopes.h - host slices of device files, summed up: operators, modules, functions of Python, ranges.
 *
 * A scope belongs to the window if it begins in it, and then with its whole duration. A scope inside another of the
 * same name is counted, but its time is not added again. Steps marked by the framework are left out.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_SCOPES_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_SCOPES_H

#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

struct scope_usage {
	uint32_t function; /* index into model->functions */
	uint32_t process; /* index into model->processes */
	uint64_t count;
	uint64_t total_ns;
	uint64_t self_ns; /* without nested scopes and runtime calls */
	uint64_t min_ns;
	uint64_t max_ns;
	uint32_t open; /* used by scopes.c */
};

struct scope_results {
	struct scope_usage *row; /* largest total first */
	uint32_t count;
	uint32_t capacity;
};

/* Fills @results; needs sorted calls. Returns 0 or -ENOMEM; in both cases scopes_free() is to be called. */
int scopes_analyse(const struct model *model, const struct analysis_options *options,
		   struct scope_results *results);
void scopes_free(struct scope_results *results);

/* "operator", "module", "data loader", ... Static text; NULL for SCOPE_NONE. */
const char *scope_name(uint8_t scope);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_SCOPES_H */

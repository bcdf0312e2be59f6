/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.h - differences of two recordings that exceed the differences of equal runs.
 *
 * Each recording is cut into parts of equal length. For each figure the parts of a recording give a mean
 * and its standard error, sqrt(s²/n). The noise of a change is NOISE_ERRORS standard errors of the difference of the
 * two means, sqrt(e₁² + e₂²): dozens of figures are compared, and none should be reported by chance. The noise is at
 * least NOISE_PERCENT of the figure before (for a mean duration) or NOISE_POINTS (for a share): from
 * one start of a job to the next, changes of that size have no cause.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_COMPARE_CHANGES_H
#define PROFBPF_ANALYZER_ANALYSE_COMPARE_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/compare/figures.h"

#define CHANGE_PARTS 8 /* of a recording */
#define CHANGE_PARTS_MIN 4 /* parts needed for a mean; a figure in fewer parts is not compared */
#define NOISE_ERRORS 4.5
#define NOISE_PERCENT 5.0
#define NOISE_POINTS 2.0
#define CHANGE_WEIGHT_MIN 1.0 /* percent of the time, in one of the recordings; lighter figures are left out */

struct change {
	uint8_t kind; /* enum figure_kind */
	const char *name; /* points into the figures */
	double before; /* nanoseconds or percent, by figure_is_share() */
	double after;
	double noise; /* the same unit */
	double before_part[CHANGE_PARTS]; /* values of the parts that have the figure, in order */
	double after_part[CHANGE_PARTS];
	uint8_t before_parts; /* number of these */
	uint8_t after_parts;
	double size; /* percent of before, or points: the sort key */
	bool significant; /* |after - before| > noise */
};

struct changes {
	struct change *row; /* significant ones first, then the largest */
	uint32_t count;
	uint32_t capacity;
	uint32_t significant; /* number of significant changes */
	bool steps_too_few; /* there are steps, but in too few parts of a recording to be compared */
};

/*
 * changes_find - compares @before[0 .. CHANGE_PARTS) with @after[0 .. CHANGE_PARTS)
 *
 * Returns 0 or -ENOMEM; in both cases the caller frees changes->row, before the figures.
 */
int changes_find(const struct figures *before, const struct figures *after,
		 struct changes *changes);

/* changes_of - returns the row of this kind and name (@name NULL: the first of the kind), or NULL */
const struct change *changes_of(const struct changes *changes, uint8_t kind, const char *name);

#endif /* PROFBPF_ANALYZER_ANALYSE_COMPARE_CHANGES_H */

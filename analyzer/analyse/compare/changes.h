/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.h - what is different in two recordings, beyond what equal ones differ by.
 *
 * Each recording is cut into parts of equal length. Of each figure the parts of a recording give a mean
 * and its standard error, sqrt(s²/n). The noise of a change is NOISE_ERRORS standard errors of the difference of the
 * two means, sqrt(e₁² + e₂²): dozens of figures are compared, of which none should be named by chance. It is no
 * less than NOISE_PERCENT of the figure before (of a mean duration) or NOISE_POINTS (of a share): from
 * one start of a job to the next such changes come without a cause.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_COMPARE_CHANGES_H
#define PROFBPF_ANALYZER_ANALYSE_COMPARE_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/compare/figures.h"

#define CHANGE_PARTS 8 /* of a recording */
#define CHANGE_PARTS_MIN 4 /* that have to tell a mean; with less of them nothing is said */
#define NOISE_ERRORS 4.5
#define NOISE_PERCENT 5.0
#define NOISE_POINTS 2.0
#define CHANGE_WEIGHT_MIN 1.0 /* percent of the time, in one of the recordings; less is left out */

struct change {
	uint8_t kind; /* enum figure_kind */
	const char *name; /* points into the figures */
	double before; /* nanoseconds or percent, by figure_is_share() */
	double after;
	double noise; /* the same unit */
	double before_part[CHANGE_PARTS]; /* what the parts tell that tell it, in their order */
	double after_part[CHANGE_PARTS];
	uint8_t before_parts; /* so many */
	uint8_t after_parts;
	double size; /* percent of before, or points: what changes are sorted by */
	bool significant; /* |after - before| > noise */
};

struct changes {
	struct change *row; /* significant ones first, then the largest */
	uint32_t count;
	uint32_t capacity;
	uint32_t significant; /* so many */
};

/*
 * changes_find - compare @before[0 .. CHANGE_PARTS) with @after[0 .. CHANGE_PARTS)
 *
 * Returns 0 or -ENOMEM; free(changes->row) in either case, before the figures.
 */
int changes_find(const struct figures *before, const struct figures *after,
		 struct changes *changes);

/* changes_of - the row of this kind and name; of any name the first; NULL if there is none */
const struct change *changes_of(const struct changes *changes, uint8_t kind, const char *name);

#endif /* PROFBPF_ANALYZER_ANALYSE_COMPARE_CHANGES_H */

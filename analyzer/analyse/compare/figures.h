/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures.h - the figures of a part of a recording, for the comparison of two recordings.
 *
 * A figure is a quotient: time by count (a mean), or time by time (a share). Figures of one kind
 * and name are added up, so that processes of a job with the same name are one, and a recording of
 * another day, with other process ids, has the same figures.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_COMPARE_FIGURES_H
#define PROFBPF_ANALYZER_ANALYSE_COMPARE_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"
#include "analyzer/view/report.h"

enum figure_kind {
	FIGURE_STEP, /* mean duration of the report's steps */
	FIGURE_DEVICE, /* busy share of all devices' windows */
	FIGURE_ROOT, /* by root: share of devices' windows, else of the windows of the threads in host_waits.h */
	FIGURE_STAGE, /* an operator of a data pipeline: CPUs used */
	FIGURE_OPERATOR, /* mean duration of a device operator */
	FIGURE_API, /* mean duration of calls of a function */
	FIGURE_CPU, /* the host's CPUs: share in use */
	FIGURE_PROCESS, /* processes of a name: CPUs used */
	FIGURE_KINDS
};

struct figure {
	uint8_t kind; /* enum figure_kind */
	char *name; /* owned */
	double amount; /* nanoseconds */
	double by; /* count, or nanoseconds; > 0 */
	double weight; /* the amount in percent of the part's time; light figures are no finding */
};

struct figures {
	struct figure *row; /* by kind and name, each once */
	uint32_t count;
	uint32_t capacity;
	uint32_t told; /* bit per kind: the rows are complete for it, so that a share without a row is 0 */
};

/* figures_take - collects figures. Returns 0 or -ENOMEM; in both cases the caller calls figures_free(). */
int figures_take(const struct model *model, const struct results *results, struct figures *figures);
void figures_free(struct figures *figures);

/* figure_value - returns nanoseconds for a mean, percent for a share */
double figure_value(const struct figure *figure);

/* figure_is_share - a share, or else a mean duration? Without a row, a share is 0 and a mean is unknown. */
bool figure_is_share(uint8_t kind);

/* "step", "device", ... Static text. */
const char *figure_kind_name(uint8_t kind);

#endif /* PROFBPF_ANALYZER_ANALYSE_COMPARE_FIGURES_H */

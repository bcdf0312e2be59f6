/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures.h - the figures by which two recordings are compared, of one part of a recording.
 *
 * A figure is a quotient: time by how often (a mean), or time by time (a share). Figures of one kind
 * and name are added up, so that the processes of a job that bear one name are one, and a recording of
 * another day, with other process ids, has the same ones.
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
	FIGURE_ROOT, /* share of devices' windows, else of the threads' that stand for them, by root */
	FIGURE_STAGE, /* an operator of a data pipeline: CPUs that it used */
	FIGURE_OPERATOR, /* mean duration of a device operator */
	FIGURE_API, /* mean duration of calls of a function */
	FIGURE_CPU, /* the host's CPUs: share in use */
	FIGURE_PROCESS, /* of a name: CPUs that they used */
	FIGURE_KINDS
};

struct figure {
	uint8_t kind; /* enum figure_kind */
	char *name; /* owned */
	double amount; /* nanoseconds */
	double by; /* how many, or nanoseconds; > 0 */
	double weight; /* percent of the part's time that it is about; what weighs nothing is no finding */
};

struct figures {
	struct figure *row; /* by kind and name, each once */
	uint32_t count;
	uint32_t capacity;
	uint32_t told; /* bits of kinds: all there is of them is in the rows, so that a share without one is 0 */
};

/* figures_take - those of the analysed part. Returns 0 or -ENOMEM; figures_free() in either case. */
int figures_take(const struct model *model, const struct results *results, struct figures *figures);
void figures_free(struct figures *figures);

/* figure_value - nanoseconds of a mean, percent of a share */
double figure_value(const struct figure *figure);

/* figure_is_share - else it is a mean duration. Where there is no row a share is 0, a mean unknown. */
bool figure_is_share(uint8_t kind);

/* "step", "device", ... Static text. */
const char *figure_kind_name(uint8_t kind);

#endif /* PROFBPF_ANALYZER_ANALYSE_COMPARE_FIGURES_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operators.h - device time of tasks by name, type, core, shape or scope.
 *
 * A type is the operator's type in the file ("MatMul"); without one, the kind of task stands for it ("kernel"). A
 * core is the unit that ran the task (operator_core.h). A scope is the first parts of a name that is a path,
 * "Default/network" of "Default/network/conv1/Conv2D-op7", never the whole name; names without a path have the scope
 * "".
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_DEVICE_OPERATORS_H
#define PROFBPF_ANALYZER_ANALYSE_DEVICE_OPERATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/analyse/device/operator_core.h"
#include "analyzer/analyse/device/operator_figures.h"
#include "analyzer/analyse/device/operator_groups.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

struct operator_usage {
	uint32_t name; /* string: the name, or the scope; 0 = the source has none, or rows are not by name */
	uint32_t device; /* index into model->devices */
	uint32_t type; /* string; 0 = unknown, or rows are by core or scope */
	uint8_t kind; /* Profbpf__DeviceTasks__Kind of its first group */
	uint8_t core; /* enum operator_core */
	uint32_t place; /* among rows whose requested figures are equal: by device, core, kind, type, name, shapes */
	uint64_t count;
	uint64_t total_ns; /* sum of durations; overlapping tasks count each */
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t value_ns; /* the requested figure; the total by default */
	double percent; /* value_ns as a percentage of the sum over all operators of the same device, listed or not */
	double cumulative; /* sum of percent of this row and those listed before it, of the same device */
	struct operator_figures figures;
};

struct operator_list {
	struct operator_usage *rows;
	uint32_t count;
	enum operator_by by;
	bool selected; /* by name, type or figure, or the figure is no sum: the largest of all may not be here */
	struct operator_metrics metrics; /* metrics of the rows: figures.first_metric */
};

/*
 * operators_analyse - sum up timed tasks by device and by options->operators
 *
 * A task belongs to the analysed part if it starts in it, and then with its whole duration.
 * Synchronisation tasks are left out. Rows are in the requested order, largest first by default.
 * Returns 0 or -ENOMEM; in both cases operators_free() is to be called.
 */
int operators_analyse(const struct model *model, const struct analysis_options *options,
		      struct operator_list *list);

/* operators_of_groups - the same for tasks that are already grouped (operator_groups.h) */
int operators_of_groups(const struct model *model, const struct operator_groups *groups,
			const struct analysis_options *options, struct operator_list *list);
void operators_free(struct operator_list *list);

/* operators_largest - the row with the largest sum, in whatever order they are; NULL if none, or if rows are selected */
const struct operator_usage *operators_largest(const struct operator_list *list);

/* Does the task's operator match the name, types and dtype of @options? */
bool operator_wanted(const struct model *model, const struct operator_options *options,
		     const struct device_task *task);

/*
 * operator_scope - the scope of a name to a depth of @depth parts
 *
 * Returns the length of the scope, a prefix of @name; 0 = the name has none.
 */
size_t operator_scope(const char *name, uint32_t depth);

/* The type of a row: the operator's type, else the name of its kind. */
const char *operator_type(const struct model *model, const struct operator_usage *row);

#endif /* PROFBPF_ANALYZER_ANALYSE_DEVICE_OPERATORS_H */

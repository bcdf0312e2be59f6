/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operators.h - device time by what the tasks are: by name, by type, by core.
 *
 * A type is the operator's as the file has it ("MatMul"); where it has none, the kind
 * of task stands for it ("kernel"). A core is what ran the task (operator_core.h). A scope is the first parts of a name that is a path,
 * "Default/network" of "Default/network/conv1/Conv2D-op7", never all of it; names without one have the scope "".
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
	uint32_t name; /* string, of the scope if by scope; 0 = the source gave none, or not by it */
	uint32_t device; /* index into model->devices */
	uint32_t type; /* string; 0 = unknown, or by core or scope */
	uint8_t kind; /* Profbpf__DeviceTasks__Kind; of its first task, if it has several */
	uint8_t core; /* enum operator_core */
	uint64_t count;
	uint64_t total_ns; /* sum of durations; overlapping tasks count each */
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t value_ns; /* the figure that was asked for: the total, unless told otherwise */
	double percent; /* of value_ns by the sum of all operators of the same device, listed or not */
	double cumulative; /* percent of it and of those listed before it, of the same device */
	struct operator_figures figures;
};

struct operator_list {
	struct operator_usage *rows;
	uint32_t count;
	enum operator_by by;
	struct operator_metrics metrics; /* rows' own: figures.first_metric */
};

/*
 * operators_analyse - sum up timed tasks by device and what options->operators says
 *
 * A task belongs to the analysed part if it starts in it, and then with its whole
 * duration. Synchronisation tasks are left out. Rows are in the order asked for, largest first
 * by default. Returns 0 or -ENOMEM; in both cases operators_free() is to be called.
 */
int operators_analyse(const struct model *model, const struct analysis_options *options,
		      struct operator_list *list);

/* operators_of_groups - the same of tasks that are put together already (operator_groups.h) */
int operators_of_groups(const struct model *model, const struct operator_groups *groups,
			const struct analysis_options *options, struct operator_list *list);
void operators_free(struct operator_list *list);

/* Is a task of an operator that options' name, types and dtype leave? */
bool operator_wanted(const struct model *model, const struct operator_options *options,
		     const struct device_task *task);

/*
 * operator_scope - the scope of a name to a depth of @depth parts
 *
 * Returns its length: the scope is that much of @name. 0 = it has none.
 */
size_t operator_scope(const char *name, uint32_t depth);

/* The type of a row: the operator's, else the kind's name. */
const char *operator_type(const struct model *model, const struct operator_usage *row);

#endif /* PROFBPF_ANALYZER_ANALYSE_DEVICE_OPERATORS_H */

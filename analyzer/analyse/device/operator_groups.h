/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator_groups.h - a device's timed tasks in groups, as fine as any list of operators needs.
 *
 * Tasks are read once, in their order: there may be millions, in files. Operators by name, type or core are then sums
 * of groups, of which there are few.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_DEVICE_OPERATOR_GROUPS_H
#define PROFBPF_ANALYZER_ANALYSE_DEVICE_OPERATOR_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/device/operator_figures.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

/* The common values of a group's tasks. Strings as in device_task and task_detail. */
struct operator_key {
	uint32_t device;
	uint32_t name;
	uint32_t type;
	uint32_t shapes; /* input shapes */
	uint32_t types; /* input data types; 0 unless the options select by data type */
	uint8_t kind; /* Profbpf__DeviceTasks__Kind */
	uint8_t core; /* enum operator_core */
	uint8_t detailed; /* tasks have a detail; 0 unless the options select by data type */
	uint8_t padding; /* 0: keys are compared as bytes */
};

struct operator_group {
	struct operator_key key;
	uint64_t count;
	uint64_t total_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	struct operator_figures figures; /* with the group's own metrics */
	struct operator_metrics metrics;
};

/* In the order of their first tasks. */
struct operator_groups {
	struct operator_group *row;
	uint32_t count;
	uint32_t capacity;
};

struct operator_key operator_key_of(const struct model *model, const struct device_task *task);

/*
 * operator_groups_find - group the timed tasks of the selected part and processes
 *
 * Synchronisation tasks are left out. A task belongs to the part if it starts in it. Returns 0 or -ENOMEM; in both
 * cases operator_groups_free() is to be called.
 */
int operator_groups_find(const struct model *model, const struct analysis_options *options,
			 struct operator_groups *groups);
void operator_groups_free(struct operator_groups *groups);

#endif /* PROFBPF_ANALYZER_ANALYSE_DEVICE_OPERATOR_GROUPS_H */

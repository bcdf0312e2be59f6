/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_names.h - properties of the names of functions and of work that matter for loops, computed once a name.
 *
 * Millions of calls have few names; searching each call's name for two dozen words would take longer than all other
 * work on the call.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_WORK_NAMES_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_WORK_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

enum work_name {
	WORK_NAME_OPTIMIZER = 1 << 0, /* loop_is_optimizer() */
	WORK_NAME_WHOLE = 1 << 1, /* functions: launches a graph, model or program as a whole */
	WORK_NAME_BEGINS = 1 << 2, /* markers: begins a range */
	WORK_NAME_ENDS = 1 << 3, /* markers: ends the range that began last */
	WORK_NAME_FEEDS = 1 << 4, /* copies and their functions: to the device */
	WORK_NAME_RESULTS = 1 << 5, /* copies and their functions: from the device */
	WORK_NAME_ASYNC = 1 << 6, /* functions: the name says that it does not wait */
	WORK_NAME_SYNC_ALL = 1 << 7, /* functions: waits for all work of the device */
};

/* Zeroed is empty. */
struct work_names {
	const struct model *model;
	uint16_t *known; /* by string: enum work_name, and a bit if it was computed */
	uint32_t count;
};

/* work_names_init - prepare for the strings that the model has now. Returns false without memory. */
bool work_names_init(struct work_names *names, const struct model *model);
void work_names_free(struct work_names *names);

/* work_names_of - enum work_name of a string of the model */
uint8_t work_names_of(struct work_names *names, uint32_t string);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_WORK_NAMES_H */

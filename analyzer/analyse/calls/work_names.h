/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_names.h - what the names of functions and of work say about loops, asked once a name.
 *
 * Millions of calls have a few names; to look for two dozen words in the name of each call takes longer than
 * all that is done with it.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CALLS_WORK_NAMES_H
#define PROFBPF_ANALYZER_ANALYSE_CALLS_WORK_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

enum work_name {
	WORK_NAME_OPTIMIZER = 1 << 0, /* loop_is_optimizer() */
	WORK_NAME_WHOLE = 1 << 1, /* of a function: launches a graph, model or program as a whole */
	WORK_NAME_BEGINS = 1 << 2, /* of a marker: begins a range */
	WORK_NAME_ENDS = 1 << 3, /* of a marker: ends the range that began last */
	WORK_NAME_FEEDS = 1 << 4, /* of a copy or its function: to the device */
	WORK_NAME_RESULTS = 1 << 5, /* of the same: from it */
	WORK_NAME_ASYNC = 1 << 6, /* of a function: it says that it does not wait */
	WORK_NAME_SYNC_ALL = 1 << 7, /* of the same: waits for all that the device has to do */
};

/* Zeroed is empty. */
struct work_names {
	const struct model *model;
	uint16_t *known; /* by string: enum work_name, and that it was asked for */
	uint32_t count;
};

/* work_names_init - false without memory. Strings that come later are not among them. */
bool work_names_init(struct work_names *names, const struct model *model);
void work_names_free(struct work_names *names);

/* work_names_of - enum work_name of a string of the model */
uint8_t work_names_of(struct work_names *names, uint32_t string);

#endif /* PROFBPF_ANALYZER_ANALYSE_CALLS_WORK_NAMES_H */

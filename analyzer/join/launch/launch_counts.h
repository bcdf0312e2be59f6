/* SPDX-License-Identifier: Apache-2.0 */
/* launch_counts.h - how many launches each thread makes, in all of the recording: which threads give a device its work. */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_COUNTS_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

/* A thread that submits makes so many launches, and one in so many of its process. */
#define LAUNCHES_MIN 10
#define LAUNCHES_SHARE 10

/* launch_counts - by thread, to be freed; counted calls too, as far as they are sure. NULL without memory. */
uint64_t *launch_counts(const struct model *model);

/* Does a thread submit, by its launches and those of its process? */
static inline bool launches_submit(uint64_t launches, uint64_t of_process)
{
	return launches >= LAUNCHES_MIN && launches * LAUNCHES_SHARE >= of_process;
}

/*
 * launch_counts_settled - do counted calls that are unsure change nothing?
 *
 * Not whether a thread submits, nor which one of a process does most. Without memory: no.
 */
bool launch_counts_settled(const struct model *model);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_COUNTS_H */

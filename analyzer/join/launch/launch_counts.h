/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_counts.h - the number of launches of each thread in the whole recording: shows which threads submit device
 * work.
 */
#ifndef PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_COUNTS_H
#define PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

/* A submitting thread makes at least LAUNCHES_MIN launches, and one in LAUNCHES_SHARE of its process. */
#define LAUNCHES_MIN 10
#define LAUNCHES_SHARE 10

/* launch_counts - launches by thread, with counted calls as far as certain; the caller frees. NULL without memory. */
uint64_t *launch_counts(const struct model *model);

/* Does a thread submit, judged by its launches and those of its process? */
static inline bool launches_submit(uint64_t launches, uint64_t of_process)
{
	return launches >= LAUNCHES_MIN && launches * LAUNCHES_SHARE >= of_process;
}

/*
 * launch_counts_settled - is the result independent of uncertain counted calls?
 *
 * They change neither whether a thread submits nor which thread of a process launches most. Returns false without
 * memory.
 */
bool launch_counts_settled(const struct model *model);

#endif /* PROFBPF_ANALYZER_JOIN_LAUNCH_LAUNCH_COUNTS_H */

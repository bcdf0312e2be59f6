/* SPDX-License-Identifier: Apache-2.0 */
/*
 * last_rank.h - the rank for which the others wait without a sleep.
 *
 * Ranks of MPI spin in its calls until the last one has come, so no wake-up tells which one that is. By their samples it
 * is the one that waits in these calls for much less time than the others. Ranks are the main threads of traced processes
 * that run the same program.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_LAST_RANK_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_LAST_RANK_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

struct last_rank {
	uint32_t thread; /* INDEX_NONE = not known */
	uint64_t least_ns; /* how long it waits for others itself */
	uint64_t others_ns; /* how long the rank that waits most does so */
};

/* last_rank_own - sums up a thread's own time on a CPU. Returns 0 or -ENOMEM; the caller calls idle_roots_free(). */
int last_rank_own(struct model *model, const struct idle_tools *tools, const struct analysis_window *window,
		  uint32_t thread, struct idle_roots *own);

/* last_rank_waits - returns the part of @own in which threads waited for other ranks */
uint64_t last_rank_waits(const struct idle_roots *own);

/* last_rank_waiter - returns the thread of @own that waited for other ranks for longest, or INDEX_NONE */
uint32_t last_rank_waiter(const struct idle_roots *own);

/* last_rank_is_of - is @thread a rank of the job of @of? */
bool last_rank_is_of(const struct model *model, const struct analysis_options *options, uint32_t of, uint32_t thread);

/* last_rank_find - finds the rank for which @thread waits. Returns 0 or -ENOMEM. */
int last_rank_find(struct model *model, const struct idle_tools *tools, const struct analysis_options *options,
		   const struct analysis_window *window, uint32_t thread, struct last_rank *last);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_LAST_RANK_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_waits.h - the waits of the threads that set a job's pace, if no device's tasks were recorded.
 *
 * These threads take the device's place (idle.h): their waits are followed to the root (root_walk.h), and their own
 * time on a CPU is summed up in the same way. Both add up to the analysed time, to the nanosecond. The threads are:
 *
 *   asked      the threads that the user named
 *   launches   threads that submit work to devices: LAUNCHES_MIN calls, and a share of the process's (launch_counts.h)
 *   fetches    the thread that fetches batches, in the judged steps (steps.h)
 *   main       the main threads of traced processes that no other traced process started
 *   busiest    if the main threads only sleep, or accept() clients, without waiting for another thread: the thread that was on a CPU,
 *              or ready for one, for the longest time, if that is more than 1 %, except threads that collect a
 *              runtime's garbage and others of their pools, unless there is no other; "main" if it is one of them
 *   last       if main or busiest threads wait for other ranks without a sleep: the rank for which they do (last_rank.h)
 *
 * If the only main thread sleeps like that, and one thread of its process bears its name, that one is the main thread: so
 * does the thread in which Java's launcher runs main().
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_HOST_WAITS_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_HOST_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/idle/device_bounds.h"
#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/analyse/pipeline/steps.h"
#include "analyzer/model/model.h"

enum waits_why {
	WAITS_OF_NONE = 0,
	WAITS_OF_ASKED,
	WAITS_OF_LAUNCHES,
	WAITS_OF_FETCHES,
	WAITS_OF_MAIN,
	WAITS_OF_BUSIEST,
	WAITS_OF_LAST
};

struct host_waits {
	uint32_t *threads; /* indices into model->threads */
	uint32_t thread_count; /* 0: none was found, not even those that the user named */
	uint8_t why; /* enum waits_why */
	bool of_steps; /* only the judged steps are analysed */
	bool away; /* the main threads only sleep, and no other thread uses a CPU */
	uint32_t *busy; /* busiest: the threads of its pool, by their names, that use CPUs for at least half as long, itself included */
	uint32_t busy_count;
	uint64_t busy_run_ns; /* their time on a CPU, together */
	uint64_t from_ns; /* the analysed time */
	uint64_t to_ns;
	uint64_t window_ns; /* ... summed over the threads */
	struct idle_roots waits; /* their time not on a CPU: total_ns, gaps and so on */
	uint64_t others_ns; /* last: how long the rank that waits most for this one does so */
	uint64_t least_ns; /* last: how long this one waits for other ranks on a CPU */
	uint64_t clients_ns; /* the part of waits in accept() */
	struct idle_roots own; /* their time on a CPU */
	struct device_bounds bounds; /* of the device's busy time */
};

/*
 * host_waits_analyse - finds the threads and the roots of their waits
 *
 * Needs timelines and frames with names. Finds nothing without records of switches. Returns 0 or
 * -ENOMEM; in both cases the caller calls host_waits_free().
 */
int host_waits_analyse(struct model *model, const struct analysis_options *options,
		       const struct step_results *steps, struct host_waits *waits);
void host_waits_free(struct host_waits *waits);

/*
 * host_waits_tools - makes the tools of host_waits_with(), for several calls of it
 *
 * Returns false without memory; in both cases the caller calls host_waits_tools_free().
 */
bool host_waits_tools(const struct model *model, struct idle_tools *tools);
void host_waits_tools_free(struct idle_tools *tools);
int host_waits_with(struct model *model, const struct idle_tools *tools,
		    const struct analysis_options *options, const struct step_results *steps,
		    struct host_waits *waits);

/* host_waits_submit - marks, by thread, those that submit work to devices. The caller frees it; NULL without memory. */
bool *host_waits_submit(const struct model *model);

/* "asked", "launches", "fetches", "main", "busiest", "last". Static text. */
const char *waits_why_name(uint8_t why);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_HOST_WAITS_H */

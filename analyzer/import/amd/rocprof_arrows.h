/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocprof_arrows.h - joins calls and tasks by the arrows of rocprof's results.json, where nothing else joins them.
 *
 * An arrow leads from the middle of a HIP call ("s", in microseconds) to the start of a task ("t"); both have its
 * id. If the task starts before that middle, both ends have the task's start: the task then belongs to the call in
 * which it starts. If the task starts in no call, because clocks differ, the ids, which increase in the order of
 * calls, decide: the task belongs to the only remaining call between the calls of the neighbouring arrows. Other
 * tasks stay without a call. Written by flow_json() of sqlitedb.py, with times of tblextr.py, of rocprofiler.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_AMD_ROCPROF_ARROWS_H
#define PROFBPF_ANALYZER_IMPORT_AMD_ROCPROF_ARROWS_H

#include "analyzer/import/amd/rocm_rows.h"

/* A call or a task in the trace, or an end of an arrow. */
struct arrow_place {
	uint64_t ts_us;
	uint64_t dur_us; /* of calls; else 0 */
	uint64_t section; /* the trace's process id */
	uint64_t lane; /* and thread id */
	uint64_t id; /* id of an end of an arrow; else the row of rocm's calls or tasks */
	uint32_t led_to; /* calls: 1 = source of an arrow; first task at a place: number of arrows to it */
};

/* Zeroed is empty. */
struct rocprof_arrows {
	MODEL_ARRAY(struct arrow_place) calls;
	MODEL_ARRAY(struct arrow_place) tasks;
	MODEL_ARRAY(struct arrow_place) starts;
	MODEL_ARRAY(struct arrow_place) ends;
};

void rocprof_arrows_free(struct rocprof_arrows *arrows);

/*
 * rocprof_arrows_join - after reading: gives each call and the tasks that its arrows lead to a common correlation
 *
 * Calls and tasks that already have a correlation keep it. @arrows must contain only calls that copy or launch.
 * Returns 0 or -ENOMEM.
 */
int rocprof_arrows_join(struct rocprof_arrows *arrows, struct rocm_rows *rocm);

#endif /* PROFBPF_ANALYZER_IMPORT_AMD_ROCPROF_ARROWS_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocprof_arrows.h - which call made which task, where only arrows of rocprof's results.json tell it.
 *
 * An arrow leads from the middle of a call of HIP ("s", in microseconds) to the start of a task ("t"); both have its id.
 * If the task starts before that middle, its start stands in both: then it is of the call that it starts in. Where clocks
 * differ, so that it starts in none, ids tell, which count in the order of calls: it is of the only one that is left
 * between the calls of the arrows around it. What none of these tells stays without a call. Written by flow_json() of
 * sqlitedb.py, with times of tblextr.py, of rocprofiler.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_AMD_ROCPROF_ARROWS_H
#define PROFBPF_ANALYZER_IMPORT_AMD_ROCPROF_ARROWS_H

#include "analyzer/import/amd/rocm_rows.h"

/* A call or a task as the trace has it, or an end of an arrow. */
struct arrow_place {
	uint64_t ts_us;
	uint64_t dur_us; /* of a call; 0 of others */
	uint64_t section; /* the trace's process id */
	uint64_t lane; /* and thread id */
	uint64_t id; /* of an end of an arrow; of others the row of rocm's calls or tasks */
	uint32_t led_to; /* of a call: does an arrow come from it? Of the first of tasks at one place: how many arrows lead there */
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
 * rocprof_arrows_join - when all is read: one correlation for each call and the tasks that arrows lead to
 *
 * Calls and tasks that have one keep it. Only calls that copy or launch are to be among @arrows. 0 or -ENOMEM.
 */
int rocprof_arrows_join(struct rocprof_arrows *arrows, struct rocm_rows *rocm);

#endif /* PROFBPF_ANALYZER_IMPORT_AMD_ROCPROF_ARROWS_H */

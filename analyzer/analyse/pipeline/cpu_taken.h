/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_taken.h - what a pipeline's operators take from its trainer where all CPUs are busy.
 *
 * A trainer computes on several threads. Those besides the one that fetches may be ready
 * behind an operator's thread while that one spins or sleeps until they are done, so that
 * its own timeline shows nothing of it.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_PIPELINE_CPU_TAKEN_H
#define PROFBPF_ANALYZER_ANALYSE_PIPELINE_CPU_TAKEN_H

#include <stdint.h>

#include "analyzer/frameworks/pipeline_model.h"
#include "analyzer/model/model.h"

#define CPU_TAKEN_IDLE_PERCENT 10 /* with more of all CPUs' time idle nothing is taken */

/*
 * cpu_taken_find - time that the trainer's process lost to each operator from @from_ns to @to_ns
 *
 * Fills taken_ns[] of each of the pipeline's operators: what its threads had of all CPUs'
 * time, but no more than for how long threads of the trainer's process that are no
 * operator's were ready. All 0 if the CPUs were not busy, or it is not known if they were.
 * Needs timelines. False without memory.
 */
bool cpu_taken_find(const struct model *model, const struct pipeline *pipeline, uint64_t from_ns,
		    uint64_t to_ns, uint64_t *taken_ns);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_CPU_TAKEN_H */

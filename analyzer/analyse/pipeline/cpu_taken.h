/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_taken.h - CPU time that a pipeline's operators take from its trainer if all CPUs are busy.
 *
 * A trainer computes on several threads. Threads other than the fetching one may wait for a CPU
 * behind an operator's thread, while the fetching thread spins or sleeps until they are done:
 * its own timeline does not show that.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_PIPELINE_CPU_TAKEN_H
#define PROFBPF_ANALYZER_ANALYSE_PIPELINE_CPU_TAKEN_H

#include <stdint.h>

#include "analyzer/frameworks/pipeline_model.h"
#include "analyzer/model/model.h"

#define CPU_TAKEN_IDLE_PERCENT 10 /* if more of all CPUs' time is idle, nothing is taken */

/*
 * cpu_taken_find - computes the time that the trainer's process lost to each operator from @from_ns to @to_ns
 *
 * Fills taken_ns[] for each of the pipeline's operators: the running time of its threads,
 * divided by the number of CPUs, but no more than the time for which the trainer's other
 * threads were ready without a CPU. All 0 if the CPUs were not busy, or if that is not known.
 * Needs timelines. Returns false without memory.
 */
bool cpu_taken_find(const struct model *model, const struct pipeline *pipeline, uint64_t from_ns,
		    uint64_t to_ns, uint64_t *taken_ns);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_CPU_TAKEN_H */

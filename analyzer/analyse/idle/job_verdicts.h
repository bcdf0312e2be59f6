/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_verdicts.h - the verdict on each of several jobs in one recording, where no device tells its tasks.
 *
 * The verdict (verdict.h) is about the threads that host_waits.h chooses: of one process, or of several together, among
 * which one that is held up may not be seen. Jobs are told apart by the processes at whose head they are:
 *
 *   - those whose threads were chosen: they submit work, or have main threads of their own
 *   - of data pipelines with steps that are judged: those that fetch
 *   - of processes that were traced by themselves, those in which nobody is at the head of one, unless
 *     the whole machine was recorded
 *
 * Each has the traced processes that it started, but for those at the head of another one. Jobs in which all main
 * threads do nothing but sleep are none.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_JOB_VERDICTS_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_JOB_VERDICTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/idle/verdict.h"
#include "analyzer/analyse/selection.h"

#define JOB_VERDICTS_MAX 16

struct job_verdict {
	uint32_t process; /* at its head: index into model->processes */
	struct step_results steps; /* all pipelines, which are not its own; main is its own */
	struct host_waits waits;
	struct verdict verdict;
};

struct job_verdicts {
	struct job_verdict *row; /* JOB_VERDICTS_MAX at most; what costs its job most first, healthy ones last */
	uint32_t count; /* 0: there is one job, or it was told which threads count, or devices tell their tasks */
	uint32_t less; /* judged, and held up less than those in @row */
	uint32_t more; /* which were not judged */
	uint32_t only; /* the one that the verdict is about: index into row; INDEX_NONE: several */
};

/*
 * job_verdicts_find - judge each of them
 *
 * Rows point into @facts. Returns 0 or -ENOMEM; in both cases job_verdicts_free() is to be called.
 */
int job_verdicts_find(struct model *model, const struct analysis_options *options,
		      const struct verdict_facts *facts, struct job_verdicts *jobs);
void job_verdicts_free(struct job_verdicts *jobs);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_JOB_VERDICTS_H */

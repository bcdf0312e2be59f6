/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_verdicts.h - the verdict on each of several jobs in one recording.
 *
 * The verdict (verdict.h) is about all devices with recorded tasks together, or about the threads that host_waits.h
 * chooses, which may be those of several processes together: then a single job that is held up may not show. Each job
 * has a process at its head:
 *
 *   - a process whose runtime reported tasks of a device; if a device has tasks but its process is not known, jobs are
 *     not told apart
 *   - a process of a thread that submits work
 *   - without tasks of devices: a process of another chosen thread, which is not the child of a traced process, and a
 *     process that fetches from a data pipeline with judged steps, if a thread was chosen because it fetches
 *   - a process without a traced parent, if neither it nor its descendants are at the head of a job, unless
 *     the whole machine was recorded
 *
 * A job includes the traced descendants of its head, except those at the head of another job or below it. It is judged
 * by the tasks of its own devices, if it has any, else by its threads' waits. A job whose main threads only sleep is
 * left out.
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
	struct step_results steps; /* all pipelines (owned by @facts); main is the job's own */
	struct device_results devices; /* of its own devices; .devices NULL: it is judged by its threads' waits */
	struct host_waits waits; /* or else these */
	struct verdict verdict;
};

struct job_verdicts {
	struct job_verdict *row; /* JOB_VERDICTS_MAX at most; the job that loses most first, healthy ones last */
	uint32_t count; /* 0: there is one job, or the user named the threads, or there are device files alone */
	uint32_t less; /* number of judged jobs that lose less than those in @row */
	uint32_t more; /* number of jobs that were not judged */
	uint32_t only; /* the job that the overall verdict is about: index into row; INDEX_NONE: several */
};

/*
 * job_verdicts_find - judges each job
 *
 * Rows point into @facts. Returns 0 or -ENOMEM; in both cases the caller calls job_verdicts_free().
 */
int job_verdicts_find(struct model *model, const struct analysis_options *options,
		      const struct verdict_facts *facts, struct job_verdicts *jobs);
void job_verdicts_free(struct job_verdicts *jobs);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_JOB_VERDICTS_H */

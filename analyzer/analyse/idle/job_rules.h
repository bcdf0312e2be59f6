/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_rules.h - rules of other profilers (peer_rules.h) on a job as a whole and on its data pipelines.
 *
 * A rule about an operator is evidence for the advice about the operator that is the root; where it points at another
 * one it is not told, for that one waits itself. Rules about what nothing else tells of are advice of their own. All
 * are silent if the verdict is that the job is healthy or that its device is busy, and where what they are about
 * costs less than VERDICT_NOISE_PERCENT.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_JOB_RULES_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_JOB_RULES_H

#include "analyzer/analyse/calls/api.h"
#include "analyzer/analyse/host/host.h"
#include "analyzer/analyse/idle/verdict.h"

/*
 * job_rules_judge - add to @advice, which stays sorted by urgency
 *
 * @api and @host may be NULL; @verdict is made of @facts. Returns 0 or -ENOMEM.
 */
int job_rules_judge(const struct model *model, const struct verdict_facts *facts,
		    const struct verdict *verdict, const struct api_results *api,
		    const struct host_results *host, struct advice_results *advice);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_JOB_RULES_H */

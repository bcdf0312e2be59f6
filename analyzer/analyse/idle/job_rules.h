/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_rules.h - rules of other profilers (peer_rules.h) on a job as a whole and on its data pipelines.
 *
 * A rule about an operator is cited as evidence in the advice about the operator that is the root; a rule that points
 * at another operator is not reported, because that operator waits itself. Rules about problems that no other
 * analysis reports become advice of their own. No rule applies if the verdict is that the job is healthy or that its
 * device is busy, or if its problem costs less than VERDICT_NOISE_PERCENT.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_JOB_RULES_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_JOB_RULES_H

#include "analyzer/analyse/calls/api.h"
#include "analyzer/analyse/host/host.h"
#include "analyzer/analyse/idle/verdict.h"

/*
 * job_rules_judge - applies the rules and adds to @advice, which stays sorted by urgency
 *
 * @api and @host may be NULL; @verdict was made from @facts. Returns 0 or -ENOMEM.
 */
int job_rules_judge(const struct model *model, const struct verdict_facts *facts,
		    const struct verdict *verdict, const struct api_results *api,
		    const struct host_results *host, struct advice_results *advice);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_JOB_RULES_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_advice.h - advice about a device's time: rules on the results of the other analyses.
 *
 * Sources of rules and thresholds: MindInsight's step trace (a gap of 0.5 ms), its clusters (a tenth of the time in
 * communication alone), msprof's prof_rule (a twentieth of the time on AI CPUs, three and more TransData, tasks bound
 * by memory for half of the time), msprof-analyze's advisor (10 ms in allocating calls, a synchronising call for
 * every other launch). Causes below SMALL_PERCENT of the time are not mentioned; for causes of idle time, which are
 * weighed as kinds (idle_verdict.h), the limit is FINDING_PERCENT.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_DEVICE_DEVICE_ADVICE_H
#define PROFBPF_ANALYZER_ANALYSE_DEVICE_DEVICE_ADVICE_H

#include "analyzer/analyse/calls/api.h"
#include "analyzer/analyse/pipeline/bottleneck.h"
#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/idle/idle_verdict.h"
#include "analyzer/analyse/device/results.h"
#include "analyzer/model/model.h"

/*
 * device_advice_add - add advice about devices to @advice, which stays sorted by urgency
 *
 * For the part of the time that @options select. @steps and @api may be NULL. Returns 0 or -ENOMEM.
 */
int device_advice_add(const struct model *model, const struct analysis_options *options,
		      const struct device_results *devices, const struct device_step_results *steps,
		      const struct api_results *api, struct advice_results *advice);

/*
 * idle_remedy - the remedy for a kind of cause of idle time, with its driver or function
 */
void idle_remedy(const struct model *model, const struct idle_verdict *verdict, char *text,
		 size_t size);

#endif /* PROFBPF_ANALYZER_ANALYSE_DEVICE_DEVICE_ADVICE_H */

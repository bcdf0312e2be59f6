/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_rules.h - the figures of a data pipeline that rules of other profilers (peer_rules.h) go by. */
#ifndef PROFBPF_ANALYZER_ANALYSE_PIPELINE_PIPELINE_RULES_H
#define PROFBPF_ANALYZER_ANALYSE_PIPELINE_PIPELINE_RULES_H

#include "analyzer/analyse/pipeline/bottleneck.h"
#include "analyzer/analyse/pipeline/steps.h"

/*
 * Percent of steps that found the queue empty that they fetch from: the trainer's, or that of the operator which
 * feeds a device. The first STEPS_WARM_UP do not count. NAN if there is no such queue, or sizes are not known.
 */
double rules_fetch_empty(const struct pipeline_usage *usage);

/* Batches that found the queue of the device, to which an operator sends, empty. NAN as above. */
double rules_device_queue_empty(const struct pipeline_usage *usage);

/* Mean wait for data in the judged steps, ms; NAN if there are none. */
double rules_wait_ms(const struct pipeline_steps *steps);

/*
 * rules_cite - cite in @advice those that say the same of its operator
 *
 * @bottleneck is that operator's. @host_percent: how busy all CPUs were; NAN = not known.
 */
void rules_cite(const struct pipeline_steps *steps, const struct bottleneck *bottleneck,
		double host_percent, struct advice *advice);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_PIPELINE_RULES_H */

/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline_rules.h - the figures of a data pipeline that rules of other profilers (peer_rules.h) use. */
#ifndef PROFBPF_ANALYZER_ANALYSE_PIPELINE_PIPELINE_RULES_H
#define PROFBPF_ANALYZER_ANALYSE_PIPELINE_PIPELINE_RULES_H

#include "analyzer/analyse/pipeline/bottleneck.h"
#include "analyzer/analyse/pipeline/steps.h"

/*
 * Returns the percentage of steps that found the queue from which they fetch empty: the trainer's queue, or that of the
 * operator which feeds a device. The first STEPS_WARM_UP do not count. NAN without such a queue, or if its sizes are
 * unknown.
 */
double rules_fetch_empty(const struct pipeline_usage *usage);

/* Returns the number of batches that found the device's queue, to which an operator sends, empty. NAN as above. */
double rules_device_queue_empty(const struct pipeline_usage *usage);

/* Returns the mean wait for data in the judged steps, in ms; NAN if there are none. */
double rules_wait_ms(const struct pipeline_steps *steps);

/*
 * rules_cite - cites in @advice the rules that support it
 *
 * @bottleneck is that of the advice's operator. @host_percent: use of all CPUs; NAN = not known.
 */
void rules_cite(const struct pipeline_steps *steps, const struct bottleneck *bottleneck,
		double host_percent, struct advice *advice);

#endif /* PROFBPF_ANALYZER_ANALYSE_PIPELINE_PIPELINE_RULES_H */

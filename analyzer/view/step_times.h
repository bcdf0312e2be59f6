/* SPDX-License-Identifier: Apache-2.0 */
/* step_times.h - durations of the steps that the report lists, with percentiles. */
#ifndef PROFBPF_ANALYZER_VIEW_STEP_TIMES_H
#define PROFBPF_ANALYZER_VIEW_STEP_TIMES_H

#include "analyzer/analyse/calls/host_loops.h"
#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/durations.h"
#include "analyzer/analyse/pipeline/steps.h"

/* Without steps, or without memory, there are no percentiles. */
struct durations trainer_step_times(const struct pipeline_steps *steps);
struct durations device_step_times(const struct device_step_trace *trace);
struct durations loop_step_times(const struct host_loops *loops, const struct host_loop *loop);

/* The share of the steps' time that their fetches took, in percent; NaN if there are no steps. */
double trainer_data_wait(const struct pipeline_steps *steps);

#endif /* PROFBPF_ANALYZER_VIEW_STEP_TIMES_H */

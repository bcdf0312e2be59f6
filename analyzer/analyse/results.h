/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results.h - everything that is known about devices, computed in one go.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_RESULTS_H
#define PROFBPF_ANALYZER_ANALYSE_RESULTS_H

#include <stdint.h>

#include "analyzer/analyse/devices.h"
#include "analyzer/analyse/idle.h"
#include "analyzer/analyse/operators.h"
#include "analyzer/analyse/options.h"
#include "analyzer/join/device_clock.h"
#include "analyzer/join/launches.h"
#include "analyzer/model/model.h"

struct device_results {
	uint32_t device_count; /* = model->devices.count; size of clocks and devices */
	struct device_clock *clocks;
	struct launch_join launches;
	struct device_usage *devices;
	struct operator_usage *operators;
	uint32_t operator_count;
	struct idle_result idle;
};

/*
 * device_results_compute - join the device streams to the host and analyse them
 *
 * Runs, in this order, the clock join, the launch join, devices, operators and
 * idle causes. The model must be loaded, sorted and indexed, and its timelines
 * built; without timelines idle causes are mostly "unknown". After it task times
 * are CLOCK_MONOTONIC and task.call / call.task are set. To be called once per
 * model. Returns 0 or -ENOMEM; in both cases device_results_free() is to be called.
 */
int device_results_compute(struct model *model, const struct analysis_options *options,
			   struct device_results *results);
void device_results_free(struct device_results *results);

#endif /* PROFBPF_ANALYZER_ANALYSE_RESULTS_H */

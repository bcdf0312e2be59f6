/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results.h - all results about devices, computed in one go.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_DEVICE_RESULTS_H
#define PROFBPF_ANALYZER_ANALYSE_DEVICE_RESULTS_H

#include <stdint.h>

#include "analyzer/analyse/cluster/communication.h"
#include "analyzer/analyse/device/devices.h"
#include "analyzer/analyse/idle/idle.h"
#include "analyzer/analyse/device/operators.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/analyse/device/overlap.h"
#include "analyzer/join/clock/device_clock.h"
#include "analyzer/join/launch/launched_names.h"
#include "analyzer/join/launch/launches.h"
#include "analyzer/model/model.h"

struct device_results {
	uint32_t device_count; /* = model->devices.count; size of clocks and devices */
	struct device_clock *clocks;
	struct launch_join launches;
	struct device_usage *devices;
	struct operator_list operators;
	struct operator_list types; /* all operators by type, and by core; largest total first */
	struct operator_list cores;
	struct overlap_results overlap;
	struct communication_results communication;
	struct idle_result idle;
};

/*
 * device_results_join - join the device streams to the host
 *
 * Clocks, launches, names of launched operations, in this order. The model must be loaded, sorted
 * and indexed. Afterwards task times are CLOCK_MONOTONIC and task.call / call.task are set. To be
 * called once per model. Returns 0 or -ENOMEM; in both cases device_results_free() is to be called.
 */
int device_results_join(struct model *model, struct device_results *results);

/*
 * device_results_analyse - after the join: devices, operators, overlap, communication
 * device_results_idle - after device_results_analyse(): causes of idle time
 *
 * device_results_idle() needs timelines; without them most causes are "unknown". Both return 0 or -ENOMEM.
 */
int device_results_analyse(struct model *model, const struct analysis_options *options,
			   struct device_results *results);
int device_results_idle(struct model *model, const struct analysis_options *options,
			struct device_results *results);

/* device_results_compute - all three. Returns 0 or -ENOMEM; in both cases device_results_free() is to be called. */
int device_results_compute(struct model *model, const struct analysis_options *options,
			   struct device_results *results);
void device_results_free(struct device_results *results);

/* device_results_keep_join - free the results of the analyses but not the join, so that another part can be analysed */
void device_results_keep_join(struct device_results *results);

#endif /* PROFBPF_ANALYZER_ANALYSE_DEVICE_RESULTS_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_outliers.h - steps that took much longer than usual, and the root of the difference.
 *
 * The candidates are the steps that the report lists: those of the trainer, else of the device with most steps, else
 * the turns of the host's loop; without the first ones (STEPS_WARM_UP of a trainer, one of a device). A step is an
 * outlier if it takes more than 1.5 times the median, and differs from the median by more than OUTLIER_DEVIATIONS times
 * the median deviation. Fewer than OUTLIER_STEPS_MIN steps have no outliers.
 *
 * The difference: the activity of the thread that fetches, or launches most, is followed to its roots (root_walk.h)
 * from the step's start to its end, and in up to OUTLIER_USUAL usual steps. The (cause, who) that has grown most
 * is the answer, if its growth is at least a quarter of the difference in time; else the answer is unknown.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_STEP_OUTLIERS_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_STEP_OUTLIERS_H

#include <stdint.h>

#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/idle/idle_roots.h"
#include "analyzer/analyse/pipeline/steps.h"
#include "analyzer/model/model.h"

#define OUTLIER_STEPS_MIN 10
#define OUTLIER_DEVIATIONS 6
#define OUTLIER_USUAL 32
#define OUTLIERS_MAX 10 /* the number of outliers that are explained */

struct step_outlier {
	uint64_t number; /* of the step, as in the list of steps */
	uint64_t start_ns;
	uint64_t duration_ns;
	struct idle_roots roots; /* of the thread's whole activity in the step */
	uint32_t root; /* the row of these that explains the difference; INDEX_NONE = not known */
	uint64_t ns; /* in this step: of all rows with its cause and who */
	uint64_t usual_ns; /* the same in usual steps, mean */
};

struct step_outliers {
	struct step_outlier row[OUTLIERS_MAX]; /* longest first */
	uint32_t count;
	uint32_t found; /* number of all outliers */
	uint32_t steps; /* number of candidates */
	uint64_t median_ns;
};

/*
 * step_outliers_find - fills @outliers from the steps that begin in the part of the time that @options select
 *
 * @trainer and @device may be NULL.
 *
 * Needs timelines and frames with names. Returns 0 or -ENOMEM; in both cases the caller calls step_outliers_free().
 */
int step_outliers_find(const struct model *model, const struct analysis_options *options,
		       const struct step_results *trainer, const struct device_step_results *device,
		       struct step_outliers *outliers);
void step_outliers_free(struct step_outliers *outliers);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_STEP_OUTLIERS_H */

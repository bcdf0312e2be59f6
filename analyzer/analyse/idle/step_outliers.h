/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_outliers.h - steps that took much longer than usual, and what was different in them.
 *
 * Of the steps that the report lists: of the trainer, else of the device with most, else the turns of the host's
 * loop; without those that begin it (STEPS_WARM_UP of a trainer, a device's first). One is an outlier that takes half as long again
 * as the median, and is away from it by OUTLIER_DEVIATIONS times the median deviation or more. Fewer than
 * OUTLIER_STEPS_MIN steps have none.
 *
 * What was different: what the thread that fetches, or launches most, did from the step's start to its end is followed to its
 * roots (root_walk.h), and so in up to OUTLIER_USUAL others that are no outliers. The (cause, who) that has grown most
 * is the answer, if it makes a quarter of the difference in time; else it is not known.
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
#define OUTLIERS_MAX 10 /* that are looked at */

struct step_outlier {
	uint64_t number; /* of the step, as in the list of steps */
	uint64_t start_ns;
	uint64_t duration_ns;
	struct idle_roots roots; /* all that the thread did in it */
	uint32_t root; /* a row of these: the largest of what was different; INDEX_NONE = not known */
	uint64_t ns; /* in this step, of all rows with its cause and who */
	uint64_t usual_ns; /* the same in others, mean */
};

struct step_outliers {
	struct step_outlier row[OUTLIERS_MAX]; /* longest first */
	uint32_t count;
	uint32_t found; /* all outliers */
	uint32_t steps; /* among which they were looked for */
	uint64_t median_ns;
};

/*
 * step_outliers_find - fill @outliers, of steps that begin in the part of the time that @options choose
 *
 * @trainer and @device may be NULL.
 *
 * Needs timelines and frames with names. Returns 0 or -ENOMEM; in both cases step_outliers_free() is to be called.
 */
int step_outliers_find(const struct model *model, const struct analysis_options *options,
		       const struct step_results *trainer, const struct device_step_results *device,
		       struct step_outliers *outliers);
void step_outliers_free(struct step_outliers *outliers);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_STEP_OUTLIERS_H */

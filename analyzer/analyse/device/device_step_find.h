/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_step_find.h - where the steps of a device begin and end; device_steps.h says how.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_DEVICE_DEVICE_STEP_FIND_H
#define PROFBPF_ANALYZER_ANALYSE_DEVICE_DEVICE_STEP_FIND_H

#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/analyse/pipeline/steps.h"
#include "analyzer/model/model.h"

#define STEPS_INFERRED_MIN 3 /* fewer repetitions prove nothing */
#define STEPS_CONFIDENCE_MIN 50 /* percent of the kernels that repeat from step to step */

enum step_source { STEPS_POINTS, STEPS_FILE, STEPS_MARKS, STEPS_TRAINER, STEPS_INFERRED };

struct step_bounds {
	uint64_t number;
	uint64_t fp_start_ns;
	uint64_t bp_end_ns; /* 0 = unknown */
	uint64_t end_ns;
	uint32_t first_reduce; /* rows of model->device_reduces, if the file told them */
	uint32_t reduce_count;
};

/* The tasks of one device: rows [first, first + count) of model->tasks, by start. */
struct device_tasks {
	const struct model *model;
	const struct analysis_options *options;
	const struct step_results *trainer; /* NULL = none */
	uint32_t device;
	uint32_t first;
	uint32_t count;
};

struct step_finding {
	MODEL_ARRAY(struct step_bounds) steps; /* by start */
	enum step_source source;
	double confidence; /* percent */
	uint32_t fp_name; /* string: the operator that begins all steps, if it is known; else 0 */
};

/* device_step_find - fill @finding, zeroed before; the caller frees steps.row. 0 or -ENOMEM. */
int device_step_find(const struct device_tasks *of, struct step_finding *finding);

/* One way to find them: by names that repeat. 0 or -ENOMEM. */
int device_step_infer(const struct device_tasks *of, struct step_finding *finding);

/*
 * device_step_close - end of a step, and of its backward pass, from its tasks
 *
 * Those that start in [bounds->fp_start_ns, @until_ns). Their number is returned; with none,
 * @bounds stays as it is. *@row is where to go on in the tasks of the device.
 */
uint32_t device_step_close(const struct device_tasks *of, struct step_bounds *bounds,
			   uint64_t until_ns, uint32_t *row);

#endif /* PROFBPF_ANALYZER_ANALYSE_DEVICE_DEVICE_STEP_FIND_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator_steps.h - time of operators in each step, by type and by operator, with shapes.
 *
 * For networks whose shapes change from step to step: the same operator is then slow in some of them. A task belongs
 * to the step in which it starts; tasks outside all steps and synchronisation tasks are left out. Steps are those of
 * device_steps.h.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_DEVICE_OPERATOR_STEPS_H
#define PROFBPF_ANALYZER_ANALYSE_DEVICE_OPERATOR_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/device/operator_figures.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

/* An operator in one step. */
struct operator_step {
	uint64_t step; /* its number, as in the step trace */
	uint64_t count;
	uint64_t total_ns;
	uint64_t max_ns;
	/* Strings: 0 = unknown; OPERATOR_SEVERAL = the tasks in this step differ. */
	uint32_t input_shapes;
	uint32_t output_shapes;
};

/* An operator, or all operators of a type, over the steps. */
struct operator_series {
	uint32_t device; /* index into model->devices */
	uint32_t name; /* string; 0 for a type */
	uint32_t type; /* string; 0 = unknown */
	uint8_t kind; /* Profbpf__DeviceTasks__Kind */
	uint8_t core; /* enum operator_core */
	bool of_type;
	uint32_t first; /* steps[first .. first + count), by time */
	uint32_t count;
	bool shaped; /* operators only: its shapes are known in some step */
	uint32_t changes; /* steps whose input shapes differ from the previous step's */
	uint64_t total_ns;
	double mean_ns; /* mean of its time per step, over the steps in which it ran */
	uint64_t min_ns;
	uint64_t max_ns;
};

struct operator_step_results {
	struct operator_series *series; /* types first, then operators; each by decreasing time */
	uint32_t count;
	struct operator_step *steps;
	uint32_t step_count;
};

/*
 * operator_steps_analyse - fill @results; needs converted, sorted tasks
 *
 * options->operators selects by name, type and data type. Returns 0 or -ENOMEM; in both cases
 * operator_steps_free() is to be called.
 */
int operator_steps_analyse(const struct model *model, const struct analysis_options *options,
			   const struct device_step_results *steps,
			   struct operator_step_results *results);
void operator_steps_free(struct operator_step_results *results);

#endif /* PROFBPF_ANALYZER_ANALYSE_DEVICE_OPERATOR_STEPS_H */

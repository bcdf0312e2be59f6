/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_step_find.h - find where the steps of a device begin and end, by the rules of device_steps.h.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_DEVICE_DEVICE_STEP_FIND_H
#define PROFBPF_ANALYZER_ANALYSE_DEVICE_DEVICE_STEP_FIND_H

#include <stdint.h>

#include "analyzer/analyse/calls/host_loops.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/analyse/pipeline/steps.h"
#include "analyzer/model/model.h"

enum step_source {
	STEPS_POINTS,
	STEPS_FILE,
	STEPS_MARKS,
	STEPS_TRAINER,
	STEPS_HOST, /* the host's loop, found by its calls */
	STEPS_DEVICE, /* the same loop, found by the device's tasks */
	STEPS_REPETITION, /* no steps: only a repetition */
};

struct step_bounds {
	uint64_t number;
	uint64_t host_ns; /* when the host began it; 0 = unknown */
	uint64_t begin_ns; /* start of its first task: the copy of its batch, or its forward pass */
	uint64_t fp_start_ns;
	uint64_t bp_end_ns; /* 0 = unknown */
	uint64_t end_ns;
	uint32_t first_reduce; /* rows of model->device_reduces, if the file has them */
	uint32_t reduce_count;
};

/* The tasks of one device: rows [first, first + count) of model->tasks, by start. */
struct device_tasks {
	const struct model *model;
	const struct analysis_options *options;
	const struct step_results *trainer; /* NULL = none */
	const struct host_loops *loops;
	uint32_t device;
	uint32_t first;
	uint32_t count;
};

struct step_finding {
	MODEL_ARRAY(struct step_bounds) steps; /* by start */
	enum step_source source;
	uint8_t evidence; /* enum loop_evidence for STEPS_HOST and STEPS_DEVICE */
	double confidence; /* percent */
	uint32_t fp_name; /* string: the operator that begins all steps; 0 = unknown */
};

/* device_step_find - fill @finding, zeroed before; the caller frees steps.row. Returns 0 or -ENOMEM. */
int device_step_find(const struct device_tasks *of, struct step_finding *finding);

/* Finds steps by the device's tasks (device_step_infer.c), or else a repetition of them. Returns 0 or -ENOMEM. */
int device_step_infer(const struct device_tasks *of, struct step_finding *finding);

/* Cuts the device's tasks at the indices @begins into steps. Returns 0 or -ENOMEM. */
int device_step_cut(const struct device_tasks *of, const uint32_t *begins, uint32_t count,
		    struct step_finding *finding);

#endif /* PROFBPF_ANALYZER_ANALYSE_DEVICE_DEVICE_STEP_FIND_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_steps.h - the training steps as a device ran them.
 *
 * Definitions (msprof's step_trace, MindInsight): a step ends with its last task, and begins when the previous step
 * ended; the first step begins with its first task. Then
 *
 *   gap     from the end of the previous step to the start of the forward pass: waiting for data, and copying it
 *   fp_bp   from the start of the forward to the end of the backward pass
 *   tail    from there to the end of the step: parameters, the last collectives
 *
 * add up to its duration. The forward pass begins with the first kernel of the step, or with options->fp_point. The
 * backward pass ends with options->bp_point, or, if that is not given, with the last kernel that had ended when the
 * step's last collective began; without collectives its end is unknown.
 *
 * The tasks of a step are determined by the first available of: the points given; the device file's own steps; marks
 * of the framework (ProfilerStep#3, "Step Id", ranges called "step 3"); the trainer's fetches; the host's loop by its
 * calls (host_loops.h); the same loop in the device's tasks (loop_find.h). Where the host is known, tasks belong to
 * the step in which they were enqueued; else copies to the device directly before the first kernel belong to its
 * step.
 *
 * Any other repetition is no step, because layers repeat, too. It is reported apart as a repetition, and nothing is
 * concluded from it.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_DEVICE_DEVICE_STEPS_H
#define PROFBPF_ANALYZER_ANALYSE_DEVICE_DEVICE_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/analyse/device/device_step_find.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/analyse/pipeline/steps.h"
#include "analyzer/model/model.h"

/* The collectives of a step on one stream. */
struct step_reduce {
	uint64_t stream; /* MODEL_ID_NONE: without a stream */
	uint64_t start_ns; /* of the first */
	uint64_t end_ns; /* of the last */
	uint64_t total_ns; /* sum of durations */
	uint32_t count;
};

struct device_step_row {
	uint64_t
		number; /* the number in the file, of the framework or of the trainer; inferred steps count from 0 */
	uint64_t host_ns; /* when the host began it; 0 = unknown */
	uint64_t start_ns;
	uint64_t fp_start_ns;
	uint64_t bp_end_ns; /* 0 = unknown */
	uint64_t end_ns;
	int64_t gap_ns; /* negative: it began before the previous step had ended */
	int64_t fp_bp_ns; /* valid with bp_end_ns, as the next member */
	int64_t tail_ns;
	uint64_t busy_ns; /* busy time of the device between start and end */
	uint32_t first_reduce; /* reduces[first .. first + count), by stream */
	uint32_t reduce_count;
	bool first; /* the first of all steps found: it has no gap */
};

/* Means over the listed steps without the first of all, unless it is the only step. */
struct device_step_means {
	uint32_t steps; /* 0 = there is no step */
	uint32_t bp_steps; /* number of these steps with a known end of the backward pass */
	double duration_ns;
	double gap_ns;
	double fp_bp_ns;
	double tail_ns;
	double busy_ns;
};

struct device_step_trace {
	uint32_t device; /* index into model->devices */
	enum step_source source;
	uint8_t evidence; /* enum loop_evidence of inferred steps */
	double confidence; /* percent */
	uint32_t fp_name; /* string: the operator that begins the steps; 0 = unknown */
	struct device_step_row *rows; /* by time; the steps whose forward pass begins in the window */
	uint32_t count;
	struct step_reduce *reduces;
	uint32_t reduce_count;
	struct device_step_means means;
	struct step_reduce *mean_reduces; /* by stream: sums over the steps that the means cover */
	uint32_t mean_reduce_count;
};

struct device_step_results {
	struct device_step_trace *traces; /* of devices with steps, by device */
	uint32_t count;
	uint32_t main; /* the trace of the device with most steps; INDEX_NONE = there are none */
	struct device_step_trace *repetitions; /* of devices without steps, by device */
	uint32_t repetition_count;
	struct host_loops loops; /* the loops that the host's calls show, with or without devices */
};

/*
 * device_steps_analyse - fill @results; needs converted, sorted tasks
 *
 * @trainer: the steps of data pipelines, NULL = none are known. Returns 0 or -ENOMEM; in both cases
 * device_steps_free() is to be called.
 */
int device_steps_analyse(const struct model *model, const struct analysis_options *options,
			 const struct step_results *trainer, struct device_step_results *results);
void device_steps_free(struct device_step_results *results);

/* "marker", "inferred" or "repetition", as in the JSON report. Static text. */
const char *step_source_name(enum step_source source);

/* The source in words: "the device file", "the host's loop, by copies to the device". */
void step_source_text(enum step_source source, uint8_t evidence, char *text, size_t size);

#endif /* PROFBPF_ANALYZER_ANALYSE_DEVICE_DEVICE_STEPS_H */

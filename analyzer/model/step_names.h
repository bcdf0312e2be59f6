/* SPDX-License-Identifier: Apache-2.0 */
/* step_names.h - recognises the names that people and frameworks give to steps. */
#ifndef PROFBPF_ANALYZER_MODEL_STEP_NAMES_H
#define PROFBPF_ANALYZER_MODEL_STEP_NAMES_H

#include <stdint.h>

/* More specific names have smaller numbers: if a job has several kinds, those of the smallest number count. */
enum step_name {
	STEP_NAME_NONE = 0,
	STEP_NAME_PROFILER, /* ProfilerStep#3 */
	STEP_NAME_STEP, /* "step 3", "train_step[3]", "Iteration:3"; also without a number */
	STEP_NAME_EXECUTE, /* execute_..., or ONNX Runtime's model_run: one pass of an inference engine */
};

/* step_name_of - is @text the name of a step? *@number is its number, UINT64_MAX if it has none. */
enum step_name step_name_of(const char *text, uint64_t *number);

#endif /* PROFBPF_ANALYZER_MODEL_STEP_NAMES_H */

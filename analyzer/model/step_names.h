/* SPDX-License-Identifier: Apache-2.0 */
/* step_names.h - what people and frameworks call the steps that they mark. */
#ifndef PROFBPF_ANALYZER_MODEL_STEP_NAMES_H
#define PROFBPF_ANALYZER_MODEL_STEP_NAMES_H

#include <stdint.h>

/* The more specific the smaller: of several in one job those of the smallest count. */
enum step_name {
	STEP_NAME_NONE = 0,
	STEP_NAME_PROFILER, /* ProfilerStep#3 */
	STEP_NAME_STEP, /* "step 3", "train_step[3]", "Iteration:3"; also without a number */
	STEP_NAME_EXECUTE, /* execute_..., or ONNX Runtime's model_run: one pass of an inference engine */
};

/* step_name_of - does @text call a step? *@number is UINT64_MAX where it tells none. */
enum step_name step_name_of(const char *text, uint64_t *number);

#endif /* PROFBPF_ANALYZER_MODEL_STEP_NAMES_H */

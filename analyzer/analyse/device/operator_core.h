/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator_core.h - the unit that ran a device's task.
 *
 * AICORE (the cube and vector cores of an NPU), AICPU, HOSTCPU, kernel (of a GPU, or of an unknown unit),
 * communication, copy (also fills and maps), other.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_DEVICE_OPERATOR_CORE_H
#define PROFBPF_ANALYZER_ANALYSE_DEVICE_OPERATOR_CORE_H

#include <stdint.h>

#include "analyzer/model/model.h"

enum operator_core {
	CORE_OTHER = 0,
	CORE_KERNEL,
	CORE_AICORE,
	CORE_AICPU,
	CORE_HOSTCPU,
	CORE_COMMUNICATION,
	CORE_COPY,
	CORES
};

/* Name of a task kind as in reports: "kernel", "copy", ... Static text. */
const char *task_kind_name(uint8_t kind);

/* The unit that ran a task. */
enum operator_core task_core(const struct model *model, const struct device_task *task);

/* "AICORE", "communication", ... Static text. */
const char *operator_core_name(uint8_t core);

#endif /* PROFBPF_ANALYZER_ANALYSE_DEVICE_OPERATOR_CORE_H */

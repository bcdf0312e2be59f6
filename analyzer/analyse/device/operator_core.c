/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/device/operator_core.h"

#include <string.h>

const char *task_kind_name(uint8_t kind)
{
	static const char *const names[] = {
		[PROFBPF__DEVICE_TASKS__KIND__OTHER] = "other",
		[PROFBPF__DEVICE_TASKS__KIND__KERNEL] = "kernel",
		[PROFBPF__DEVICE_TASKS__KIND__COPY] = "copy",
		[PROFBPF__DEVICE_TASKS__KIND__FILL] = "fill",
		[PROFBPF__DEVICE_TASKS__KIND__MAP] = "map",
		[PROFBPF__DEVICE_TASKS__KIND__SYNC] = "sync",
		[PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION] = "communication",
	};

	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "other";
}

const char *operator_core_name(uint8_t core)
{
	static const char *const names[CORES] = { "other",   "kernel",	      "AICORE", "AICPU",
						  "HOSTCPU", "communication", "copy" };

	return core < CORES ? names[core] : "other";
}

/* The core for the files' words: AI_CORE, KERNEL_AICORE, MIX_AIV, AI_VECTOR_CORE, ... */
static enum operator_core named_core(const char *text)
{
	static const struct {
		const char *part;
		enum operator_core core;
	} WORDS[] = {
		{ "HOST", CORE_HOSTCPU }, { "AI_CPU", CORE_AICPU },	{ "AICPU", CORE_AICPU },
		{ "AI_C", CORE_AICORE },  { "AIC", CORE_AICORE },	{ "AIV", CORE_AICORE },
		{ "MIX", CORE_AICORE },	  { "AI_VECTOR", CORE_AICORE }, { "FFTS", CORE_AICORE },
	};

	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
		if (strcasestr(text, WORDS[i].part))
			return WORDS[i].core;
	}
	return CORE_KERNEL;
}

enum operator_core task_core(const struct model *model, const struct device_task *task)
{
	switch (task->kind) {
	case PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION: return CORE_COMMUNICATION;
	case PROFBPF__DEVICE_TASKS__KIND__COPY:
	case PROFBPF__DEVICE_TASKS__KIND__FILL:
	case PROFBPF__DEVICE_TASKS__KIND__MAP: return CORE_COPY;
	case PROFBPF__DEVICE_TASKS__KIND__KERNEL:
		return task->core ? named_core(model_text(model, task->core)) : CORE_KERNEL;
	default: return CORE_OTHER;
	}
}

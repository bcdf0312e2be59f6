/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/ascend/ascend_kinds.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "proto/trace.pb-c.h"

struct word {
	const char *part;
	uint8_t kind;
};

/* The kind of the first word that is part of the text; @otherwise if there is none. */
static uint8_t look_up(const struct word *words, size_t count, const char *text, uint8_t otherwise)
{
	for (size_t i = 0; i < count; i++) {
		if (strcasestr(text, words[i].part))
			return words[i].kind;
	}
	return otherwise;
}

uint8_t ascend_task_kind(const char *type)
{
	static const struct word WORDS[] = {
		{ "EVENT", PROFBPF__DEVICE_TASKS__KIND__SYNC },
		{ "NOTIFY", PROFBPF__DEVICE_TASKS__KIND__SYNC },
		{ "PROFILING", PROFBPF__DEVICE_TASKS__KIND__SYNC },
		{ "PLACE_HOLDER", PROFBPF__DEVICE_TASKS__KIND__SYNC },
		{ "TIMEOUT", PROFBPF__DEVICE_TASKS__KIND__SYNC },
		{ "MODEL_", PROFBPF__DEVICE_TASKS__KIND__SYNC },
		{ "STREAM_", PROFBPF__DEVICE_TASKS__KIND__SYNC },
		{ "WRITE_VALUE", PROFBPF__DEVICE_TASKS__KIND__SYNC },
		{ "COMMUNICATION", PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION },
		{ "HCCL", PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION },
		{ "REDUCE_ASYNC", PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION },
		{ "MEMCPY", PROFBPF__DEVICE_TASKS__KIND__COPY },
		{ "PCIE_DMA", PROFBPF__DEVICE_TASKS__KIND__COPY },
		{ "SDMA", PROFBPF__DEVICE_TASKS__KIND__COPY },
		{ "MEMSET", PROFBPF__DEVICE_TASKS__KIND__FILL },
		{ "AI_CORE", PROFBPF__DEVICE_TASKS__KIND__KERNEL },
		{ "AICORE", PROFBPF__DEVICE_TASKS__KIND__KERNEL },
		{ "AI_VECTOR", PROFBPF__DEVICE_TASKS__KIND__KERNEL },
		{ "AIVEC", PROFBPF__DEVICE_TASKS__KIND__KERNEL },
		{ "AIV", PROFBPF__DEVICE_TASKS__KIND__KERNEL },
		{ "MIX_AI", PROFBPF__DEVICE_TASKS__KIND__KERNEL },
		{ "AI_CPU", PROFBPF__DEVICE_TASKS__KIND__KERNEL },
		{ "AICPU", PROFBPF__DEVICE_TASKS__KIND__KERNEL },
		{ "HOST_CPU", PROFBPF__DEVICE_TASKS__KIND__KERNEL },
		{ "DSA", PROFBPF__DEVICE_TASKS__KIND__KERNEL },
		{ "FFTS", PROFBPF__DEVICE_TASKS__KIND__KERNEL },
		{ "KERNEL", PROFBPF__DEVICE_TASKS__KIND__KERNEL },
		{ "Other", PROFBPF__DEVICE_TASKS__KIND__KERNEL }, /* at profiling level 0 */
	};

	return look_up(WORDS, sizeof(WORDS) / sizeof(WORDS[0]), type,
		       PROFBPF__DEVICE_TASKS__KIND__OTHER);
}

uint8_t ascend_call_kind(const char *level, const char *name)
{
	static const struct word WORDS[] = {
		{ "GetWorkspaceSize", PROFBPF__FUNCTION__KIND__COMPILE },
		{ "aclnn", PROFBPF__FUNCTION__KIND__LAUNCH },
		{ "aclopExecute", PROFBPF__FUNCTION__KIND__LAUNCH },
		{ "launch", PROFBPF__FUNCTION__KIND__LAUNCH },
		{ "StreamWaitEvent", PROFBPF__FUNCTION__KIND__EVENT },
		{ "Synchronize", PROFBPF__FUNCTION__KIND__SYNC },
		{ "Event", PROFBPF__FUNCTION__KIND__EVENT },
		{ "Memcpy", PROFBPF__FUNCTION__KIND__COPY },
		{ "Memset", PROFBPF__FUNCTION__KIND__COPY },
		{ "Malloc", PROFBPF__FUNCTION__KIND__ALLOC },
		{ "Free", PROFBPF__FUNCTION__KIND__FREE },
	};

	if (strcasecmp(level, "hccl") == 0 || strcasecmp(level, "communication") == 0)
		return PROFBPF__FUNCTION__KIND__COLLECTIVE;
	return look_up(WORDS, sizeof(WORDS) / sizeof(WORDS[0]), name,
		       PROFBPF__FUNCTION__KIND__OTHER);
}

bool ascend_is_metric(const char *name)
{
	size_t length = strlen(name);
	static const char *const PARTS[] = { "_ratio",	     "_rate",	     "_bw(",
					     "_fops",	     "_datas(KB)",   "memory_bound",
					     "_time(us)",    "total_cycles", "cube_utilization",
					     "_cache_" };

	/* In databases the names have no units. */
	if (length > 5 && strcmp(name + length - 5, "_time") == 0)
		return true;
	for (size_t i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++) {
		if (strstr(name, PARTS[i]))
			return true;
	}
	return false;
}

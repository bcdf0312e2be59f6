/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/trace/function_kinds.h"

const char *const function_kinds[FUNCTION_KINDS] = {
	[PROFBPF__FUNCTION__KIND__OTHER] = "other",
	[PROFBPF__FUNCTION__KIND__LAUNCH] = "launch",
	[PROFBPF__FUNCTION__KIND__COPY] = "copy",
	[PROFBPF__FUNCTION__KIND__SYNC] = "sync",
	[PROFBPF__FUNCTION__KIND__ALLOC] = "alloc",
	[PROFBPF__FUNCTION__KIND__FREE] = "free",
	[PROFBPF__FUNCTION__KIND__EVENT] = "event",
	[PROFBPF__FUNCTION__KIND__COLLECTIVE] = "collective",
	[PROFBPF__FUNCTION__KIND__COMPILE] = "compile",
	[PROFBPF__FUNCTION__KIND__LOAD] = "load",
	[PROFBPF__FUNCTION__KIND__QUEUE] = "queue",
	[PROFBPF__FUNCTION__KIND__MARKER] = "marker",
	[PROFBPF__FUNCTION__KIND__STAGE] = "stage",
};

const char *function_kind_name(unsigned int kind)
{
	return function_kinds[kind < FUNCTION_KINDS ? kind : PROFBPF__FUNCTION__KIND__OTHER];
}

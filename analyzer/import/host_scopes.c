/* SPDX-License-Identifier: Apache-2.0 */
/* The host's timeline of a device file: operators, modules, functions of Python, ranges. */
#include <errno.h>
#include <string.h>

#include "analyzer/import/import_rows.h"

/*
 * Files of packages have these parts in their path, a job's own files do not; Python's own have no folder in these
 * names.
 */
static bool is_library(const char *name)
{
	static const char *const PARTS[] = { "site-packages/", "dist-packages/", "/lib/python",
					     "/lib64/python" };
	static const char *const STARTS[] = { "<",	    "torch/",	 "torch_npu/", "threading.py(",
					      "contextlib.py(", "selectors.py(", "queue.py(" };

	for (size_t i = 0; i < sizeof(PARTS) / sizeof(*PARTS); i++)
		if (strstr(name, PARTS[i]))
			return true;
	for (size_t i = 0; i < sizeof(STARTS) / sizeof(*STARTS); i++)
		if (strncmp(name, STARTS[i], strlen(STARTS[i])) == 0)
			return true;
	return false;
}

uint8_t scope_of_python(const char *name)
{
	if (strncmp(name, "nn.Module: ", strlen("nn.Module: ")) == 0)
		return SCOPE_MODULE;
	return is_library(name) ? SCOPE_LIBRARY : SCOPE_PYTHON;
}

uint8_t scope_of_range(const char *name)
{
	if (strstr(name, "DataLoader") || strstr(name, "dataloader") ||
	    strstr(name, "DataPipe"))
		return SCOPE_DATA;
	if (strncmp(name, "Optimizer.", strlen("Optimizer.")) == 0 ||
	    strcasestr(name, "optimizer step") || strcasestr(name, "optimizer.step"))
		return SCOPE_OPTIMIZER;
	return SCOPE_RANGE;
}

uint8_t scope_of_operator(const char *name)
{
	uint8_t range = scope_of_range(name);

	return range == SCOPE_RANGE && strncmp(name, "ProfilerStep#", strlen("ProfilerStep#")) != 0
		       ? SCOPE_OPERATOR
		       : range;
}

int import_scope(struct import_rows *rows, uint32_t thread, const char *name, uint8_t scope,
		 uint64_t start_ns, uint64_t end_ns)
{
	static const char *const OF[SCOPES] = {
		[SCOPE_LIBRARY] = "Python",   [SCOPE_OPERATOR] = "operators",
		[SCOPE_PYTHON] = "Python",    [SCOPE_RANGE] = "ranges",
		[SCOPE_MODULE] = "modules",   [SCOPE_OPTIMIZER] = "ranges",
		[SCOPE_DATA] = "ranges",
	};
	struct model *model = rows->import->model;
	struct call call = {
		.start_ns = start_ns, .end_ns = end_ns, .thread = thread, .task = INDEX_NONE
	};

	if (!rows->import->alone)
		return 0;
	call.function = import_function_row(rows, OF[scope], *name ? name : "unnamed",
					    PROFBPF__FUNCTION__KIND__MARKER, scope);
	if (thread == INDEX_NONE || call.function == INDEX_NONE ||
	    !MODEL_PUSH(&model->calls, call))
		return -ENOMEM;
	if (end_ns > model->threads.row[thread].last_ns)
		model->threads.row[thread].last_ns = end_ns;
	return 0;
}

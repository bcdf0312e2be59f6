/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/unnamed_code.h"

#include <stdbool.h>
#include <string.h>

static bool is_program(const struct model *model, uint32_t process, const char *name)
{
	const char *exe = model_text(model, model->processes.row[process].exe);
	const char *slash = strrchr(exe, '/');

	return !strcmp(slash ? slash + 1 : exe, name);
}

static bool has_thread(const struct model *model, uint32_t process, const char *name)
{
	for (uint32_t i = 0; i < model->threads.count; i++)
		if (model->threads.row[i].process == process &&
		    !strcmp(model_text(model, model->threads.row[i].name), name))
			return true;
	return false;
}

enum code_maker code_maker_of(const struct model *model, uint32_t process)
{
	if (process >= model->processes.count)
		return CODE_MAKER_NONE;
	/* A program may load the virtual machine as a library; these threads begin when it does. */
	if (is_program(model, process, "java") || has_thread(model, process, "VM Periodic Tas"))
		return CODE_MAKER_JAVA;
	if (is_program(model, process, "node") || has_thread(model, process, "V8Worker"))
		return CODE_MAKER_NODE;
	return CODE_MAKER_NONE;
}

enum code_maker unnamed_code_maker(const struct model *model, const struct root *root, uint32_t *process)
{
	if (root->place_kind != PLACE_FRAME || !root->generated || root->thread >= model->threads.count)
		return CODE_MAKER_NONE;
	*process = model->threads.row[root->thread].process;
	return code_maker_of(model, *process);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/frameworks/thread_entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Is it a library in which the threads of every program are started? */
static bool starts_threads(const char *source)
{
	const char *name = base_name(source);

	return !*name || *name == '<' || strcmp(name, "threading.py") == 0 ||
	       strstr(source, "concurrent/futures/thread.py");
}

static uint32_t entry_of(const struct model *model, const struct code_stack *stack)
{
	for (uint32_t i = stack->depth; i-- > 0;) {
		uint32_t index = model->stack_frames.row[stack->first + i];
		const struct code_frame *frame = &model->code_frames.row[index];

		if (frame->name && !starts_threads(model_text(model, frame->source)))
			return index;
	}
	return INDEX_NONE;
}

uint32_t *thread_entries_find(const struct model *model)
{
	uint32_t *entry = indices_none(model->threads.count);

	if (!entry)
		return NULL;
	for (uint32_t i = 0; i < model->stack_samples.count; i++) {
		const struct stack_sample *sample = &model->stack_samples.row[i];

		if ((sample->flags & MODEL_SAMPLE_PYTHON) && !(sample->flags & MODEL_SAMPLE_SHORT) &&
		    sample->thread < model->threads.count && entry[sample->thread] == INDEX_NONE &&
		    sample->stack < model->code_stacks.count)
			entry[sample->thread] =
				entry_of(model, &model->code_stacks.row[sample->stack]);
	}
	return entry;
}

void thread_entry_text(const struct model *model, uint32_t frame, char *text, size_t size)
{
	const struct code_frame *row;

	*text = '\0';
	if (frame >= model->code_frames.count)
		return;
	row = &model->code_frames.row[frame];
	snprintf(text, size, "%.60s (%.30s)", model_text(model, row->name),
		 base_name(model_text(model, row->source)));
}

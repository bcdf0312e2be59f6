/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/stacks/launch_python.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/base/bisect.h"

static bool is_python(const struct model *model, uint32_t row)
{
	return model->code_frames.row[row].kind == PROFBPF__STACKS__KIND__PYTHON;
}

static bool has_python(const struct model *model, const struct stack_sample *sample)
{
	const struct code_stack *stack;

	if (sample->stack >= model->code_stacks.count || sample->thread >= model->threads.count)
		return false;
	stack = &model->code_stacks.row[sample->stack];
	for (uint32_t i = 0; i < stack->depth; i++)
		if (is_python(model, model->stack_frames.row[stack->first + i]))
			return true;
	return false;
}

/* Groups samples by thread; samples of one thread keep the model's order, which is that of time. */
static void sort_samples(struct launch_python *p, const bool *counts)
{
	const struct model *model = p->model;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < model->stack_samples.count; i++)
		if (counts[i])
			p->first[model->stack_samples.row[i].thread]++;
	for (uint32_t i = 0; i <= model->threads.count; i++) {
		sum += p->first[i];
		p->first[i] = sum;
	}
	for (uint32_t i = model->stack_samples.count; i-- > 0;)
		if (counts[i])
			p->sample[--p->first[model->stack_samples.row[i].thread]] = i;
}

int launch_python_init(struct launch_python *p, const struct model *model)
{
	bool *counts = calloc((size_t)model->stack_samples.count + 1, sizeof(*counts));

	p->model = model;
	p->first = calloc((size_t)model->threads.count + 1, sizeof(*p->first));
	p->sample = calloc((size_t)model->stack_samples.count + 1, sizeof(*p->sample));
	if (!counts || !p->first || !p->sample) {
		free(counts);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < model->stack_samples.count; i++)
		counts[i] = has_python(model, &model->stack_samples.row[i]);
	sort_samples(p, counts);
	free(counts);
	return 0;
}

void launch_python_free(struct launch_python *p)
{
	free(p->first);
	free(p->sample);
}

/* Lists the Python functions of a sample, outermost first. */
static size_t frames_of(const struct model *model, const struct stack_sample *sample, struct launch_frame *frames)
{
	const struct code_stack *stack = &model->code_stacks.row[sample->stack];
	size_t count = 0;

	for (uint32_t i = stack->depth; i > 0 && count < LAUNCH_PYTHON_DEPTH_MAX; i--) {
		uint32_t row = model->stack_frames.row[stack->first + i - 1];
		const struct code_frame *code = &model->code_frames.row[row];

		if (is_python(model, row))
			frames[count++] = (struct launch_frame){ code->name, code->source, code->line };
	}
	return count;
}

/*
 * Returns the number of outer frames that both stacks share. Frames below a function on different lines are not
 * shared.
 */
static size_t in_common(struct launch_frame *frames, size_t count, const struct launch_frame *other, size_t others)
{
	size_t same = 0;
	bool same_line = true;

	while (same_line && same < count && same < others && frames[same].name == other[same].name &&
	       frames[same].source == other[same].source) {
		same_line = frames[same].line == other[same].line;
		if (!same_line)
			frames[same].line = 0;
		same++;
	}
	return same;
}

size_t launch_python_frames(const struct launch_python *p, const struct call *call, struct launch_frame *frames)
{
	const struct model *model = p->model;
	uint32_t from = p->first[call->thread], end = p->first[call->thread + 1], next;
	const struct stack_sample *before, *after;
	struct launch_frame other[LAUNCH_PYTHON_DEPTH_MAX];
	size_t count = 0;

	if (from == end)
		return 0;
	next = BISECT(i, from, end, model->stack_samples.row[p->sample[i]].ts_ns < call->start_ns);
	before = next > from ? &model->stack_samples.row[p->sample[next - 1]] : NULL;
	after = next < end ? &model->stack_samples.row[p->sample[next]] : NULL;
	if (after && after->ts_ns <= call->end_ns)
		return frames_of(model, after, frames);
	if (before && after && call->start_ns - before->ts_ns <= LAUNCH_PYTHON_NS &&
	    after->ts_ns - call->end_ns <= LAUNCH_PYTHON_NS)
		count = in_common(frames, frames_of(model, before, frames), other, frames_of(model, after, other));
	if (!count)
		frames[count++] = (struct launch_frame){ 0 };
	return count;
}

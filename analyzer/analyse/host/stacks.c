/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/host/stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/map.h"

struct collection {
	const struct model *model;
	const struct analysis_options *options;
	struct analysis_window window;
	uint64_t *samples; /* by stack */
	uint32_t *seen; /* by function: 1 + the last stack that counted it */
	uint32_t seen_capacity;
	struct map function_map; /* name << 32 | file -> functions */
	struct map block_map; /* stack << 32 | process -> blocked */
	MODEL_ARRAY(struct stack_function) functions;
	MODEL_ARRAY(struct stack_block) blocked;
	struct map sleeper_map; /* thread -> sleepers */
	MODEL_ARRAY(struct stack_sleeper) sleepers;
};

char *frame_text(const struct model *model, const struct code_frame *frame, char *into,
		 size_t size)
{
	const char *name = model_text(model, frame->name);

	snprintf(into, size, "%s", *name ? name : "[unknown]");
	return into;
}

static uint32_t file_of(const struct model *model, const struct code_frame *frame)
{
	if (frame->source)
		return frame->source;
	return frame->file < model->code_files.count ? model->code_files.row[frame->file].path : 0;
}

static uint32_t function_of(struct collection *c, const struct code_frame *frame)
{
	struct stack_function new = { .name = frame->name,
				      .file = file_of(c->model, frame),
				      .kind = frame->kind };
	uint64_t key = (uint64_t)new.name << 32 | new.file;
	uint32_t index = map_get(&c->function_map, key);

	if (index != MAP_NONE)
		return index;
	index = c->functions.count;
	if (!map_put(&c->function_map, key, index) || !MODEL_PUSH(&c->functions, new))
		return INDEX_NONE;
	return index;
}

/* A recursive function is counted once a stack. */
static bool mark_seen(struct collection *c, uint32_t function, uint32_t stack, bool *first)
{
	if (function >= c->seen_capacity) {
		uint32_t capacity = c->seen_capacity ? c->seen_capacity * 2 : 1024;
		uint32_t *grown;

		while (capacity <= function)
			capacity *= 2;
		grown = reallocarray(c->seen, capacity, sizeof(*grown));
		if (!grown)
			return false;
		memset(grown + c->seen_capacity, 0,
		       (capacity - c->seen_capacity) * sizeof(*grown));
		c->seen = grown;
		c->seen_capacity = capacity;
	}
	*first = c->seen[function] != stack + 1;
	c->seen[function] = stack + 1;
	return true;
}

static int count_stack(struct collection *c, uint32_t index)
{
	const struct model *model = c->model;
	const struct code_stack *stack = &model->code_stacks.row[index];
	uint64_t samples = c->samples[index];

	for (uint32_t i = 0; i < stack->depth; i++) {
		uint32_t row = model->stack_frames.row[stack->first + i];
		uint32_t function = function_of(c, &model->code_frames.row[row]);
		bool first;

		if (function == INDEX_NONE || !mark_seen(c, function, index, &first))
			return -ENOMEM;
		if (i == 0)
			c->functions.row[function].self += samples;
		if (first)
			c->functions.row[function].total += samples;
	}
	return 0;
}

static int count_block(struct collection *c, const struct stack_sample *sample)
{
	uint32_t process = c->model->threads.row[sample->thread].process;
	struct stack_block new = { .stack = sample->stack, .process = process }, *block;
	uint64_t key = (uint64_t)sample->stack << 32 | process;
	uint32_t index = map_get(&c->block_map, key);

	if (index == MAP_NONE) {
		index = c->blocked.count;
		if (!map_put(&c->block_map, key, index) || !MODEL_PUSH(&c->blocked, new))
			return -ENOMEM;
	}
	block = &c->blocked.row[index];
	block->count++;
	block->total_ns += sample->dur_ns;
	if (sample->dur_ns > block->max_ns)
		block->max_ns = sample->dur_ns;
	return 0;
}

/* Keeps the last record of each thread. */
static int note_sleeper(struct collection *c, const struct stack_sample *sample)
{
	const struct stack_sleeper new = { sample->thread, sample->stack, sample->ts_ns,
					   (sample->flags & MODEL_SAMPLE_WHOLE) != 0 };
	uint32_t index = map_get(&c->sleeper_map, sample->thread);

	if (index != MAP_NONE) {
		if (sample->ts_ns >= c->sleepers.row[index].ts_ns)
			c->sleepers.row[index] = new;
		return 0;
	}
	return map_put(&c->sleeper_map, sample->thread, c->sleepers.count) && MODEL_PUSH(&c->sleepers, new) ? 0 : -ENOMEM;
}

static bool wanted(const struct collection *c, const struct stack_sample *sample)
{
	return analysis_has(sample->ts_ns, &c->window) &&
	       sample->thread < c->model->threads.count &&
	       analysis_wants_process(c->model, c->options,
				      c->model->threads.row[sample->thread].process);
}

static int collect(struct collection *c, struct stack_results *results)
{
	const struct model *model = c->model;
	int err = 0;

	results->has_blocks = model_has_sleeps(model);
	for (uint32_t i = 0; i < model->stack_samples.count && !err; i++) {
		const struct stack_sample *sample = &model->stack_samples.row[i];

		if (sample->flags & (MODEL_SAMPLE_PYTHON | MODEL_SAMPLE_SHORT) ||
		    !wanted(c, sample))
			continue;
		if (sample->flags & MODEL_SAMPLE_STILL) {
			err = note_sleeper(c, sample);
			continue;
		}
		if (sample->flags & MODEL_SAMPLE_BLOCK) {
			results->has_blocks = true;
			results->blocks++;
			results->block_ns += sample->dur_ns;
			err = count_block(c, sample);
			continue;
		}
		results->samples += sample->times;
		if (sample->flags & MODEL_SAMPLE_WHOLE)
			results->whole += sample->times;
		if (sample->flags & MODEL_SAMPLE_LOCK)
			results->with_lock += sample->times;
		else if (sample->flags & MODEL_SAMPLE_NO_LOCK)
			results->without_lock += sample->times;
		if (sample->stack < model->code_stacks.count)
			c->samples[sample->stack] += sample->times;
		else
			results->unknown += sample->times;
	}
	for (uint32_t i = 0; i < model->code_stacks.count && !err; i++)
		if (c->samples[i])
			err = count_stack(c, i);
	return err;
}

static int by_self(const void *a, const void *b)
{
	const struct stack_function *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static int by_time(const void *a, const void *b)
{
	const struct stack_block *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static int by_thread(const void *a, const void *b, void *context)
{
	const struct model *model = context;
	const struct thread *x = &model->threads.row[((const struct stack_sleeper *)a)->thread];
	const struct thread *y = &model->threads.row[((const struct stack_sleeper *)b)->thread];

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

int stacks_analyse(const struct model *model, const struct analysis_options *options,
		   struct stack_results *results)
{
	struct collection c = { .model = model,
				.options = options,
				.window = analysis_window(model, options) };
	int err;

	*results = (struct stack_results){ 0 };
	c.samples = calloc((size_t)model->code_stacks.count + 1, sizeof(*c.samples));
	err = c.samples ? collect(&c, results) : -ENOMEM;
	if (c.functions.count)
		qsort(c.functions.row, c.functions.count, sizeof(*c.functions.row), by_self);
	if (c.blocked.count)
		qsort(c.blocked.row, c.blocked.count, sizeof(*c.blocked.row), by_time);
	if (c.sleepers.count)
		qsort_r(c.sleepers.row, c.sleepers.count, sizeof(*c.sleepers.row), by_thread, (void *)model);
	results->sleepers = c.sleepers.row;
	results->sleeper_count = c.sleepers.count;
	results->functions = c.functions.row;
	results->function_count = c.functions.count;
	results->blocked = c.blocked.row;
	results->blocked_count = c.blocked.count;
	map_free(&c.function_map);
	map_free(&c.block_map);
	map_free(&c.sleeper_map);
	free(c.samples);
	free(c.seen);
	return err;
}

void stacks_free(struct stack_results *results)
{
	free(results->functions);
	free(results->blocked);
	free(results->sleepers);
	*results = (struct stack_results){ 0 };
}

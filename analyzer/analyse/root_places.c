/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/root_places.h"

#include <stdlib.h>

#include "lib/bisect.h"
#include "lib/map.h"

/* A function in the samples of a row. */
struct seen {
	uint32_t frame; /* the first one of that function */
	uint64_t samples;
};

/* What was seen most so far, in Python and else. */
struct most {
	struct seen python;
	struct seen native;
	uint64_t python_samples;
	uint64_t native_samples;
};

struct root_places {
	const struct model *model;
	uint32_t *sample; /* indices of samples, thread by thread, in order of time */
	uint32_t *first; /* threads.count + 1 positions in sample */
	MODEL_ARRAY(struct seen) seen;
	MODEL_ARRAY(struct most) rows;
	struct map functions; /* (name, file or source) -> its first frame */
	struct map pairs; /* (row, frame) -> seen */
};

static bool deal_samples(struct root_places *places)
{
	const struct model *model = places->model;
	uint32_t threads = model->threads.count;

	places->first = calloc((size_t)threads + 2, sizeof(*places->first));
	places->sample = calloc((size_t)model->stack_samples.count + 1, sizeof(*places->sample));
	if (!places->first || !places->sample)
		return false;
	for (uint32_t i = 0; i < model->stack_samples.count; i++)
		if (model->stack_samples.row[i].thread < threads)
			places->first[model->stack_samples.row[i].thread + 2]++;
	for (uint32_t t = 2; t < threads + 2; t++)
		places->first[t] += places->first[t - 1];
	for (uint32_t i = 0; i < model->stack_samples.count; i++)
		if (model->stack_samples.row[i].thread < threads)
			places->sample[places->first[model->stack_samples.row[i].thread + 1]++] = i;
	return true;
}

struct root_places *root_places_new(const struct model *model)
{
	struct root_places *places = calloc(1, sizeof(*places));

	if (!places)
		return NULL;
	places->model = model;
	if (!deal_samples(places)) {
		root_places_free(places);
		return NULL;
	}
	return places;
}

void root_places_free(struct root_places *places)
{
	if (!places)
		return;
	free(places->sample);
	free(places->first);
	free(places->seen.row);
	free(places->rows.row);
	map_free(&places->functions);
	map_free(&places->pairs);
	free(places);
}

/* The function of the program that a stack was in: system calls are told by those that make them. */
static uint32_t place_of(const struct model *model, const struct stack_sample *sample)
{
	const struct code_stack *stack;

	if (sample->stack >= model->code_stacks.count)
		return INDEX_NONE;
	stack = &model->code_stacks.row[sample->stack];
	for (uint32_t i = 0; i < stack->depth; i++) {
		uint32_t index = model->stack_frames.row[stack->first + i];
		const struct code_frame *frame = &model->code_frames.row[index];

		if (frame->kind != PROFBPF__STACKS__KIND__KERNEL)
			return frame->name ? index : INDEX_NONE;
	}
	return INDEX_NONE;
}

static bool count(struct root_places *places, uint32_t row, uint32_t index, bool python)
{
	const struct code_frame *frame = &places->model->code_frames.row[index];
	uint64_t function = (uint64_t)frame->name << 32 | (python ? frame->source : frame->file);
	uint32_t first = map_get(&places->functions, function);
	uint32_t at;
	struct most *most;
	struct seen *seen, *best;

	if (first == MAP_NONE) {
		first = index;
		if (!map_put(&places->functions, function, first))
			return false;
	}
	at = map_get(&places->pairs, (uint64_t)row << 32 | first);
	if (at == MAP_NONE) {
		at = places->seen.count;
		if (!map_put(&places->pairs, (uint64_t)row << 32 | first, at) ||
		    !MODEL_PUSH(&places->seen, ((struct seen){ first, 0 })))
			return false;
	}
	while (places->rows.count <= row)
		if (!MODEL_PUSH(&places->rows, ((struct most){ 0 })))
			return false;
	seen = &places->seen.row[at];
	seen->samples++;
	most = &places->rows.row[row];
	*(python ? &most->python_samples : &most->native_samples) += 1;
	best = python ? &most->python : &most->native;
	if (seen->samples > best->samples)
		*best = *seen;
	return true;
}

static bool is_asleep(uint8_t cause)
{
	return cause == IDLE_SLEEP || cause == IDLE_IO || cause == IDLE_NETWORK ||
	       cause == IDLE_PAGE_FAULT;
}

bool root_places_look(struct root_places *places, uint32_t row, const struct root *root)
{
	const struct model *model = places->model;
	const struct stack_sample *samples = model->stack_samples.row;
	uint32_t next, end;

	if (root->thread >= model->threads.count ||
	    (root->cause != IDLE_USER_CODE && !is_asleep(root->cause)))
		return true;
	end = places->first[root->thread + 1];
	next = BISECT(i, places->first[root->thread], end,
		      samples[places->sample[i]].ts_ns < root->start_ns);
	for (; next < end && samples[places->sample[next]].ts_ns < root->end_ns; next++) {
		const struct stack_sample *sample = &samples[places->sample[next]];
		bool python = sample->flags & MODEL_SAMPLE_PYTHON;
		uint32_t frame;

		if (sample->flags & (MODEL_SAMPLE_BLOCK | MODEL_SAMPLE_WAIT) ||
		    (!python && is_asleep(root->cause)))
			continue;
		frame = place_of(model, sample);
		if (frame != INDEX_NONE && !count(places, row, frame, python))
			return false;
	}
	return true;
}

uint64_t root_places_choose(const struct root_places *places, uint32_t row, struct root *root)
{
	const struct most *most;
	bool python;

	if (row >= places->rows.count)
		return 0;
	most = &places->rows.row[row];
	python = most->python_samples > 0;
	if (!python && !most->native_samples)
		return 0;
	root->place_kind = PLACE_FRAME;
	root->place = python ? most->python.frame : most->native.frame;
	return python ? most->python_samples : most->native_samples;
}

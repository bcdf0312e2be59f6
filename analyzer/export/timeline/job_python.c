/* SPDX-License-Identifier: Apache-2.0 */
/* job_python.c - Python functions in samples of threads, as slices from sample to sample */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/export/timeline/export_names.h"
#include "analyzer/export/timeline/job_tracks.h"

#define KIND 1 /* for job_thread_track() */
#define DEPTH_MAX 64 /* the number of outermost frames that are shown */

/* The frames of one thread in its last sample, outermost first. */
struct looks {
	struct job_tracks *tracks;
	uint32_t track;
	uint64_t last_ns; /* time of that sample */
	struct {
		uint32_t name;
		uint64_t since_ns;
	} open[DEPTH_MAX];
	uint32_t depth;
};

static uint32_t frame_name(struct job_tracks *tracks, const struct code_frame *frame)
{
	const char *file = model_text(tracks->model, frame->source), *base = strrchr(file, '/');
	const char *name = model_text(tracks->model, frame->name);
	char text[EXPORT_NAME_SIZE];

	base = base ? base + 1 : file;
	snprintf(text, sizeof(text), *base ? "%s (%s)" : "%s", *name ? name : "unknown", base);
	return job_text(tracks, text);
}

/* Ends the open slices from @depth on. */
static bool close_from(struct looks *looks, uint32_t depth, uint64_t end_ns)
{
	while (looks->depth > depth) {
		uint32_t at = --looks->depth;
		struct job_slice slice = { .track = looks->track,
					   .start_ns = looks->open[at].since_ns,
					   .end_ns = end_ns,
					   .name = looks->open[at].name,
					   .depth = at };

		if (!MODEL_PUSH(&looks->tracks->slices, slice))
			return false;
	}
	return true;
}

static bool add_look(struct looks *looks, const struct stack_sample *sample)
{
	const struct model *model = looks->tracks->model;
	const struct code_stack *stack = &model->code_stacks.row[sample->stack];
	uint32_t names[DEPTH_MAX], depth = 0, same = 0;
	bool seen = true;

	for (uint32_t i = stack->depth; i > 0 && depth < DEPTH_MAX; i--) {
		uint32_t row = model->stack_frames.row[stack->first + i - 1];

		if (model->code_frames.row[row].kind == PROFBPF__STACKS__KIND__PYTHON)
			names[depth++] = frame_name(looks->tracks, &model->code_frames.row[row]);
	}
	if (sample->ts_ns - looks->last_ns > JOB_LOOKS_MAX_NS)
		seen = close_from(looks, 0, looks->last_ns);
	while (same < depth && same < looks->depth && looks->open[same].name == names[same])
		same++;
	seen = seen && close_from(looks, same, sample->ts_ns);
	for (; looks->depth < depth; looks->depth++) {
		looks->open[looks->depth].name = names[looks->depth];
		looks->open[looks->depth].since_ns = sample->ts_ns;
	}
	looks->last_ns = sample->ts_ns;
	return seen;
}

static int by_thread(const void *a, const void *b)
{
	const struct stack_sample *x = *(const struct stack_sample *const *)a;
	const struct stack_sample *y = *(const struct stack_sample *const *)b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->ts_ns < y->ts_ns ? -1 : x->ts_ns > y->ts_ns;
}

/* Adds the samples of one thread, rows[0 .. count). */
static bool add_thread(struct job_tracks *tracks, const struct stack_sample **rows, uint32_t count)
{
	struct looks looks = { .tracks = tracks, .last_ns = rows[0]->ts_ns };
	bool fits;

	looks.track = job_thread_track(tracks, KIND, rows[0]->thread, "Python functions", "python",
				       "Seen at looks at the interpreter, some 20 a second; shown "
				       "from one look to the next");
	fits = looks.track != INDEX_NONE;
	for (uint32_t i = 0; i < count && fits; i++)
		fits = add_look(&looks, rows[i]);
	return fits && close_from(&looks, 0, looks.last_ns);
}

static bool is_look(const struct job_tracks *tracks, const struct stack_sample *sample)
{
	return sample->flags & MODEL_SAMPLE_PYTHON &&
	       sample->stack < tracks->model->code_stacks.count &&
	       sample->thread < tracks->model->threads.count && tracks->chosen[sample->thread];
}

int job_add_python(struct job_tracks *tracks)
{
	const struct model *model = tracks->model;
	uint32_t count = 0, end;
	const struct stack_sample **rows =
		calloc((size_t)model->stack_samples.count + 1, sizeof(*rows));
	bool fits = rows != NULL;

	for (uint32_t i = 0; fits && i < model->stack_samples.count; i++)
		if (is_look(tracks, &model->stack_samples.row[i]))
			rows[count++] = &model->stack_samples.row[i];
	if (count)
		qsort(rows, count, sizeof(*rows), by_thread);
	for (uint32_t i = 0; i < count && fits; i = end) {
		for (end = i; end < count && rows[end]->thread == rows[i]->thread;)
			end++;
		fits = add_thread(tracks, rows + i, end - i);
	}
	free(rows);
	return fits ? 0 : -ENOMEM;
}

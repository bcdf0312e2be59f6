/* SPDX-License-Identifier: Apache-2.0 */
/* Completes the model after the last file: drops repeated steps, nests calls, sets the time of the recording. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/import/importer.h"
#include "analyzer/load/load_judge.h"

#define STEP_APART_NS 1000 /* maximum difference, exclusive, of the ends of one step in two files */
#define CALL_DEPTH_MAX 255 /* deeper calls get this depth */

static int by_nesting(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

/* Files do not have the depth of a call; it follows from the times of nested calls. */
static void nest_calls(struct model *model)
{
	uint64_t ends[CALL_DEPTH_MAX];
	uint32_t thread = INDEX_NONE;
	uint8_t depth = 0;

	if (model->calls.count)
		qsort(model->calls.row, model->calls.count, sizeof(*model->calls.row), by_nesting);
	for (uint32_t i = 0; i < model->calls.count; i++) {
		struct call *call = &model->calls.row[i];

		if (call->thread != thread)
			depth = 0;
		thread = call->thread;
		while (depth && ends[depth - 1] < call->end_ns)
			depth--;
		call->depth = depth;
		if (depth < CALL_DEPTH_MAX)
			ends[depth++] = call->end_ns;
	}
}

static void widen(struct trace_info *info, uint64_t from_ns, uint64_t to_ns)
{
	if (!info->session_start_ns || from_ns < info->session_start_ns)
		info->session_start_ns = from_ns;
	if (to_ns > info->session_end_ns)
		info->session_end_ns = to_ns;
}

static int by_step(const void *a, const void *b)
{
	const struct device_step *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

static bool is_same_step(const struct device_step *x, const struct device_step *y)
{
	uint64_t apart = x->end_ns > y->end_ns ? x->end_ns - y->end_ns : y->end_ns - x->end_ns;

	return x->device == y->device && x->number == y->number && apart < STEP_APART_NS;
}

/*
 * A timeline and the table beside it have the same steps, as do files of one iteration each: duplicates are
 * dropped.
 */
static void drop_repeated_steps(struct model *model)
{
	struct device_step *rows = model->device_steps.row;
	uint32_t kept = 0;

	if (model->device_steps.count)
		qsort(rows, model->device_steps.count, sizeof(*rows), by_step);
	for (uint32_t i = 0; i < model->device_steps.count; i++) {
		struct device_step *last = kept ? &rows[kept - 1] : NULL;

		if (!last || !is_same_step(last, &rows[i]))
			rows[kept++] = rows[i];
		else if (rows[i].reduce_count > last->reduce_count)
			*last = rows[i];
	}
	model->device_steps.count = kept;
}

int import_finish(struct model *model, bool alone)
{
	struct trace_info *info = &model->info;

	drop_repeated_steps(model);
	for (uint32_t i = 0; alone && i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];

		if (task->start_ns && task->end_ns >= task->start_ns)
			widen(info, task->start_ns, task->end_ns + 1);
	}
	for (uint32_t i = 0; alone && i < model->device_steps.count; i++)
		widen(info, model->device_steps.row[i].fp_start_ns,
		      model->device_steps.row[i].end_ns + 1);
	for (uint32_t i = 0; alone && i < model->memory_records.count; i++)
		widen(info, model->memory_records.row[i].ts_ns,
		      model->memory_records.row[i].ts_ns + 1);
	for (uint32_t i = 0; alone && i < model->switches.count; i++)
		widen(info, model->switches.row[i].ts_ns, model->switches.row[i].ts_ns + 1);
	for (uint32_t i = 0; alone && i < model->calls.count; i++)
		widen(info, model->calls.row[i].start_ns, model->calls.row[i].end_ns + 1);
	for (uint32_t i = 0; alone && i < model->cpu_stats.count; i++)
		widen(info, model->cpu_stats.row[i].ts_ns, model->cpu_stats.row[i].ts_ns + 1);
	for (uint32_t i = 0; alone && i < model->imported_batches.count; i++)
		widen(info, model->imported_batches.row[i].start_ns,
		      model->imported_batches.row[i].end_ns +
			      model->imported_batches.row[i].send_ns + 1);
	if (alone) {
		info->start_ns = info->session_start_ns;
		info->end_ns = info->session_end_ns;
	}
	if (alone)
		nest_calls(model);
	if (!model_index(model))
		return -ENOMEM;
	if (alone)
		load_judge_calls(model);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/timeline/device_tracks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/device/devices.h"
#include "analyzer/analyse/intervals.h"
#include "analyzer/analyse/device/operators.h"
#include "analyzer/model/task_sort.h"

struct builder {
	const struct model *model;
	const struct export_options *options;
	uint32_t device;
	const uint32_t *order;
	uint32_t count;
	struct device_tracks *tracks;
};

const char *task_group_name(enum task_group group)
{
	static const char *const NAMES[TASK_GROUPS] = { "AI Core", "AI CPU", "Host CPU",
							"Communication", "Other tasks" };

	return group < TASK_GROUPS ? NAMES[group] : "Other tasks";
}

enum task_group task_group(const struct model *model, const struct device_task *task)
{
	switch (task_core(model, task)) {
	case CORE_AICORE: return GROUP_AI_CORE;
	case CORE_AICPU: return GROUP_AI_CPU;
	case CORE_HOSTCPU: return GROUP_HOST_CPU;
	case CORE_COMMUNICATION: return GROUP_COMMUNICATION;
	default: return GROUP_OTHER;
	}
}

bool device_is_grouped(const struct model *model, const uint32_t *order, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (task_group(model, &model->tasks.row[order[i]]) < GROUP_COMMUNICATION)
			return true;
	}
	return false;
}

static struct device_track *add_track(struct device_tracks *tracks, enum track_group group,
				      const char *name)
{
	struct device_track track = { .group = group };

	snprintf(track.name, sizeof(track.name), "%s", name);
	if (tracks->count == tracks->capacity &&
	    !model_grow((void **)&tracks->track, &tracks->capacity, tracks->count,
			sizeof(*tracks->track)))
		return NULL;
	tracks->track[tracks->count] = track;
	return &tracks->track[tracks->count++];
}

static int add_slice(struct device_track *track, uint64_t start_ns, uint64_t end_ns, uint32_t text,
		     uint8_t depth)
{
	const struct track_slice slice = { start_ns, end_ns, text, depth };

	return text != STRING_NONE && MODEL_PUSH(track, slice) ? 0 : -ENOMEM;
}

static int add_step(struct builder *of, struct device_track *track,
		    const struct device_step_row *row, uint64_t from_ns)
{
	struct string_table *texts = of->tracks->texts;
	uint64_t start_ns = row->start_ns > from_ns ? row->start_ns : from_ns;
	char name[48];
	int err;

	snprintf(name, sizeof(name), "Step %" PRIu64, row->number);
	if (row->end_ns <= start_ns)
		return 0;
	err = add_slice(track, start_ns, row->end_ns, string_table_add_text(texts, name), 0);
	if (!err && row->fp_start_ns > start_ns && row->fp_start_ns < row->end_ns)
		err = add_slice(track, start_ns, row->fp_start_ns,
				string_table_add_text(texts, "Data_aug Bound"), 1);
	if (err || row->bp_end_ns <= row->fp_start_ns || row->fp_start_ns < start_ns ||
	    row->bp_end_ns > row->end_ns)
		return err;
	err = add_slice(track, row->fp_start_ns, row->bp_end_ns,
			string_table_add_text(texts, "FP_BP Time"), 1);
	if (!err && row->bp_end_ns < row->end_ns)
		err = add_slice(track, row->bp_end_ns, row->end_ns,
				string_table_add_text(texts, "Iteration Refresh"), 1);
	return err;
}

/* Adds steps; a step that overlaps the previous one is shown from the end of that one. */
static int add_steps(struct builder *of)
{
	const struct device_step_results *steps = of->options->steps;
	const struct device_step_trace *trace = NULL;
	struct device_track *track;
	uint64_t end_ns = 0;
	int err = 0;

	for (uint32_t i = 0; steps && i < steps->count; i++) {
		if (steps->traces[i].device == of->device && steps->traces[i].count)
			trace = &steps->traces[i];
	}
	if (!trace)
		return 0;
	track = add_track(of->tracks, TRACK_STEPS, "Steps");
	if (!track)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->count && !err; i++) {
		err = add_step(of, track, &trace->rows[i], end_ns);
		end_ns = trace->rows[i].end_ns > end_ns ? trace->rows[i].end_ns : end_ns;
	}
	return err;
}

static int add_intervals(struct builder *of, const char *name, const struct intervals *intervals)
{
	struct device_track *track;
	uint32_t text;
	int err = 0;

	if (!intervals->count)
		return 0;
	track = add_track(of->tracks, TRACK_OVERLAP, name);
	text = string_table_add_text(of->tracks->texts, name);
	if (!track)
		return -ENOMEM;
	for (uint32_t i = 0; i < intervals->count && !err; i++)
		err = add_slice(track, intervals->row[i].start_ns, intervals->row[i].end_ns, text,
				0);
	return err;
}

/* Fills @rest with the parts of @a that are not in @b; both are unions of intervals. */
static int without(const struct intervals *a, const struct intervals *b, struct intervals *rest)
{
	uint32_t next = 0;
	int err = 0;

	for (uint32_t i = 0; i < a->count && !err; i++) {
		uint64_t at_ns = a->row[i].start_ns;

		while (next < b->count && b->row[next].end_ns <= at_ns)
			next++;
		for (uint32_t k = next; k < b->count && b->row[k].start_ns < a->row[i].end_ns && !err;
		     k++) {
			err = intervals_add(rest, at_ns, b->row[k].start_ns);
			at_ns = b->row[k].end_ns;
		}
		if (!err)
			err = intervals_add(rest, at_ns, a->row[i].end_ns);
	}
	return err;
}

/* The sets of overlap.h, as intervals. */
struct overlap_sets {
	struct intervals computing;
	struct intervals communication;
	struct intervals work; /* both */
	struct intervals pure;
	struct intervals stage; /* interval from the first to the last work */
	struct intervals free;
};

static int collect(const struct builder *of, struct overlap_sets *sets)
{
	for (uint32_t i = 0; i < of->count; i++) {
		const struct device_task *task = &of->model->tasks.row[of->order[i]];
		struct intervals *set = NULL;

		if (task->kind == PROFBPF__DEVICE_TASKS__KIND__KERNEL)
			set = &sets->computing;
		else if (task->kind == PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION)
			set = &sets->communication;
		if (!set || !device_task_counts(task))
			continue;
		if (intervals_add(set, task->start_ns, task->end_ns) ||
		    intervals_add(&sets->work, task->start_ns, task->end_ns))
			return -ENOMEM;
	}
	intervals_unite(&sets->computing);
	intervals_unite(&sets->communication);
	intervals_unite(&sets->work);
	if (!sets->work.count)
		return 0;
	if (intervals_add(&sets->stage, sets->work.row[0].start_ns,
			  sets->work.row[sets->work.count - 1].end_ns) ||
	    without(&sets->communication, &sets->computing, &sets->pure))
		return -ENOMEM;
	return without(&sets->stage, &sets->work, &sets->free);
}

static int add_overlap(struct builder *of)
{
	struct overlap_sets sets = { 0 };
	int err = collect(of, &sets);

	if (!err)
		err = add_intervals(of, "Computing", &sets.computing);
	if (!err)
		err = add_intervals(of, "Communication", &sets.communication);
	if (!err)
		err = add_intervals(of, "Communication(Not Overlapped)", &sets.pure);
	if (!err)
		err = add_intervals(of, "Free", &sets.free);
	intervals_free(&sets.computing);
	intervals_free(&sets.communication);
	intervals_free(&sets.work);
	intervals_free(&sets.pure);
	intervals_free(&sets.stage);
	intervals_free(&sets.free);
	return err;
}

/* Returns the part of a path at a level, counted from 0; NULL = there is none. The last part is not a scope. */
static const char *part_of(const char *name, uint32_t level, size_t *length)
{
	const char *slash;

	while ((slash = strchr(name, '/')) != NULL) {
		*length = (size_t)(slash - name);
		if (!level--)
			return name;
		name = slash + 1;
	}
	return NULL;
}

/* A new scope ends the previous one, even if its last task has not ended yet. @scope: the previous scope. */
static int extend_scope(struct builder *of, struct device_track *track,
			const struct device_task *task, uint32_t level, uint32_t *scope)
{
	const char *name = model_text(of->model, task->name), *part;
	struct track_slice *last = track->count ? &track->row[track->count - 1] : NULL;
	uint32_t before = *scope;
	size_t length = 0;

	part = part_of(name, level, &length);
	*scope = 0;
	if (!part || !length)
		return 0;
	/* Two paths that differ above a level are different scopes there, even if their names are equal. */
	*scope = string_table_add(of->tracks->texts, name, (size_t)(part - name) + length);
	if (*scope == STRING_NONE)
		return -ENOMEM;
	if (last && *scope == before) {
		last->end_ns = task->end_ns > last->end_ns ? task->end_ns : last->end_ns;
		return 0;
	}
	if (last && last->end_ns > task->start_ns)
		last->end_ns = task->start_ns;
	return add_slice(track, task->start_ns, task->end_ns,
			 string_table_add(of->tracks->texts, part, length), 0);
}

static int add_scope_level(struct builder *of, const uint32_t *rows, uint32_t count, uint32_t level)
{
	struct device_track track = { .group = TRACK_SCOPES }, *added;
	uint32_t scope = 0;
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++)
		err = extend_scope(of, &track, &of->model->tasks.row[rows[i]], level, &scope);
	if (err || !track.count) {
		free(track.row);
		return err;
	}
	snprintf(track.name, sizeof(track.name), "Scope %u", level + 1);
	added = add_track(of->tracks, TRACK_SCOPES, track.name);
	if (added)
		*added = track;
	else
		free(track.row);
	return added ? 0 : -ENOMEM;
}

static int add_scopes(struct builder *of)
{
	uint32_t depth = of->options->scope_depth, count = 0;
	uint32_t *rows = malloc(((size_t)of->count + 1) * sizeof(*rows));
	int err = 0;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < of->count; i++) {
		const struct device_task *task = &of->model->tasks.row[of->order[i]];

		if (task->kind == PROFBPF__DEVICE_TASKS__KIND__KERNEL && device_task_counts(task) &&
		    task_core(of->model, task) != CORE_HOSTCPU &&
		    strchr(model_text(of->model, task->name), '/'))
			rows[count++] = of->order[i];
	}
	tasks_sort_by_start(of->model, rows, count);
	for (uint32_t level = 0; level < depth && !err; level++)
		err = add_scope_level(of, rows, count, level);
	free(rows);
	return err;
}

int device_tracks_build(const struct model *model, const struct export_options *options,
			uint32_t device, const uint32_t *order, uint32_t count,
			struct device_tracks *tracks)
{
	struct builder of = { model, options, device, order, count, tracks };
	int err;

	*tracks = (struct device_tracks){ .texts = string_table_new() };
	if (!tracks->texts)
		return -ENOMEM;
	err = add_steps(&of);
	if (!err)
		err = add_overlap(&of);
	return err ? err : add_scopes(&of);
}

void device_tracks_free(struct device_tracks *tracks)
{
	for (uint32_t i = 0; i < tracks->count; i++)
		free(tracks->track[i].row);
	free(tracks->track);
	string_table_free(tracks->texts);
	*tracks = (struct device_tracks){ 0 };
}

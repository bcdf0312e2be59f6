/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/generic/slices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/own_export.h"
#include "analyzer/import/tensorflow/xplane.h"

#define OPEN_MAX 1024 /* open slices per track */

void slices_open(struct slices *slices, struct import *import, const char *source, uint8_t clock)
{
	*slices = (struct slices){ .import = import, .source = source, .clock = clock };
	slices->own = own_export_file(import->path);
	import_rows_begin(&slices->rows, import);
}

void slices_free(struct slices *slices)
{
	import_rows_free(&slices->rows);
	free(slices->tracks.row);
	free(slices->slices.row);
	free(slices->outer.row);
}

uint32_t slices_track(struct slices *slices)
{
	struct slice_track track = { .open = MAP_NONE };

	if (slices->tracks.count >= IMPORT_TRACKS_MAX) {
		import_too_many_tracks(slices->import);
		return INDEX_NONE;
	}
	return MODEL_PUSH(&slices->tracks, track) ? slices->tracks.count - 1 : INDEX_NONE;
}

int slices_add(struct slices *slices, const struct slice *slice)
{
	uint32_t none = MAP_NONE;

	if (!MODEL_PUSH(&slices->slices, *slice) || !MODEL_PUSH(&slices->outer, none))
		return -ENOMEM;
	slices->tracks.row[slice->track].last = slices->slices.count;
	return 0;
}

int slices_begin(struct slices *slices, uint32_t row, int64_t start_ns, uint32_t name)
{
	const struct slice slice = {
		.start_ns = start_ns, .dur_ns = -1, .track = row, .name = name
	};
	struct slice_track *track = &slices->tracks.row[row];
	int err;

	if (track->open_count == OPEN_MAX)
		return import_finding(slices->import, "events begun inside too many others",
				      model_text(slices->import->model, name));
	err = slices_add(slices, &slice);
	if (err)
		return err;
	slices->outer.row[slices->slices.count - 1] = track->open;
	track->open = slices->slices.count - 1;
	track->open_count++;
	return 0;
}

int slices_end(struct slices *slices, uint32_t row, int64_t end_ns)
{
	struct slice_track *track = &slices->tracks.row[row];
	struct slice *slice;

	if (track->open == MAP_NONE)
		return import_finding(slices->import, "ends of events that never began: the recording began "
						      "inside them", NULL);
	slice = &slices->slices.row[track->open];
	if (end_ns >= slice->start_ns &&
	    __builtin_sub_overflow(end_ns, slice->start_ns, &slice->dur_ns))
		slice->dur_ns = -1;
	track->open = slices->outer.row[track->open];
	track->open_count--;
	return 0;
}

static uint8_t kind_of(const char *name, const char *type)
{
	if (is_communication_name(name) || strcasestr(name, "allreduce"))
		return PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION;
	if (strcasestr(name, "memcpy") || strstr(name, "MemoryCopy"))
		return PROFBPF__DEVICE_TASKS__KIND__COPY;
	if (strstr(name, "MemoryFill"))
		return PROFBPF__DEVICE_TASKS__KIND__FILL;
	return xplane_task_kind(name, type);
}

static const char *process_name(const struct slices *slices, const struct slice_track *track)
{
	return model_text(slices->import->model, track->process);
}

static bool has_operators(const struct slices *slices, const struct slice_track *track)
{
	return strcmp(process_name(slices, track), SLICES_OPERATORS) == 0;
}

/* By track and start, outer ones first. */
static int by_place(const void *a, const void *b, void *context)
{
	const struct slices *slices = context;
	const struct slice *x = &slices->slices.row[*(const uint32_t *)a];
	const struct slice *y = &slices->slices.row[*(const uint32_t *)b];

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->dur_ns != y->dur_ns)
		return x->dur_ns > y->dur_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int64_t end_of(const struct slice *slice)
{
	return slice->start_ns + slice->dur_ns;
}

/* Open operators at a place of a track, outermost first, and the end of the self time that was assigned so far. */
struct nest {
	struct slices *slices;
	uint32_t *open;
	uint32_t count;
	int64_t at_ns;
};

/* Adds the self time of the innermost operator up to @to_ns. */
static int put_own(struct nest *nest, int64_t to_ns)
{
	struct slice own = nest->slices->slices.row[nest->open[nest->count - 1]];
	int64_t from_ns = nest->at_ns;

	nest->at_ns = to_ns;
	if (to_ns <= from_ns)
		return 0;
	own.holds_others = false;
	own.start_ns = from_ns;
	own.dur_ns = to_ns - from_ns;
	return slices_add(nest->slices, &own);
}

/* Closes operators that end before @next, or all at the end of the track (NULL). */
static int close_ended(struct nest *nest, const struct slice *next)
{
	int err = 0;

	while (nest->count && !err) {
		const struct slice *inner = &nest->slices->slices.row[nest->open[nest->count - 1]];

		if (next && next->track == inner->track && end_of(next) <= end_of(inner))
			break;
		if (inner->holds_others)
			err = put_own(nest, end_of(inner));
		else
			nest->at_ns = end_of(inner);
		nest->count--;
	}
	return err;
}

static int open_next(struct nest *nest, uint32_t row)
{
	const struct slice next = nest->slices->slices.row[row];
	int err = close_ended(nest, &next);

	if (!err && nest->count) {
		nest->slices->slices.row[nest->open[nest->count - 1]].holds_others = true;
		err = put_own(nest, next.start_ns);
	}
	nest->at_ns = next.start_ns;
	nest->open[nest->count++] = row;
	return err;
}

/* Replaces operators with nested ones by pieces of their self time. */
static int split_operators(struct slices *slices)
{
	uint32_t all = slices->slices.count, count = 0;
	uint32_t *order = calloc((size_t)all + 1, sizeof(*order));
	struct nest nest = { slices, calloc((size_t)all + 1, sizeof(*nest.open)), 0, 0 };
	int err = order && nest.open ? 0 : -ENOMEM;
	int64_t end_ns;

	for (uint32_t i = 0; i < all && !err; i++) {
		const struct slice *slice = &slices->slices.row[i];

		if (slice->dur_ns >= 0 && has_operators(slices, &slices->tracks.row[slice->track]) &&
		    !__builtin_add_overflow(slice->start_ns, slice->dur_ns, &end_ns))
			order[count++] = i;
	}
	if (count)
		qsort_r(order, count, sizeof(*order), by_place, slices);
	for (uint32_t i = 0; i < count && !err; i++)
		err = open_next(&nest, order[i]);
	if (!err)
		err = close_ended(&nest, NULL);
	free(order);
	free(nest.open);
	return err;
}

static bool is_of_device(const struct slice_track *track)
{
	return track->role != TRACK_HOST || track->told;
}

/* Numbers devices whose processes have words instead of numbers: they follow those that have numbers. */
static int number_devices(struct slices *slices)
{
	struct map numbers = { 0 };
	uint64_t next = 0;
	int err = 0;

	for (uint32_t i = 0; i < slices->tracks.count; i++) {
		const struct slice_track *track = &slices->tracks.row[i];

		if ((track->role == TRACK_DEVICE || track->told) && track->device < UINT32_MAX &&
		    track->device >= next)
			next = track->device + 1;
	}
	for (uint32_t i = 0; i < slices->tracks.count && !err; i++) {
		struct slice_track *track = &slices->tracks.row[i];
		uint32_t number;

		if (!is_of_device(track) || track->device <= SLICES_WORDS)
			continue;
		if (has_operators(slices, track)) {
			track->device = track->stream;
			track->stream = 0;
			continue;
		}
		number = map_get(&numbers, track->device);
		if (number == MAP_NONE && !map_put(&numbers, track->device, number = (uint32_t)next++))
			err = -ENOMEM;
		track->device = number;
	}
	map_free(&numbers);
	return err;
}

/* The same for streams, per device. Tracks with neither number nor word stay unknown. */
static int number_streams(struct slices *slices)
{
	struct map next = { 0 };
	int err = 0;

	for (uint32_t i = 0; i < slices->tracks.count && !err; i++) {
		const struct slice_track *track = &slices->tracks.row[i];
		uint32_t first = map_get(&next, track->device);

		if (is_of_device(track) && track->stream < MAP_NONE - 1 &&
		    (first == MAP_NONE || track->stream >= first) &&
		    !map_put(&next, track->device, (uint32_t)track->stream + 1))
			err = -ENOMEM;
	}
	for (uint32_t i = 0; i < slices->tracks.count && !err; i++) {
		struct slice_track *track = &slices->tracks.row[i];
		uint32_t number = map_get(&next, track->device);

		if (!is_of_device(track) || !slices_word_of(track->stream))
			continue;
		track->stream = number == MAP_NONE ? 0 : number;
		if (!map_put(&next, track->device, (uint32_t)track->stream + 1))
			err = -ENOMEM;
	}
	map_free(&next);
	return err;
}

static uint32_t device_row(struct slices *slices, const struct slice_track *track)
{
	const char *process = slices->proton ? "GPU" : process_name(slices, track);
	uint32_t row = import_device(&slices->rows, track->device, INDEX_NONE,
				     *process ? process : "unnamed", "accelerator", slices->source,
				     slices->clock);
	unsigned int rank;

	if (row != INDEX_NONE && sscanf(process, "RANK %9u ", &rank) == 1) {
		slices->import->model->devices.row[row].has_rank = true;
		slices->import->model->devices.row[row].rank = rank;
	}
	return row;
}

/* The call that launched a task: its correlation is 1 + the call's slice. */
static void set_launch(struct slices *slices, struct device_task *task)
{
	const struct slice *call = &slices->slices.row[task->correlation - 1];
	const struct slice_track *track = &slices->tracks.row[call->track];
	struct model *model = slices->import->model;
	uint64_t start_ns, end_ns;

	if (track->role != TRACK_HOST || call->evidence == SLICE_ON_DEVICE ||
	    !import_instants_of(call->start_ns, call->dur_ns, slices->move_ns, &start_ns, &end_ns))
		return;
	task->enqueue_ns = import_host_time(&slices->rows, slices->clock, start_ns);
	task->enqueue_dur_ns = end_ns - start_ns;
	task->thread = import_thread(&slices->rows, (uint32_t)track->device, track->stream, start_ns);
	if (task->thread < model->threads.count)
		model->devices.row[task->device].process = model->threads.row[task->thread].process;
}

static int put_task(struct slices *slices, const struct slice *slice, uint64_t start_ns,
		    uint64_t end_ns)
{
	struct model *model = slices->import->model;
	const struct slice_track *track = &slices->tracks.row[slice->track];
	struct device_task task = { .start_ns = start_ns,
				    .end_ns = end_ns,
				    .thread = INDEX_NONE,
				    .call = INDEX_NONE,
				    .stream = track->stream,
				    .name = slice->name,
				    .type = slice->type,
				    .correlation = slice->correlation,
				    .kind = kind_of(model_text(model, slice->name),
						    model_text(model, slice->type)) };

	if (slice->holds_others)
		return import_finding(slices->import,
				      "operators that others lie in: their own time, in pieces",
				      model_text(model, slice->name));
	task.device = device_row(slices, track);
	if (task.device == INDEX_NONE)
		return -ENOMEM;
	if (slice->correlation)
		set_launch(slices, &task);
	return MODEL_PUSH(&model->tasks, task) ? 0 : -ENOMEM;
}

/* Adds a step, whose name is its number; other names are no steps. */
static int put_step(struct slices *slices, const struct slice *slice, uint64_t start_ns,
		    uint64_t end_ns)
{
	struct model *model = slices->import->model;
	const char *name = model_text(model, slice->name);
	struct step_mark mark = { .process = INDEX_NONE };

	if (!decimal_unsigned(name, strlen(name), &mark.number))
		return 0;
	mark.start_ns = import_host_time(&slices->rows, slices->clock, start_ns);
	mark.end_ns = import_host_time(&slices->rows, slices->clock, end_ns);
	mark.device = device_row(slices, &slices->tracks.row[slice->track]);
	if (mark.device == INDEX_NONE)
		return -ENOMEM;
	if (!mark.start_ns || !mark.end_ns)
		return 0;
	return MODEL_PUSH(&model->step_marks, mark) ? 0 : -ENOMEM;
}

static void name_thread(struct slices *slices, const struct slice_track *track, uint32_t row,
		       uint64_t end_ns)
{
	struct model *model = slices->import->model;
	const char *process = process_name(slices, track);
	struct thread *thread = &model->threads.row[row];
	struct process *owner = &model->processes.row[thread->process];
	uint64_t number;

	if (end_ns > thread->last_ns)
		thread->last_ns = end_ns;
	thread->name = track->name ? track->name : slices_word_of(track->stream);
	thread->worded = track->stream > SLICES_WORDS;
	if (!decimal_unsigned(process, strlen(process), &number)) /* a number is no name */
		owner->name = track->process;
	owner->worded = track->device > SLICES_WORDS;
}

static int put_scope(struct slices *slices, const struct slice *slice, uint32_t thread,
		     uint64_t start_ns, uint64_t end_ns)
{
	struct model *model = slices->import->model;
	const char *name = model_text(model, slice->name);
	const struct step_mark mark = { .start_ns = start_ns,
					.end_ns = end_ns,
					.number = slice->step - 1,
					.process = model->threads.row[thread].process,
					.device = INDEX_NONE,
					.unnamed = true };

	if (start_ns == end_ns)
		return import_finding(slices->import, "marks of the host without a duration", name);
	if (slice->step && !MODEL_PUSH(&model->step_marks, mark))
		return -ENOMEM;
	return import_scope(&slices->rows, thread, name, xplane_scope(name, slice->operation),
			    start_ns, end_ns);
}

/* Adds a call of a thread; with a trace, the trace has it. */
static int put_call(struct slices *slices, const struct slice *slice, uint64_t start_ns,
		    uint64_t end_ns)
{
	struct model *model = slices->import->model;
	const struct slice_track *track = &slices->tracks.row[slice->track];
	const char *runtime = model_text(model, slice->runtime);
	bool launches = strcmp(runtime, "cuda") == 0 || strcmp(runtime, "hip") == 0 ||
			strcmp(runtime, "level_zero") == 0;
	struct call call = { .start_ns = start_ns,
			     .end_ns = end_ns,
			     .args = { slice->correlation },
			     .task = INDEX_NONE };
	const char *name = model_text(model, slice->name);

	if (!slices->import->alone)
		return 0;
	call.thread =
		import_thread(&slices->rows, (uint32_t)track->device, track->stream, start_ns);
	if (call.thread == INDEX_NONE)
		return -ENOMEM;
	name_thread(slices, track, call.thread, end_ns);
	if (!*runtime && (slices->proton || strncmp(process_name(slices, track), "/host:", 6) == 0))
		return put_scope(slices, slice, call.thread, start_ns, end_ns);
	call.function = import_function(&slices->rows, *runtime ? runtime : "host",
					*name ? name : "unnamed",
					launches ? call_kind_of_name(name) :
						   PROFBPF__FUNCTION__KIND__OTHER);
	if (call.function == INDEX_NONE || !MODEL_PUSH(&model->calls, call))
		return -ENOMEM;
	return 0;
}

static int put_slice(struct slices *slices, const struct slice *slice)
{
	const char *name = model_text(slices->import->model, slice->name);
	uint8_t role = slices->tracks.row[slice->track].role;
	uint64_t start_ns, end_ns;

	if (slice->evidence == SLICE_ON_DEVICE)
		role = TRACK_DEVICE;
	if (role == TRACK_SUM)
		return 0;
	if (slice->dur_ns < 0)
		return import_finding(slices->import, "events that never end: the recording ended inside them", name);
	if (!import_instants_of(slice->start_ns, slice->dur_ns, slices->move_ns, &start_ns, &end_ns))
		return import_finding(slices->import, "events outside of any time: they end before they "
						      "begin, or begin before the file's clock does", name);
	if (role == TRACK_DEVICE)
		return put_task(slices, slice, start_ns, end_ns);
	if (role == TRACK_STEPS)
		return put_step(slices, slice, start_ns, end_ns);
	return put_call(slices, slice, start_ns, end_ns);
}

int slices_finish(struct slices *slices)
{
	uint32_t tasks = slices->import->model->tasks.count;
	int64_t first_ns = INT64_MAX;
	int err = 0;

	slices_choose(slices);
	err = number_devices(slices);
	if (!err)
		err = number_streams(slices);
	if (!err)
		err = split_operators(slices);
	IMPORT_EARLIEST(&slices->slices, &first_ns);
	/* 0 stands for "not reported", and the clocks of such files often begin at 0. */
	slices->move_ns = import_move_of(first_ns);
	for (uint32_t i = 0; i < slices->slices.count && !err; i++)
		err = put_slice(slices, &slices->slices.row[i]);
	if (!err && slices->slices.count && slices->import->model->tasks.count == tasks)
		err = import_finding(slices->import,
				     "nothing in it says that it is of a device: all is the host's",
				     NULL);
	return err;
}

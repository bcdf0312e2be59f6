/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/ascend/ascend_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/ascend/ascend_kinds.h"
#include "analyzer/import/decimal_ns.h"
#include "lib/base/bisect.h"
#include "lib/base/sort_rows.h"

#define NANOSECONDS_2001 1000000000000000000 /* later than any CLOCK_MONOTONIC_RAW */
/* In newer files a process's number is os pid << 10 | sort index << 5 | device. */
#define CANN_SORT_INDEX 7
#define HARDWARE_SORT_INDEX 13
#define COMMUNICATION_SORT_INDEX 17 /* 15 to 17 */
#define NO_ID UINT32_MAX /* the files' value for "none" */

static uint8_t event_role(const struct timeline_file *file, const struct event *event)
{
	uint32_t role = map_get(&file->roles, event->pid);

	return role == MAP_NONE ? ROLE_NONE : (uint8_t)role;
}

static bool is_operation(const struct timeline_file *file, const struct event *event)
{
	return strncmp(model_text(file->import->model, event->name), "hcom_", 5) == 0 ||
	       map_get(&file->tracks, track_key(event->pid, event->tid)) == TRACK_OPERATIONS;
}

/* The common key of a collective's part under "Communication" and under "Ascend Hardware". */
static uint64_t part_key(const struct event *event)
{
	return event->stream << 32 | (uint32_t)event->task;
}

/* The process id of a "CANN" process. */
static uint32_t system_pid(uint64_t pid)
{
	if ((pid >> 5 & 31) == CANN_SORT_INDEX)
		return (uint32_t)(pid >> 10);
	return (uint32_t)(pid / 100);
}

/* The device by the file's folder, "device_3"; 0 otherwise, as there is only one. */
static uint32_t device_of_path(const char *path)
{
	const char *folder = NULL;
	uint64_t number;

	while ((path = strstr(path, "/device_"))) {
		path += strlen("/device_");
		folder = path;
	}
	return folder && decimal_unsigned(folder, strspn(folder, "0123456789"), &number) &&
			       number < UINT32_MAX
		       ? (uint32_t)number
		       : 0;
}

static bool is_numbered(const struct timeline_file *file, uint64_t pid)
{
	uint64_t sort_index = pid >> 5 & 31;

	return sort_index >= HARDWARE_SORT_INDEX && sort_index <= COMMUNICATION_SORT_INDEX &&
	       !strstr(file->import->path, "/device_");
}

bool ascend_json_numbered(const struct timeline_file *file)
{
	for (uint32_t i = 0; i < file->events.count; i++) {
		if (event_role(file, &file->events.row[i]) == ROLE_HARDWARE)
			return is_numbered(file, file->events.row[i].pid);
	}
	return false;
}

/* The device of a process: from its number if that contains it. */
static uint32_t device_number(const struct timeline_file *file, uint64_t pid)
{
	return is_numbered(file, pid) ? (uint32_t)(pid & 31) : device_of_path(file->import->path);
}

/* First pass: finds the connections of collectives, and the call that began each connection. */
static int index_events(struct timeline_file *file)
{
	for (uint32_t i = 0; i < file->events.count; i++) {
		const struct event *event = &file->events.row[i];
		uint8_t role = event_role(file, event);
		uint32_t other;

		file->clock = event->start_ns > NANOSECONDS_2001
				      ? PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME
				      : PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW;
		if (role == ROLE_COMMUNICATION && is_operation(file, event))
			file->has_operations = true;
		else if (role == ROLE_COMMUNICATION && event->task != UINT64_MAX &&
			 !map_put(&file->parts, part_key(event), 1))
			return -ENOMEM;
		if (!event->connection)
			continue;
		if (role == ROLE_COMMUNICATION && is_operation(file, event) &&
		    !map_put(&file->operations, event->connection, 1))
			return -ENOMEM;
		if (role != ROLE_CANN)
			continue;
		other = map_get(&file->launches, event->connection);
		if ((other == MAP_NONE || event->start_ns < file->events.row[other].start_ns) &&
		    !map_put(&file->launches, event->connection, i))
			return -ENOMEM;
	}
	return 0;
}

/* The call that launched a task, or an instant inside it; NULL if neither is known. */
static const struct event *launch_of(const struct timeline_file *file, uint64_t connection)
{
	uint32_t row = connection ? map_get(&file->flows, connection) : MAP_NONE;

	if (row != MAP_NONE)
		return &file->flow_starts.row[row];
	row = connection ? map_get(&file->launches, connection) : MAP_NONE;
	return row == MAP_NONE ? NULL : &file->events.row[row];
}

static uint32_t device_row(struct timeline_file *file, uint64_t pid)
{
	return import_device(&file->rows, device_number(file, pid), INDEX_NONE, "Ascend", "npu",
			     "msprof", file->clock);
}

static bool add_detail(struct model *model, struct device_task *task, uint64_t number)
{
	const struct task_detail detail = { .task_id = number,
					    .context_id = MODEL_ID_NONE,
					    .model_id = MODEL_ID_NONE,
					    .step = MODEL_ID_NONE,
					    .blocks = INDEX_NONE,
					    .mix_blocks = INDEX_NONE };

	if (number == MODEL_ID_NONE)
		return true;
	if (!MODEL_PUSH(&model->task_details, detail))
		return false;
	task->detail = model->task_details.count;
	return true;
}

static int put_task(struct timeline_file *file, const struct event *event, uint8_t kind)
{
	const struct event *call = launch_of(file, event->connection);
	struct device_task task = {
		.start_ns = (uint64_t)event->start_ns,
		.end_ns = (uint64_t)event->start_ns + (uint64_t)event->dur_ns,
		.stream = event->stream,
		.bytes = event->bytes,
		.correlation = event->connection,
		.thread = INDEX_NONE,
		.call = INDEX_NONE,
		.name = event->name,
		/* "KERNEL" is the word in profbpf's exports (msprof_timeline.c) for an unknown core. */
		.core = strcmp(model_text(file->import->model, event->type), "KERNEL") ? event->type : 0,
		.kind = kind,
	};

	task.device = device_row(file, event->pid);
	if (task.device == INDEX_NONE)
		return -ENOMEM;
	if (call) {
		task.enqueue_ns =
			import_host_time(&file->rows, file->clock, (uint64_t)call->start_ns);
		task.enqueue_dur_ns = (uint64_t)call->dur_ns;
		task.thread = import_thread(&file->rows, system_pid(call->pid), call->tid,
					    task.enqueue_ns);
		if (task.thread < file->import->model->threads.count)
			file->import->model->devices.row[task.device].process =
				file->import->model->threads.row[task.thread].process;
	}
	if (!add_detail(file->import->model, &task, event->task))
		return -ENOMEM;
	return import_task(&file->rows, &task);
}

static bool is_part(const struct timeline_file *file, const struct event *event)
{
	if (event->connection && map_get(&file->operations, event->connection) != MAP_NONE)
		return true;
	return file->has_operations && event->task != UINT64_MAX &&
	       map_get(&file->parts, part_key(event)) != MAP_NONE;
}

static int put_hardware(struct timeline_file *file, const struct event *event)
{
	uint8_t kind = ascend_task_kind(model_text(file->import->model, event->type));
	struct event task = *event;

	if (task.stream == UINT64_MAX)
		task.stream = event->tid;
	if (task.stream == NO_ID)
		task.stream = MODEL_ID_NONE;
	/*
	 * Parts of a collective, also those outside of any (REDUCE_ASYNC at both of its ends): the collective is
	 * counted as a whole.
	 */
	if (kind != PROFBPF__DEVICE_TASKS__KIND__KERNEL &&
	    (is_part(file, &task) ||
	     (file->has_operations && kind == PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION)))
		kind = PROFBPF__DEVICE_TASKS__KIND__SYNC;
	return put_task(file, &task, kind);
}

static int put_call(struct timeline_file *file, const struct event *event)
{
	struct model *model = file->import->model;
	const char *text = model_text(model, event->name), *at = strchr(text, '@');
	struct call call = { .start_ns = (uint64_t)event->start_ns,
			     .end_ns = (uint64_t)event->start_ns + (uint64_t)event->dur_ns,
			     .args = { event->connection },
			     .task = INDEX_NONE };
	char level[32];

	snprintf(level, sizeof(level), "%.*s", at ? (int)(at - text) : 4, at ? text : "cann");
	call.function = import_function(&file->rows, strcmp(level, "AscendCL") ? level : "acl",
					at ? at + 1 : text,
					ascend_call_kind(level, at ? at + 1 : text));
	call.thread = import_thread(&file->rows, system_pid(event->pid), event->tid, call.start_ns);
	if (call.function == INDEX_NONE || call.thread == INDEX_NONE ||
	    !MODEL_PUSH(&model->calls, call))
		return -ENOMEM;
	/* Levels are layers of one call: only one of them is counted. */
	model->functions.row[call.function].family = model_string(model, "cann");
	return 0;
}

/* Adds a mark of the framework's step on the host: ProfilerStep#3. */
static int put_mark(struct timeline_file *file, const struct event *event)
{
	static const char name[] = "ProfilerStep#";
	const char *text = model_text(file->import->model, event->name);
	uint64_t start_ns = (uint64_t)event->start_ns;
	struct step_mark mark = { .process = INDEX_NONE, .device = INDEX_NONE };

	if (strncmp(text, name, sizeof(name) - 1) != 0 ||
	    !decimal_unsigned(text + sizeof(name) - 1, strlen(text) - sizeof(name) + 1,
			      &mark.number))
		return 0;
	mark.start_ns = import_host_time(&file->rows, file->clock, start_ns);
	mark.end_ns =
		import_host_time(&file->rows, file->clock, start_ns + (uint64_t)event->dur_ns);
	if (!mark.start_ns || !mark.end_ns)
		return 0;
	return MODEL_PUSH(&file->import->model->step_marks, mark) ? 0 : -ENOMEM;
}

static int put_host(struct timeline_file *file, const struct event *event)
{
	uint64_t start_ns = (uint64_t)event->start_ns;
	int err = put_mark(file, event);

	if (err || !event->scope || !file->import->alone)
		return err;
	return import_scope(&file->rows,
			    import_thread(&file->rows, (uint32_t)event->pid, event->tid, start_ns),
			    model_text(file->import->model, event->name), event->scope, start_ns,
			    start_ns + (uint64_t)event->dur_ns);
}

static int put_event(struct timeline_file *file, const struct event *event)
{
	switch (event_role(file, event)) {
	case ROLE_HARDWARE: return put_hardware(file, event);
	case ROLE_COMMUNICATION:
		if (!is_operation(file, event))
			return 0;
		return put_task(file, event, PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION);
	case ROLE_CANN: return file->import->alone ? put_call(file, event) : 0;
	default: return put_host(file, event);
	}
}

static uint64_t host_time(const struct timeline_file *file, uint8_t clock, int64_t ns)
{
	return ns > 0 ? import_host_time(&file->rows, clock, (uint64_t)ns) : 0;
}

/* By track and number. */
static int by_step(const void *a, const void *b)
{
	const struct step_row *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Adds the reductions of a step. If several steps have the same number, the first gets them. */
static int put_reduces(struct timeline_file *file, const struct step_row *from, uint8_t clock,
		       struct device_step *step)
{
	struct model *model = file->import->model;
	struct step_row *rows = file->reduces.row;
	uint32_t at = BISECT(i, 0, file->reduces.count, by_step(&rows[i], from) < 0);

	step->first_reduce = model->device_reduces.count;
	for (; at < file->reduces.count && !rows[at].taken && by_step(&rows[at], from) == 0; at++) {
		struct device_reduce reduce = { .start_ns = host_time(file, clock, rows[at].start_ns),
						.end_ns = host_time(file, clock, rows[at].end_ns),
						.stream = MODEL_ID_NONE };

		rows[at].taken = true;
		if (!MODEL_PUSH(&model->device_reduces, reduce))
			return -ENOMEM;
	}
	step->reduce_count = model->device_reduces.count - step->first_reduce;
	return 0;
}

static int put_step(struct timeline_file *file, const struct step_row *from)
{
	uint8_t clock = from->start_ns > NANOSECONDS_2001
				? PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME
				: PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW;
	uint32_t track = map_get(&file->tracks, track_key(from->pid, from->tid));
	struct device_step step = { .number = from->number,
				    .model_id = track == MAP_NONE || track < TRACK_STEPS
							? MODEL_ID_NONE
							: track - TRACK_STEPS,
				    .fp_start_ns = host_time(file, clock, from->fp_start_ns),
				    .bp_end_ns = host_time(file, clock, from->bp_end_ns),
				    .end_ns = host_time(file, clock, from->end_ns) };
	int err;

	if (!step.fp_start_ns || step.end_ns < step.fp_start_ns)
		return import_finding(file->import, "steps without usable times: an end is missing or before "
						    "the start, as in steps that a recording cuts", NULL);
	file->clock = clock;
	/* If steps have a process of their own, its number does not contain the device. */
	step.device = device_row(file, map_get(&file->roles, from->pid) == ROLE_HARDWARE ? from->pid : 0);
	if (step.device == INDEX_NONE)
		return -ENOMEM;
	err = put_reduces(file, from, clock, &step);
	if (err)
		return err;
	return import_device_step(file->import, &step);
}

int ascend_json_put_rows(struct timeline_file *file)
{
	int err = index_events(file);

	for (uint32_t i = 0; i < file->events.count && !err; i++)
		err = put_event(file, &file->events.row[i]);
	SORT_ARRAY(&file->reduces, by_step);
	for (uint32_t i = 0; i < file->steps.count && !err; i++)
		err = put_step(file, &file->steps.row[i]);
	return err;
}

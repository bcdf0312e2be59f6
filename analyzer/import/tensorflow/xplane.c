/* SPDX-License-Identifier: Apache-2.0 */
/*
 * XSpace (*.xplane.pb), the format of TensorFlow's and JAX's profilers.
 *
 * A space has planes: "/device:GPU:0" of a device, "/host:..." of the host. A GPU's lines "Stream #7(...)" have its
 * tasks, as have a TPU's "XLA Ops" and "Async XLA Ops". Other lines of a device ("Steps", "XLA Modules",
 * "TensorFlow Name Scope", ...) are sums of them. An event has a number of event_metadata, which has its name, and
 * its offset in picoseconds from the line's timestamp_ns, which is since 1970 or since the start of the profile.
 * Calls of CUDA or HIP are events of the host with a stat correlation_id, which the device's events have, too; all
 * other events on the host's lines, each of which is a thread, are the host's timeline: "$file.py:12 name" is a
 * function of Python, an event with hlo_op an operation of XLA on the CPU, an event with step_num a step.
 * xplane_stats.h reads other stats. Numbers of fields: tensorflow/core/profiler/protobuf/xplane.proto.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/readers/proto_fields.h"
#include "analyzer/import/tensorflow/xplane.h"
#include "analyzer/import/tensorflow/xplane_stats.h"

#define PS_PER_NS 1000
#define TRACK_LINE 1 /* kind of tracks; tracks of tasks are kind 0 */

enum { SPACE_PLANES = 1 };
enum {
	PLANE_NAME = 2,
	PLANE_LINES = 3,
	PLANE_EVENT_METADATA = 4,
	PLANE_STAT_METADATA = 5,
	PLANE_STATS = 6
};
enum { LINE_ID = 1, LINE_NAME = 2, LINE_TIMESTAMP_NS = 3, LINE_EVENTS = 4 };
enum { EVENT_METADATA_ID = 1, EVENT_OFFSET_PS = 2, EVENT_DURATION_PS = 3, EVENT_STATS = 4 };
enum { MAP_KEY = 1, MAP_VALUE = 2 };
enum { METADATA_NAME = 2, METADATA_DISPLAY_NAME = 4, METADATA_STATS = 5 };

struct event_kind {
	uint32_t name;
	struct xplane_figures figures;
};

struct plane {
	struct proto_message name;
	struct xplane_figures figures; /* figures of the device */
	struct map kinds; /* metadata id -> row of event_kinds */
	MODEL_ARRAY(struct event_kind) event_kinds;
	struct xplane_stats stats;
	bool device;
	bool has_streams;
	bool has_ops;
	uint32_t row; /* row of devices */
};

struct event {
	uint64_t metadata;
	int64_t offset_ps;
	int64_t duration_ps;
	struct xplane_figures figures;
};

static bool starts_with(const struct proto_message *text, const char *start)
{
	size_t length = strlen(start);

	return proto_length(text) >= length && memcmp(text->at, start, length) == 0;
}

/* The first field of a space is a plane, with its id and name. */
static int detect(const struct import_sample *sample)
{
	struct proto_message space = { (const uint8_t *)sample->text,
				       (const uint8_t *)sample->text + sample->size };
	const uint8_t *end = space.end;

	if (sample->directory || sample->size < 8 || space.at[0] != (SPACE_PLANES << 3 | 2))
		return 0;
	/* The plane is longer than the sample: its first fields are enough. */
	for (space.at++; space.at < end && *space.at & 0x80;)
		space.at++;
	space.at += space.at < end;
	for (int i = 0; i < 3; i++) {
		struct proto_field field;

		if (proto_next(&space, &field) != 1)
			return 0;
		if (field.number == PLANE_NAME)
			return starts_with(&field.bytes, "/device:") ||
					       starts_with(&field.bytes, "/host:") ||
					       starts_with(&field.bytes, "Task Environment")
				       ? 90
				       : 0;
	}
	return 0;
}

static uint32_t string_of(struct xspace *file, const struct proto_message *text)
{
	return string_table_add(file->import->model->strings, (const char *)text->at,
				proto_length(text));
}

/* Reads key and message of a map's entry. */
static bool map_entry(struct proto_message entry, uint64_t *key, struct proto_message *value)
{
	struct proto_field field;

	*key = 0;
	*value = (struct proto_message){ 0 };
	while (proto_next(&entry, &field) == 1) {
		if (field.number == MAP_KEY)
			*key = field.value;
		else if (field.number == MAP_VALUE)
			*value = field.bytes;
	}
	return value->at;
}

static int add_stat_kind(struct xspace *file, struct proto_message entry)
{
	struct proto_message value;
	struct proto_field field;
	uint64_t id;
	int err = 0;

	if (!map_entry(entry, &id, &value))
		return 0;
	while (!err && proto_next(&value, &field) == 1) {
		if (field.number == METADATA_NAME)
			err = xplane_stats_name(&file->plane->stats, id, &field.bytes);
	}
	return err;
}

static int add_event_kind(struct xspace *file, struct proto_message entry)
{
	struct proto_message value, name = { 0 };
	struct event_kind kind = { .figures = XPLANE_FIGURES_NONE };
	struct proto_field field;
	uint64_t id;

	if (!map_entry(entry, &id, &value))
		return 0;
	while (proto_next(&value, &field) == 1) {
		/* The name of a TPU's operation is a whole line of its program; the display name is short. */
		if (field.number == METADATA_DISPLAY_NAME && proto_length(&field.bytes))
			name = field.bytes;
		else if (field.number == METADATA_NAME && !name.at)
			name = field.bytes;
		else if (field.number == METADATA_STATS)
			xplane_stats_read(&file->plane->stats, field.bytes, &kind.figures);
	}
	kind.name = name.at ? string_of(file, &name) : 0;
	if (kind.name == STRING_NONE || !xplane_figures_keep(file->import->model, &kind.figures) ||
	    !MODEL_PUSH(&file->plane->event_kinds, kind) ||
	    !map_put(&file->plane->kinds, id, file->plane->event_kinds.count - 1))
		return -ENOMEM;
	return 0;
}

static struct proto_message line_name(struct proto_message line)
{
	struct proto_message name = { 0 };
	struct proto_field field;

	while (proto_next(&line, &field) == 1) {
		if (field.number == LINE_NAME)
			name = field.bytes;
	}
	return name;
}

/* Reads everything but the lines, which depend on it: the order of the fields is not defined. */
static int read_metadata(struct xspace *file, struct proto_message plane)
{
	struct proto_message rest = plane, name;
	struct proto_field field;
	int err = 0;

	while (!err && proto_next(&rest, &field) == 1) {
		if (field.number == PLANE_STAT_METADATA)
			err = add_stat_kind(file, field.bytes);
		else if (field.number == PLANE_NAME)
			file->plane->name = field.bytes;
	}
	while (!err && proto_next(&plane, &field) == 1) {
		if (field.number == PLANE_EVENT_METADATA)
			err = add_event_kind(file, field.bytes);
		if (field.number == PLANE_STATS)
			xplane_stats_read(&file->plane->stats, field.bytes, &file->plane->figures);
		if (field.number != PLANE_LINES)
			continue;
		name = line_name(field.bytes);
		file->plane->has_streams |= starts_with(&name, "Stream #");
		file->plane->has_ops |= proto_is(&name, "XLA Ops");
	}
	file->plane->device = starts_with(&file->plane->name, "/device:");
	return err;
}

static bool is_sum(const struct proto_message *name)
{
	char text[64];

	snprintf(text, sizeof(text), "%.*s", (int)proto_length(name), (const char *)name->at);
	return xplane_line_is_sum(text);
}

static enum line_role role_of(const struct plane *plane, const struct proto_message *name)
{
	if (!plane->device)
		return starts_with(&plane->name, "/host:") ? LINE_CALLS : LINE_OTHER;
	if (proto_is(name, "Steps") || proto_is(name, "Step"))
		return LINE_STEPS;
	if (plane->has_streams)
		return starts_with(name, "Stream #") ? LINE_WORK : LINE_OTHER;
	if (plane->has_ops)
		return proto_is(name, "XLA Ops") || proto_is(name, "Async XLA Ops") ? LINE_WORK
										    : LINE_OTHER;
	return is_sum(name) ? LINE_OTHER : LINE_WORK;
}

static int64_t to_ns(int64_t ps)
{
	return (ps + PS_PER_NS / 2) / PS_PER_NS;
}

static bool set_times(const struct xspace *file, const struct event *event, struct xspan *span)
{
	const struct line *line = &file->line;
	int64_t end_ps;

	return event->offset_ps >= 0 && event->duration_ps >= 0 && line->timestamp_ns >= 0 &&
	       !__builtin_add_overflow(event->offset_ps, event->duration_ps, &end_ps) &&
	       end_ps <= INT64_MAX - PS_PER_NS &&
	       !__builtin_add_overflow(line->timestamp_ns, to_ns(event->offset_ps),
				       &span->start_ns) &&
	       !__builtin_add_overflow(line->timestamp_ns, to_ns(end_ps), &span->end_ns);
}

/* Adds a host slice; with a trace, the trace has better data. */
static int add_scope(struct xspace *file, const struct event *event, struct xspan *span)
{
	const char *name = model_text(file->import->model, span->name);
	int err;

	if (!file->import->alone)
		return 0;
	/* Instants are recorded with a duration of a picosecond. */
	if (event->duration_ps <= 1)
		return import_finding(file->import, "marks of the host without a duration", name);
	if (!set_times(file, event, span))
		return import_finding(file->import, "events without usable times", name);
	err = import_track(file->import, &file->rows.streams, TRACK_LINE, INDEX_NONE, span->line);
	if (err)
		return err;
	span->step = event->figures.step;
	span->scope = xplane_scope(name, event->figures.operation);
	span->line_name = file->line.name;
	return MODEL_PUSH(&file->scopes, *span) ? 0 : -ENOMEM;
}

static int add_span(struct xspace *file, struct event *event)
{
	const struct line *line = &file->line;
	uint32_t kind = map_get(&file->plane->kinds, event->metadata);
	struct xplane_figures *figures = &event->figures;
	struct xspan span = { .correlation = figures->correlation,
			      .bytes = figures->bytes,
			      .line = line->id,
			      .device = file->plane->row };
	bool pushed = true;
	int err;

	if (kind != MAP_NONE) {
		span.name = file->plane->event_kinds.row[kind].name;
		span.detail = file->plane->event_kinds.row[kind].figures.detail;
		if (!figures->type)
			figures->type = file->plane->event_kinds.row[kind].figures.type;
	}
	if (line->role == LINE_WORK && !xplane_figures_keep(file->import->model, figures))
		return -ENOMEM;
	span.type = figures->type;
	if (figures->detail)
		span.detail = figures->detail;
	if (line->role == LINE_CALLS &&
	    (!figures->correlation || !xplane_is_call(model_text(file->import->model, span.name))))
		return add_scope(file, event, &span);
	if (!set_times(file, event, &span))
		return import_finding(file->import, "events without usable times",
				      model_text(file->import->model, span.name));
	err = import_track(file->import, &file->rows.streams, TRACK_LINE, file->plane->row,
			   line->id);
	if (err)
		return err;
	if (line->role == LINE_WORK)
		pushed = MODEL_PUSH(&file->tasks, span);
	else if (line->role == LINE_STEPS)
		pushed = MODEL_PUSH(&file->steps, span);
	else
		pushed = MODEL_PUSH(&file->calls, span);
	return pushed ? 0 : -ENOMEM;
}

static int read_event(struct xspace *file, struct proto_message message)
{
	struct event event = { .figures = XPLANE_FIGURES_NONE };
	struct proto_field field;
	bool timed = false;
	int state;

	while ((state = proto_next(&message, &field)) == 1) {
		switch (field.number) {
		case EVENT_METADATA_ID: event.metadata = field.value; break;
		case EVENT_OFFSET_PS:
			event.offset_ps = (int64_t)field.value;
			timed = true;
			break;
		case EVENT_DURATION_PS: event.duration_ps = (int64_t)field.value; break;
		case EVENT_STATS:
			xplane_stats_read(&file->plane->stats, field.bytes, &event.figures);
			break;
		}
	}
	if (state < 0)
		return import_damage(file->import, "damaged: events that cannot be read; copy or export the "
						   "file again", NULL);
	/* Protobuf omits zeros; an event that is a sum has neither an offset nor a duration. */
	if (!timed && !event.duration_ps)
		return 0;
	return add_span(file, &event);
}

static int read_line(struct xspace *file, struct proto_message line)
{
	struct proto_message rest = line, name = { 0 };
	struct proto_field field;
	int err = 0;

	file->line = (struct line){ 0 };
	while (proto_next(&rest, &field) == 1) {
		if (field.number == LINE_ID)
			file->line.id = field.value;
		else if (field.number == LINE_NAME)
			name = field.bytes;
		else if (field.number == LINE_TIMESTAMP_NS)
			file->line.timestamp_ns = (int64_t)field.value;
	}
	file->line.role = role_of(file->plane, &name);
	file->line.name = name.at && file->line.role == LINE_CALLS ? string_of(file, &name) : 0;
	if (file->line.name == STRING_NONE)
		return -ENOMEM;
	if (file->line.role == LINE_OTHER)
		return 0;
	while (!err && proto_next(&line, &field) == 1) {
		if (field.number == LINE_EVENTS)
			err = read_event(file, field.bytes);
	}
	return err;
}

static int on_plane(void *context, const struct proto_field *found)
{
	struct xspace *file = context;
	struct proto_message rest = found->bytes;
	struct plane plane = { .stats = { .strings = file->import->model->strings },
			       .figures = XPLANE_FIGURES_NONE };
	struct xplane_device device;
	struct proto_field field;
	int err, state = 0;

	if (found->number != SPACE_PLANES)
		return 0;
	file->plane = &plane;
	err = read_metadata(file, found->bytes);
	plane.row = file->devices.count;
	device = (struct xplane_device){ .name = string_of(file, &plane.name),
					 .peak_flops = plane.figures.peak_flops,
					 .peak_bandwidth = plane.figures.peak_bandwidth };
	if (!err && (device.name == STRING_NONE || !MODEL_PUSH(&file->devices, device)))
		err = -ENOMEM;
	while (!err && (state = proto_next(&rest, &field)) == 1) {
		if (field.number == PLANE_LINES)
			err = read_line(file, field.bytes);
	}
	if (!err && state < 0)
		err = import_damage(file->import, "damaged: a plane was not read whole; copy or export the "
						  "file again", NULL);
	map_free(&plane.kinds);
	xplane_stats_free(&plane.stats);
	free(plane.event_kinds.row);
	return err;
}

static int import(struct import *import)
{
	struct xspace file = { .import = import };
	char damage[256] = "";
	int err;

	import_rows_begin(&file.rows, import);
	err = proto_file_each(import->path, on_plane, &file, damage, sizeof(damage));
	err = import_end_reading(import, err, file.tasks.count + file.calls.count + file.scopes.count,
				 damage);
	if (!err)
		err = xplane_put_rows(&file);
	import_rows_free(&file.rows);
	map_free(&file.launches);
	free(file.tasks.row);
	free(file.calls.row);
	free(file.scopes.row);
	free(file.steps.row);
	free(file.devices.row);
	return err;
}

const struct importer import_xplane = {
	.name = "xplane",
	.what = "a profile of TensorFlow or JAX (*.xplane.pb)",
	.detect = detect,
	.import = import,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/perfetto/perfetto_trace.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/export/perfetto/perfetto_fields.h"

#define SEQUENCE 1
/*
 * Readers assume that the first thread described on a sequence wrote all of it, and
 * show that as an argument of each slice; so threads are described on another sequence.
 */
#define SEQUENCE_OF_THREADS 2

static uint8_t table_bit(enum perfetto_table table)
{
	switch (table) {
	case PERFETTO_CATEGORIES: return 1;
	case PERFETTO_EVENTS: return 2;
	case PERFETTO_ARGS: return 4;
	case PERFETTO_VALUES: return 8;
	}
	return 0;
}

uint32_t perfetto_own(struct perfetto_trace *trace, const char *text)
{
	uint32_t id = string_table_add_text(trace->names.own, *text ? text : "unknown");

	if (id == STRING_NONE || id > UINT32_MAX - 1 - trace->names.base) {
		if (!trace->writer.error)
			trace->writer.error = -ENOMEM;
		return trace->names.base;
	}
	return trace->names.base + id - 1;
}

static const char *text_of(const struct perfetto_trace *trace, uint32_t id)
{
	if (id < trace->names.base)
		return model_text(trace->model, id);
	return string_table_get(trace->names.own, id - trace->names.base + 1);
}

static bool make_room(struct perfetto_trace *trace, uint32_t id)
{
	struct perfetto_names *names = &trace->names;
	uint32_t count = names->sent_count ? names->sent_count : names->base + 256;
	uint8_t *larger;

	while (count <= id && count < UINT32_MAX / 2)
		count *= 2;
	larger = count > id ? realloc(names->sent, count) : NULL;
	if (!larger) {
		trace->writer.error = trace->writer.error ? trace->writer.error : -ENOMEM;
		return false;
	}
	memset(larger + names->sent_count, 0, count - names->sent_count);
	names->sent = larger;
	names->sent_count = count;
	return true;
}

static void send_name(struct perfetto_trace *trace, enum perfetto_table table, uint32_t id)
{
	struct perfetto_writer *writer = &trace->writer;
	size_t packet = perfetto_packet(writer), data, entry;

	perfetto_uint(writer, PACKET_SEQUENCE_ID, SEQUENCE);
	perfetto_uint(writer, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	data = perfetto_open(writer, PACKET_INTERNED_DATA);
	entry = perfetto_open(writer, table);
	perfetto_uint(writer, INTERNED_IID, id);
	perfetto_text(writer, INTERNED_TEXT, text_of(trace, id));
	perfetto_close(writer, entry);
	perfetto_close(writer, data);
	perfetto_packet_end(writer, packet);
}

uint32_t perfetto_name(struct perfetto_trace *trace, enum perfetto_table table, uint32_t id)
{
	uint8_t bit = table_bit(table);

	if (id >= trace->names.sent_count && !make_room(trace, id))
		return id;
	if (!(trace->names.sent[id] & bit)) {
		trace->names.sent[id] |= bit;
		send_name(trace, table, id);
	}
	return id;
}

uint32_t perfetto_model_name(struct perfetto_trace *trace, enum perfetto_table table,
			     uint32_t string)
{
	if (string == 0 || string >= trace->names.base)
		string = perfetto_own(trace, "unknown");
	return perfetto_name(trace, table, string);
}

static void describe(struct perfetto_writer *writer, const struct perfetto_track *track)
{
	size_t nested;

	if (track->name)
		perfetto_text(writer, TRACK_NAME, track->name);
	if (track->parent)
		perfetto_uint(writer, TRACK_PARENT_UUID, track->parent);
	if (track->tid) {
		nested = perfetto_open(writer, TRACK_THREAD);
		perfetto_uint(writer, THREAD_DESCRIPTOR_PID, track->pid);
		perfetto_uint(writer, THREAD_DESCRIPTOR_TID, track->tid);
		perfetto_close(writer, nested);
	}
	if (track->unit) {
		nested = perfetto_open(writer, TRACK_COUNTER);
		perfetto_text(writer, COUNTER_DESCRIPTOR_UNIT_NAME, track->unit);
		perfetto_close(writer, nested);
	}
	if (track->ordered)
		perfetto_uint(writer, TRACK_CHILD_ORDERING, TRACK_ORDERING_EXPLICIT);
	if (track->rank)
		perfetto_uint(writer, TRACK_SIBLING_ORDER_RANK, track->rank);
	if (track->description)
		perfetto_text(writer, TRACK_DESCRIPTION, track->description);
}

uint64_t perfetto_add_track(struct perfetto_trace *trace, const struct perfetto_track *track)
{
	struct perfetto_writer *writer = &trace->writer;
	uint64_t uuid = ++trace->tracks;
	uint64_t from_ns = trace->window.start_ns;
	size_t packet = perfetto_packet(writer), descriptor;

	if (track->from_ns > from_ns && track->from_ns <= trace->window.end_ns)
		from_ns = track->from_ns;
	perfetto_uint(writer, PACKET_SEQUENCE_ID, track->tid ? SEQUENCE_OF_THREADS : SEQUENCE);
	perfetto_uint(writer, PACKET_TIMESTAMP, boot_clock_at(&trace->clock, from_ns));
	descriptor = perfetto_open(writer, PACKET_TRACK_DESCRIPTOR);
	perfetto_uint(writer, TRACK_UUID, uuid);
	describe(writer, track);
	perfetto_close(writer, descriptor);
	perfetto_packet_end(writer, packet);
	return uuid;
}

uint64_t perfetto_thread_track(struct perfetto_trace *trace, uint32_t index)
{
	const struct thread *thread = &trace->model->threads.row[index];
	uint64_t *uuid = &trace->thread_tracks[index];
	struct perfetto_track track = { .tid = thread->tid,
					.pid = thread->tid,
					.from_ns = thread->first_ns };

	if (thread->process < trace->model->processes.count)
		track.pid = trace->model->processes.row[thread->process].pid;
	if (!*uuid)
		*uuid = perfetto_add_track(trace, &track);
	return *uuid;
}

/* Writes the common first fields of a track event. */
static void begin_event(struct perfetto_trace *trace, uint64_t track, uint64_t ns, uint32_t type,
			struct perfetto_marks *marks)
{
	struct perfetto_writer *writer = &trace->writer;

	marks->packet = perfetto_packet(writer);
	perfetto_uint(writer, PACKET_TIMESTAMP, boot_clock_at(&trace->clock, ns));
	perfetto_uint(writer, PACKET_SEQUENCE_ID, SEQUENCE);
	perfetto_uint(writer, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	marks->event = perfetto_open(writer, PACKET_TRACK_EVENT);
	perfetto_uint(writer, EVENT_TYPE, type);
	perfetto_uint(writer, EVENT_TRACK_UUID, track);
}

void perfetto_begin(struct perfetto_trace *trace, uint64_t track, uint64_t ns, uint32_t name,
		    uint32_t category, struct perfetto_marks *marks)
{
	begin_event(trace, track, ns, EVENT_TYPE_BEGIN, marks);
	perfetto_uint(&trace->writer, EVENT_NAME_IID, name);
	if (category)
		perfetto_uint(&trace->writer, EVENT_CATEGORY_IIDS, category);
	trace->counts.slices++;
}

void perfetto_instant(struct perfetto_trace *trace, uint64_t track, uint64_t ns, uint32_t name,
		      struct perfetto_marks *marks)
{
	begin_event(trace, track, ns, EVENT_TYPE_INSTANT, marks);
	perfetto_uint(&trace->writer, EVENT_NAME_IID, name);
}

void perfetto_event_end(struct perfetto_trace *trace, const struct perfetto_marks *marks)
{
	perfetto_close(&trace->writer, marks->event);
	perfetto_packet_end(&trace->writer, marks->packet);
}

void perfetto_end(struct perfetto_trace *trace, uint64_t track, uint64_t ns)
{
	struct perfetto_marks marks;

	begin_event(trace, track, ns, EVENT_TYPE_END, &marks);
	perfetto_event_end(trace, &marks);
}

static size_t begin_arg(struct perfetto_trace *trace, enum export_arg arg)
{
	size_t mark = perfetto_open(&trace->writer, EVENT_DEBUG_ANNOTATIONS);

	perfetto_uint(&trace->writer, ANNOTATION_NAME_IID, trace->names.args[arg]);
	return mark;
}

void perfetto_arg_uint(struct perfetto_trace *trace, enum export_arg arg, uint64_t value)
{
	size_t mark = begin_arg(trace, arg);

	perfetto_uint(&trace->writer,
		      export_arg_is_handle(arg) ? ANNOTATION_POINTER : ANNOTATION_UINT, value);
	perfetto_close(&trace->writer, mark);
}

void perfetto_arg_int(struct perfetto_trace *trace, enum export_arg arg, int64_t value)
{
	size_t mark = begin_arg(trace, arg);

	perfetto_int(&trace->writer, ANNOTATION_INT, value);
	perfetto_close(&trace->writer, mark);
}

void perfetto_arg_true(struct perfetto_trace *trace, enum export_arg arg)
{
	size_t mark = begin_arg(trace, arg);

	perfetto_uint(&trace->writer, ANNOTATION_BOOL, 1);
	perfetto_close(&trace->writer, mark);
}

void perfetto_arg_text(struct perfetto_trace *trace, enum export_arg arg, uint32_t value)
{
	size_t mark = begin_arg(trace, arg);

	perfetto_uint(&trace->writer, ANNOTATION_STRING_IID, value);
	perfetto_close(&trace->writer, mark);
}

void perfetto_flow_from(struct perfetto_trace *trace, uint64_t flow)
{
	perfetto_fixed64(&trace->writer, EVENT_FLOW_IDS, flow);
}

void perfetto_flow_to(struct perfetto_trace *trace, uint64_t flow)
{
	perfetto_fixed64(&trace->writer, EVENT_TERMINATING_FLOW_IDS, flow);
	trace->counts.flows++;
}

void perfetto_counter(struct perfetto_trace *trace, uint64_t track, uint64_t ns, double value)
{
	struct perfetto_marks marks;

	begin_event(trace, track, ns, EVENT_TYPE_COUNTER, &marks);
	perfetto_double(&trace->writer, EVENT_DOUBLE_COUNTER_VALUE, value);
	perfetto_event_end(trace, &marks);
}

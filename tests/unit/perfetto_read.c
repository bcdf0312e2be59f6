/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/perfetto_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#define TRACKS_MAX 4096
#define DEPTH_MAX 256
#define UNPACKED_MAX (64u << 20)

enum { TEXT_CATEGORY, TEXT_EVENT, TEXT_ARG, TEXT_VALUE };

#define APPEND(array, count, row)                                             \
	do {                                                                  \
		(array) = realloc((array), ((count) + 1) * sizeof(*(array))); \
		assert_non_null(array);                                       \
		(array)[(count)++] = (row);                                   \
	} while (0)

static uint8_t *read_all(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	uint8_t *bytes = malloc(UNPACKED_MAX);

	assert_non_null(file);
	assert_non_null(bytes);
	*size = fread(bytes, 1, UNPACKED_MAX, file);
	assert_true(*size < UNPACKED_MAX);
	fclose(file);
	return bytes;
}

static void add_chunk(struct perfetto_read *read, const uint8_t *bytes, size_t size)
{
	Perfetto__Trace *trace = perfetto__trace__unpack(NULL, size, bytes);

	assert_non_null(trace);
	APPEND(read->chunks, read->chunk_count, trace);
	for (size_t i = 0; i < trace->n_packet; i++) {
		Perfetto__TracePacket *packet = trace->packet[i];

		assert_int_equal(packet->base.n_unknown_fields, 0);
		if (packet->has_compressed_packets) {
			uint8_t *unpacked = malloc(UNPACKED_MAX);
			uLongf unpacked_size = UNPACKED_MAX;

			assert_non_null(unpacked);
			assert_int_equal(uncompress(unpacked, &unpacked_size,
						    packet->compressed_packets.data,
						    packet->compressed_packets.len),
					 Z_OK);
			add_chunk(read, unpacked, unpacked_size);
			free(unpacked);
		} else {
			APPEND(read->packets, read->packet_count, packet);
		}
	}
}

static void put_text(struct perfetto_read *read, int table, uint64_t iid, const void *text,
		     size_t size)
{
	assert_true(iid > 0 && iid < sizeof(read->texts[0]) / sizeof(read->texts[0][0]));
	/* A second text for an id would rename earlier slices in readers that resolve ids late. */
	assert_null(read->texts[table][iid]);
	read->texts[table][iid] = strndup(text, size);
}

static void read_names(struct perfetto_read *read, const Perfetto__InternedData *data)
{
	for (size_t i = 0; i < data->n_event_categories; i++)
		put_text(read, TEXT_CATEGORY, data->event_categories[i]->iid,
			 data->event_categories[i]->name, strlen(data->event_categories[i]->name));
	for (size_t i = 0; i < data->n_event_names; i++)
		put_text(read, TEXT_EVENT, data->event_names[i]->iid, data->event_names[i]->name,
			 strlen(data->event_names[i]->name));
	for (size_t i = 0; i < data->n_debug_annotation_names; i++)
		put_text(read, TEXT_ARG, data->debug_annotation_names[i]->iid,
			 data->debug_annotation_names[i]->name,
			 strlen(data->debug_annotation_names[i]->name));
	for (size_t i = 0; i < data->n_debug_annotation_string_values; i++)
		put_text(read, TEXT_VALUE, data->debug_annotation_string_values[i]->iid,
			 data->debug_annotation_string_values[i]->str.data,
			 data->debug_annotation_string_values[i]->str.len);
}

/* Slices of a track that have begun: indices of read->slices. */
struct open_slices {
	size_t slices[DEPTH_MAX];
	uint32_t depth;
	uint64_t last_ns;
};

static void check_references(const struct perfetto_read *read, const Perfetto__TrackEvent *event)
{
	if (event->has_name_iid)
		assert_non_null(read->texts[TEXT_EVENT][event->name_iid]);
	for (size_t i = 0; i < event->n_category_iids; i++)
		assert_non_null(read->texts[TEXT_CATEGORY][event->category_iids[i]]);
	for (size_t i = 0; i < event->n_debug_annotations; i++) {
		const Perfetto__DebugAnnotation *arg = event->debug_annotations[i];

		assert_non_null(read->texts[TEXT_ARG][arg->name_iid]);
		if (arg->has_string_value_iid)
			assert_non_null(read->texts[TEXT_VALUE][arg->string_value_iid]);
	}
}

static void read_event(struct perfetto_read *read, struct open_slices *open,
		       const Perfetto__TracePacket *packet)
{
	const Perfetto__TrackEvent *event = packet->track_event;
	struct open_slices *track = &open[event->track_uuid];
	const struct read_track *described = read_track(read, event->track_uuid);

	/* Readers silently drop packets without these fields. */
	assert_int_equal(packet->trusted_packet_sequence_id, 1);
	assert_int_equal(packet->sequence_flags, 2);
	assert_true(packet->has_timestamp);
	assert_non_null(described);
	check_references(read, event);
	if (event->type == PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER) {
		assert_non_null(described->descriptor->counter);
		read->counters++;
		return;
	}
	assert_null(described->descriptor->counter);
	assert_true(packet->timestamp >= track->last_ns);
	track->last_ns = packet->timestamp;
	if (event->type == PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT) {
		read->instants++;
	} else if (event->type == PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN) {
		struct read_slice slice = { .track = event->track_uuid,
					    .start_ns = packet->timestamp,
					    .name = read->texts[TEXT_EVENT][event->name_iid],
					    .category = "",
					    .depth = track->depth,
					    .event = event };

		if (event->n_category_iids)
			slice.category = read->texts[TEXT_CATEGORY][event->category_iids[0]];
		assert_true(track->depth < DEPTH_MAX);
		track->slices[track->depth++] = read->slice_count;
		APPEND(read->slices, read->slice_count, slice);
	} else {
		assert_int_equal(event->type, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END);
		assert_true(track->depth > 0);
		read->slices[track->slices[--track->depth]].end_ns = packet->timestamp;
	}
}

static void read_compact(struct perfetto_read *read, uint32_t cpu,
			 const Perfetto__FtraceEventBundle__CompactSched *compact)
{
	uint64_t ns = 0;

	assert_int_equal(compact->n_switch_timestamp, compact->n_switch_prev_state);
	assert_int_equal(compact->n_switch_timestamp, compact->n_switch_next_pid);
	assert_int_equal(compact->n_switch_timestamp, compact->n_switch_next_prio);
	assert_int_equal(compact->n_switch_timestamp, compact->n_switch_next_comm_index);
	assert_true(compact->n_switch_timestamp <= 512);
	for (size_t i = 0; i < compact->n_switch_timestamp; i++) {
		uint32_t comm = compact->switch_next_comm_index[i];
		struct read_switch row;

		ns += compact->switch_timestamp[i];
		assert_true(comm < compact->n_intern_table);
		row = (struct read_switch){ .cpu = cpu,
					    .ns = ns,
					    .prev_state = compact->switch_prev_state[i],
					    .next_tid = compact->switch_next_pid[i],
					    .next_comm = compact->intern_table[comm] };
		APPEND(read->switches, read->switch_count, row);
	}
	assert_int_equal(compact->n_waking_timestamp, compact->n_waking_pid);
	assert_int_equal(compact->n_waking_timestamp, compact->n_waking_comm_index);
	assert_int_equal(compact->n_waking_timestamp, compact->n_waking_common_flags);
	ns = 0;
	for (size_t i = 0; i < compact->n_waking_timestamp; i++) {
		struct read_wake row;

		ns += compact->waking_timestamp[i];
		row = (struct read_wake){ .cpu = cpu,
					  .ns = ns,
					  .tid = compact->waking_pid[i],
					  .waker = -1,
					  .common_flags = compact->waking_common_flags[i] };
		APPEND(read->wakes, read->wake_count, row);
	}
}

static void read_bundle(struct perfetto_read *read, const Perfetto__FtraceEventBundle *bundle)
{
	for (size_t i = 0; i < bundle->n_event; i++) {
		const Perfetto__FtraceEvent *event = bundle->event[i];

		if (event->sched_switch) {
			struct read_switch row = { .cpu = bundle->cpu,
						   .ns = event->timestamp,
						   .prev_state = event->sched_switch->prev_state,
						   .next_tid = event->sched_switch->next_pid,
						   .next_comm = event->sched_switch->next_comm,
						   .verbose = true };

			APPEND(read->switches, read->switch_count, row);
		}
		if (event->sched_waking) {
			struct read_wake row = { .cpu = bundle->cpu,
						 .ns = event->timestamp,
						 .tid = event->sched_waking->pid,
						 .waker = (int32_t)event->pid,
						 .common_flags = event->common_flags };

			APPEND(read->wakes, read->wake_count, row);
		}
	}
	if (bundle->compact_sched)
		read_compact(read, bundle->cpu, bundle->compact_sched);
}

static void read_packets(struct perfetto_read *read)
{
	struct open_slices *open = calloc(TRACKS_MAX, sizeof(*open));
	bool cleared = false;

	assert_non_null(open);
	for (size_t i = 0; i < read->packet_count; i++) {
		const Perfetto__TracePacket *packet = read->packets[i];

		cleared |= packet->trusted_packet_sequence_id == 1 && packet->sequence_flags & 1;
		if (packet->interned_data) {
			assert_true(cleared);
			read_names(read, packet->interned_data);
		}
		if (packet->track_descriptor) {
			struct read_track row = { .uuid = packet->track_descriptor->uuid,
						  .descriptor = packet->track_descriptor };

			assert_true(row.uuid > 0 && row.uuid < TRACKS_MAX);
			assert_null(read_track(read, row.uuid));
			APPEND(read->tracks, read->track_count, row);
		}
		if (packet->track_event) {
			assert_true(cleared);
			read_event(read, open, packet);
		}
		if (packet->ftrace_events)
			read_bundle(read, packet->ftrace_events);
	}
	for (size_t i = 0; i < TRACKS_MAX; i++)
		assert_int_equal(open[i].depth, 0);
	free(open);
}

struct perfetto_read *perfetto_read(const char *path)
{
	struct perfetto_read *read = calloc(1, sizeof(*read));
	size_t size;
	uint8_t *bytes = read_all(path, &size);

	assert_non_null(read);
	add_chunk(read, bytes, size);
	free(bytes);
	read_packets(read);
	return read;
}

void perfetto_read_free(struct perfetto_read *read)
{
	for (size_t i = 0; i < read->chunk_count; i++)
		perfetto__trace__free_unpacked(read->chunks[i], NULL);
	for (size_t table = 0; table < 4; table++) {
		for (size_t i = 0; i < sizeof(read->texts[0]) / sizeof(read->texts[0][0]); i++)
			free(read->texts[table][i]);
	}
	free(read->chunks);
	free(read->packets);
	free(read->slices);
	free(read->tracks);
	free(read->switches);
	free(read->wakes);
	free(read);
}

const struct read_track *read_track(const struct perfetto_read *read, uint64_t uuid)
{
	for (size_t i = 0; i < read->track_count; i++) {
		if (read->tracks[i].uuid == uuid)
			return &read->tracks[i];
	}
	return NULL;
}

const Perfetto__DebugAnnotation *read_arg(const struct perfetto_read *read,
					  const struct read_slice *slice, const char *name)
{
	for (size_t i = 0; i < slice->event->n_debug_annotations; i++) {
		const Perfetto__DebugAnnotation *arg = slice->event->debug_annotations[i];

		if (strcmp(read->texts[TEXT_ARG][arg->name_iid], name) == 0)
			return arg;
	}
	return NULL;
}

const char *read_value(const struct perfetto_read *read, uint64_t iid)
{
	return read->texts[TEXT_VALUE][iid];
}

const char *read_attribute(const struct perfetto_read *read, const char *key)
{
	static char text[32];

	for (size_t i = 0; i < read->packet_count; i++) {
		const Perfetto__TraceAttributes *attributes = read->packets[i]->trace_attributes;

		for (size_t k = 0; attributes && k < attributes->n_attribute; k++) {
			const Perfetto__TraceAttributes__Attribute *attribute =
				attributes->attribute[k];

			if (strcmp(attribute->key, key) != 0)
				continue;
			snprintf(text, sizeof(text), "%lld", (long long)attribute->long_value);
			return attribute->string_value ? attribute->string_value : text;
		}
	}
	return NULL;
}

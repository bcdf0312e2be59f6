/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/encode/flight_window.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "daemon/profbpfd/encode/flight_private.h"
#include "lib/base/duration.h"
#include "lib/trace/pbt.h"

#define UUID_BYTES 16

/* The state of writing a snapshot. */
struct writing {
	const struct flight_window *window;
	struct output *output;
	uint64_t *written; /* bytes in the output, for other threads; may be NULL */
	struct pbt_encoder *packets;
	struct pbt_buffer buffer;
	Profbpf__Segment *header; /* the session's header */
	Profbpf__Segment segment; /* the header of each segment, with pointers into @header */
	uint8_t uuid[UUID_BYTES];
	char **notes;
	char note[256];
};

const struct flight_window_facts *flight_window_facts(const struct flight_window *window)
{
	return &window->facts;
}

static int put(struct writing *w, Profbpf__Packet__Kind kind, const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	uint8_t *body = malloc(size + 1);
	int err = body ? 0 : -ENOMEM;

	if (body) {
		protobuf_c_message_pack(message, body);
		w->buffer.size = 0;
		err = pbt_encode(w->packets, kind, body, size, &w->buffer);
	}
	if (!err)
		err = output_write(w->output, w->buffer.data, w->buffer.size);
	free(body);
	return err;
}

static void write_note(struct writing *w)
{
	const struct flight_window_facts *facts = &w->window->facts;
	uint64_t old = 0, room = 0;
	char recorded[32];

	for (unsigned int i = 0; i < TRACE_SOURCES; i++) {
		old += facts->books.source[i].dropped_old;
		room += facts->books.source[i].dropped_room;
	}
	duration_format(facts->recorded_ns, recorded, sizeof(recorded));
	if (old + room)
		snprintf(w->note, sizeof(w->note),
			 "flight recorder, recording for %s: %" PRIu64 " records from before this "
			 "snapshot's window were dropped (%" PRIu64 " because of their age, "
			 "%" PRIu64 " because memory was full)",
			 recorded, old + room, old, room);
	else
		snprintf(w->note, sizeof(w->note),
			 "flight recorder, recording for %s: nothing was dropped before this snapshot's window",
			 recorded);
}

/* A snapshot is a session of its own, which began with its first segment; snapshots may share records, nothing else. */
static int describe(struct writing *w)
{
	const struct flight_segment *first = w->window->segments[0];
	Profbpf__Segment *segment = &w->segment;

	w->header = profbpf__segment__unpack(NULL, w->window->header.size, w->window->header.data);
	if (!w->header)
		return -ENOMEM;
	*segment = *w->header;
	w->notes = calloc(segment->n_notes + 1, sizeof(*w->notes));
	if (!w->notes)
		return -ENOMEM;
	segment->targets = w->window->targets;
	segment->n_targets = w->window->target_count;
	write_note(w);
	for (size_t i = 0; i < w->header->n_notes; i++)
		w->notes[i] = w->header->notes[i];
	w->notes[segment->n_notes++] = w->note;
	segment->notes = w->notes;
	if (getrandom(w->uuid, sizeof(w->uuid), 0) == sizeof(w->uuid)) {
		segment->session_uuid.data = w->uuid;
		segment->session_uuid.len = sizeof(w->uuid);
	}
	segment->session_start_ns = first->from_ns;
	segment->session_start_realtime_ns = first->realtime_ns;
	return 0;
}

static void tell_written(const struct writing *w)
{
	if (w->written)
		__atomic_store_n(w->written, w->output->written, __ATOMIC_RELAXED);
}

/* Packets may cross chunks: if the output has no room for a segment, all of it is removed. */
static int write_segment(struct writing *w, size_t index)
{
	uint64_t before = w->output->written;
	int err;

	w->segment.index = (uint32_t)index;
	err = put(w, PROFBPF__PACKET__KIND__SEGMENT, &w->segment.base);
	for (const struct flight_chunk *c = w->window->segments[index]->first; c && !err; c = c->next)
		if (c->size) {
			err = output_write(w->output, c->data, c->size);
			tell_written(w);
		}
	if (err)
		output_cut(w->output, before);
	tell_written(w);
	return err;
}

static int write_statistics(struct writing *w, const char *reason)
{
	const struct flight_window_facts *facts = &w->window->facts;
	struct statistics_row *row = calloc(1, sizeof(*row));
	struct statistics_message *message;
	int err = -ENOMEM;

	if (!row)
		return err;
	row->ts_ns = facts->to_ns;
	row->final = true;
	snprintf(row->end_reason, sizeof(row->end_reason), "%s", reason);
	message = statistics_message_new(row, &facts->books);
	if (message)
		err = put(w, PROFBPF__PACKET__KIND__STATISTICS, statistics_message_base(message));
	statistics_message_free(message);
	free(row);
	return err;
}

int flight_window_write(const struct flight_window *window, struct output *output, const char *reason)
{
	struct writing w = { .window = window, .output = output, .packets = pbt_encoder_new() };
	int err = w.packets ? describe(&w) : -ENOMEM;

	for (size_t i = 0; i < window->count && !err; i++)
		err = write_segment(&w, i);
	if (!err)
		err = write_statistics(&w, reason);
	free(w.notes);
	if (w.header)
		profbpf__segment__free_unpacked(w.header, NULL);
	pbt_buffer_free(&w.buffer);
	pbt_encoder_free(w.packets);
	return err;
}

int flight_window_begin(const struct flight_window *window, struct output *output, const Profbpf__Segment *header,
			uint64_t *written)
{
	struct writing w = { .window = window,
			     .output = output,
			     .written = written,
			     .packets = pbt_encoder_new(),
			     .segment = *header };
	int err = w.packets ? 0 : -ENOMEM;

	for (size_t i = 0; i < window->count && !err; i++)
		err = write_segment(&w, i);
	pbt_buffer_free(&w.buffer);
	pbt_encoder_free(w.packets);
	return err;
}

size_t flight_window_segments(const struct flight_window *window)
{
	return window->count;
}

void flight_window_free(struct flight_window *window)
{
	if (!window)
		return;
	for (size_t i = 0; i < window->count; i++)
		flight_segment_release(window->store, window->segments[i]);
	free(window->segments);
	free(window->targets);
	free(window->header.data);
	free(window);
}

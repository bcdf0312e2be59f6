/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perfetto traces (protobuf) with slices, as written by rocprofv3 (--output-format pftrace), omnitrace and many
 * others.
 *
 * Slices are TrackEvents, begin and end, on tracks that TrackDescriptors name; slices.h decides which are of
 * devices. Names and defaults are interned by packet sequence until it is cleared. Times are of the packet's clock,
 * by default CLOCK_BOOTTIME; private clocks of a sequence are converted by ClockSnapshots. Scheduling and counters
 * are skipped. Numbers of fields: protos/perfetto/trace/perfetto_trace.proto.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "analyzer/import/importer.h"
#include "analyzer/import/readers/input_file.h"
#include "analyzer/import/readers/proto_fields.h"
#include "analyzer/import/generic/slices.h"

#define PACKET 1 /* of Trace, and of decompressed packets */
#define PARENTS_MAX 16 /* maximum of a track */
#define UNPACKED_MAX (256u << 20) /* decompressed bytes of one packet */
#define TOO_MUCH "compressed packets that were left out: those before unpack to more than 100 times the file"

enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_CLEARED = 41,
	PACKET_COMPRESSED = 50,
	PACKET_CLOCK = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
};

enum { EVENT_NAME_IID = 10, EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_NAME = 23 };
enum { TYPE_BEGIN = 1, TYPE_END = 2 };
enum { DEFAULTS_TRACK_EVENT = 11 };
enum { INTERNED_EVENT_NAMES = 2, INTERNED_IID = 1, INTERNED_NAME = 2 };
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_STATIC_NAME = 10
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_NAME = 5 };
enum { SNAPSHOT_CLOCKS = 1, CLOCK_ID = 1, CLOCK_VALUE = 2, CLOCK_INCREMENTAL = 3, CLOCK_UNIT = 4 };

/* Clocks with the same meaning in each file; 64 to 127 are private to a sequence. */
enum {
	REALTIME = 1,
	MONOTONIC = 3,
	MONOTONIC_RAW = 5,
	BOOTTIME = 6,
	OWN_CLOCK = 64,
	GLOBAL_CLOCK = 128
};

struct sequence {
	uint64_t clock; /* default of packets */
	uint64_t track; /* default of events */
	uint32_t generation; /* changes when interned names become invalid */
};

/* A clock with its last snapshot. */
struct own_clock {
	int64_t offset_ns; /* to CLOCK_BOOTTIME, if known */
	int64_t unit_ns;
	int64_t last; /* the latest reading of an incremental clock */
	bool incremental;
	bool known;
};

struct described_track {
	uint64_t parent;
	uint32_t row; /* row of slices.tracks */
	uint32_t process; /* string: name of the process, if the track is one */
	uint64_t pid; /* 0 = unknown */
};

/* The fields of a packet. */
struct packet {
	uint64_t timestamp;
	uint64_t clock;
	uint64_t sequence;
	bool has_timestamp;
	bool cleared;
	struct proto_message event;
	struct proto_message interned;
	struct proto_message defaults;
	struct proto_message track;
	struct proto_message snapshot;
	struct proto_message compressed;
};

struct perfetto {
	struct import *import;
	struct slices slices;
	struct map sequence_rows; /* id -> row */
	MODEL_ARRAY(struct sequence) sequences;
	struct map names; /* hash of sequence, generation and number -> string */
	struct map clock_rows; /* sequence << 32 | clock -> row; sequence 0 for global clocks */
	MODEL_ARRAY(struct own_clock) clocks;
	struct map track_rows; /* uuid -> row */
	MODEL_ARRAY(struct described_track) tracks;
	uint64_t unpacked, unpacked_max; /* bytes of decompressed packets */
	bool inside; /* inside a decompressed packet: no nested compression */
	bool other_clock; /* there are events that are not on CLOCK_BOOTTIME */
};

/*
 * Returns true if the message has fields that only packets have. An XSpace begins like a trace, but contains
 * numbers and texts.
 */
static bool is_packet(struct proto_message packet)
{
	struct proto_field field = { 0 };
	int state;

	do {
		state = proto_next(&packet, &field);
		/* Also for a packet that the sample truncates. */
		if (state &&
		    (field.number == PACKET_TRACK_EVENT ||
		     field.number == PACKET_TRACK_DESCRIPTOR ||
		     field.number == PACKET_CLOCK_SNAPSHOT || field.number == PACKET_COMPRESSED))
			return true;
	} while (state == 1);
	return false;
}

static int detect(const struct import_sample *sample)
{
	struct proto_message trace = { (const uint8_t *)sample->text,
				       (const uint8_t *)sample->text + sample->size };
	struct proto_message first = trace;
	struct proto_field field;

	if (sample->directory || sample->size < 4 || trace.at[0] != (PACKET << 3 | 2))
		return 0;
	for (first.at++; first.at < first.end && *first.at & 0x80;)
		first.at++;
	first.at += first.at < first.end;
	for (int i = 0; i < 8 && proto_next(&trace, &field) == 1; i++) {
		if (field.number != PACKET)
			return 0;
		if (is_packet(field.bytes))
			return 60;
		first.at = first.end;
	}
	return is_packet(first) ? 60 : 0;
}

static uint32_t string_of(struct perfetto *file, const struct proto_message *text)
{
	return string_table_add(file->import->model->strings, (const char *)text->at,
				proto_length(text));
}

static struct sequence *sequence_of(struct perfetto *file, uint64_t id, uint32_t *row)
{
	struct sequence new = { .clock = BOOTTIME };

	*row = map_get(&file->sequence_rows, id);
	if (*row == MAP_NONE) {
		*row = file->sequences.count;
		if (!MODEL_PUSH(&file->sequences, new) || !map_put(&file->sequence_rows, id, *row))
			return NULL;
	}
	return &file->sequences.row[*row];
}

static uint64_t name_key(const struct perfetto *file, uint32_t sequence, uint64_t iid)
{
	uint64_t epoch = (uint64_t)sequence << 32 | file->sequences.row[sequence].generation;

	return (epoch + 1) * 0x9e3779b97f4a7c15u ^ iid;
}

static int on_interned(struct perfetto *file, struct proto_message interned, uint32_t sequence)
{
	struct proto_field field, part;

	while (proto_next(&interned, &field) == 1) {
		uint64_t iid = 0;
		uint32_t name = 0;

		if (field.number != INTERNED_EVENT_NAMES)
			continue;
		while (proto_next(&field.bytes, &part) == 1) {
			if (part.number == INTERNED_IID)
				iid = part.value;
			else if (part.number == INTERNED_NAME)
				name = string_of(file, &part.bytes);
		}
		if (name == STRING_NONE ||
		    !map_put(&file->names, name_key(file, sequence, iid), name))
			return -ENOMEM;
	}
	return 0;
}

static void on_defaults(struct sequence *sequence, struct proto_message defaults)
{
	struct proto_field field, part;

	while (proto_next(&defaults, &field) == 1) {
		if (field.number == PACKET_CLOCK)
			sequence->clock = field.value;
		if (field.number != DEFAULTS_TRACK_EVENT)
			continue;
		while (proto_next(&field.bytes, &part) == 1) {
			if (part.number == EVENT_TRACK)
				sequence->track = part.value;
		}
	}
}

static struct described_track *track_of(struct perfetto *file, uint64_t uuid)
{
	struct described_track new = { 0 };
	uint32_t row = map_get(&file->track_rows, uuid);

	if (row != MAP_NONE)
		return &file->tracks.row[row];
	new.row = slices_track(&file->slices);
	row = file->tracks.count;
	if (new.row == INDEX_NONE || !MODEL_PUSH(&file->tracks, new) ||
	    !map_put(&file->track_rows, uuid, row))
		return NULL;
	/* Track uuids are random; the file's order reads better. */
	file->slices.tracks.row[new.row].stream = row;
	return &file->tracks.row[row];
}

static uint64_t number_in(struct proto_message message, uint32_t number)
{
	struct proto_field field;
	uint64_t value = 0;

	while (proto_next(&message, &field) == 1) {
		if (field.number == number)
			value = field.value;
	}
	return value;
}

static struct proto_message text_in(struct proto_message message, uint32_t number)
{
	struct proto_message text = { 0 };
	struct proto_field field;

	while (proto_next(&message, &field) == 1) {
		if (field.number == number)
			text = field.bytes;
	}
	return text;
}

static int on_track(struct perfetto *file, struct proto_message descriptor)
{
	struct described_track *track = track_of(file, number_in(descriptor, TRACK_UUID));
	struct proto_message name = { 0 }, process = { 0 };
	struct proto_field field;
	uint32_t text;

	if (!track)
		return -ENOMEM;
	while (proto_next(&descriptor, &field) == 1) {
		switch (field.number) {
		case TRACK_NAME:
		case TRACK_STATIC_NAME: name = field.bytes; break;
		case TRACK_PARENT: track->parent = field.value; break;
		case TRACK_PROCESS:
			process = text_in(field.bytes, PROCESS_NAME);
			track->pid = number_in(field.bytes, PROCESS_PID);
			break;
		case TRACK_THREAD:
			if (!name.at)
				name = text_in(field.bytes, THREAD_NAME);
			if (!track->pid)
				track->pid = number_in(field.bytes, THREAD_PID);
			break;
		}
	}
	text = name.at ? string_of(file, &name) : 0;
	track->process = process.at ? string_of(file, &process) : track->process;
	if (text == STRING_NONE || track->process == STRING_NONE)
		return -ENOMEM;
	if (text)
		file->slices.tracks.row[track->row].name = text;
	return 0;
}

static struct own_clock *clock_of(struct perfetto *file, uint64_t sequence, uint64_t id, bool make)
{
	uint64_t key = (id >= OWN_CLOCK && id < GLOBAL_CLOCK ? sequence : 0) << 32 | (uint32_t)id;
	uint32_t row = map_get(&file->clock_rows, key);
	struct own_clock new = { .unit_ns = 1 };

	if (row != MAP_NONE)
		return &file->clocks.row[row];
	if (!make || !MODEL_PUSH(&file->clocks, new) ||
	    !map_put(&file->clock_rows, key, file->clocks.count - 1))
		return NULL;
	return &file->clocks.row[file->clocks.count - 1];
}

/*
 * Computes the offsets of a snapshot's clocks, which were read at the same time, to CLOCK_BOOTTIME, if it is among
 * them.
 */
static int on_snapshot(struct perfetto *file, struct proto_message snapshot, uint64_t sequence)
{
	struct proto_message rest = snapshot;
	struct proto_field field;
	uint64_t boot_ns = 0;

	while (proto_next(&rest, &field) == 1) {
		if (field.number == SNAPSHOT_CLOCKS && number_in(field.bytes, CLOCK_ID) == BOOTTIME)
			boot_ns = number_in(field.bytes, CLOCK_VALUE);
	}
	while (proto_next(&snapshot, &field) == 1) {
		struct own_clock *clock;
		uint64_t unit;

		if (field.number != SNAPSHOT_CLOCKS)
			continue;
		clock = clock_of(file, sequence, number_in(field.bytes, CLOCK_ID), true);
		if (!clock)
			return -ENOMEM;
		unit = number_in(field.bytes, CLOCK_UNIT);
		clock->unit_ns = unit && unit < UINT32_MAX ? (int64_t)unit : 1;
		clock->incremental = number_in(field.bytes, CLOCK_INCREMENTAL);
		clock->last = (int64_t)number_in(field.bytes, CLOCK_VALUE);
		clock->known =
			boot_ns && boot_ns <= INT64_MAX &&
			!__builtin_mul_overflow(clock->last, clock->unit_ns, &clock->offset_ns) &&
			!__builtin_sub_overflow((int64_t)boot_ns, clock->offset_ns,
						&clock->offset_ns);
	}
	return 0;
}

static uint8_t declared(uint64_t clock)
{
	switch (clock) {
	case REALTIME: return PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME;
	case MONOTONIC: return PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC;
	case MONOTONIC_RAW: return PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW;
	default: return PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED;
	}
}

/* The instant of a packet on CLOCK_BOOTTIME, or on its own clock if their relation is unknown. */
static bool instant_of(struct perfetto *file, const struct packet *packet, int64_t *ns)
{
	struct own_clock *clock = clock_of(file, packet->sequence, packet->clock, false);
	int64_t value = (int64_t)packet->timestamp;

	if (packet->timestamp > INT64_MAX)
		return false;
	*ns = value;
	if (packet->clock == BOOTTIME)
		return true;
	if (clock && clock->incremental) {
		if (__builtin_add_overflow(clock->last, value, &value))
			return false;
		clock->last = value;
	}
	if (clock && clock->known)
		return !__builtin_mul_overflow(value, clock->unit_ns, ns) &&
		       !__builtin_add_overflow(*ns, clock->offset_ns, ns);
	file->other_clock = true;
	file->slices.clock = declared(packet->clock);
	return !__builtin_mul_overflow(value, clock ? clock->unit_ns : 1, ns);
}

static int on_event(struct perfetto *file, const struct packet *packet, uint32_t sequence)
{
	uint64_t uuid = file->sequences.row[sequence].track, type = 0, iid = 0;
	struct proto_message event = packet->event, name = { 0 };
	struct described_track *track;
	struct proto_field field;
	uint32_t text;
	int64_t ns;

	while (proto_next(&event, &field) == 1) {
		switch (field.number) {
		case EVENT_TYPE: type = field.value; break;
		case EVENT_TRACK: uuid = field.value; break;
		case EVENT_NAME: name = field.bytes; break;
		case EVENT_NAME_IID: iid = field.value; break;
		}
	}
	/* Also for skipped events, because each advances an incremental clock. */
	if (!packet->has_timestamp || !instant_of(file, packet, &ns))
		return import_finding(file->import, "events without a usable time", NULL);
	if (type != TYPE_BEGIN && type != TYPE_END)
		return 0;
	track = track_of(file, uuid);
	if (!track)
		return -ENOMEM;
	if (type == TYPE_END)
		return slices_end(&file->slices, track->row, ns);
	text = name.at ? string_of(file, &name)
		       : map_get(&file->names, name_key(file, sequence, iid));
	if (name.at && text == STRING_NONE)
		return -ENOMEM;
	return slices_begin(&file->slices, track->row, ns, text == MAP_NONE ? 0 : text);
}

static int on_packet(struct perfetto *file, struct proto_message message);

/* Reads packets that were deflated together. */
static int on_compressed(struct perfetto *file, struct proto_message packed)
{
	uLongf size = (uLongf)proto_length(&packed) * 4 + 4096, room;
	struct proto_message packets;
	struct proto_field field;
	uint8_t *text = NULL, *grown;
	int state = Z_BUF_ERROR, err = 0;

	if (file->inside)
		return 0;
	if (file->unpacked > file->unpacked_max)
		return import_finding(file->import, TOO_MUCH, NULL);
	for (; state == Z_BUF_ERROR && size <= UNPACKED_MAX; size *= 4) {
		room = size;
		file->unpacked += size;
		grown = realloc(text, size);
		if (!grown) {
			free(text);
			return -ENOMEM;
		}
		text = grown;
		state = uncompress(text, &room, packed.at, (uLong)proto_length(&packed));
	}
	if (state == Z_OK) {
		packets = (struct proto_message){ text, text + room };
		file->inside = true;
		while (!err && proto_next(&packets, &field) == 1) {
			if (field.number == PACKET)
				err = on_packet(file, field.bytes);
		}
		file->inside = false;
	} else {
		err = import_finding(file->import, "packets that cannot be decompressed", NULL);
	}
	free(text);
	return err;
}

static void read_packet(struct proto_message message, struct packet *packet)
{
	struct proto_field field;

	while (proto_next(&message, &field) == 1) {
		switch (field.number) {
		case PACKET_TIMESTAMP:
			packet->timestamp = field.value;
			packet->has_timestamp = true;
			break;
		case PACKET_CLOCK: packet->clock = field.value; break;
		case PACKET_SEQUENCE: packet->sequence = field.value; break;
		case PACKET_SEQUENCE_FLAGS: packet->cleared |= field.value & 1; break;
		case PACKET_CLEARED: packet->cleared |= field.value != 0; break;
		case PACKET_TRACK_EVENT: packet->event = field.bytes; break;
		case PACKET_INTERNED: packet->interned = field.bytes; break;
		case PACKET_DEFAULTS: packet->defaults = field.bytes; break;
		case PACKET_TRACK_DESCRIPTOR: packet->track = field.bytes; break;
		case PACKET_CLOCK_SNAPSHOT: packet->snapshot = field.bytes; break;
		case PACKET_COMPRESSED: packet->compressed = field.bytes; break;
		}
	}
}

static int on_packet(struct perfetto *file, struct proto_message message)
{
	struct packet packet = { 0 };
	struct sequence *sequence;
	uint32_t row;
	int err = 0;

	read_packet(message, &packet);
	sequence = sequence_of(file, packet.sequence, &row);
	if (!sequence)
		return -ENOMEM;
	if (packet.cleared) {
		sequence->generation++;
		sequence->clock = BOOTTIME;
		sequence->track = 0;
	}
	if (packet.defaults.at)
		on_defaults(sequence, packet.defaults);
	if (!packet.clock)
		packet.clock = sequence->clock;
	if (packet.interned.at)
		err = on_interned(file, packet.interned, row);
	if (!err && packet.snapshot.at)
		err = on_snapshot(file, packet.snapshot, packet.sequence);
	if (!err && packet.track.at)
		err = on_track(file, packet.track);
	if (!err && packet.event.at)
		err = on_event(file, &packet, row);
	if (!err && packet.compressed.at)
		err = on_compressed(file, packet.compressed);
	return err;
}

static int on_field(void *context, const struct proto_field *field)
{
	if (field->number != PACKET || field->cut)
		return 0;
	return on_packet(context, field->bytes);
}

/* The process of a track is the nearest process above it, or the topmost track. */
static void name_processes(struct perfetto *file)
{
	for (uint32_t i = 0; i < file->tracks.count; i++) {
		struct slice_track *track = &file->slices.tracks.row[file->tracks.row[i].row];
		uint32_t at = i;

		for (int depth = 0; depth < PARENTS_MAX && !file->tracks.row[at].process; depth++) {
			uint32_t parent = map_get(&file->track_rows, file->tracks.row[at].parent);

			if (!file->tracks.row[at].parent || parent == MAP_NONE)
				break;
			at = parent;
		}
		track->process = file->tracks.row[at].process
					 ? file->tracks.row[at].process
					 : file->slices.tracks.row[file->tracks.row[at].row].name;
		track->device = file->tracks.row[at].pid ? file->tracks.row[at].pid : at;
	}
}

static void free_perfetto(struct perfetto *file)
{
	slices_free(&file->slices);
	map_free(&file->sequence_rows);
	map_free(&file->names);
	map_free(&file->clock_rows);
	map_free(&file->track_rows);
	free(file->sequences.row);
	free(file->clocks.row);
	free(file->tracks.row);
}

static int import(struct import *import)
{
	struct perfetto file = { .import = import };
	struct stat status;
	char damage[256] = "";
	int err;

	if (stat(import->path, &status) || !S_ISREG(status.st_mode))
		file.unpacked_max = INPUT_UNPACKED_PIPE;
	else
		file.unpacked_max = input_unpacked_max((uint64_t)status.st_size);
	slices_open(&file.slices, import, "perfetto", PROFBPF__DEVICE_CLOCK__CLOCK_BOOTTIME);
	err = proto_file_each(import->path, on_field, &file, damage, sizeof(damage));
	err = import_end_reading(import, err, file.slices.slices.count, damage);
	if (!err && file.other_clock &&
	    file.slices.clock == PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED)
		err = import_finding(import, "events on clocks that no snapshot relates", NULL);
	if (!err && !file.slices.slices.count)
		err = import_finding(import, "no slices: nothing is known of any device", NULL);
	name_processes(&file);
	if (!err)
		err = slices_finish(&file.slices);
	free_perfetto(&file);
	return err;
}

const struct importer import_perfetto = {
	.name = "perfetto",
	.what = "a Perfetto trace with slices",
	.detect = detect,
	.import = import,
};

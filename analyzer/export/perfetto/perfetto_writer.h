/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_writer.h - streaming writer of Perfetto's trace format.
 *
 * A trace is a sequence of packets, each a protobuf message. They are encoded
 * straight into one buffer, without message trees: a nested message is opened,
 * filled and closed, and its length put in front when it is closed. Chunks of
 * about PERFETTO_CHUNK bytes are deflated and written as one packet of
 * compressed packets each, so that memory does not depend on the trace's length.
 *
 * Errors are sticky: after the first one nothing more is written, and
 * perfetto_writer_close() returns it.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_PERFETTO_PERFETTO_WRITER_H
#define PROFBPF_ANALYZER_EXPORT_PERFETTO_PERFETTO_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#define PERFETTO_CHUNK (512u << 10)

struct perfetto_writer {
	FILE *out;
	uint8_t *data; /* packets not written yet */
	size_t size;
	size_t capacity;
	uint8_t *deflated;
	size_t deflated_capacity;
	z_stream stream;
	bool stream_ready;
	int error; /* first negative errno, or 0 */
};

/*
 * perfetto_writer_open - create @path and be ready for the first packet
 *
 * Returns 0 or a negative errno. perfetto_writer_close() is to be called in any case.
 */
int perfetto_writer_open(struct perfetto_writer *writer, const char *path);

/*
 * perfetto_writer_close - writes the rest and closes the file
 *
 * Returns 0, or the first error there was: a negative errno of writing, or -ENOMEM.
 * May be called again.
 */
int perfetto_writer_close(struct perfetto_writer *writer);

/* Room for @count more bytes, or NULL once there was an error. */
uint8_t *perfetto_room_slow(struct perfetto_writer *writer, size_t count);

/* Compress and write the packets in the buffer; called by perfetto_packet_end(). */
void perfetto_flush(struct perfetto_writer *writer);

static inline uint8_t *perfetto_room(struct perfetto_writer *writer, size_t count)
{
	if (writer->capacity - writer->size < count)
		return perfetto_room_slow(writer, count);
	return writer->data + writer->size;
}

/* Encodes @value at @to, which has room for ten bytes; returns the byte after it. */
static inline uint8_t *perfetto_put_varint(uint8_t *to, uint64_t value)
{
	while (value > 127) {
		*to++ = (uint8_t)value | 0x80;
		value >>= 7;
	}
	*to++ = (uint8_t)value;
	return to;
}

/* A varint without a field number: an element of a packed field. */
static inline void perfetto_varint(struct perfetto_writer *writer, uint64_t value)
{
	uint8_t *to = perfetto_room(writer, 10);

	if (to)
		writer->size = perfetto_put_varint(to, value) - writer->data;
}

/* Field of type uint32, uint64, bool, enum; int32 and int64 as two's complement of 64 bits. */
static inline void perfetto_uint(struct perfetto_writer *writer, uint32_t field, uint64_t value)
{
	uint8_t *to = perfetto_room(writer, 20);

	if (!to)
		return;
	to = perfetto_put_varint(to, field << 3);
	writer->size = perfetto_put_varint(to, value) - writer->data;
}

static inline void perfetto_int(struct perfetto_writer *writer, uint32_t field, int64_t value)
{
	perfetto_uint(writer, field, (uint64_t)value);
}

/* Fields of eight bytes. */
void perfetto_fixed64(struct perfetto_writer *writer, uint32_t field, uint64_t value);
void perfetto_double(struct perfetto_writer *writer, uint32_t field, double value);

/* Writes a field of type string. Invalid UTF-8 is repaired; longer texts are cut at PERFETTO_TEXT_MAX bytes. */
#define PERFETTO_TEXT_MAX 16384
void perfetto_text(struct perfetto_writer *writer, uint32_t field, const char *text);

/* perfetto_open - begin a nested message; hand the result to perfetto_close() */
static inline size_t perfetto_open(struct perfetto_writer *writer, uint32_t field)
{
	uint8_t *to = perfetto_room(writer, 11);

	if (!to)
		return 0;
	to = perfetto_put_varint(to, field << 3 | 2);
	writer->size = to + 1 - writer->data;
	return writer->size;
}

/* perfetto_close() for messages whose length needs more than the one reserved byte. */
void perfetto_close_long(struct perfetto_writer *writer, size_t mark);

static inline void perfetto_close(struct perfetto_writer *writer, size_t mark)
{
	if (writer->error)
		return;
	if (writer->size - mark < 128)
		writer->data[mark - 1] = (uint8_t)(writer->size - mark);
	else
		perfetto_close_long(writer, mark);
}

/* A packet is field 1 of the trace. Begin, fill, end; packets do not nest. */
static inline size_t perfetto_packet(struct perfetto_writer *writer)
{
	return perfetto_open(writer, 1);
}

static inline void perfetto_packet_end(struct perfetto_writer *writer, size_t mark)
{
	perfetto_close(writer, mark);
	if (writer->size >= PERFETTO_CHUNK)
		perfetto_flush(writer);
}

#endif /* PROFBPF_ANALYZER_EXPORT_PERFETTO_PERFETTO_WRITER_H */

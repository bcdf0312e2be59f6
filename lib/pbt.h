/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pbt.h - packets of a .pbt trace: framing, checksum, compression.
 *
 * The format is proto/trace.proto; this file knows its outer layer, message
 * Packet, and nothing of what the bodies mean. Writers hand in packed bodies,
 * readers get checked, decompressed bodies back.
 */
#ifndef PROFBPF_LIB_PBT_H
#define PROFBPF_LIB_PBT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "proto/trace.pb-c.h"

#define PBT_FORMAT 1
#define PBT_FRAME_SIZE 6			/* 0x0a and a length of five bytes */
#define PBT_BODY_MAX (64u << 20)		/* larger bodies are refused by both sides */

/*
 * pbt_encode - frame one body
 *
 * Compresses @body with zstd level 1 when that makes it smaller and appends the
 * framed packet to @out. Returns 0, -ENOMEM, or -EMSGSIZE when @size exceeds
 * PBT_BODY_MAX. @encoder holds reusable compression state and is not shared
 * between threads.
 */
struct pbt_encoder;
struct pbt_buffer {
	uint8_t *data;
	size_t size;
	size_t capacity;
};

struct pbt_encoder *pbt_encoder_new(void);
void pbt_encoder_free(struct pbt_encoder *encoder);
int pbt_encode(struct pbt_encoder *encoder, Profbpf__Packet__Kind kind, const void *body,
	       size_t size, struct pbt_buffer *out);
void pbt_buffer_free(struct pbt_buffer *buffer);

/*
 * A reader streams packets from a file, a pipe or standard input in bounded
 * memory. It never trusts a size: a packet that is torn, fails its checksum or
 * does not decompress is skipped, counted and described, and reading goes on at
 * the next sync mark.
 */
struct pbt_reader;

struct pbt_packet {
	Profbpf__Packet__Kind kind;
	uint64_t offset;	/* of the packet's first byte in the stream */
	const uint8_t *body;	/* owned by the reader, valid until the next call */
	size_t size;
};

struct pbt_damage {
	uint64_t packets_read;
	uint64_t packets_skipped;	/* failed checksum, size or decompression */
	uint64_t bytes_skipped;		/* not part of any readable packet */
	bool torn_tail;			/* the stream ends inside a packet */
	uint64_t first_offset;		/* of the first damage; meaningless without damage */
	char first_reason[128];		/* "checksum mismatch", ...; "" without damage */
};

/*
 * pbt_open - start reading
 *
 * @path may be "-" for standard input. On failure NULL is returned and @error
 * (of @error_size bytes) says why and what to do. A file that does not begin
 * like a trace is refused here ("not a profbpf trace"), an empty one too.
 */
struct pbt_reader *pbt_open(const char *path, char *error, size_t error_size);

/*
 * pbt_next - the next intact packet
 *
 * Returns 1 and fills @packet, 0 at the end of the stream, or a negative errno
 * when reading itself fails.
 */
int pbt_next(struct pbt_reader *reader, struct pbt_packet *packet);

/* What was wrong so far; complete once pbt_next() has returned 0. */
const struct pbt_damage *pbt_damage(const struct pbt_reader *reader);

void pbt_close(struct pbt_reader *reader);

#endif /* PROFBPF_LIB_PBT_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pbt.h - packets of a .pbt trace: framing, checksum, compression.
 *
 * The format is proto/trace.proto; this file knows its outer layer, message
 * Packet, and nothing of what the bodies mean. Writers hand in packed bodies,
 * readers get checked, decompressed bodies back.
 */
#ifndef PROFBPF_LIB_TRACE_PBT_H
#define PROFBPF_LIB_TRACE_PBT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "proto/trace.pb-c.h"

#define PBT_FORMAT 2 /* the version that is written */
#define PBT_FORMAT_OLDEST 1 /* the oldest version that is read */
#define PBT_FRAME_SIZE 6 /* 0x0a and a length of five bytes */
#define PBT_SYNC "PROFBPF\x01"
#define PBT_SYNC_SIZE 8
#define PBT_MARK_SIZE 15 /* frame, tag of sync, sync: the start of every packet */
#define PBT_HEADER_MAX 1024 /* bytes of a packet before its body, at most */
#define PBT_BODY_MAX (64u << 20) /* larger bodies are refused by both sides */

/*
 * The most that a reader decompresses: a fixed number of bytes, and a multiple of the stream's size. Real traces grow
 * 2 to 10 times, decompression bombs 10,000 times.
 */
#define PBT_UNPACKED_FREE (256u << 20)
#define PBT_UNPACKED_RATIO 200

/*
 * pbt_checksum - the value of field crc32 of a packet
 *
 * @body is the field of that name, compressed or not, @size its length.
 */
uint32_t pbt_checksum(uint32_t kind, uint32_t codec, uint32_t body_size, const void *body,
		      size_t size);

/*
 * pbt_encode - frame one body
 *
 * Compresses @body with zstd level 1 when that makes it smaller and appends the
 * framed packet to @out. @body may be NULL if @size is 0. Returns 0, -ENOMEM,
 * -EMSGSIZE when @size exceeds PBT_BODY_MAX, or -EINVAL for a negative @kind; on
 * failure @out holds what it held before. @encoder holds reusable compression
 * state and is not shared between threads. A zeroed struct pbt_buffer is empty;
 * set its size to 0 to use its memory again.
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
 * memory. It never trusts a size: a packet that is torn, fails its checksum,
 * does not decompress, or exceeds the limit on decompressed bytes, is skipped, counted and described, and reading
 * continues at the next sync mark.
 */
struct pbt_reader;

struct pbt_packet {
	Profbpf__Packet__Kind kind;
	uint64_t offset; /* of the packet's first byte in the stream */
	const uint8_t *body; /* owned by the reader, valid until the next call; never NULL */
	size_t size;
};

struct pbt_damage {
	uint64_t packets_read;
	uint64_t packets_skipped; /* failed checksum, size or decompression */
	uint64_t bytes_skipped; /* not part of any readable packet, the torn one included */
	bool torn_tail; /* the stream ends inside a packet */
	uint64_t first_offset; /* of the first damage; meaningless without damage */
	char first_reason[128]; /* "checksum mismatch", ...; "" without damage */
};

/*
 * pbt_open - start reading
 * pbt_open_fd - the same for an open descriptor, which is duplicated
 *
 * @path may be "-" for standard input; @name is used in messages. On failure
 * NULL is returned and @error (of @error_size bytes) says which file, why and
 * what to do. A file that does not begin like a trace is refused here ("not a
 * profbpf trace"), an empty one too; one whose first packets are damaged is
 * accepted if there is a sync mark within the first PBT_SEARCH_MAX bytes.
 */
#define PBT_SEARCH_MAX (1u << 20)

struct pbt_reader *pbt_open(const char *path, char *error, size_t error_size);
struct pbt_reader *pbt_open_fd(int fd, const char *name, char *error, size_t error_size);

/*
 * pbt_next - the next intact packet
 *
 * Returns 1 and fills @packet, 0 at the end of the stream, or a negative errno
 * when reading itself fails or memory is short; what follows is lost then.
 * Packets of unknown kinds are handed out: skip those you do not know.
 */
int pbt_next(struct pbt_reader *reader, struct pbt_packet *packet);

/*
 * pbt_damage - what was wrong so far; complete once pbt_next() has returned 0
 *
 * A packet whose sync mark itself is damaged cannot be told from other bytes: it
 * counts in bytes_skipped alone. There is damage if bytes_skipped is not 0.
 */
const struct pbt_damage *pbt_damage(const struct pbt_reader *reader);

void pbt_close(struct pbt_reader *reader);

#endif /* PROFBPF_LIB_TRACE_PBT_H */

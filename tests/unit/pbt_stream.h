/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pbt_stream.h - builds streams of packets for tests of the packet layer, and records what the reader returns for
 * them. Failures fail the running test.
 */
#ifndef PROFBPF_TESTS_UNIT_PBT_STREAM_H
#define PROFBPF_TESTS_UNIT_PBT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/trace/pbt.h"

#define PBT_STREAM_MAX 64 /* maximum of packets in a stream or reading */

/* A stream under construction; where[i] is the offset of packet i. All zero = empty. */
struct pbt_stream {
	struct pbt_buffer out;
	size_t where[PBT_STREAM_MAX + 1];
	size_t packets;
};

/* The reader's results for a stream. */
struct pbt_reading {
	char error[256]; /* from pbt_open_fd(); "" if it succeeded */
	size_t packets;
	uint64_t offset[PBT_STREAM_MAX];
	int kind[PBT_STREAM_MAX];
	size_t size[PBT_STREAM_MAX];
	uint32_t crc[PBT_STREAM_MAX]; /* CRC of the body */
	struct pbt_damage damage;
};

/* pbt_stream_random - returns the next number of xorshift; *@state must not be 0 */
uint64_t pbt_stream_random(uint64_t *state);

/* pbt_stream_body - returns compressible text or noise; the caller frees it */
uint8_t *pbt_stream_body(size_t size, bool compressible, uint64_t seed);

/* pbt_stream_append - appends a packet made by pbt_encode() */
void pbt_stream_append(struct pbt_stream *s, int kind, const void *body, size_t size);

/* pbt_stream_raw - appends a packet as another program might write it, made by protobuf-c */
void pbt_stream_raw(struct pbt_stream *s, uint32_t kind, uint32_t codec, uint32_t body_size,
		    const void *stored, size_t size);

/* pbt_stream_bytes - appends raw bytes, without recording a packet */
void pbt_stream_bytes(struct pbt_stream *s, const void *data, size_t size);

/* pbt_stream_small - appends five packets of different kinds, with both codecs, one without a body */
void pbt_stream_small(struct pbt_stream *s);

/* pbt_stream_file - returns an open file in memory with these bytes; the caller closes it */
int pbt_stream_file(const void *data, size_t size);

/* pbt_reading_* - read the whole input */
void pbt_reading_fd(int fd, struct pbt_reading *r);
void pbt_reading_memory(const void *data, size_t size, struct pbt_reading *r);
void pbt_reading_stream(const struct pbt_stream *s, struct pbt_reading *r);

/* assert_intact - the reader reported no damage */
void assert_intact(const struct pbt_reading *r);

/* assert_same_packet - packet @i of @r equals packet @j of @whole and lies @shift bytes further */
void assert_same_packet(const struct pbt_reading *r, size_t i, const struct pbt_reading *whole,
			size_t j, size_t shift);

#endif /* PROFBPF_TESTS_UNIT_PBT_STREAM_H */

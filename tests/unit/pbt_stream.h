/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pbt_stream.h - for tests of the packet layer: put a stream of packets together,
 * and note what the reader makes of it. Failures fail the running test.
 */
#ifndef PROFBPF_TESTS_UNIT_PBT_STREAM_H
#define PROFBPF_TESTS_UNIT_PBT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/trace/pbt.h"

#define PBT_STREAM_MAX 64 /* packets in a stream or reading */

/* A stream being put together; where[i] is where packet i begins. Zeroed = empty. */
struct pbt_stream {
	struct pbt_buffer out;
	size_t where[PBT_STREAM_MAX + 1];
	size_t packets;
};

/* What a reader made of a stream. */
struct pbt_reading {
	char error[256]; /* of pbt_open_fd; "" if it succeeded */
	size_t packets;
	uint64_t offset[PBT_STREAM_MAX];
	int kind[PBT_STREAM_MAX];
	size_t size[PBT_STREAM_MAX];
	uint32_t crc[PBT_STREAM_MAX]; /* of the body */
	struct pbt_damage damage;
};

/* pbt_stream_random - xorshift; *@state must not be 0 */
uint64_t pbt_stream_random(uint64_t *state);

/* pbt_stream_body - text that compresses, or noise that does not; free() it */
uint8_t *pbt_stream_body(size_t size, bool compressible, uint64_t seed);

/* pbt_stream_append - a packet through pbt_encode() */
void pbt_stream_append(struct pbt_stream *s, int kind, const void *body, size_t size);

/* pbt_stream_raw - a packet as another program might write it, through protobuf-c */
void pbt_stream_raw(struct pbt_stream *s, uint32_t kind, uint32_t codec, uint32_t body_size,
		    const void *stored, size_t size);

/* pbt_stream_bytes - bytes as they are; no packet is noted */
void pbt_stream_bytes(struct pbt_stream *s, const void *data, size_t size);

/* pbt_stream_small - five packets of different kinds, both codecs, one without a body */
void pbt_stream_small(struct pbt_stream *s);

/* pbt_stream_file - an open file in memory with these bytes; close() it */
int pbt_stream_file(const void *data, size_t size);

/* pbt_reading_* - read everything there is */
void pbt_reading_fd(int fd, struct pbt_reading *r);
void pbt_reading_memory(const void *data, size_t size, struct pbt_reading *r);
void pbt_reading_stream(const struct pbt_stream *s, struct pbt_reading *r);

/* assert_intact - the reader had nothing to complain of */
void assert_intact(const struct pbt_reading *r);

/* assert_same_packet - packet @i of @r is packet @j of @whole, @shift bytes further on */
void assert_same_packet(const struct pbt_reading *r, size_t i, const struct pbt_reading *whole,
			size_t j, size_t shift);

#endif /* PROFBPF_TESTS_UNIT_PBT_STREAM_H */

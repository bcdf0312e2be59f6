/* SPDX-License-Identifier: Apache-2.0 */
/* pbt_packet.h - a packet as another program might write it, for tests and fuzzers of the reader. */
#ifndef PROFBPF_TESTS_PBT_PACKET_H
#define PROFBPF_TESTS_PBT_PACKET_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/trace/pbt.h"

/*
 * pbt_packet_write - frame and message, through protobuf-c
 *
 * @stored (@size bytes) is the body as it stands in the file; nothing says that @codec and
 * @body_size fit it, but the checksum is right. Returns the bytes, *@written of them, which the
 * caller frees; NULL without memory.
 */
static inline uint8_t *pbt_packet_write(uint32_t kind, uint32_t codec, uint32_t body_size,
					const void *stored, size_t size, size_t *written)
{
	Profbpf__Packet p = PROFBPF__PACKET__INIT;
	uint8_t *bytes = malloc(PBT_FRAME_SIZE + size + 64);
	size_t length;

	if (!bytes)
		return NULL;
	memcpy(&p.sync, PBT_SYNC, PBT_SYNC_SIZE);
	p.kind = (Profbpf__Packet__Kind)kind;
	p.codec = (Profbpf__Packet__Codec)codec;
	p.body_size = body_size;
	p.crc32 = pbt_checksum(kind, codec, body_size, stored, size);
	p.body.data = (uint8_t *)stored;
	p.body.len = size;
	length = profbpf__packet__pack(&p, bytes + PBT_FRAME_SIZE);
	bytes[0] = 0x0a;
	for (int i = 0; i < 5; i++)
		bytes[1 + i] = (uint8_t)((length >> (7 * i) & 0x7f) | (i < 4 ? 0x80 : 0));
	*written = PBT_FRAME_SIZE + length;
	return bytes;
}

#endif /* PROFBPF_TESTS_PBT_PACKET_H */

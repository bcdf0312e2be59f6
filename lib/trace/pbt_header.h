/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pbt_header.h - the fields in front of a packet's body; private to the reader.
 */
#ifndef PROFBPF_LIB_TRACE_PBT_HEADER_H
#define PROFBPF_LIB_TRACE_PBT_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pbt_header {
	size_t total; /* bytes of the whole packet with its frame */
	uint32_t crc32;
	uint32_t kind;
	uint32_t codec;
	uint32_t body_size; /* decompressed; at most PBT_BODY_MAX */
	size_t body_offset; /* of the stored body, from the packet's first byte */
	size_t stored_size; /* of the stored body; it ends where the packet ends */
};

/* pbt_mark_matches - the first @size bytes agree with a mark, as far as they go */
bool pbt_mark_matches(const uint8_t *data, size_t size);

/*
 * pbt_find_mark - the first place in @data at which a packet may begin
 *
 * That is PBT_FRAME_SIZE bytes before a sync pattern; the frame itself is not
 * checked. Returns false if there is none.
 */
bool pbt_find_mark(const uint8_t *data, size_t size, size_t *position);

/*
 * pbt_header_length - the packet's length from the PBT_MARK_SIZE bytes of its mark
 *
 * Returns NULL, or what is wrong with it.
 */
const char *pbt_header_length(const uint8_t *mark, size_t *total);

/*
 * pbt_header_parse - read the fields in front of the body
 *
 * @header->total is set already; @size bytes of the packet are there, either all
 * of it or PBT_FRAME_SIZE + PBT_HEADER_MAX. Unknown fields are passed over.
 * Returns NULL, or what is wrong.
 */
const char *pbt_header_parse(const uint8_t *data, size_t size, struct pbt_header *header);

#endif /* PROFBPF_LIB_TRACE_PBT_HEADER_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pbt_stream.c - streams of packets for tests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>

#include "tests/pbt_packet.h"
#include "tests/unit/pbt_stream.h"

uint64_t pbt_stream_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

uint8_t *pbt_stream_body(size_t size, bool compressible, uint64_t seed)
{
	uint8_t *body = malloc(size + 1);
	uint64_t state = seed * 2654435761u + 88172645463325252ull;

	assert_non_null(body);
	for (size_t i = 0; i < size; i++)
		body[i] = compressible ? (uint8_t)("profbpf"[i % 7] + seed % 5)
				       : (uint8_t)pbt_stream_random(&state);
	return body;
}

void pbt_stream_append(struct pbt_stream *s, int kind, const void *body, size_t size)
{
	struct pbt_encoder *encoder = pbt_encoder_new();

	assert_non_null(encoder);
	s->where[s->packets] = s->out.size;
	assert_int_equal(pbt_encode(encoder, (Profbpf__Packet__Kind)kind, body, size, &s->out), 0);
	s->where[++s->packets] = s->out.size;
	pbt_encoder_free(encoder);
}

void pbt_stream_bytes(struct pbt_stream *s, const void *data, size_t size)
{
	s->out.data = realloc(s->out.data, s->out.size + size);
	assert_non_null(s->out.data);
	memcpy(s->out.data + s->out.size, data, size);
	s->out.size += size;
	s->out.capacity = s->out.size;
}

void pbt_stream_raw(struct pbt_stream *s, uint32_t kind, uint32_t codec, uint32_t body_size,
		    const void *stored, size_t size)
{
	size_t length = 0;
	uint8_t *packet = pbt_packet_write(kind, codec, body_size, stored, size, &length);

	assert_non_null(packet);
	s->where[s->packets] = s->out.size;
	pbt_stream_bytes(s, packet, length);
	s->where[++s->packets] = s->out.size;
	free(packet);
}

void pbt_stream_small(struct pbt_stream *s)
{
	uint8_t *text = pbt_stream_body(400, true, 1), *noise = pbt_stream_body(70, false, 2);

	pbt_stream_append(s, PROFBPF__PACKET__KIND__SEGMENT, "segment", 7);
	pbt_stream_append(s, PROFBPF__PACKET__KIND__CALLS, text, 400);
	pbt_stream_append(s, PROFBPF__PACKET__KIND__WAKES, noise, 70);
	pbt_stream_append(s, PROFBPF__PACKET__KIND__TASKS, NULL, 0);
	pbt_stream_append(s, PROFBPF__PACKET__KIND__STATISTICS, text, 90);
	free(text);
	free(noise);
}

int pbt_stream_file(const void *data, size_t size)
{
	int fd = memfd_create("test_pbt", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), (ssize_t)size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

void pbt_reading_fd(int fd, struct pbt_reading *r)
{
	struct pbt_reader *reader;
	struct pbt_packet packet;
	int result;

	memset(r, 0, sizeof(*r));
	reader = pbt_open_fd(fd, "run.pbt", r->error, sizeof(r->error));
	if (!reader) {
		assert_true(r->error[0]);
		return;
	}
	while ((result = pbt_next(reader, &packet)) == 1) {
		assert_true(r->packets < PBT_STREAM_MAX);
		assert_non_null(packet.body);
		r->offset[r->packets] = packet.offset;
		r->kind[r->packets] = (int)packet.kind;
		r->size[r->packets] = packet.size;
		r->crc[r->packets++] = (uint32_t)crc32_z(0, packet.body, packet.size);
	}
	assert_int_equal(result, 0);
	assert_int_equal(pbt_next(reader, &packet), 0);
	r->damage = *pbt_damage(reader);
	assert_int_equal(r->damage.packets_read, r->packets);
	pbt_close(reader);
}

void pbt_reading_memory(const void *data, size_t size, struct pbt_reading *r)
{
	int fd = pbt_stream_file(data, size);

	pbt_reading_fd(fd, r);
	close(fd);
}

void pbt_reading_stream(const struct pbt_stream *s, struct pbt_reading *r)
{
	pbt_reading_memory(s->out.data, s->out.size, r);
}

void assert_intact(const struct pbt_reading *r)
{
	assert_string_equal(r->error, "");
	assert_string_equal(r->damage.first_reason, "");
	assert_int_equal(r->damage.packets_skipped, 0);
	assert_int_equal(r->damage.bytes_skipped, 0);
	assert_false(r->damage.torn_tail);
}

void assert_same_packet(const struct pbt_reading *r, size_t i, const struct pbt_reading *whole,
			size_t j, size_t shift)
{
	assert_true(i < r->packets);
	assert_int_equal(r->offset[i], whole->offset[j] + shift);
	assert_int_equal(r->kind[i], whole->kind[j]);
	assert_int_equal(r->size[i], whole->size[j]);
	assert_int_equal(r->crc[i], whole->crc[j]);
}

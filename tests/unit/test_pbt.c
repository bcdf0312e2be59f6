/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pbt.c - packets of a trace: written, read back, damaged in every way.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <cmocka.h>

#include "lib/pbt.h"

#define PACKETS_MAX 64

/* A stream that is being put together; where[i] is where packet i begins. */
struct stream {
	struct pbt_buffer out;
	size_t where[PACKETS_MAX + 1];
	size_t packets;
};

/* What a reader made of a stream. */
struct reading {
	char error[256]; /* of pbt_open_fd; "" if it succeeded */
	size_t packets;
	uint64_t offset[PACKETS_MAX];
	int kind[PACKETS_MAX];
	size_t size[PACKETS_MAX];
	uLong crc[PACKETS_MAX]; /* of the body */
	struct pbt_damage damage;
};

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Text that compresses, or noise that does not. */
static uint8_t *make_body(size_t size, bool compressible, uint64_t seed)
{
	uint8_t *body = malloc(size + 1);
	uint64_t state = seed * 2654435761u + 88172645463325252ull;

	assert_non_null(body);
	for (size_t i = 0; i < size; i++)
		body[i] = compressible ? (uint8_t)("profbpf"[i % 7] + seed % 5)
				       : (uint8_t)random_next(&state);
	return body;
}

static void append(struct stream *s, int kind, const void *body, size_t size)
{
	struct pbt_encoder *encoder = pbt_encoder_new();

	assert_non_null(encoder);
	s->where[s->packets] = s->out.size;
	assert_int_equal(pbt_encode(encoder, (Profbpf__Packet__Kind)kind, body, size, &s->out), 0);
	s->where[++s->packets] = s->out.size;
	pbt_encoder_free(encoder);
}

static void append_bytes(struct stream *s, const void *data, size_t size)
{
	s->out.data = realloc(s->out.data, s->out.size + size);
	assert_non_null(s->out.data);
	memcpy(s->out.data + s->out.size, data, size);
	s->out.size += size;
	s->out.capacity = s->out.size;
}

/* A packet as some other, perhaps evil, program would write it. */
static void append_raw(struct stream *s, uint32_t kind, uint32_t codec, uint32_t body_size,
		       const void *stored, size_t size)
{
	Profbpf__Packet p = PROFBPF__PACKET__INIT;
	uint8_t frame[PBT_FRAME_SIZE] = { 0x0a };
	uint8_t *packed = malloc(size + 64);
	size_t length;

	assert_non_null(packed);
	memcpy(&p.sync, PBT_SYNC, PBT_SYNC_SIZE);
	p.kind = (Profbpf__Packet__Kind)kind;
	p.codec = (Profbpf__Packet__Codec)codec;
	p.body_size = body_size;
	p.crc32 = pbt_checksum(kind, codec, body_size, stored, size);
	p.body.data = (uint8_t *)stored;
	p.body.len = size;
	length = profbpf__packet__pack(&p, packed);
	for (int i = 0; i < 5; i++)
		frame[1 + i] = (uint8_t)((length >> (7 * i) & 0x7f) | (i < 4 ? 0x80 : 0));
	s->where[s->packets] = s->out.size;
	append_bytes(s, frame, sizeof(frame));
	append_bytes(s, packed, length);
	s->where[++s->packets] = s->out.size;
	free(packed);
}

/* Five packets of different kinds, both codecs, one without a body. */
static void make_small(struct stream *s)
{
	uint8_t *text = make_body(400, true, 1), *noise = make_body(70, false, 2);

	append(s, PROFBPF__PACKET__KIND__SEGMENT, "segment", 7);
	append(s, PROFBPF__PACKET__KIND__CALLS, text, 400);
	append(s, PROFBPF__PACKET__KIND__WAKES, noise, 70);
	append(s, PROFBPF__PACKET__KIND__TASKS, NULL, 0);
	append(s, PROFBPF__PACKET__KIND__STATISTICS, text, 90);
	free(text);
	free(noise);
}

static int memory_file(const void *data, size_t size)
{
	int fd = memfd_create("test_pbt", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), (ssize_t)size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void read_fd(int fd, struct reading *r)
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
		assert_true(r->packets < PACKETS_MAX);
		assert_non_null(packet.body);
		r->offset[r->packets] = packet.offset;
		r->kind[r->packets] = (int)packet.kind;
		r->size[r->packets] = packet.size;
		r->crc[r->packets++] = crc32_z(0, packet.body, packet.size);
	}
	assert_int_equal(result, 0);
	assert_int_equal(pbt_next(reader, &packet), 0);
	r->damage = *pbt_damage(reader);
	assert_int_equal(r->damage.packets_read, r->packets);
	pbt_close(reader);
}

static void read_memory(const void *data, size_t size, struct reading *r)
{
	int fd = memory_file(data, size);

	read_fd(fd, r);
	close(fd);
}

static void read_stream(const struct stream *s, struct reading *r)
{
	read_memory(s->out.data, s->out.size, r);
}

static void assert_intact(const struct reading *r)
{
	assert_string_equal(r->error, "");
	assert_string_equal(r->damage.first_reason, "");
	assert_int_equal(r->damage.packets_skipped, 0);
	assert_int_equal(r->damage.bytes_skipped, 0);
	assert_false(r->damage.torn_tail);
}

/* Packet @i of @r is packet @j of @whole, @shift bytes further on. */
static void assert_same_packet(const struct reading *r, size_t i, const struct reading *whole,
			       size_t j, size_t shift)
{
	assert_true(i < r->packets);
	assert_int_equal(r->offset[i], whole->offset[j] + shift);
	assert_int_equal(r->kind[i], whole->kind[j]);
	assert_int_equal(r->size[i], whole->size[j]);
	assert_int_equal(r->crc[i], whole->crc[j]);
}

static void test_every_kind(void **state)
{
	static const size_t sizes[] = { 0, 1, 63, 64, 65, 1000, 300000 };
	const ProtobufCEnumDescriptor *kinds = &profbpf__packet__kind__descriptor;
	struct reading r;

	for (size_t size = 0; size < sizeof(sizes) / sizeof(sizes[0]); size++) {
		for (int compressible = 0; compressible < 2; compressible++) {
			struct stream s = { 0 };
			uint8_t *body[PACKETS_MAX];

			assert_true(kinds->n_values >= 17 && kinds->n_values < PACKETS_MAX);
			for (size_t i = 0; i < kinds->n_values; i++) {
				body[i] = make_body(sizes[size], compressible, i);
				append(&s, kinds->values[i].value, body[i], sizes[size]);
			}
			read_stream(&s, &r);
			assert_intact(&r);
			assert_int_equal(r.packets, kinds->n_values);
			for (size_t i = 0; i < r.packets; i++) {
				assert_int_equal(r.kind[i], kinds->values[i].value);
				assert_int_equal(r.offset[i], s.where[i]);
				assert_int_equal(r.size[i], sizes[size]);
				assert_int_equal(r.crc[i], crc32_z(0, body[i], sizes[size]));
				free(body[i]);
			}
			/* What can be compressed is. */
			if (compressible && sizes[size] >= 1000)
				assert_true(s.out.size < r.packets * sizes[size] / 5);
			else
				assert_true(s.out.size <= r.packets * (sizes[size] + 40));
			pbt_buffer_free(&s.out);
		}
	}
}

static void test_unknown_kind(void **state)
{
	struct stream s = { 0 };
	struct reading r;

	append(&s, PROFBPF__PACKET__KIND__SEGMENT, "x", 1);
	append(&s, 4711, "from the future", 15);
	append(&s, INT32_MAX, "from a far future", 17);
	read_stream(&s, &r);
	assert_intact(&r);
	assert_int_equal(r.packets, 3);
	assert_int_equal(r.kind[1], 4711);
	assert_int_equal(r.kind[2], INT32_MAX);
	pbt_buffer_free(&s.out);
}

/* The bytes are those that protobuf-c writes, behind a length padded to five bytes. */
static void test_is_protobuf(void **state)
{
	struct stream s = { 0 }, other = { 0 };
	Profbpf__Trace *trace;

	make_small(&s);
	trace = profbpf__trace__unpack(NULL, s.out.size, s.out.data);
	assert_non_null(trace);
	assert_int_equal(trace->n_packet, s.packets);
	for (size_t i = 0; i < trace->n_packet; i++) {
		const Profbpf__Packet *p = trace->packet[i];

		assert_memory_equal(&p->sync, PBT_SYNC, PBT_SYNC_SIZE);
		assert_int_equal(p->base.n_unknown_fields, 0);
		append_raw(&other, p->kind, p->codec, p->body_size, p->body.data, p->body.len);
	}
	assert_int_equal(trace->packet[1]->codec, PROFBPF__PACKET__CODEC__ZSTD);
	assert_int_equal(trace->packet[2]->codec, PROFBPF__PACKET__CODEC__NONE);
	assert_int_equal(trace->packet[1]->body_size, 400);
	assert_int_equal(other.out.size, s.out.size);
	assert_memory_equal(other.out.data, s.out.data, s.out.size);
	profbpf__trace__free_unpacked(trace, NULL);
	pbt_buffer_free(&s.out);
	pbt_buffer_free(&other.out);
}

/* Google's own parser reads it too. */
static void test_protoc_decodes(void **state)
{
	char path[] = "/tmp/test_pbt.XXXXXX", command[128], text[8192];
	struct stream s = { 0 };
	FILE *pipe;
	size_t n;
	int fd;

	if (system("command -v protoc >/dev/null") || access("proto/trace.proto", R_OK))
		skip();
	make_small(&s);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, s.out.data, s.out.size), (ssize_t)s.out.size);
	close(fd);
	snprintf(command, sizeof(command), "protoc --decode=profbpf.Trace proto/trace.proto < %s",
		 path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	n = fread(text, 1, sizeof(text) - 1, pipe);
	text[n] = '\0';
	assert_int_equal(pclose(pipe), 0);
	unlink(path);
	assert_non_null(strstr(text, "sync: 91849087985341008\n"));
	assert_non_null(strstr(text, "kind: SEGMENT\n"));
	assert_non_null(strstr(text, "kind: CALLS\n  codec: ZSTD\n  body_size: 400\n"));
	assert_non_null(strstr(text, "kind: STATISTICS\n"));
	assert_non_null(strstr(text, "body: \"segment\"\n"));
	pbt_buffer_free(&s.out);
}

static void test_encode_refuses(void **state)
{
	struct pbt_encoder *encoder = pbt_encoder_new();
	struct pbt_buffer out = { 0 };
	uint8_t *large = calloc(1, PBT_BODY_MAX + 1);

	assert_non_null(encoder);
	assert_non_null(large);
	assert_int_equal(pbt_encode(encoder, PROFBPF__PACKET__KIND__CALLS, "x", 1, &out), 0);
	size_t size = out.size;

	assert_int_equal(pbt_encode(encoder, PROFBPF__PACKET__KIND__CALLS, large, PBT_BODY_MAX + 1,
				    &out),
			 -EMSGSIZE);
	assert_int_equal(pbt_encode(encoder, (Profbpf__Packet__Kind)-1, "x", 1, &out), -EINVAL);
	assert_int_equal(out.size, size);
	free(large);
	pbt_buffer_free(&out);
	pbt_encoder_free(encoder);
}

static void test_largest_body(void **state)
{
	struct stream s = { 0 };
	uint8_t *zeros = calloc(1, PBT_BODY_MAX), *noise = make_body(PBT_BODY_MAX, false, 3);
	struct reading r;

	assert_non_null(zeros);
	append(&s, PROFBPF__PACKET__KIND__CALLS, zeros, PBT_BODY_MAX);
	append(&s, PROFBPF__PACKET__KIND__CALLS, noise, PBT_BODY_MAX);
	append(&s, PROFBPF__PACKET__KIND__CALLS, "end", 3);
	read_stream(&s, &r);
	assert_intact(&r);
	assert_int_equal(r.packets, 3);
	assert_int_equal(r.size[0], PBT_BODY_MAX);
	assert_int_equal(r.crc[1], crc32_z(0, noise, PBT_BODY_MAX));
	free(zeros);
	free(noise);
	pbt_buffer_free(&s.out);
}

static void test_cut_at_every_byte(void **state)
{
	struct stream s = { 0 };
	struct reading whole, r;

	make_small(&s);
	read_stream(&s, &whole);
	assert_intact(&whole);
	for (size_t cut = 1; cut < s.out.size; cut++) {
		size_t before = 0;

		while (s.where[before + 1] <= cut)
			before++;
		read_memory(s.out.data, cut, &r);
		if (cut == 1) {
			/* A lone newline: no trace. */
			assert_non_null(strstr(r.error, "not a profbpf trace"));
			continue;
		}
		assert_string_equal(r.error, "");
		assert_int_equal(r.packets, before);
		for (size_t i = 0; i < before; i++)
			assert_same_packet(&r, i, &whole, i, 0);
		assert_int_equal(r.damage.torn_tail, cut != s.where[before]);
		assert_int_equal(r.damage.bytes_skipped, cut - s.where[before]);
		assert_int_equal(r.damage.packets_skipped, 0);
		if (r.damage.torn_tail) {
			assert_int_equal(r.damage.first_offset, s.where[before]);
			assert_string_equal(r.damage.first_reason,
					    "the stream ends inside a packet");
		}
	}
	pbt_buffer_free(&s.out);
}

/* Each flipped bit costs the packet it is in, no other, and is noticed. */
static void test_every_bit_flip(void **state)
{
	struct stream s = { 0 };
	struct reading whole, r;

	make_small(&s);
	read_stream(&s, &whole);
	for (size_t bit = 0; bit < s.out.size * 8; bit++) {
		size_t touched = 0, i = 0;

		while (s.where[touched + 1] <= bit / 8)
			touched++;
		s.out.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		read_stream(&s, &r);
		s.out.data[bit / 8] ^= (uint8_t)(1 << bit % 8);

		assert_string_equal(r.error, "");
		assert_int_equal(r.packets, s.packets - 1);
		for (size_t j = 0; j < s.packets; j++) {
			if (j != touched)
				assert_same_packet(&r, i++, &whole, j, 0);
		}
		assert_int_equal(r.damage.bytes_skipped, s.where[touched + 1] - s.where[touched]);
		assert_int_equal(r.damage.first_offset, s.where[touched]);
		assert_true(r.damage.first_reason[0]);
		assert_true(r.damage.packets_skipped <= 1);
	}
	pbt_buffer_free(&s.out);
}

/* Two or three bits anywhere, bytes cut out, bytes put in: other packets survive. */
static void test_random_damage(void **state)
{
	uint64_t random = 42;
	struct stream s = { 0 };
	struct reading whole, r;

	make_small(&s);
	read_stream(&s, &whole);
	for (int round = 0; round < 3000; round++) {
		uint8_t copy[2048];
		size_t at = 16 + random_next(&random) % (s.out.size - 40);
		size_t length = 1 + random_next(&random) % 20, size = s.out.size, lost = 0;

		assert_true(size + 20 <= sizeof(copy));
		memcpy(copy, s.out.data, at);
		if (round % 2) {
			memcpy(copy + at, s.out.data + at + length, size - at - length);
			size -= length;
		} else {
			for (size_t i = 0; i < length; i++)
				copy[at + i] = (uint8_t)random_next(&random);
			memcpy(copy + at + length, s.out.data + at, size - at);
			size += length;
		}
		read_memory(copy, size, &r);
		assert_string_equal(r.error, "");
		for (size_t i = 0; i < s.packets; i++)
			lost += s.where[i] < at + (round % 2 ? length : 0) && at < s.where[i + 1];
		assert_true(r.packets + lost >= s.packets);
		assert_true(r.damage.bytes_skipped > 0);
		assert_true(r.damage.first_reason[0]);
	}
	pbt_buffer_free(&s.out);
}

static void test_garbage_between(void **state)
{
	static const char *const garbage[] = { "x", "\n", "\x0a\x85\x80\x80\x80", "PROFBPF\x01",
					       "hello, this is no packet at all\n" };
	struct stream clean = { 0 };
	struct reading whole, r;

	make_small(&clean);
	read_stream(&clean, &whole);
	for (size_t g = 0; g < sizeof(garbage) / sizeof(garbage[0]); g++) {
		struct stream s = { 0 };
		size_t length = strlen(garbage[g]);

		/* In front, between all packets and behind. */
		for (size_t i = 0; i < clean.packets; i++) {
			append_bytes(&s, garbage[g], length);
			append_bytes(&s, clean.out.data + clean.where[i],
				     clean.where[i + 1] - clean.where[i]);
		}
		append_bytes(&s, garbage[g], length);
		read_stream(&s, &r);
		assert_string_equal(r.error, "");
		assert_int_equal(r.packets, whole.packets);
		for (size_t i = 0; i < r.packets; i++)
			assert_same_packet(&r, i, &whole, i, length * (i + 1));
		assert_int_equal(r.damage.bytes_skipped, length * (clean.packets + 1));
		assert_int_equal(r.damage.first_offset, 0);
		assert_true(r.damage.first_reason[0]);
		pbt_buffer_free(&s.out);
	}
	pbt_buffer_free(&clean.out);
}

static void test_concatenated(void **state)
{
	struct stream s = { 0 }, two = { 0 };
	struct reading whole, r;

	make_small(&s);
	read_stream(&s, &whole);
	append_bytes(&two, s.out.data, s.out.size);
	append_bytes(&two, s.out.data, s.out.size);
	read_stream(&two, &r);
	assert_intact(&r);
	assert_int_equal(r.packets, 2 * s.packets);
	for (size_t i = 0; i < s.packets; i++) {
		assert_same_packet(&r, i, &whole, i, 0);
		assert_same_packet(&r, s.packets + i, &whole, i, s.out.size);
	}

	/* The first one torn: its tail is lost, the second one is not. */
	two.out.size = s.out.size - 5;
	append_bytes(&two, s.out.data, s.out.size);
	read_stream(&two, &r);
	assert_int_equal(r.packets, 2 * s.packets - 1);
	for (size_t i = 0; i < s.packets; i++)
		assert_same_packet(&r, s.packets - 1 + i, &whole, i, s.out.size - 5);
	assert_int_equal(r.damage.first_offset, s.where[s.packets - 1]);
	assert_false(r.damage.torn_tail);
	pbt_buffer_free(&s.out);
	pbt_buffer_free(&two.out);
}

/* A traced program may have a packet in its own strings: damage must not bring it out. */
static void test_packet_inside_body(void **state)
{
	struct stream inner = { 0 }, s = { 0 };
	struct reading r;

	append(&inner, PROFBPF__PACKET__KIND__STRINGS, "fake", 4);
	append(&s, PROFBPF__PACKET__KIND__SEGMENT, "a", 1);
	append(&s, PROFBPF__PACKET__KIND__TASKS, inner.out.data, inner.out.size);
	append(&s, PROFBPF__PACKET__KIND__CALLS, "b", 1);
	read_stream(&s, &r);
	assert_intact(&r);
	assert_int_equal(r.packets, 3);

	s.out.data[s.where[1] + PBT_MARK_SIZE + 1] ^= 1; /* its checksum */
	read_stream(&s, &r);
	assert_int_equal(r.packets, 2);
	assert_int_equal(r.kind[0], PROFBPF__PACKET__KIND__SEGMENT);
	assert_int_equal(r.kind[1], PROFBPF__PACKET__KIND__CALLS);
	assert_int_equal(r.damage.packets_skipped, 1);
	assert_string_equal(r.damage.first_reason, "checksum mismatch");
	assert_int_equal(r.damage.first_offset, s.where[1]);
	pbt_buffer_free(&inner.out);
	pbt_buffer_free(&s.out);
}

/* Fields that a later version may put before the body are passed over. */
static void test_unknown_fields(void **state)
{
	/* Fields 7 (varint), 8 (fixed64), 9 (bytes), 10 (fixed32). */
	static const char extra[] = "\x38\xff\x01\x41"
				    "12345678\x4a\x03xyz\x55"
				    "1234";
	struct stream s = { 0 }, new = { 0 };
	struct reading r;
	const size_t split = PBT_MARK_SIZE + 5; /* behind the checksum */

	append(&s, PROFBPF__PACKET__KIND__CALLS, "body", 4);
	append_bytes(&new, s.out.data, split);
	append_bytes(&new, extra, sizeof(extra) - 1);
	append_bytes(&new, s.out.data + split, s.out.size - split);
	new.out.data[1] = (uint8_t)(new.out.data[1] + sizeof(extra) - 1);
	read_stream(&new, &r);
	assert_intact(&r);
	assert_int_equal(r.packets, 1);
	assert_int_equal(r.kind[0], PROFBPF__PACKET__KIND__CALLS);
	assert_int_equal(r.size[0], 4);
	pbt_buffer_free(&s.out);
	pbt_buffer_free(&new.out);
}

/* One bad packet between two good ones. */
static void expect_refused(uint32_t codec, uint32_t body_size, const void *stored, size_t size,
			   const char *reason)
{
	struct stream s = { 0 };
	struct reading r;

	append(&s, PROFBPF__PACKET__KIND__SEGMENT, "a", 1);
	append_raw(&s, PROFBPF__PACKET__KIND__CALLS, codec, body_size, stored, size);
	append(&s, PROFBPF__PACKET__KIND__STATISTICS, "b", 1);
	read_stream(&s, &r);
	assert_string_equal(r.error, "");
	assert_string_equal(r.damage.first_reason, reason);
	assert_int_equal(r.damage.packets_skipped, 1);
	assert_int_equal(r.damage.first_offset, s.where[1]);
	assert_int_equal(r.damage.bytes_skipped, s.where[2] - s.where[1]);
	assert_int_equal(r.packets, 2);
	assert_int_equal(r.kind[1], PROFBPF__PACKET__KIND__STATISTICS);
	pbt_buffer_free(&s.out);
}

static size_t compress_zeros(uint8_t *to, size_t to_size, size_t size, int content_size_flag)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	uint8_t *zeros = calloc(1, size);
	size_t result;

	assert_non_null(zstd);
	assert_non_null(zeros);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_contentSizeFlag, content_size_flag);
	result = ZSTD_compress2(zstd, to, to_size, zeros, size);
	assert_false(ZSTD_isError(result));
	ZSTD_freeCCtx(zstd);
	free(zeros);
	return result;
}

static void test_bombs(void **state)
{
	const size_t huge = 2 * (size_t)PBT_BODY_MAX;
	const char *wrong_size = "the decompressed size is not what the packet says";
	uint8_t z[32768];
	size_t n;

	/* Honest about being too large, and lying about it. */
	n = compress_zeros(z, sizeof(z), huge, 1);
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, huge, z, n, "a body larger than 64 MiB");
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, 1000, z, n, wrong_size);
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, UINT32_MAX, z, n, "a body larger than 64 MiB");
	/* Not telling its size. */
	n = compress_zeros(z, sizeof(z), huge, 0);
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, 1000, z, n, wrong_size);
	n = compress_zeros(z, sizeof(z), 1000, 0);
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, 1000, z, n, wrong_size);
	/* Two frames, the first one as announced. */
	n = compress_zeros(z, sizeof(z), 1000, 1);
	n += compress_zeros(z + n, sizeof(z) - n, huge, 1);
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, 1000, z, n, "decompression failed");
	/* Broken, cut, empty. */
	n = compress_zeros(z, sizeof(z), 1000, 1);
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, 1000, z, n - 1, "decompression failed");
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, 999, z, n, wrong_size);
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, 0, z, 0, wrong_size);
	z[0] ^= 1;
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, 1000, z, n, wrong_size);
	/* Not compressed, and other compressions. */
	expect_refused(PROFBPF__PACKET__CODEC__NONE, 4, "abc", 3,
		       "the body's size is not what the packet says");
	expect_refused(7, 3, "abc", 3, "unknown compression; a newer profbpf may know it");
}

/* A thousand packets of a few kB that decompress to the maximum each. */
static void test_many_bombs(void **state)
{
	struct stream s = { 0 };
	struct pbt_buffer file = { 0 };
	uint8_t *zeros = calloc(1, PBT_BODY_MAX);
	struct pbt_reader *reader;
	struct pbt_packet packet;
	char error[256];
	uint64_t total = 0;
	int fd, result;

	assert_non_null(zeros);
	append(&s, PROFBPF__PACKET__KIND__CALLS, zeros, PBT_BODY_MAX);
	file.data = malloc(s.out.size * 1000);
	assert_non_null(file.data);
	for (int i = 0; i < 1000; i++)
		memcpy(file.data + s.out.size * (size_t)i, s.out.data, s.out.size);
	fd = memory_file(file.data, s.out.size * 1000);
	reader = pbt_open_fd(fd, "run.pbt", error, sizeof(error));
	assert_non_null(reader);
	while ((result = pbt_next(reader, &packet)) == 1)
		total += packet.size;
	assert_int_equal(result, 0);
	assert_true(total < (2ull << 30) + 1024 * 1000 * s.out.size);
	assert_int_equal(pbt_damage(reader)->packets_read + pbt_damage(reader)->packets_skipped,
			 1000);
	assert_string_equal(pbt_damage(reader)->first_reason,
			    "the packets decompress to implausibly much");
	pbt_close(reader);
	close(fd);
	free(file.data);
	free(zeros);
	pbt_buffer_free(&s.out);
}

/* Marks every few bytes, each promising a packet up to the end: work must stay bounded. */
static void test_many_marks(void **state)
{
	const size_t size = 4 << 20, step = 32;
	uint8_t *data = calloc(1, size);
	struct reading r;

	assert_non_null(data);
	for (size_t at = 0; at + step <= size; at += step) {
		size_t length = size - at - PBT_FRAME_SIZE;
		size_t body = length - 9 - 5 - 2 - 5;
		uint8_t *p = data + at;

		*p++ = 0x0a;
		for (int i = 0; i < 5; i++)
			*p++ = (uint8_t)((length >> (7 * i) & 0x7f) | (i < 4 ? 0x80 : 0));
		*p++ = 0x09;
		memcpy(p, PBT_SYNC, PBT_SYNC_SIZE);
		p += PBT_SYNC_SIZE;
		memcpy(p, "\x15\0\0\0\0\x18\x06\x32", 8);
		p += 8;
		for (int i = 0; i < 4; i++)
			*p++ = (uint8_t)((body >> (7 * i) & 0x7f) | (i < 3 ? 0x80 : 0));
	}
	read_memory(data, size, &r);
	assert_int_equal(r.packets, 0);
	assert_int_equal(r.damage.bytes_skipped, size);
	/* 128 Ki marks; looking at each one's packet would be 256 GiB of checksums. */
	assert_true(r.damage.packets_skipped < 1000);
	free(data);
}

static void test_impossible_lengths(void **state)
{
	static const char *const lengths[] = {
		"\x80\x80\x80\x80\x00", "\x88\x80\x80\x80\x00", "\xff\xff\xff\xff\x7f",
		"\xff\xff\xff\xff\x0f", "\x80\x80\x80\x80\x01", "\xff\xff\xff\xbf\x00",
	};
	struct reading whole, r;
	struct stream s = { 0 };

	make_small(&s);
	read_stream(&s, &whole);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint8_t saved[5];

		memcpy(saved, s.out.data + s.where[1] + 1, 5);
		memcpy(s.out.data + s.where[1] + 1, lengths[i], 5);
		read_stream(&s, &r);
		memcpy(s.out.data + s.where[1] + 1, saved, 5);
		assert_int_equal(r.packets, s.packets - 1);
		assert_same_packet(&r, 1, &whole, 2, 0);
		assert_int_equal(r.damage.packets_skipped, 1);
		assert_string_equal(r.damage.first_reason, "impossible packet length");
	}
	/* The largest that is possible, in a file that is not that long. */
	memcpy(s.out.data + s.where[4] + 1, "\x80\x88\x80\xa0\x00", 5);
	read_stream(&s, &r);
	assert_int_equal(r.packets, s.packets - 1);
	assert_true(r.damage.torn_tail);
	pbt_buffer_free(&s.out);
}

struct pipe_writer {
	int fd;
	const uint8_t *data;
	size_t size;
	size_t piece;
};

static void *write_pipe(void *argument)
{
	struct pipe_writer *w = argument;

	for (size_t done = 0; done < w->size;) {
		size_t n = w->size - done < w->piece ? w->size - done : w->piece;
		ssize_t written = write(w->fd, w->data + done, n);

		if (written < 0)
			break;
		done += (size_t)written;
	}
	close(w->fd);
	return NULL;
}

static void test_pipe(void **state)
{
	static const size_t pieces[] = { 1, 13, 100000 };
	struct stream s = { 0 };
	struct reading whole, r;
	uint8_t *noise = make_body(300000, false, 9);

	make_small(&s);
	append(&s, PROFBPF__PACKET__KIND__CALLS, noise, 300000);
	make_small(&s);
	read_stream(&s, &whole);
	assert_intact(&whole);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		pthread_t thread;
		int fds[2];

		assert_int_equal(pipe(fds), 0);
		struct pipe_writer w = { fds[1], s.out.data, s.out.size, pieces[i] };

		assert_int_equal(pthread_create(&thread, NULL, write_pipe, &w), 0);
		read_fd(fds[0], &r);
		close(fds[0]);
		pthread_join(thread, NULL);
		assert_intact(&r);
		assert_int_equal(r.packets, whole.packets);
		for (size_t j = 0; j < r.packets; j++)
			assert_same_packet(&r, j, &whole, j, 0);
	}
	free(noise);
	pbt_buffer_free(&s.out);
}

/* A packet in a live stream is handed out before the next one is written. */
static void test_pipe_is_prompt(void **state)
{
	struct stream s = { 0 };
	struct pbt_reader *reader;
	struct pbt_packet packet;
	char error[256];
	int fds[2];

	make_small(&s);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], s.out.data, s.where[1]), (ssize_t)s.where[1]);
	reader = pbt_open_fd(fds[0], "pipe", error, sizeof(error));
	assert_non_null(reader);
	for (size_t i = 0; i < s.packets; i++) {
		size_t size = s.where[i + 2 > s.packets ? s.packets : i + 2] - s.where[i + 1];

		assert_int_equal(pbt_next(reader, &packet), 1);
		assert_int_equal(packet.offset, s.where[i]);
		if (i + 1 < s.packets)
			assert_int_equal(write(fds[1], s.out.data + s.where[i + 1], size),
					 (ssize_t)size);
	}
	close(fds[1]);
	assert_int_equal(pbt_next(reader, &packet), 0);
	pbt_close(reader);
	close(fds[0]);
	pbt_buffer_free(&s.out);
}

static void expect_foreign(const char *data, size_t size, const char *what)
{
	struct reading r;

	read_memory(data, size, &r);
	if (!strstr(r.error, what) || !strstr(r.error, "run.pbt: "))
		fail_msg("\"%s\" does not say \"%s\"", r.error, what);
}

#define EXPECT_FOREIGN(text, what) expect_foreign(text, sizeof(text) - 1, what)

static void test_not_a_trace(void **state)
{
	struct reading r;
	uint8_t *noise = make_body(3 << 20, false, 5);

	read_memory("", 0, &r);
	assert_string_equal(r.error, "run.pbt: the file is empty, no trace was written to it; "
				     "record one with: profctl attach --pid PID -o run.pbt");
	read_memory("\xff\xd8\xff\xe0\0\x10JFIF\0\x01", 12, &r);
	assert_string_equal(r.error, "run.pbt: not a profbpf trace (it looks like a JPEG image); "
				     "record one with: profctl attach --pid PID -o run.pbt");
	EXPECT_FOREIGN("\x89PNG\r\n\x1a\n", "(it looks like a PNG image)");
	EXPECT_FOREIGN("\x1f\x8b\x08\0\0\0\0\0", "a gzip file); if it holds a trace, unpack it");
	EXPECT_FOREIGN("PK\x03\x04\x14", "a zip archive)");
	EXPECT_FOREIGN("\177ELF\2\1\1", "an ELF program or library)");
	EXPECT_FOREIGN("SQLite format 3\0\x10", "an SQLite database); a device profiler's file "
						"goes after --device");
	EXPECT_FOREIGN("{\"traceEvents\": []}", "a JSON file)");
	EXPECT_FOREIGN("\n\t[ {\"ph\": \"X\"}]", "a JSON file)");
	EXPECT_FOREIGN("[", "not a profbpf trace (no packet mark in its first 1 bytes)");
	EXPECT_FOREIGN("\n", "not a profbpf trace");
	EXPECT_FOREIGN("\n\x0e hello", "not a profbpf trace");
	EXPECT_FOREIGN("hello, world\n", "not a profbpf trace (no packet mark");
	expect_foreign((const char *)noise, 3 << 20, "not a profbpf trace");
	/* A Perfetto trace begins with the same tag. */
	EXPECT_FOREIGN("\x0a\x17\x50\x01\x9a\x01\x11\x0a\x0f", "not a profbpf trace");
	free(noise);
}

static void test_open_errors(void **state)
{
	char error[256];

	assert_null(pbt_open("/nonexistent/run.pbt", error, sizeof(error)));
	assert_string_equal(error, "/nonexistent/run.pbt: cannot open: No such file or directory; "
				   "check the name, or record one with: "
				   "profctl attach --pid PID -o run.pbt");
	assert_null(pbt_open("/tmp", error, sizeof(error)));
	assert_non_null(strstr(error, "/tmp: is a directory; name a trace file"));
	assert_null(pbt_open_fd(-1, "x", error, sizeof(error)));
	assert_non_null(strstr(error, "x: cannot use descriptor -1: Bad file descriptor"));
	/* Endless, and no trace. */
	assert_null(pbt_open("/dev/zero", error, sizeof(error)));
	assert_non_null(strstr(error, "/dev/zero: not a profbpf trace"));
	/* Messages are cut, not overrun. */
	assert_null(pbt_open("/nonexistent/run.pbt", error, 10));
	assert_string_equal(error, "/nonexist");
}

static void test_open_by_path(void **state)
{
	char path[] = "/tmp/test_pbt.XXXXXX", error[256];
	struct stream s = { 0 };
	struct pbt_packet packet;
	struct pbt_reader *reader;
	int fd = mkstemp(path), in;

	assert_true(fd >= 0);
	make_small(&s);
	assert_int_equal(write(fd, s.out.data, s.out.size), (ssize_t)s.out.size);
	reader = pbt_open(path, error, sizeof(error));
	assert_non_null(reader);
	assert_int_equal(pbt_next(reader, &packet), 1);
	assert_int_equal(packet.size, 7);
	assert_memory_equal(packet.body, "segment", 7);
	pbt_close(reader);

	/* And as standard input. */
	in = dup(STDIN_FILENO);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	reader = pbt_open("-", error, sizeof(error));
	if (in >= 0)
		dup2(in, STDIN_FILENO);
	assert_non_null(reader);
	assert_int_equal(pbt_next(reader, &packet), 1);
	pbt_close(reader);
	pbt_close(NULL);
	if (in >= 0)
		close(in);
	close(fd);
	unlink(path);
	pbt_buffer_free(&s.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind),
		cmocka_unit_test(test_unknown_kind),
		cmocka_unit_test(test_is_protobuf),
		cmocka_unit_test(test_protoc_decodes),
		cmocka_unit_test(test_encode_refuses),
		cmocka_unit_test(test_largest_body),
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_every_bit_flip),
		cmocka_unit_test(test_random_damage),
		cmocka_unit_test(test_garbage_between),
		cmocka_unit_test(test_concatenated),
		cmocka_unit_test(test_packet_inside_body),
		cmocka_unit_test(test_unknown_fields),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_many_bombs),
		cmocka_unit_test(test_many_marks),
		cmocka_unit_test(test_impossible_lengths),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_pipe_is_prompt),
		cmocka_unit_test(test_not_a_trace),
		cmocka_unit_test(test_open_errors),
		cmocka_unit_test(test_open_by_path),
	};

	return cmocka_run_group_tests_name("pbt", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Traces that are truncated, have flipped bits, are spliced or are malicious. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include <cmocka.h>

#include "tests/unit/pbt_stream.h"

static void test_cut_at_every_byte(void **state)
{
	struct pbt_stream s = { 0 };
	struct pbt_reading whole, r;

	pbt_stream_small(&s);
	pbt_reading_stream(&s, &whole);
	assert_intact(&whole);
	for (size_t cut = 1; cut < s.out.size; cut++) {
		size_t before = 0;

		while (s.where[before + 1] <= cut)
			before++;
		pbt_reading_memory(s.out.data, cut, &r);
		if (cut == 1) {
			/* A lone newline: not a trace. */
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

/* Each flipped bit costs only the packet that contains it, and is noticed. */
static void test_every_bit_flip(void **state)
{
	struct pbt_stream s = { 0 };
	struct pbt_reading whole, r;

	pbt_stream_small(&s);
	pbt_reading_stream(&s, &whole);
	for (size_t bit = 0; bit < s.out.size * 8; bit++) {
		size_t touched = 0, i = 0;

		while (s.where[touched + 1] <= bit / 8)
			touched++;
		s.out.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		pbt_reading_stream(&s, &r);
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

/* Two or three flipped bits anywhere, bytes removed, bytes inserted: other packets survive. */
static void test_random_damage(void **state)
{
	uint64_t random = 42;
	struct pbt_stream s = { 0 };
	struct pbt_reading whole, r;

	pbt_stream_small(&s);
	pbt_reading_stream(&s, &whole);
	for (int round = 0; round < 3000; round++) {
		uint8_t copy[2048];
		size_t at = 16 + pbt_stream_random(&random) % (s.out.size - 40);
		size_t length = 1 + pbt_stream_random(&random) % 20, size = s.out.size, lost = 0;

		assert_true(size + 20 <= sizeof(copy));
		memcpy(copy, s.out.data, at);
		if (round % 2) {
			memcpy(copy + at, s.out.data + at + length, size - at - length);
			size -= length;
		} else {
			for (size_t i = 0; i < length; i++)
				copy[at + i] = (uint8_t)pbt_stream_random(&random);
			memcpy(copy + at + length, s.out.data + at, size - at);
			size += length;
		}
		pbt_reading_memory(copy, size, &r);
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
	struct pbt_stream clean = { 0 };
	struct pbt_reading whole, r;

	pbt_stream_small(&clean);
	pbt_reading_stream(&clean, &whole);
	for (size_t g = 0; g < sizeof(garbage) / sizeof(garbage[0]); g++) {
		struct pbt_stream s = { 0 };
		size_t length = strlen(garbage[g]);

		/* At the front, between all packets and at the end. */
		for (size_t i = 0; i < clean.packets; i++) {
			pbt_stream_bytes(&s, garbage[g], length);
			pbt_stream_bytes(&s, clean.out.data + clean.where[i],
					 clean.where[i + 1] - clean.where[i]);
		}
		pbt_stream_bytes(&s, garbage[g], length);
		pbt_reading_stream(&s, &r);
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
	struct pbt_stream s = { 0 }, two = { 0 };
	struct pbt_reading whole, r;

	pbt_stream_small(&s);
	pbt_reading_stream(&s, &whole);
	pbt_stream_bytes(&two, s.out.data, s.out.size);
	pbt_stream_bytes(&two, s.out.data, s.out.size);
	pbt_reading_stream(&two, &r);
	assert_intact(&r);
	assert_int_equal(r.packets, 2 * s.packets);
	for (size_t i = 0; i < s.packets; i++) {
		assert_same_packet(&r, i, &whole, i, 0);
		assert_same_packet(&r, s.packets + i, &whole, i, s.out.size);
	}

	/* The first stream is truncated: its last packet is lost, the second stream is not. */
	two.out.size = s.out.size - 5;
	pbt_stream_bytes(&two, s.out.data, s.out.size);
	pbt_reading_stream(&two, &r);
	assert_int_equal(r.packets, 2 * s.packets - 1);
	for (size_t i = 0; i < s.packets; i++)
		assert_same_packet(&r, s.packets - 1 + i, &whole, i, s.out.size - 5);
	assert_int_equal(r.damage.first_offset, s.where[s.packets - 1]);
	assert_false(r.damage.torn_tail);
	pbt_buffer_free(&s.out);
	pbt_buffer_free(&two.out);
}

/* Damage, and then an end of the file within a packet's mark. */
static void test_torn_behind_garbage(void **state)
{
	struct pbt_stream s = { 0 };
	struct pbt_reading r;
	uint8_t tail[10];

	pbt_stream_small(&s);
	memcpy(tail, s.out.data, sizeof(tail));
	pbt_stream_bytes(&s, "xyz", 3);
	pbt_stream_bytes(&s, tail, sizeof(tail));
	pbt_reading_stream(&s, &r);
	assert_int_equal(r.packets, s.packets);
	assert_true(r.damage.torn_tail);
	assert_int_equal(r.damage.bytes_skipped, 13);
	assert_int_equal(r.damage.first_offset, s.where[s.packets]);
	assert_string_equal(r.damage.first_reason, "bytes that are no packet");
	pbt_buffer_free(&s.out);
}

/* A packet without a checksum is refused: it could contain anything. */
static void test_no_checksum(void **state)
{
	static const char packet[] = "\x0a\x8f\x80\x80\x80\0\x09" PBT_SYNC "\x18\x06\x28\x01\x32\0";
	struct pbt_stream s = { 0 };
	struct pbt_reading r;

	pbt_stream_append(&s, PROFBPF__PACKET__KIND__SEGMENT, "a", 1);
	pbt_stream_bytes(&s, packet, sizeof(packet) - 1);
	pbt_stream_append(&s, PROFBPF__PACKET__KIND__STATISTICS, "b", 1);
	pbt_reading_stream(&s, &r);
	assert_int_equal(r.packets, 2);
	assert_int_equal(r.damage.packets_skipped, 1);
	assert_int_equal(r.damage.bytes_skipped, sizeof(packet) - 1);
	assert_string_equal(r.damage.first_reason, "damaged packet header");
	pbt_buffer_free(&s.out);
}

/* A traced program may have a packet in its own strings: damage must not make the reader return it. */
static void test_packet_inside_body(void **state)
{
	struct pbt_stream inner = { 0 }, s = { 0 };
	struct pbt_reading r;

	pbt_stream_append(&inner, PROFBPF__PACKET__KIND__STRINGS, "fake", 4);
	pbt_stream_append(&s, PROFBPF__PACKET__KIND__SEGMENT, "a", 1);
	pbt_stream_append(&s, PROFBPF__PACKET__KIND__TASKS, inner.out.data, inner.out.size);
	pbt_stream_append(&s, PROFBPF__PACKET__KIND__CALLS, "b", 1);
	pbt_reading_stream(&s, &r);
	assert_intact(&r);
	assert_int_equal(r.packets, 3);

	s.out.data[s.where[1] + PBT_MARK_SIZE + 1] ^= 1; /* its checksum */
	pbt_reading_stream(&s, &r);
	assert_int_equal(r.packets, 2);
	assert_int_equal(r.kind[0], PROFBPF__PACKET__KIND__SEGMENT);
	assert_int_equal(r.kind[1], PROFBPF__PACKET__KIND__CALLS);
	assert_int_equal(r.damage.packets_skipped, 1);
	assert_string_equal(r.damage.first_reason, "checksum mismatch");
	assert_int_equal(r.damage.first_offset, s.where[1]);
	pbt_buffer_free(&inner.out);
	pbt_buffer_free(&s.out);
}

/* One bad packet between two good ones. */
static void expect_refused(uint32_t codec, uint32_t body_size, const void *stored, size_t size,
			   const char *reason)
{
	struct pbt_stream s = { 0 };
	struct pbt_reading r;

	pbt_stream_append(&s, PROFBPF__PACKET__KIND__SEGMENT, "a", 1);
	pbt_stream_raw(&s, PROFBPF__PACKET__KIND__CALLS, codec, body_size, stored, size);
	pbt_stream_append(&s, PROFBPF__PACKET__KIND__STATISTICS, "b", 1);
	pbt_reading_stream(&s, &r);
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

	/* Too large, with the right size stated, and with a wrong one. */
	n = compress_zeros(z, sizeof(z), huge, 1);
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, huge, z, n, "a body larger than 64 MiB");
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, 1000, z, n, wrong_size);
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, UINT32_MAX, z, n, "a body larger than 64 MiB");
	/* Without a stated size. */
	n = compress_zeros(z, sizeof(z), huge, 0);
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, 1000, z, n, wrong_size);
	n = compress_zeros(z, sizeof(z), 1000, 0);
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, 1000, z, n, wrong_size);
	/* Two frames, the first one with the stated size. */
	n = compress_zeros(z, sizeof(z), 1000, 1);
	n += compress_zeros(z + n, sizeof(z) - n, huge, 1);
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, 1000, z, n, "decompression failed");
	/* Damaged, truncated, empty. */
	n = compress_zeros(z, sizeof(z), 1000, 1);
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, 1000, z, n - 1, "decompression failed");
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, 999, z, n, wrong_size);
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, 0, z, 0, wrong_size);
	z[0] ^= 1;
	expect_refused(PROFBPF__PACKET__CODEC__ZSTD, 1000, z, n, wrong_size);
	/* Without compression, and with unknown compressions. */
	expect_refused(PROFBPF__PACKET__CODEC__NONE, 4, "abc", 3,
		       "the body's size is not what the packet says");
	expect_refused(7, 3, "abc", 3, "unknown compression; a newer profbpf may know it");
}

/* A thousand packets of a few kB that each decompress to the maximum. */
static void test_many_bombs(void **state)
{
	struct pbt_stream s = { 0 };
	struct pbt_buffer file = { 0 };
	uint8_t *zeros = calloc(1, PBT_BODY_MAX);
	struct pbt_reader *reader;
	struct pbt_packet packet;
	char error[256];
	uint64_t total = 0;
	int fd, result;

	assert_non_null(zeros);
	pbt_stream_append(&s, PROFBPF__PACKET__KIND__CALLS, zeros, PBT_BODY_MAX);
	file.data = malloc(s.out.size * 1000);
	assert_non_null(file.data);
	for (int i = 0; i < 1000; i++)
		memcpy(file.data + s.out.size * (size_t)i, s.out.data, s.out.size);
	fd = pbt_stream_file(file.data, s.out.size * 1000);
	reader = pbt_open_fd(fd, "run.pbt", error, sizeof(error));
	assert_non_null(reader);
	while ((result = pbt_next(reader, &packet)) == 1)
		total += packet.size;
	assert_int_equal(result, 0);
	assert_true(total <= PBT_UNPACKED_FREE + PBT_BODY_MAX +
			     PBT_UNPACKED_RATIO * 1000 * s.out.size);
	assert_int_equal(pbt_damage(reader)->packets_read + pbt_damage(reader)->packets_skipped,
			 1000);
	assert_string_equal(pbt_damage(reader)->first_reason,
			    "the packets decompress to more than 200 times their size");
	pbt_close(reader);
	close(fd);
	free(file.data);
	free(zeros);
	pbt_buffer_free(&s.out);
}

/* Marks every few bytes, each with a packet length almost up to the end: the work must stay bounded. */
static void test_many_marks(void **state)
{
	const size_t size = 4 << 20, step = 32;
	uint8_t *data = calloc(1, size);
	struct pbt_reading r;

	assert_non_null(data);
	for (size_t at = 0; at + 2 * step <= size; at += step) {
		size_t length = size - step - at - PBT_FRAME_SIZE;
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
	pbt_reading_memory(data, size, &r);
	assert_int_equal(r.packets, 0);
	assert_int_equal(r.damage.bytes_skipped, size);
	/* 128 Ki marks; checking each one's packet would take checksums of 256 GiB. */
	assert_true(r.damage.packets_skipped < 1000);
	free(data);
}

static void test_impossible_lengths(void **state)
{
	static const char *const lengths[] = {
		"\x80\x80\x80\x80\x00", "\x88\x80\x80\x80\x00", "\xff\xff\xff\xff\x7f",
		"\xff\xff\xff\xff\x0f", "\x80\x80\x80\x80\x01", "\xff\xff\xff\xbf\x00",
	};
	struct pbt_reading whole, r;
	struct pbt_stream s = { 0 };

	pbt_stream_small(&s);
	pbt_reading_stream(&s, &whole);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint8_t saved[5];

		memcpy(saved, s.out.data + s.where[1] + 1, 5);
		memcpy(s.out.data + s.where[1] + 1, lengths[i], 5);
		pbt_reading_stream(&s, &r);
		memcpy(s.out.data + s.where[1] + 1, saved, 5);
		assert_int_equal(r.packets, s.packets - 1);
		assert_same_packet(&r, 1, &whole, 2, 0);
		assert_int_equal(r.damage.packets_skipped, 1);
		assert_string_equal(r.damage.first_reason, "impossible packet length");
	}
	/* The largest possible length, in a file that is shorter. */
	memcpy(s.out.data + s.where[4] + 1, "\x80\x88\x80\xa0\x00", 5);
	pbt_reading_stream(&s, &r);
	assert_int_equal(r.packets, s.packets - 1);
	assert_true(r.damage.torn_tail);
	pbt_buffer_free(&s.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_every_bit_flip),
		cmocka_unit_test(test_random_damage),
		cmocka_unit_test(test_garbage_between),
		cmocka_unit_test(test_concatenated),
		cmocka_unit_test(test_torn_behind_garbage),
		cmocka_unit_test(test_no_checksum),
		cmocka_unit_test(test_packet_inside_body),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_many_bombs),
		cmocka_unit_test(test_many_marks),
		cmocka_unit_test(test_impossible_lengths),
	};

	return cmocka_run_group_tests_name("pbt damage", tests, NULL, NULL);
}

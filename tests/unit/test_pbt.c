/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of a trace, written and read back; files that are no trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>

#include "tests/unit/pbt_stream.h"

static void test_every_kind(void **state)
{
	static const size_t sizes[] = { 0, 1, 63, 64, 65, 1000, 300000 };
	const ProtobufCEnumDescriptor *kinds = &profbpf__packet__kind__descriptor;
	struct pbt_reading r;

	for (size_t size = 0; size < sizeof(sizes) / sizeof(sizes[0]); size++) {
		for (int compressible = 0; compressible < 2; compressible++) {
			struct pbt_stream s = { 0 };
			uint8_t *body[PBT_STREAM_MAX];

			assert_true(kinds->n_values >= 17 && kinds->n_values < PBT_STREAM_MAX);
			for (size_t i = 0; i < kinds->n_values; i++) {
				body[i] = pbt_stream_body(sizes[size], compressible, i);
				pbt_stream_append(&s, kinds->values[i].value, body[i], sizes[size]);
			}
			pbt_reading_stream(&s, &r);
			assert_intact(&r);
			assert_int_equal(r.packets, kinds->n_values);
			for (size_t i = 0; i < r.packets; i++) {
				assert_int_equal(r.kind[i], kinds->values[i].value);
				assert_int_equal(r.offset[i], s.where[i]);
				assert_int_equal(r.size[i], sizes[size]);
				assert_int_equal(r.crc[i], crc32_z(0, body[i], sizes[size]));
				free(body[i]);
			}
			/* Compressible bodies are compressed. */
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
	struct pbt_stream s = { 0 };
	struct pbt_reading r;

	pbt_stream_append(&s, PROFBPF__PACKET__KIND__SEGMENT, "x", 1);
	pbt_stream_append(&s, 4711, "from the future", 15);
	pbt_stream_append(&s, INT32_MAX, "from a far future", 17);
	pbt_reading_stream(&s, &r);
	assert_intact(&r);
	assert_int_equal(r.packets, 3);
	assert_int_equal(r.kind[1], 4711);
	assert_int_equal(r.kind[2], INT32_MAX);
	pbt_buffer_free(&s.out);
}

/* The bytes equal those of protobuf-c, after a length padded to five bytes. */
static void test_is_protobuf(void **state)
{
	struct pbt_stream s = { 0 }, other = { 0 };
	Profbpf__Trace *trace;

	pbt_stream_small(&s);
	trace = profbpf__trace__unpack(NULL, s.out.size, s.out.data);
	assert_non_null(trace);
	assert_int_equal(trace->n_packet, s.packets);
	for (size_t i = 0; i < trace->n_packet; i++) {
		const Profbpf__Packet *p = trace->packet[i];

		assert_memory_equal(&p->sync, PBT_SYNC, PBT_SYNC_SIZE);
		assert_int_equal(p->base.n_unknown_fields, 0);
		pbt_stream_raw(&other, p->kind, p->codec, p->body_size, p->body.data, p->body.len);
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
	struct pbt_stream s = { 0 };
	FILE *pipe;
	size_t n;
	int fd;

	if (system("command -v protoc >/dev/null") || access("proto/trace.proto", R_OK))
		skip();
	pbt_stream_small(&s);
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
	struct pbt_stream s = { 0 };
	uint8_t *zeros = calloc(1, PBT_BODY_MAX), *noise = pbt_stream_body(PBT_BODY_MAX, false, 3);
	struct pbt_reading r;

	assert_non_null(zeros);
	pbt_stream_append(&s, PROFBPF__PACKET__KIND__CALLS, zeros, PBT_BODY_MAX);
	pbt_stream_append(&s, PROFBPF__PACKET__KIND__CALLS, noise, PBT_BODY_MAX);
	pbt_stream_append(&s, PROFBPF__PACKET__KIND__CALLS, "end", 3);
	pbt_reading_stream(&s, &r);
	assert_intact(&r);
	assert_int_equal(r.packets, 3);
	assert_int_equal(r.size[0], PBT_BODY_MAX);
	assert_int_equal(r.crc[1], crc32_z(0, noise, PBT_BODY_MAX));
	free(zeros);
	free(noise);
	pbt_buffer_free(&s.out);
}

/* Unknown fields before the body, as a later version may have, are skipped. */
static void test_unknown_fields(void **state)
{
	/* Fields 7 (varint), 8 (fixed64), 9 (bytes), 10 (fixed32). */
	static const char extra[] = "\x38\xff\x01\x41"
				    "12345678\x4a\x03xyz\x55"
				    "1234";
	struct pbt_stream s = { 0 }, new = { 0 };
	struct pbt_reading r;
	const size_t split = PBT_MARK_SIZE + 5; /* after the checksum */

	pbt_stream_append(&s, PROFBPF__PACKET__KIND__CALLS, "body", 4);
	pbt_stream_bytes(&new, s.out.data, split);
	pbt_stream_bytes(&new, extra, sizeof(extra) - 1);
	pbt_stream_bytes(&new, s.out.data + split, s.out.size - split);
	new.out.data[1] = (uint8_t)(new.out.data[1] + sizeof(extra) - 1);
	pbt_reading_stream(&new, &r);
	assert_intact(&r);
	assert_int_equal(r.packets, 1);
	assert_int_equal(r.kind[0], PROFBPF__PACKET__KIND__CALLS);
	assert_int_equal(r.size[0], 4);
	pbt_buffer_free(&s.out);
	pbt_buffer_free(&new.out);
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
	struct pbt_stream s = { 0 };
	struct pbt_reading whole, r;
	uint8_t *noise = pbt_stream_body(300000, false, 9);

	pbt_stream_small(&s);
	pbt_stream_append(&s, PROFBPF__PACKET__KIND__CALLS, noise, 300000);
	pbt_stream_small(&s);
	pbt_reading_stream(&s, &whole);
	assert_intact(&whole);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		pthread_t thread;
		int fds[2];

		assert_int_equal(pipe(fds), 0);
		struct pipe_writer w = { fds[1], s.out.data, s.out.size, pieces[i] };

		assert_int_equal(pthread_create(&thread, NULL, write_pipe, &w), 0);
		pbt_reading_fd(fds[0], &r);
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

/* The first mark arrives byte by byte, after bytes that are no packet. */
static void test_finds_first_mark(void **state)
{
	static const char garbage[] =
		"the tail of a packet whose beginning was cut off, by dd or by "
		"something of the kind";
	const size_t length = sizeof(garbage) - 1;
	struct pbt_stream s = { 0 }, small = { 0 };
	struct pbt_reading r;
	pthread_t thread;
	int fds[2];

	pbt_stream_small(&small);
	pbt_stream_bytes(&s, garbage, length);
	pbt_stream_bytes(&s, small.out.data, small.out.size);
	/* Unlike a pipe this socket keeps the pieces separate, however fast they arrive. */
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	struct pipe_writer w = { fds[1], s.out.data, s.out.size, 1 };

	assert_int_equal(pthread_create(&thread, NULL, write_pipe, &w), 0);
	pbt_reading_fd(fds[0], &r);
	close(fds[0]);
	pthread_join(thread, NULL);
	assert_string_equal(r.error, "");
	assert_int_equal(r.packets, small.packets);
	assert_int_equal(r.offset[0], length);
	assert_int_equal(r.damage.bytes_skipped, length);
	pbt_buffer_free(&s.out);
	pbt_buffer_free(&small.out);
}

static size_t memory_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* A stream of 64 MiB in packets of 1 MiB takes the memory of a few packets. */
static void test_bounded_memory(void **state)
{
	uint8_t *noise = pbt_stream_body(1 << 20, false, 4);
	struct pbt_stream s = { 0 };
	struct pbt_packet packet;
	struct pbt_reader *reader;
	char error[256];
	size_t before, packets = 0;
	int fd;

	for (int i = 0; i < 64; i++)
		pbt_stream_append(&s, PROFBPF__PACKET__KIND__CALLS, noise, 1 << 20);
	fd = pbt_stream_file(s.out.data, s.out.size);
	pbt_buffer_free(&s.out);
	free(noise);
	before = memory_in_use();
	reader = pbt_open_fd(fd, "run.pbt", error, sizeof(error));
	assert_non_null(reader);
	while (pbt_next(reader, &packet) == 1) {
		packets++;
		/* Always 0 under a sanitizer, which has an allocator of its own. */
		assert_true(memory_in_use() - before < 8 << 20);
	}
	assert_int_equal(packets, 64);
	pbt_close(reader);
	close(fd);
}

/* A packet in a live stream is delivered before the next one is written. */
static void test_pipe_is_prompt(void **state)
{
	struct pbt_stream s = { 0 };
	struct pbt_reader *reader;
	struct pbt_packet packet;
	char error[256];
	int fds[2];

	pbt_stream_small(&s);
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
	struct pbt_reading r;

	pbt_reading_memory(data, size, &r);
	if (!strstr(r.error, what) || !strstr(r.error, "run.pbt: "))
		fail_msg("\"%s\" does not say \"%s\"", r.error, what);
}

#define EXPECT_FOREIGN(text, what) expect_foreign(text, sizeof(text) - 1, what)

static void test_not_a_trace(void **state)
{
	struct pbt_reading r;
	uint8_t *noise = pbt_stream_body(3 << 20, false, 5);

	pbt_reading_memory("", 0, &r);
	assert_string_equal(r.error, "run.pbt: the file is empty, no trace was written to it; "
				     "record one with: profctl attach --pid PID -o run.pbt");
	pbt_reading_memory("\xff\xd8\xff\xe0\0\x10JFIF\0\x01", 12, &r);
	assert_string_equal(r.error, "run.pbt: not a profbpf trace (it looks like a JPEG image); "
				     "record one with: profctl attach --pid PID -o run.pbt");
	EXPECT_FOREIGN("\x89PNG\r\n\x1a\n", "(it looks like a PNG image)");
	EXPECT_FOREIGN("\x1f\x8b\x08\0\0\0\0\0", "a gzip file); if it holds a trace, unpack it");
	EXPECT_FOREIGN("PK\x03\x04\x14", "a zip archive)");
	EXPECT_FOREIGN("\177ELF\2\1\1", "an ELF program or library)");
	EXPECT_FOREIGN("SQLite format 3\0\x10", "an SQLite database)");
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
	/* Endless, and not a trace. */
	assert_null(pbt_open("/dev/zero", error, sizeof(error)));
	assert_non_null(strstr(error, "/dev/zero: not a profbpf trace"));
	/* Messages are truncated, without a buffer overrun. */
	assert_null(pbt_open("/nonexistent/run.pbt", error, 10));
	assert_string_equal(error, "/nonexist");
}

static void test_open_by_path(void **state)
{
	char path[] = "/tmp/test_pbt.XXXXXX", error[256];
	struct pbt_stream s = { 0 };
	struct pbt_packet packet;
	struct pbt_reader *reader;
	int fd = mkstemp(path), in;

	assert_true(fd >= 0);
	pbt_stream_small(&s);
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
		cmocka_unit_test(test_every_kind),     cmocka_unit_test(test_unknown_kind),
		cmocka_unit_test(test_is_protobuf),    cmocka_unit_test(test_protoc_decodes),
		cmocka_unit_test(test_encode_refuses), cmocka_unit_test(test_largest_body),
		cmocka_unit_test(test_unknown_fields), cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_pipe_is_prompt), cmocka_unit_test(test_finds_first_mark),
		cmocka_unit_test(test_bounded_memory), cmocka_unit_test(test_not_a_trace),
		cmocka_unit_test(test_open_errors),    cmocka_unit_test(test_open_by_path),
	};

	return cmocka_run_group_tests_name("pbt", tests, NULL, NULL);
}

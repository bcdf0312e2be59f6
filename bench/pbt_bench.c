/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pbt_bench.c - measures the cost of writing and reading packets: pack, encode, read.
 *
 * The batches are calls like those of a busy program: a few threads, a few dozen
 * functions, durations over three decades, handles as arguments. Each figure is
 * the best of several rounds, in CPU time of this thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lib/trace/column.h"
#include "lib/trace/pbt.h"

#define BATCHES 64 /* all different, so that caches and zstd do not profit from repetition */
#define ROUNDS 7
#define FILE_SIZE (256u << 20) /* bytes of packed bodies in the stream that is read */

struct batch {
	uint8_t *body;
	size_t size;
};

struct columns {
	struct column_s64 end, arg0, arg1;
	struct column_u64 dur;
	struct column_s32 tid;
	struct column_u32 function, ret;
};

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static double cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "pbt_bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void fill(struct columns *c, size_t records, uint64_t *random, uint64_t *now)
{
	for (size_t i = 0; i < records; i++) {
		uint64_t r = random_next(random);
		uint64_t stream = 0x55d000001000 + (r >> 8 & 3) * 0x4c0;

		*now += 2000 + (r >> 16) % 30000;
		if (column_s64_push_delta(&c->end, (int64_t)*now) ||
		    column_u64_push(&c->dur, 300 + (r >> 32) % (1u << (8 + r % 12))) ||
		    column_s32_push_delta(&c->tid, 4242 + (int32_t)(r >> 60 & 3)) ||
		    column_u32_push(&c->function, (uint32_t)(r >> 20) % 24) ||
		    column_u32_push(&c->ret, 0) ||
		    column_s64_push_delta(&c->arg0, (int64_t)stream) ||
		    column_s64_push_delta(&c->arg1, (int64_t)(r >> 40 & 7) * 4096))
			die("column");
	}
}

static struct batch pack(struct columns *c)
{
	Profbpf__Calls m = PROFBPF__CALLS__INIT;
	struct batch b;

	COLUMN_EXPORT_ALWAYS(&c->end, &m, end_ns);
	COLUMN_EXPORT(&c->dur, &m, dur_ns);
	COLUMN_EXPORT(&c->tid, &m, tid);
	COLUMN_EXPORT(&c->function, &m, function);
	COLUMN_EXPORT(&c->ret, &m, ret);
	COLUMN_EXPORT(&c->arg0, &m, arg0);
	COLUMN_EXPORT(&c->arg1, &m, arg1);
	b.size = profbpf__calls__get_packed_size(&m);
	b.body = malloc(b.size);
	if (!b.body)
		die("pack");
	profbpf__calls__pack(&m, b.body);
	return b;
}

static void clear(struct columns *c)
{
	column_s64_clear(&c->end);
	column_u64_clear(&c->dur);
	column_s32_clear(&c->tid);
	column_u32_clear(&c->function);
	column_u32_clear(&c->ret);
	column_s64_clear(&c->arg0);
	column_s64_clear(&c->arg1);
}

static void free_columns(struct columns *c)
{
	column_s64_free(&c->end);
	column_u64_free(&c->dur);
	column_s32_free(&c->tid);
	column_u32_free(&c->function);
	column_u32_free(&c->ret);
	column_s64_free(&c->arg0);
	column_s64_free(&c->arg1);
}

/* Returns ns per record for columns and pack together. */
static double make_batches(struct batch *batches, size_t records)
{
	uint64_t random = 88172645463325252ull, now = 1000000000000ull;
	struct columns c = { 0 };
	double best = 1e18;

	for (int i = 0; i < BATCHES; i++) {
		double start = cpu_ns(), took;

		clear(&c);
		fill(&c, records, &random, &now);
		batches[i] = pack(&c);
		took = (cpu_ns() - start) / (double)records;
		best = took < best ? took : best;
	}
	free_columns(&c);
	return best;
}

/* Returns ns for all batches; @out holds their packets. */
static double encode(struct batch *batches, struct pbt_buffer *out)
{
	struct pbt_encoder *encoder = pbt_encoder_new();
	double best = 1e18;

	if (!encoder)
		die("encoder");
	for (int round = 0; round < ROUNDS; round++) {
		double start = cpu_ns(), took;

		out->size = 0;
		for (int i = 0; i < BATCHES; i++) {
			errno = -pbt_encode(encoder, PROFBPF__PACKET__KIND__CALLS, batches[i].body,
					    batches[i].size, out);
			if (errno)
				die("pbt_encode");
		}
		took = cpu_ns() - start;
		best = took < best ? took : best;
	}
	pbt_encoder_free(encoder);
	return best;
}

static int write_stream(const struct pbt_buffer *packets, size_t times)
{
	int fd = memfd_create("pbt_bench", MFD_CLOEXEC);

	if (fd < 0)
		die("memfd_create");
	for (size_t i = 0; i < times; i++) {
		if (write(fd, packets->data, packets->size) != (ssize_t)packets->size)
			die("write");
	}
	return fd;
}

/* Returns ns to read the whole stream; with @unpack each body is unpacked too. */
static double read_stream(int fd, size_t packets, bool unpack)
{
	double best = 1e18;

	for (int round = 0; round < (unpack ? 2 : ROUNDS); round++) {
		char error[256];
		struct pbt_packet packet;
		struct pbt_reader *reader;
		double start = cpu_ns(), took;
		size_t count = 0;

		lseek(fd, 0, SEEK_SET);
		reader = pbt_open_fd(fd, "stream", error, sizeof(error));
		if (!reader)
			die(error);
		while (pbt_next(reader, &packet) == 1) {
			if (unpack)
				profbpf__calls__free_unpacked(
					profbpf__calls__unpack(NULL, packet.size, packet.body),
					NULL);
			count++;
		}
		if (count != packets || pbt_damage(reader)->bytes_skipped)
			die("not everything was read");
		pbt_close(reader);
		took = cpu_ns() - start;
		best = took < best ? took : best;
	}
	return best;
}

static void run(size_t records)
{
	struct batch batches[BATCHES];
	struct pbt_buffer out = { 0 };
	size_t bodies = 0, times;
	double build_ns = make_batches(batches, records), encode_ns, read_ns, unpack_ns, total;
	int fd;

	for (int i = 0; i < BATCHES; i++)
		bodies += batches[i].size;
	total = (double)records * BATCHES;
	encode_ns = encode(batches, &out);
	times = FILE_SIZE / bodies + 1;
	fd = write_stream(&out, times);
	read_ns = read_stream(fd, BATCHES * times, false) / (double)times;
	unpack_ns = read_stream(fd, BATCHES * times, true) / (double)times;
	printf("%8zu %8.1f %8.1f %9.1f %9.1f %9.2f %9.0f %9.0f %9.1f %9.1f\n", records,
	       (double)bodies / total, (double)out.size / total, build_ns, encode_ns / total,
	       encode_ns / (double)bodies, (double)out.size / read_ns * 1e3,
	       (double)bodies / read_ns * 1e3, read_ns / total, unpack_ns / total);
	close(fd);
	for (int i = 0; i < BATCHES; i++)
		free(batches[i].body);
	pbt_buffer_free(&out);
}

int main(void)
{
	static const size_t records[] = { 64, 512, 4096, 32768 };

	printf("%8s %8s %8s %9s %9s %9s %9s %9s %9s %9s\n", "records", "packed", "in file",
	       "columns", "encode", "encode", "read", "read", "read", "read and");
	printf("%8s %8s %8s %9s %9s %9s %9s %9s %9s %9s\n", "per", "bytes/", "bytes/", "+ pack", "",
	       "", "MB/s of", "MB/s of", "", "unpack");
	printf("%8s %8s %8s %9s %9s %9s %9s %9s %9s %9s\n", "batch", "record", "record",
	       "ns/record", "ns/record", "ns/byte", "file", "bodies", "ns/record", "ns/record");
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++)
		run(records[i]);
	return 0;
}

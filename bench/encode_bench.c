/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encode_bench.c - measures the cost of a record in the daemon's writer: columns, compression, bytes.
 *
 * Three kinds of batches: one function in a loop, as in `bench/run calls`; calls like those of a busy
 * program with a few threads, two dozen functions, durations over three decades and handles as
 * arguments; context switches of a few threads. Each figure is the best of several rounds, in CPU
 * time of this thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/profbpfd/encode/encode.h"
#include "lib/trace/pbt.h"

#define BATCHES 64
#define ROUNDS 15

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

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "encode_bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void loop_call(struct rec_call *call, uint64_t r, uint64_t *now)
{
	*now += 600 + r % 64;
	call->header.ts_ns = *now - 250;
	call->dur_ns = 240 + (r >> 8) % 16;
	call->tid = call->tgid = 4242;
	call->probe = 3;
	call->args[0] = 0x55d000001000 + (*now >> 4 & 3) * 64;
	call->args[1] = 4096 * (r % 7);
}

static void busy_call(struct rec_call *call, uint64_t r, uint64_t *now)
{
	*now += 2000 + (r >> 16) % 30000;
	call->header.ts_ns = *now;
	call->dur_ns = 300 + (r >> 32) % (1u << (8 + r % 12));
	call->tgid = 4242;
	call->tid = 4242 + (r >> 60 & 3);
	call->probe = (uint32_t)(r >> 20) % 24;
	call->args[0] = 0x55d000001000 + (r >> 8 & 3) * 0x4c0;
	call->args[1] = (r >> 40 & 7) * 4096;
	call->args[2] = r % 5 ? 0 : 0x7f0000000000 + (r >> 24 & 0xff) * 0x100;
}

static void switch_record(struct rec_switch *row, uint64_t r, uint64_t *now)
{
	static uint32_t running;

	*now += 1000 + (r >> 16) % 20000;
	row->header.ts_ns = *now;
	row->prev_tid = running;
	row->next_tid = running = r & 1 ? 0 : 4242 + (r >> 8 & 7);
	row->syscall = (r >> 12 & 3) == 0 ? 202 : 7;
	row->state = SWITCH_SLEEP;
}

static const struct sort {
	const char *name;
	enum rec_type type;
	size_t size;
} SORTS[] = {
	{ "loop", REC_CALL, sizeof(struct rec_call) },
	{ "busy", REC_CALL, sizeof(struct rec_call) },
	{ "switches", REC_SWITCH, sizeof(struct rec_switch) },
};

static struct item *make_batch(int sort, uint32_t records, uint64_t *random, uint64_t *now)
{
	struct item *item = item_new(ITEM_RECORDS, records * SORTS[sort].size);
	union {
		struct rec_call call;
		struct rec_switch row;
	} record;

	need(item != NULL, "batch");
	item->type = SORTS[sort].type;
	for (uint32_t i = 0; i < records; i++) {
		memset(&record, 0, sizeof(record));
		record.call.header.type = (uint16_t)item->type;
		if (sort == 0)
			loop_call(&record.call, random_next(random), now);
		else if (sort == 1)
			busy_call(&record.call, random_next(random), now);
		else
			switch_record(&record.row, random_next(random), now);
		need(!item_append(item, &record, SORTS[sort].size), "row");
	}
	return item;
}

static void run(int sort, uint32_t records)
{
	uint64_t random = 88172645463325252ull, now = 1000000000000ull;
	struct string_table *strings = string_table_new();
	struct pbt_encoder *packets = pbt_encoder_new();
	struct encode *encode = encode_new();
	struct texts *texts = texts_new();
	double best_columns = 1e18, best_packets = 1e18, total = (double)records * BATCHES;
	struct item *batches[BATCHES];
	struct pbt_buffer out = { 0 };
	size_t bodies = 0;

	need(strings && packets && encode && texts, "encoders");
	for (int i = 0; i < BATCHES; i++)
		batches[i] = make_batch(sort, records, &random, &now);
	for (int round = 0; round < ROUNDS; round++) {
		double columns = 0, packed = 0;

		out.size = bodies = 0;
		for (int i = 0; i < BATCHES; i++) {
			double start = cpu_ns(), middle;
			struct encoded e;

			need(!encode_item(encode, batches[i], strings, texts, &e), "encode_item");
			middle = cpu_ns();
			need(!pbt_encode(packets, e.kind, e.data, e.size, &out), "pbt_encode");
			packed += cpu_ns() - middle;
			columns += middle - start;
			bodies += e.size;
		}
		best_columns = columns < best_columns ? columns : best_columns;
		best_packets = packed < best_packets ? packed : best_packets;
	}
	printf("%-9s %8u %9.1f %9.1f %9.1f %9.1f\n", SORTS[sort].name, records, best_columns / total,
	       best_packets / total, (double)bodies / total, (double)out.size / total);
	for (int i = 0; i < BATCHES; i++)
		item_free(batches[i]);
	pbt_buffer_free(&out);
	texts_free(texts);
	encode_free(encode);
	pbt_encoder_free(packets);
	string_table_free(strings);
}

int main(void)
{
	printf("%-9s %8s %9s %9s %9s %9s\n", "records", "per", "columns", "packets", "packed", "on disk");
	printf("%-9s %8s %9s %9s %9s %9s\n", "", "batch", "ns", "ns", "bytes", "bytes");
	for (int sort = 0; sort < 3; sort++)
		for (uint32_t records = 256; records <= 4096; records *= 4)
			run(sort, records);
	return 0;
}

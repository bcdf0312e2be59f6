/* SPDX-License-Identifier: Apache-2.0 */
/* The writing thread: each segment repeats the descriptions that its packets refer to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/profbpfd/encode/writer.h"
#include "lib/trace/column.h"
#include "lib/trace/pbt.h"
#include "tests/unit/pbt_stream.h"

#define PIECES 4 /* number that fills a segment */
#define FILLER 1000 /* a kind of packet that no reader knows */

struct written {
	Profbpf__Segment segment;
	struct item_queue *queue;
	struct texts *texts;
	struct writer *writer;
	int fd, wake_fd;
	uint64_t random;
};

static void begin(struct written *w)
{
	*w = (struct written){ .segment = PROFBPF__SEGMENT__INIT, .random = 7 };
	w->segment.format = PBT_FORMAT;
	w->queue = item_queue_new(1 << 20);
	w->texts = texts_new();
	w->fd = memfd_create("test_writer", MFD_CLOEXEC);
	w->wake_fd = eventfd(0, EFD_CLOEXEC);
	assert_true(w->queue && w->texts && w->fd >= 0 && w->wake_fd >= 0);
	w->writer = writer_new(w->fd, NULL, &w->segment, w->queue, w->texts, NULL, w->wake_fd, NULL);
	assert_non_null(w->writer);
}

static void push(struct written *w, struct item *item)
{
	assert_non_null(item);
	assert_true(item_queue_push(w->queue, item));
}

static void push_ends(struct written *w, const struct ends_row *rows, uint32_t count)
{
	struct item *item = item_new(ITEM_ENDS, 0);

	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(item_append(item, &rows[i], sizeof(rows[i])), 0);
	push(w, item);
}

static void push_body(struct written *w, Profbpf__Packet__Kind kind, const void *body, size_t size,
		      bool repeated)
{
	struct item *item = item_new(ITEM_BODY, size);

	assert_int_equal(item_append(item, body, size), 0);
	item->body = kind;
	item->repeated = repeated;
	push(w, item);
}

/* Adds so much incompressible data that the next item is the first of a new segment. */
static void fill_segment(struct written *w)
{
	size_t size = SEGMENT_BYTES / PIECES;
	uint64_t *body = malloc(size);

	assert_non_null(body);
	for (size_t i = 0; i < size / sizeof(*body); i++)
		body[i] = pbt_stream_random(&w->random);
	for (int i = 0; i < PIECES; i++)
		push_body(w, FILLER, body, size, false);
	free(body);
}

/* Ends the writer; returns a reader of the file from its beginning. */
static struct pbt_reader *finish(struct written *w)
{
	struct pbt_reader *reader;
	char error[256];

	push(w, item_new(ITEM_END, 0));
	writer_finish(w->writer);
	assert_int_equal(writer_error(w->writer), 0);
	writer_free(w->writer);
	item_queue_free(w->queue);
	texts_free(w->texts);
	close(w->wake_fd);
	assert_int_equal(lseek(w->fd, 0, SEEK_SET), 0);
	reader = pbt_open_fd(w->fd, "written", error, sizeof(error));
	assert_non_null(reader);
	close(w->fd);
	return reader;
}

static void next(struct pbt_reader *reader, struct pbt_packet *packet, Profbpf__Packet__Kind kind)
{
	do
		assert_int_equal(pbt_next(reader, packet), 1);
	while (packet->kind == FILLER);
	assert_int_equal(packet->kind, kind);
}

static void expect_segment(struct pbt_reader *reader, uint32_t index)
{
	struct pbt_packet packet;
	Profbpf__Segment *m;

	next(reader, &packet, PROFBPF__PACKET__KIND__SEGMENT);
	m = profbpf__segment__unpack(NULL, packet.size, packet.body);
	assert_non_null(m);
	assert_int_equal(m->index, index);
	profbpf__segment__free_unpacked(m, NULL);
}

static void expect_ends(struct pbt_reader *reader, const struct ends_row *rows, uint32_t count)
{
	struct pbt_packet packet;
	Profbpf__Ends *m;
	uint64_t ts = 0;

	next(reader, &packet, PROFBPF__PACKET__KIND__ENDS);
	m = profbpf__ends__unpack(NULL, packet.size, packet.body);
	assert_non_null(m);
	assert_int_equal(m->n_ts_ns, count);
	for (uint32_t i = 0; i < count; i++) {
		ts += (uint64_t)m->ts_ns[i];
		assert_int_equal(ts, rows[i].ts_ns);
		assert_int_equal(COLUMN_AT(m, function, i), rows[i].function);
		assert_int_equal(COLUMN_AT(m, seen, i), rows[i].seen);
		assert_int_equal(COLUMN_AT(m, calls_per_second, i), rows[i].calls_per_second);
	}
	profbpf__ends__free_unpacked(m, NULL);
}

static void expect_end(struct pbt_reader *reader)
{
	struct pbt_packet packet;
	int result;

	do
		result = pbt_next(reader, &packet);
	while (result == 1 && packet.kind == FILLER);
	assert_int_equal(result, 0);
	assert_int_equal(pbt_damage(reader)->bytes_skipped, 0);
	pbt_close(reader);
}

/* For each function whose ends are not seen when a segment begins, the last change; for no other function. */
static void unseen_ends_are_repeated(void **state)
{
	static const struct ends_row first[] = { { 1, 400000, 1000, false },
						 { 2, 500000, 1100, false },
						 { 3, 600000, 1200, false } };
	static const struct ends_row second[] = { { 1, 70, 2000, true },
						  { 2, 80, 2100, true },
						  { 2, 900000, 2200, false } };
	static const struct ends_row unseen[] = { { 3, 600000, 1200, false },
						  { 2, 900000, 2200, false } };
	static const struct ends_row third[] = { { 2, 1, 3000, true }, { 3, 1, 3000, true } };
	struct pbt_reader *reader;
	struct written w;

	begin(&w);
	push_ends(&w, first, 3);
	push_ends(&w, second, 3);
	fill_segment(&w);
	push_ends(&w, third, 2);
	fill_segment(&w);
	reader = finish(&w);
	expect_segment(reader, 0);
	expect_ends(reader, first, 3);
	expect_ends(reader, second, 3);
	expect_segment(reader, 1);
	expect_ends(reader, unseen, 2);
	expect_ends(reader, third, 2);
	expect_segment(reader, 2);
	expect_end(reader);
}

static void push_shed(struct written *w, uint32_t what, uint32_t kept, uint64_t ts_ns)
{
	struct shed_row row = { .what = what, .kept_permille = kept, .ts_ns = ts_ns, .reason = 1, .cost_ppm = 7 };
	struct item *item = item_new(ITEM_SHED, 0);

	assert_int_equal(item_append(item, &row, sizeof(row)), 0);
	push(w, item);
}

static void expect_shed(struct pbt_reader *reader, uint32_t what, uint32_t kept, uint64_t ts_ns)
{
	struct pbt_packet packet;
	Profbpf__Shed *m;

	next(reader, &packet, PROFBPF__PACKET__KIND__SHED);
	m = profbpf__shed__unpack(NULL, packet.size, packet.body);
	assert_non_null(m);
	assert_int_equal(m->n_ts_ns, 1);
	assert_int_equal(m->ts_ns[0], ts_ns);
	assert_int_equal(COLUMN_AT(m, what, 0), what);
	assert_int_equal(COLUMN_AT(m, kept_permille, 0), kept);
	assert_int_equal(COLUMN_AT(m, reason, 0), 1);
	assert_int_equal(COLUMN_AT(m, cost_ppm, 0), 7);
	profbpf__shed__free_unpacked(m, NULL);
}

/* For each kind of records that is partly left out when a segment begins, the last change. */
static void what_is_left_out_is_repeated(void **state)
{
	struct pbt_reader *reader;
	struct written w;

	begin(&w);
	push_shed(&w, 1, 250, 1000);
	push_shed(&w, 2, 0, 1100);
	push_shed(&w, 1, 0, 1200);
	push_shed(&w, 2, 1000, 1300);
	fill_segment(&w);
	push_shed(&w, 1, 1000, 1400);
	fill_segment(&w);
	reader = finish(&w);
	expect_segment(reader, 0);
	expect_shed(reader, 1, 250, 1000);
	expect_shed(reader, 2, 0, 1100);
	expect_shed(reader, 1, 0, 1200);
	expect_shed(reader, 2, 1000, 1300);
	expect_segment(reader, 1);
	expect_shed(reader, 1, 0, 1200);
	expect_shed(reader, 1, 1000, 1400);
	expect_segment(reader, 2);
	expect_end(reader);
}

/* They are written after the functions that they name. */
static void bodies_are_repeated(void **state)
{
	static const struct ends_row row = { 1, 400000, 1000, false };
	struct pbt_reader *reader;
	struct pbt_packet packet;
	struct written w;

	begin(&w);
	push_ends(&w, &row, 1);
	push_body(&w, PROFBPF__PACKET__KIND__FUNCTIONS, "functions", 9, true);
	push_body(&w, PROFBPF__PACKET__KIND__CLOCKS, "clocks", 6, false);
	fill_segment(&w);
	reader = finish(&w);
	expect_segment(reader, 0);
	expect_ends(reader, &row, 1);
	next(reader, &packet, PROFBPF__PACKET__KIND__FUNCTIONS);
	next(reader, &packet, PROFBPF__PACKET__KIND__CLOCKS);
	expect_segment(reader, 1);
	next(reader, &packet, PROFBPF__PACKET__KIND__FUNCTIONS);
	assert_int_equal(packet.size, 9);
	assert_memory_equal(packet.body, "functions", 9);
	expect_ends(reader, &row, 1);
	expect_end(reader);
}

/*
 * The writer reports the bytes that each segment repeats, so that the flight recorder can end the session before
 * repetitions are all that it keeps of it.
 */
static void what_a_flight_repeats_is_told(void **state)
{
	struct flight_store *store = flight_store_new(1 << 20, 60000000000ull);
	struct writer_others memory = { .flight = flight_new(store) };
	struct cut_row row = { .ts_ns = 0 };
	struct written w = { .segment = PROFBPF__SEGMENT__INIT, .fd = -1, .random = 7 };
	struct item *item = item_new(ITEM_CUT, sizeof(row));
	uint64_t body[8192];

	w.queue = item_queue_new(1 << 20);
	w.texts = texts_new();
	w.wake_fd = eventfd(0, EFD_CLOEXEC);
	assert_true(memory.flight && w.queue && w.texts && w.wake_fd >= 0 && item);
	w.writer = writer_new(-1, &memory, &w.segment, w.queue, w.texts, NULL, w.wake_fd, NULL);
	assert_non_null(w.writer);
	for (size_t i = 0; i < sizeof(body) / sizeof(*body); i++)
		body[i] = pbt_stream_random(&w.random);
	push_body(&w, PROFBPF__PACKET__KIND__STACKS, body, sizeof(body), true);
	push_body(&w, FILLER, body, sizeof(body), false);
	assert_int_equal(item_append(item, &row, sizeof(row)), 0);
	push(&w, item);
	push(&w, item_new(ITEM_END, 0));
	writer_finish(w.writer);
	assert_int_equal(writer_error(w.writer), 0);
	assert_in_range(writer_repeated(w.writer), sizeof(body), sizeof(body) + 4096);
	assert_true(flight_is_heavy(memory.flight, writer_repeated(w.writer)));
	assert_false(flight_is_heavy(memory.flight, 4096));
	writer_free(w.writer);
	flight_let_go(memory.flight);
	flight_store_free(store);
	item_queue_free(w.queue);
	texts_free(w.texts);
	close(w.wake_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unseen_ends_are_repeated),
		cmocka_unit_test(what_is_left_out_is_repeated),
		cmocka_unit_test(bodies_are_repeated),
		cmocka_unit_test(what_a_flight_repeats_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

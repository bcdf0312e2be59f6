/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flight recorder's memory: never more than its budget, the oldest segment is dropped first, every record is
 * accounted for.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/profbpfd/encode/flight_window.h"
#include "lib/trace/pbt.h"

#define SECOND 1000000000ull
#define BUDGET (4ull << 20)
#define KIND 1000 /* kind of packets that contain one number and incompressible bytes */

/* A session that writes packets with numbers, one per record. */
struct session {
	struct flight *flight;
	struct session_books books;
	struct pbt_encoder *encoder;
	uint64_t next, now_ns, random;
};

static void cut(struct session *s)
{
	struct flight_cut at = { s->now_ns, 5 * s->now_ns, &s->books };

	assert_int_equal(flight_cut(s->flight, &at), 0);
}

static void begin(struct session *s, struct flight_store *store, uint64_t now_ns)
{
	Profbpf__Segment header = PROFBPF__SEGMENT__INIT;

	*s = (struct session){ .flight = flight_new(store), .encoder = pbt_encoder_new(), .now_ns = now_ns, .random = 1 };
	assert_true(s->flight && s->encoder);
	header.format = PBT_FORMAT;
	header.hostname = (char *)"test";
	header.session_start_ns = 1;
	assert_int_equal(flight_describe(s->flight, &header), 0);
	cut(s);
}

static int add(struct session *s, size_t size)
{
	struct pbt_buffer packet = { 0 };
	uint64_t *body = malloc(size + sizeof(*body));
	int err;

	body[0] = s->next;
	for (size_t i = 1; i < size / 8; i++)
		body[i] = s->random = s->random * 6364136223846793005ull + 1442695040888963407ull;
	assert_int_equal(pbt_encode(s->encoder, KIND, body, size, &packet), 0);
	err = flight_append(s->flight, packet.data, packet.size);
	if (!err) {
		s->next++;
		s->books.source[SOURCE_API].delivered++;
	}
	free(body);
	pbt_buffer_free(&packet);
	return err;
}

static void end(struct session *s)
{
	flight_let_go(s->flight);
	pbt_encoder_free(s->encoder);
}

/* The contents of a snapshot's file. */
struct found {
	uint64_t first, count, segments, start_ns, realtime_ns;
	uint64_t produced, delivered, lost, dropped;
	bool final;
};

static void read_segment(const struct pbt_packet *packet, struct found *found)
{
	Profbpf__Segment *segment = profbpf__segment__unpack(NULL, packet->size, packet->body);

	assert_non_null(segment);
	assert_int_equal(segment->index, found->segments++);
	assert_string_equal(segment->hostname, "test");
	assert_int_equal(segment->n_targets, 1);
	assert_int_equal(segment->targets[0], 77);
	assert_int_equal(segment->session_uuid.len, 16);
	assert_int_equal(segment->n_notes, 1);
	found->start_ns = segment->session_start_ns;
	found->realtime_ns = segment->session_start_realtime_ns;
	profbpf__segment__free_unpacked(segment, NULL);
}

static void read_statistics(const struct pbt_packet *packet, struct found *found)
{
	Profbpf__Statistics *statistics = profbpf__statistics__unpack(NULL, packet->size, packet->body);
	const Profbpf__SourceStatistics *source;

	assert_non_null(statistics);
	assert_string_equal(statistics->end_reason, "a test");
	source = statistics->source[0];
	assert_string_equal(source->name, "api");
	found->final = statistics->final;
	found->produced = source->produced;
	found->delivered = source->delivered;
	for (size_t i = 0; i < source->n_lost; i++)
		found->lost += source->lost[i]->count;
	for (size_t i = 0; i < source->n_dropped; i++)
		found->dropped += source->dropped[i]->count;
	profbpf__statistics__free_unpacked(statistics, NULL);
}

static void read_file(int fd, struct found *found)
{
	char error[256];
	struct pbt_reader *reader;
	struct pbt_packet packet;

	*found = (struct found){ 0 };
	lseek(fd, 0, SEEK_SET);
	reader = pbt_open_fd(fd, "test", error, sizeof(error));
	assert_non_null(reader);
	while (pbt_next(reader, &packet) > 0) {
		uint64_t number;

		if (packet.kind == PROFBPF__PACKET__KIND__SEGMENT) {
			read_segment(&packet, found);
		} else if (packet.kind == PROFBPF__PACKET__KIND__STATISTICS) {
			read_statistics(&packet, found);
		} else {
			assert_false(found->final);
			memcpy(&number, packet.body, sizeof(number));
			if (!found->count)
				found->first = number;
			/* No number is missing. */
			assert_int_equal(number, found->first + found->count);
			found->count++;
		}
	}
	assert_int_equal(pbt_damage(reader)->bytes_skipped, 0);
	pbt_close(reader);
	assert_true(found->final);
}

static void write_out(const struct flight_window *window, struct found *found)
{
	int fd = memfd_create("test_flight_store", MFD_CLOEXEC);
	struct output output;

	assert_true(fd >= 0);
	output_init(&output, fd);
	assert_int_equal(flight_window_write(window, &output, "a test"), 0);
	read_file(fd, found);
	close(fd);
}

static struct flight_window *take(struct session *s, uint64_t from_ns)
{
	const pid_t target = 77;

	return flight_take(s->flight, from_ns, &target, 1);
}

static void nothing_is_dropped_that_has_room(void **state)
{
	struct flight_store *store = flight_store_new(BUDGET, 60 * SECOND);
	struct flight_window *window;
	struct session s;
	struct found found;

	(void)state;
	begin(&s, store, 100 * SECOND);
	assert_null(take(&s, 0));
	for (int i = 0; i < 30; i++) {
		assert_int_equal(add(&s, 1000), 0);
		s.now_ns += SECOND / 10;
		if (i % 10 == 9)
			cut(&s);
	}
	window = take(&s, 0);
	assert_non_null(window);
	write_out(window, &found);
	assert_int_equal(found.count, 30);
	assert_int_equal(found.segments, 3);
	assert_int_equal(found.start_ns, 100 * SECOND);
	assert_int_equal(found.realtime_ns, 500 * SECOND);
	assert_int_equal(found.delivered, 30);
	assert_int_equal(found.produced, 30);
	assert_int_equal(found.dropped, 0);
	assert_int_equal(flight_window_facts(window)->to_ns, 103 * SECOND);
	flight_window_free(window);
	end(&s);
	flight_store_free(store);
}

static void the_oldest_goes_for_want_of_room(void **state)
{
	struct flight_store *store = flight_store_new(BUDGET, 1000 * SECOND);
	struct flight_window *window;
	struct session s;
	struct found found;

	(void)state;
	begin(&s, store, SECOND);
	for (int i = 0; i < 2000; i++) {
		assert_int_equal(add(&s, 20000), 0);
		assert_true(flight_store_bytes(store) <= BUDGET);
		s.now_ns += SECOND / 1000;
		/* Only because of the budget: no second has passed since the last cut. */
		if (flight_wants_cut(s.flight, s.now_ns))
			cut(&s);
		assert_false(flight_is_full(s.flight));
	}
	cut(&s);
	window = take(&s, 0);
	write_out(window, &found);
	/* The budget is used, except for a segment and the waste of chunks and headers. */
	assert_true(found.count * 20000 > BUDGET * 3 / 4);
	assert_int_equal(found.first + found.count, 2000);
	assert_int_equal(found.delivered, found.count);
	assert_int_equal(found.produced, found.count);
	assert_int_equal(found.dropped, found.first);
	assert_int_equal(flight_window_facts(window)->books.source[SOURCE_API].dropped_room, found.first);
	assert_int_equal(flight_window_facts(window)->books.source[SOURCE_API].dropped_old, 0);
	flight_window_free(window);
	end(&s);
	flight_store_free(store);
}

static void what_is_too_old_goes(void **state)
{
	struct flight_store *store = flight_store_new(BUDGET, 5 * SECOND);
	struct flight_window *window;
	struct session s;
	struct found found;

	(void)state;
	begin(&s, store, SECOND);
	for (int i = 0; i < 200; i++) {
		assert_int_equal(add(&s, 100), 0);
		/* Losses belong to the time in which they happened. */
		if (i == 10 || i == 195) {
			s.books.source[SOURCE_API].lost_count = 0;
			source_books_lose(&s.books.source[SOURCE_API], "ring full", i);
		}
		s.now_ns += SECOND / 10;
		if (i % 10 == 9) {
			assert_true(flight_wants_cut(s.flight, s.now_ns));
			cut(&s);
		}
	}
	window = take(&s, 0);
	write_out(window, &found);
	/* Five whole segments of the last 20 s, and the one that ended just then. */
	assert_int_equal(found.first, 140);
	assert_int_equal(found.count, 60);
	assert_int_equal(found.dropped, 140);
	assert_int_equal(found.lost, 185);
	assert_int_equal(found.produced, 60 + 185);
	flight_window_free(window);
	/* The part of the window that was requested: segments that reach beyond that instant. */
	window = take(&s, s.now_ns - 25 * SECOND / 10);
	write_out(window, &found);
	assert_int_equal(found.first, 170);
	assert_int_equal(found.count, 30);
	assert_int_equal(found.dropped, 170);
	assert_int_equal(flight_window_facts(window)->from_ns, s.now_ns - 3 * SECOND);
	flight_window_free(window);
	assert_null(take(&s, s.now_ns));
	end(&s);
	flight_store_free(store);
}

static void a_window_outlives_its_flight(void **state)
{
	struct flight_store *store = flight_store_new(BUDGET, 60 * SECOND);
	struct flight_window *window;
	struct session s;
	struct found found;

	(void)state;
	begin(&s, store, SECOND);
	for (int i = 0; i < 10; i++)
		assert_int_equal(add(&s, 100000), 0);
	s.now_ns += SECOND;
	cut(&s);
	window = take(&s, 0);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(add(&s, 100000), 0);
		s.now_ns += SECOND / 10;
		if (flight_wants_cut(s.flight, s.now_ns))
			cut(&s);
	}
	end(&s);
	write_out(window, &found);
	assert_int_equal(found.first, 0);
	assert_int_equal(found.count, 10);
	flight_window_free(window);
	flight_store_free(store);
}

static void flights_share_the_room(void **state)
{
	struct flight_store *store = flight_store_new(BUDGET, 1000 * SECOND);
	struct session quiet, loud;
	struct flight_window *window;
	struct found found;
	int err = 0;

	(void)state;
	begin(&quiet, store, SECOND);
	begin(&loud, store, SECOND);
	for (int i = 0; i < 10; i++)
		assert_int_equal(add(&quiet, 1000), 0);
	quiet.now_ns += SECOND;
	cut(&quiet);
	/*
	 * An open segment cannot be dropped: ended segments of the other session are dropped first, then there is no
	 * room.
	 */
	for (int i = 0; i < 1000 && !err; i++)
		err = add(&loud, 10000);
	assert_int_equal(err, -ENOSPC);
	assert_true(flight_is_full(loud.flight));
	assert_true(flight_store_bytes(store) <= BUDGET);
	assert_null(take(&quiet, 0));
	loud.now_ns += SECOND;
	cut(&loud);
	window = take(&loud, 0);
	assert_int_equal(add(&loud, 10000), 0);
	write_out(window, &found);
	assert_int_equal(found.first, 0);
	assert_true(found.count * 10000 > BUDGET / 2);
	flight_window_free(window);
	end(&quiet);
	end(&loud);
	flight_store_free(store);
}

/*
 * A user whose processes do much, or who takes snapshots all the time, loses seconds of her own record, not of
 * another user's.
 */
static void who_has_most_gives_first(void **state)
{
	struct flight_store *store = flight_store_new(BUDGET, 1000 * SECOND);
	struct session quiet, loud;
	struct flight_window *window;
	struct found found;

	(void)state;
	begin(&quiet, store, SECOND);
	begin(&loud, store, SECOND);
	for (int i = 0; i < 10; i++)
		assert_int_equal(add(&quiet, 1000), 0);
	quiet.now_ns += SECOND;
	cut(&quiet);
	for (int i = 0; i < 2000; i++) {
		assert_int_equal(add(&loud, 20000), 0);
		loud.now_ns += SECOND / 1000;
		if (flight_wants_cut(loud.flight, loud.now_ns))
			cut(&loud);
	}
	assert_true(flight_store_bytes(store) <= BUDGET);
	window = take(&quiet, 0);
	assert_non_null(window);
	write_out(window, &found);
	assert_int_equal(found.count, 10);
	assert_int_equal(found.dropped, 0);
	flight_window_free(window);
	end(&quiet);
	end(&loud);
	flight_store_free(store);
}

/* Returns the bytes of segments and their packets; checks that none is torn. */
static uint64_t whole_packets(int fd, uint64_t *segments)
{
	char error[256];
	struct pbt_reader *reader;
	struct pbt_packet packet;
	struct stat st;

	*segments = 0;
	lseek(fd, 0, SEEK_SET);
	reader = pbt_open_fd(fd, "test", error, sizeof(error));
	assert_non_null(reader);
	while (pbt_next(reader, &packet) > 0)
		*segments += packet.kind == PROFBPF__PACKET__KIND__SEGMENT;
	assert_int_equal(pbt_damage(reader)->bytes_skipped, 0);
	assert_false(pbt_damage(reader)->torn_tail);
	pbt_close(reader);
	assert_int_equal(fstat(fd, &st), 0);
	return (uint64_t)st.st_size;
}

/* A disk that becomes full in the middle of a packet that continues in the next chunk. */
static void a_full_disk_leaves_whole_segments(void **state)
{
	struct flight_store *store = flight_store_new(BUDGET, 60 * SECOND);
	int fd = memfd_create("test_flight_store", MFD_CLOEXEC);
	struct rlimit before, limit;
	uint64_t segments, written = 0;
	Profbpf__Segment header = PROFBPF__SEGMENT__INIT;
	struct flight_window *window;
	struct output output;
	struct session s;

	(void)state;
	begin(&s, store, 100 * SECOND);
	for (int i = 0; i < 9; i++) {
		assert_int_equal(add(&s, 300000), 0);
		if (i % 3 < 2)
			continue;
		s.now_ns += SECOND;
		cut(&s);
	}
	window = take(&s, 0);
	assert_non_null(window);
	header.format = PBT_FORMAT;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	limit = (struct rlimit){ 1400000, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	output_init(&output, fd);
	assert_int_equal(flight_window_begin(window, &output, &header, &written), -EFBIG);
	assert_int_equal(whole_packets(fd, &segments), written);
	assert_int_equal(written, output.written);
	assert_int_equal(segments, 1);
	assert_int_equal(flight_window_write(window, &output, "a test"), -EFBIG);
	whole_packets(fd, &segments);
	assert_int_equal(segments, 1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	flight_window_free(window);
	end(&s);
	flight_store_free(store);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_dropped_that_has_room),
		cmocka_unit_test(the_oldest_goes_for_want_of_room),
		cmocka_unit_test(what_is_too_old_goes),
		cmocka_unit_test(a_window_outlives_its_flight),
		cmocka_unit_test(flights_share_the_room),
		cmocka_unit_test(who_has_most_gives_first),
		cmocka_unit_test(a_full_disk_leaves_whole_segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

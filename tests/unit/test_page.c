// SPDX-License-Identifier: Apache-2.0
// What the report's page is made of: figures as text, the report with long lists cut, slices of a row thinned, roots along time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analyzer/analyse/idle/root_times.h"
#include "analyzer/view/page/page_pack.h"
#include "analyzer/view/page/page_text.h"
#include "analyzer/view/page/page_track.h"
#include "analyzer/view/page/page_tree.h"

static void numbers_have_units(void **state)
{
	static const struct {
		const char *name, *number, *text;
	} CASES[] = {
		{ "count", "1234567", "1,234,567" },   { "count", "-1234", "-1,234" },
		{ "count", "999", "999" },	       { "busy_ns", "999", "999 ns" },
		{ "busy_ns", "1500", "1.500 µs" },     { "ns", "12345678", "12.35 ms" },
		{ "busy_ns", "999999999", "1,000 ms" }, { "busy_ns", "7200000000000", "7,200 s" },
		{ "percent", "7.429", "7.4 %" },       { "bytes", "999", "999 B" },
		{ "size_bytes", "1234567", "1.235 MB" }, { "mean", "0.040", "0.040" },
		/* Limits at which the unit changes, or the number of decimals. */
		{ "ns", "1000", "1.000 µs" }, { "ns", "999999", "1,000 µs" }, { "ns", "1000000", "1.000 ms" },
		{ "ns", "1000000000", "1.000 s" }, { "bytes", "1000", "1.000 kB" },
		{ "bytes", "1000000000000000000", "1,000 PB" },
		{ "mean", "999.95", "1,000" }, { "mean", "99.995", "100.0" }, { "mean", "9.9995", "10.00" },
		{ "mean", "999.94", "999.9" }, { "mean", "99.994", "99.99" }, { "mean", "9.9994", "9.999" },
		/* Numbers that are too long are shortened. */
		{ "count", "1000000000000000000000", "1,000,000,000,000,000,000,000" },
		{ "count", "10000000000000000000000", "1e+22" },
		{ "mean", "0.123456789012345678901234567890", "0.123" },
		{ "mean", "0.1234567890123456789012345678901", "0.123457" },
	};
	char text[PAGE_HUMAN_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
		assert_string_equal(page_human(CASES[i].name, CASES[i].number, text), CASES[i].text);
}

/* Returns @write's output; the caller frees it. */
static char *written(int (*write)(FILE *out, yajl_val report), yajl_val report)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(write(out, report), 0);
	fclose(out);
	return text;
}

static int figure(FILE *out, yajl_val report)
{
	page_figure(out, report, "a.1.total_ns");
	page_figure(out, report, "a.0.name");
	page_figure(out, report, "a.2.name");
	return 0;
}

static void figures_say_where_they_are(void **state)
{
	yajl_val report = page_tree_parse("{\"a\":[{\"name\":\"<b>&\\\"\"},{\"total_ns\":18446744073709551615}]}");
	char *text = written(figure, report);

	(void)state;
	assert_string_equal(text, "<span data-key=\"a.1.total_ns\" data-value=\"18446744073709551615\">18,446,744,074 s</span>"
				  "<span data-key=\"a.0.name\" data-value=\"&#60;b&#62;&#38;&#34;\">&#60;b&#62;&#38;&#34;</span>");
	free(text);
	yajl_tree_free(report);
}

static int two_rows(FILE *out, yajl_val report)
{
	return page_tree_write(out, report, 2);
}

static void long_lists_are_cut(void **state)
{
	yajl_val report = page_tree_parse("{\"big\":12345678901234567890,\"rows\":[{\"x\":1.500},{\"x\":2},{\"x\":3}],"
					  "\"in\":{\"all\":[{\"y\":[{},{},{},{}]}]}}");
	char *text = written(two_rows, report);

	(void)state;
	assert_string_equal(text, "{\"big\":12345678901234567890,\"rows\":[{\"x\":1.500},{\"x\":2}],\"in\":{\"all\":[{\"y\":[{},{}]}]},"
				  "\"left_out\":{\"rows\":1,\"in.all.0.y\":2}}");
	free(text);
	yajl_tree_free(report);
}

/*
 * Of merged columns, instants come from the first, durations are summed up, the rest are means of known values; of
 * pairs the maximum.
 */
static void matrices_are_thinned(void **state)
{
	yajl_val report = page_tree_parse("{\"s\":{\"columns\":[\"start_ns\",\"duration_ns\",\"run_ns\",\"queue\"],"
					  "\"rows\":[[10,1,4,null],[11,2,6,3],[13,3,7,null]]},\"curve\":[[1,5],[2,9],[3,1],[4,2]]}");
	char *text = written(two_rows, report);

	(void)state;
	assert_string_equal(text, "{\"s\":{\"columns\":[\"start_ns\",\"duration_ns\",\"run_ns\",\"queue\"],"
				  "\"rows\":[[10,3.000,5.000,3.000],[13,3,7,null]]},\"curve\":[[1,9.000],[3,2.000]],\"left_out\":{}}");
	free(text);
	yajl_tree_free(report);
}

/* A cell behind the last column's name: the maximum. */
static void cells_without_column(void **state)
{
	yajl_val report = page_tree_parse("{\"s\":{\"columns\":[\"run_ns\"],\"rows\":[[1,5],[3,9],[5,1],[7,2]]}}");
	char *text = written(two_rows, report);

	(void)state;
	assert_string_equal(text, "{\"s\":{\"columns\":[\"run_ns\"],\"rows\":[[2.000,9.000],[6.000,2.000]]},\"left_out\":{}}");
	free(text);
	yajl_tree_free(report);
}

static void what_is_packed_can_be_read(void **state)
{
	static char text[300000], back[300000];
	char *packed = NULL;
	unsigned char *bytes;
	size_t size, used = 0;
	FILE *out = open_memstream(&packed, &size);
	z_stream stream = { 0 };
	uint32_t random = 1;

	(void)state;
	/* Hardly compressible: it takes several chunks. */
	for (size_t i = 0; i < sizeof(text); i++) {
		random = random * 1664525 + 1013904223;
		text[i] = (char)(random >> 24);
	}
	assert_int_equal(page_pack(out, text, sizeof(text)), 0);
	fclose(out);
	assert_int_equal(size % 4, 0);
	bytes = calloc(1, size);
	for (size_t i = 0; i < size; i += 4) {
		static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
		uint32_t bits = 0;

		for (size_t k = 0; k < 4; k++)
			bits = bits << 6 | (uint32_t)(packed[i + k] == '=' ? 0 : strchr(digits, packed[i + k]) - digits);
		for (size_t k = 0; k < 3; k++)
			bytes[used++] = (unsigned char)(bits >> (16 - 8 * k));
	}
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	stream.next_in = bytes;
	stream.avail_in = (unsigned int)used;
	stream.next_out = (unsigned char *)back;
	stream.avail_out = sizeof(back);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	inflateEnd(&stream);
	assert_memory_equal(text, back, sizeof(text));
	free(bytes);
	free(packed);
}

/* A thousand slices of a microsecond, a millisecond apart, and one that is long. */
static void short_slices_become_one(void **state)
{
	struct page_track track = { 0 };
	uint64_t covered = 0;
	uint32_t exact = 0;

	(void)state;
	for (uint64_t i = 1000; i-- > 0;)
		assert_true(page_track_add(&track, i * 1000000, i * 1000000 + 1000 + i, 1));
	assert_true(page_track_add(&track, 2000000000, 2500000001, 2));
	assert_true(page_track_add(&track, 5, 5, 3));
	assert_int_equal(track.slices.count, 1001);
	assert_true(page_track_thin(&track, 5000));
	assert_int_equal(track.slices.count, 1001);
	assert_true(page_track_thin(&track, 20));
	assert_in_range(track.slices.count, 2, 20);
	for (uint32_t i = 0; i < track.slices.count; i++) {
		const struct page_slice *slice = &track.slices.row[i];

		covered += slice->parts > 1 ? slice->end_ns - slice->start_ns : 0;
		if (slice->name == 2) {
			exact++;
			assert_int_equal(slice->parts, 1);
			assert_int_equal(slice->start_ns, 2000000000);
			assert_int_equal(slice->end_ns, 2500000001);
		}
	}
	assert_int_equal(exact, 1);
	assert_in_range(covered, 900000000, 1000000000);
	page_track_free(&track);
}

/* The longest of the merged slices is of another name than most of their time. */
static void merged_slices_have_the_main_name(void **state)
{
	struct page_track track = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 300; i++)
		assert_true(page_track_add(&track, i * 1000, i * 1000 + (i % 3 == 1 ? 500 : 400), i % 3 == 1 ? 9 : 4));
	assert_true(page_track_add(&track, 1000000000, 1500000000, 2));
	assert_true(page_track_thin(&track, 4));
	assert_int_equal(track.slices.count, 2);
	assert_int_equal(track.slices.row[0].parts, 300);
	assert_int_equal(track.slices.row[0].name, 4);
	assert_int_equal(track.slices.row[1].name, 2);
	page_track_free(&track);
}

static uint64_t share_of(const struct root_times *times, uint32_t interval, uint32_t row)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < times->shares.count; i++)
		if (times->shares.row[i].interval == interval && times->shares.row[i].row == row)
			ns += times->shares.row[i].ns;
	return ns;
}

static void roots_add_up_by_interval(void **state)
{
	static const uint32_t row_of[] = { 7, 3 };
	struct root_times times;

	(void)state;
	root_times_init(&times, 1000, 1000 + 100 * ROOT_INTERVALS);
	assert_int_equal(times.interval_ns, 100);
	assert_true(root_times_add(&times, &(struct root_stretch){ 0, 1050, 0, 0 }));
	assert_true(root_times_add(&times, &(struct root_stretch){ 1150, 1420, 1, 0 }));
	assert_true(root_times_add(&times, &(struct root_stretch){ 1180, 1190, 1, 0 }));
	root_times_renumber(&times, row_of);
	assert_int_equal(share_of(&times, 0, 7), 50);
	assert_int_equal(share_of(&times, 1, 3), 60);
	assert_int_equal(share_of(&times, 2, 3), 100);
	assert_int_equal(share_of(&times, 4, 3), 20);
	assert_int_equal(times.stretches.count, 3);
	root_times_free(&times);
}

/* With more stretches than can be kept the short ones are dropped; sums stay exact. */
static void only_long_stretches_are_kept(void **state)
{
	struct root_times times;
	uint64_t sum = 0, added = 0;

	(void)state;
	root_times_init(&times, 0, 10000000ull * ROOT_INTERVALS);
	for (uint64_t i = 0; i < ROOT_STRETCHES_MAX + 1000; i++) {
		uint64_t ns = i % 2 ? 500 : 5000;

		added += ns;
		assert_true(root_times_add(&times, &(struct root_stretch){ i * 10000, i * 10000 + ns, 0, 0 }));
	}
	for (uint32_t i = 0; i < times.shares.count; i++)
		sum += times.shares.row[i].ns;
	assert_int_equal(sum, added);
	assert_int_equal(times.stretches.count, ROOT_STRETCHES_MAX / 2 + 500);
	root_times_free(&times);
}

/*
 * Slices exactly as long as the limit of short ones, or as far apart, stay separate; of equal ones the first gives
 * the name.
 */
static void slices_at_the_borders(void **state)
{
	/* 6400 ns, to be shown as four slices: slices shorter than 101 ns are short. */
	static const struct page_slice CASES[][6] = {
		{ { 0, 101 }, { 101, 111 }, { 2000, 2010 }, { 2010, 2020 }, { 6300, 6400 } },
		{ { 0, 10 }, { 10, 111 }, { 2000, 2010 }, { 2010, 2020 }, { 6300, 6400 } },
		{ { 0, 10 }, { 111, 121 }, { 2000, 2010 }, { 2010, 2020 }, { 6300, 6400 } },
		/* Of two slices that begin together the longer one comes first. */
		{ { 0, 200 }, { 0, 300 }, { 2000, 2010 }, { 2010, 2020 }, { 6300, 6400 } },
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct page_track track = { 0 };
		const struct page_slice *rows;

		for (uint32_t k = 5; k-- > 0;)
			assert_true(page_track_add(&track, CASES[i][k].start_ns, CASES[i][k].end_ns, k));
		assert_true(page_track_thin(&track, 4));
		assert_int_equal(track.slices.count, 4);
		rows = track.slices.row;
		assert_int_equal(rows[0].name, i == 3);
		assert_int_equal(rows[1].name, i != 3);
		assert_true(rows[0].parts == 1 && rows[1].parts == 1 && rows[3].parts == 1);
		assert_int_equal(rows[2].parts, 2);
		assert_int_equal(rows[2].start_ns, 2000);
		assert_int_equal(rows[2].end_ns, 2020);
		assert_int_equal(rows[2].name, 2);
		page_track_free(&track);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_units),
		cmocka_unit_test(slices_at_the_borders),
		cmocka_unit_test(figures_say_where_they_are),
		cmocka_unit_test(long_lists_are_cut),
		cmocka_unit_test(cells_without_column),
		cmocka_unit_test(matrices_are_thinned),
		cmocka_unit_test(what_is_packed_can_be_read),
		cmocka_unit_test(short_slices_become_one),
		cmocka_unit_test(merged_slices_have_the_main_name),
		cmocka_unit_test(roots_add_up_by_interval),
		cmocka_unit_test(only_long_stretches_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

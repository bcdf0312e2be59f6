/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are called so often that only their entries are recorded: from the trace to the report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyzer/analyse/losses.h"
#include "tests/unit/report_of.h"

#define START (5000 * MS)

static void begin_segment(struct trace_builder *builder, uint8_t session, uint32_t index,
			  uint64_t start_ns)
{
	static const char *const names[] = { "launch", "sync", "copy" };

	trace_segment(builder, &(struct trace_segment){ .start_ns = start_ns,
							.session = session,
							.index = index,
							.boot = 1 });
	for (uint32_t i = 0; i < 3; i++)
		trace_function(builder, &(struct trace_function){
						.id = i + 1, .runtime = "a", .name = names[i] });
	trace_target(builder, start_ns, 10, 10, "t");
}

static struct trace_builder *new_trace(void)
{
	struct trace_builder *builder = trace_builder_new();

	begin_segment(builder, 1, 0, START);
	return builder;
}

static yajl_val json_of(struct trace_builder *builder)
{
	const struct report_options options = ALL_ROWS;
	char *text = report_of(builder, &(struct analysis_options){ 0 }, &options, report_json);
	yajl_val root = json_parse(text);

	free(text);
	return root;
}

static void expect_span(yajl_val root, int i, const char *function, uint64_t start_ns, uint64_t ns,
			uint32_t rate)
{
	char path[64];

	snprintf(path, sizeof(path), "capture.ends_not_seen.%d.function", i);
	assert_string_equal(json_string(root, path), function);
	snprintf(path, sizeof(path), "capture.ends_not_seen.%d.file", i);
	assert_string_equal(json_string(root, path), "/usr/lib/liba.so");
	snprintf(path, sizeof(path), "capture.ends_not_seen.%d.start_ns", i);
	assert_int_equal(json_int(root, path), start_ns);
	snprintf(path, sizeof(path), "capture.ends_not_seen.%d.duration_ns", i);
	assert_int_equal(json_int(root, path), ns);
	snprintf(path, sizeof(path), "capture.ends_not_seen.%d.calls_per_second", i);
	assert_int_equal(json_int(root, path), rate);
}

/*
 * Stretches without ends: "launch" twice, the second time until the end; "copy" before and after its ends were
 * probed. Rows are not in the order of time.
 */
static struct trace_builder *three_stretches(void)
{
	struct trace_builder *builder = new_trace();

	trace_ends(builder, 1, START + 3200 * MS, 0, 412000);
	trace_ends(builder, 3, START + 100 * MS, 0, 90000);
	trace_ends(builder, 1, START + 9500 * MS, 0, 300000);
	trace_ends(builder, 1, START + 8000 * MS, 1, 20);
	trace_ends(builder, 3, START + 400 * MS, 1, 10);
	trace_statistics(builder, START + 10000 * MS, true, "duration");
	return builder;
}

static void stretches(void **state)
{
	yajl_val root = json_of(three_stretches());

	assert_int_equal(json_length(root, "capture.ends_not_seen"), 3);
	expect_span(root, 0, "launch", START + 3200 * MS, 4800 * MS, 412000);
	expect_span(root, 1, "launch", START + 9500 * MS, 500 * MS, 300000);
	expect_span(root, 2, "copy", START + 100 * MS, 300 * MS, 90000);
	/* Every call is recorded: only durations are unknown. */
	assert_true(json_true(root, "capture.complete"));
	assert_int_equal(json_int(root, "capture.damage.bad_rows"), 0);
	yajl_tree_free(root);
}

static void in_words(void **state)
{
	const struct analysis_options wanted = { 0 };
	struct report_options options = ALL_ROWS;
	char *text = report_of(three_stretches(), &wanted, &options, report_text);

	assert_says(text,
		    "ends not recorded: launch of /usr/lib/liba.so from 3.200 s to 8.000 s of the "
		    "recording: called 412000 times a second");
	assert_says(text, "ends not recorded: launch of /usr/lib/liba.so from 9.500 s to 10.000 s");
	assert_says(text, "ends not recorded: copy of");
	free(text);
	options.top = 1;
	text = report_of(three_stretches(), &wanted, &options, report_text);
	assert_says(text, "2 more such stretches");
	assert_null(strstr(text, "copy of"));
	free(text);
	text = report_of(sample_trace(0), &wanted, &options, report_text);
	assert_null(strstr(text, "ends not recorded"));
	free(text);
}

/* A stretch that a segment repeats is the same stretch; a file that begins with a later segment has it, too. */
static void segments(void **state)
{
	for (int parts = 0; parts < 2; parts++) {
		struct trace_builder *builder = parts ? trace_builder_new() : new_trace();
		yajl_val root;

		if (!parts)
			trace_ends(builder, 2, START + 1000 * MS, 0, 7000);
		begin_segment(builder, 1, 1, START);
		trace_ends(builder, 2, START + 1000 * MS, 0, 7000);
		trace_ends(builder, 2, START + 3000 * MS, 1, 5);
		begin_segment(builder, 1, 2, START);
		trace_statistics(builder, START + 4000 * MS, true, "duration");
		root = json_of(builder);
		assert_int_equal(json_length(root, "capture.ends_not_seen"), 1);
		expect_span(root, 0, "sync", START + 1000 * MS, 2000 * MS, 7000);
		yajl_tree_free(root);
	}
}

/* Ids of another session mean other functions, and its end is not the end of the first one. */
static void sessions(void **state)
{
	struct trace_builder *builder = new_trace();
	yajl_val root;

	trace_ends(builder, 1, START + 1000 * MS, 0, 50000);
	trace_statistics(builder, START + 2000 * MS, true, "duration");
	begin_segment(builder, 2, 0, START + 10000 * MS);
	trace_ends(builder, 1, START + 10500 * MS, 1, 5);
	trace_ends(builder, 2, START + 11000 * MS, 0, 60000);
	trace_statistics(builder, START + 15000 * MS, true, "duration");
	root = json_of(builder);
	assert_int_equal(json_length(root, "capture.ends_not_seen"), 2);
	expect_span(root, 0, "sync", START + 11000 * MS, 4000 * MS, 60000);
	expect_span(root, 1, "launch", START + 1000 * MS, 1000 * MS, 50000);
	yajl_tree_free(root);
}

/* Without final statistics a recording lasts until the last instant in it. */
static void without_an_end(void **state)
{
	struct trace_builder *builder = new_trace();
	yajl_val root;

	trace_ends(builder, 1, START + 1000 * MS, 0, 50000);
	trace_ends(builder, 2, START + 1500 * MS, 0, 60000);
	trace_ends(builder, 2, START + 1750 * MS, 1, 1);
	root = json_of(builder);
	assert_int_equal(json_length(root, "capture.ends_not_seen"), 2);
	expect_span(root, 0, "launch", START + 1000 * MS, 750 * MS, 50000);
	expect_span(root, 1, "sync", START + 1500 * MS, 250 * MS, 60000);
	yajl_tree_free(root);
}

/* Changes that are lost, repeated, outside of the session, or with unknown values. */
static void nonsense(void **state)
{
	struct trace_builder *builder = new_trace();
	/* Columns of unequal length: two functions, three instants. */
	static const uint8_t unequal[] = { 0x0a, 2, 1, 2, 0x12, 3, 2, 2, 2 };
	struct capture_results results;
	struct model *model;

	trace_ends(builder, 1, START + 1000 * MS, 2, 1);
	trace_ends(builder, 1, START - 1000 * MS, 0, 50000);
	trace_ends(builder, 1, START + 1000 * MS, 0, 40000);
	trace_ends(builder, 1, START + 2000 * MS, 1, 3);
	trace_ends(builder, 1, START + 3000 * MS, 1, 3);
	trace_ends(builder, 2, START + 6000 * MS, 0, 50000);
	trace_ends(builder, 3, START + 4000 * MS, 0, 60000);
	trace_ends(builder, 3, START + 4000 * MS, 0, 60000);
	trace_ends(builder, 3, START + 7000 * MS, 1, 2);
	trace_packet(builder, PROFBPF__PACKET__KIND__ENDS, unequal, sizeof(unequal));
	trace_packet(builder, PROFBPF__PACKET__KIND__ENDS, "\xff\xff", 2);
	trace_statistics(builder, START + 5000 * MS, true, "duration");
	model = load_trace(builder);
	assert_int_equal(capture_analyse(model, &results), 0);
	assert_int_equal(model->ends_changes.count, 7);
	assert_int_equal(results.unseen_end_count, 2);
	assert_int_equal(results.unseen_ends[0].start_ns, START);
	assert_int_equal(results.unseen_ends[0].ns, 2000 * MS);
	assert_int_equal(results.unseen_ends[0].calls_per_second, 50000);
	assert_int_equal(results.unseen_ends[1].start_ns, START + 4000 * MS);
	assert_int_equal(results.unseen_ends[1].ns, 1000 * MS);
	assert_int_equal(model->bad_rows, 1);
	assert_int_equal(model->damage.packets_skipped, 2);
	capture_free(&results);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stretches), cmocka_unit_test(in_words),
		cmocka_unit_test(segments),  cmocka_unit_test(sessions),
		cmocka_unit_test(nonsense),  cmocka_unit_test(without_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

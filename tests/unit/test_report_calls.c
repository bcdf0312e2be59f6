/* SPDX-License-Identifier: Apache-2.0 */
/* The report on calls: calls too short to be recorded, and the probes' cost for each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/report_of.h"

/* Ten calls, and 90 that were too short to be recorded. */
static struct trace_builder *mostly_short_calls(void)
{
	struct trace_builder *builder = trace_builder_new();

	trace_segment(builder, &(struct trace_segment){ .start_ns = 1000 });
	trace_target(builder, 1000, 10, 10, "t");
	trace_function(builder, &(struct trace_function){ .id = 1, .runtime = "r", .name = "f" });
	for (uint64_t i = 0; i < 10; i++)
		trace_call(builder, &(struct trace_call_row){ .tid = 10,
							      .tgid = 10,
							      .start_ns = 2000,
							      .end_ns = 2100 + i,
							      .function = 1 });
	trace_short_calls(builder, 1, 10, 90, 900);
	trace_statistics(builder, 9000, true, "stopped");
	return builder;
}

/* They count, but their distribution is unknown. */
static void short_calls(void **state)
{
	const struct report_options options = ALL_ROWS;
	char *text = report_of(mostly_short_calls(), &(struct analysis_options){ 0 }, &options,
			       report_json);
	yajl_val root = json_parse(text);

	assert_int_equal(json_int(root, "api.0.count"), 100);
	assert_int_equal(json_int(root, "api.0.unrecorded"), 90);
	assert_int_equal(json_int(root, "api.0.total_ns"), 900 + 1045);
	assert_int_equal(json_int(root, "api.0.mean_ns"), 19);
	assert_null(json_at(root, "api.0.min_ns"));
	assert_null(json_at(root, "api.0.p50_ns"));
	assert_int_equal(json_int(root, "api.0.p99_ns"), 108);
	assert_int_equal(json_int(root, "api.0.max_ns"), 109);
	yajl_tree_free(root);
	free(text);
	text = report_of(mostly_short_calls(), &(struct analysis_options){ 0 }, &options,
			 report_text);
	assert_says(text, " mean us  p50 us p99 us max us\n");
	assert_says(text, "     0.0 unknown    0.1    0.1\n");
	free(text);
}

/* Short calls have no instants: of a part that lacks only the recording's end, or only its start, none is counted. */
static void short_calls_of_a_part(void **state)
{
	const struct report_options options = ALL_ROWS;
	const struct analysis_options parts[] = { { .to_ns = 8000 }, { .from_ns = 1500 } };

	for (int i = 0; i < 2; i++) {
		char *text = report_of(mostly_short_calls(), &parts[i], &options, report_json);
		yajl_val root = json_parse(text);

		assert_int_equal(json_int(root, "api.0.count"), 10);
		yajl_tree_free(root);
		free(text);
	}
}

/* Calls without a time do not count for a mean. Nothing else is known about the process. */
static void short_calls_without_ends(void **state)
{
	const struct report_options options = ALL_ROWS;
	struct trace_builder *builder = trace_builder_new();
	yajl_val root;
	char *text;

	trace_segment(builder, &(struct trace_segment){ .start_ns = 1000 });
	trace_function(builder, &(struct trace_function){ .id = 1, .runtime = "r", .name = "f" });
	trace_short_calls(builder, 1, 10, 90, 900);
	trace_unended_calls(builder, 60);
	trace_statistics(builder, 9000, true, "stopped");
	text = report_of(builder, &(struct analysis_options){ 0 }, &options, report_json);
	root = json_parse(text);
	assert_int_equal(json_int(root, "api.0.count"), 90);
	assert_int_equal(json_int(root, "api.0.unrecorded"), 30);
	assert_int_equal(json_int(root, "api.0.end_unknown"), 60);
	assert_int_equal(json_int(root, "api.0.total_ns"), 900);
	assert_int_equal(json_int(root, "api.0.mean_ns"), 30);
	yajl_tree_free(root);
	free(text);
}

/* Each call's time excludes its own probe, outer calls' times also the probes of calls nested in them. */
static void probe_cost_is_left_out(void **state)
{
	const struct report_options options = ALL_ROWS;
	yajl_val root =
		report_of_sample(0, &(struct analysis_options){ .subtract_probe_cost = true });
	char *text;

	assert_true(json_true(root, "trace.probes.subtracted"));
	assert_int_equal(json_int(root, "trace.probes.calls"), 112);
	assert_int_equal(json_int(root, "trace.probes.total_ns"), 112 * 500 + 100 * 40);
	assert_int_equal(json_int(root, "trace.probe_cost_ns"), 250);
	assert_string_equal(json_string(root, "trace.probes.costs.1.instruction"), "nop5");
	assert_int_equal(json_int(root, "trace.probes.costs.1.inside_ns"), 200);
	assert_int_equal(json_int(root, "trace.probes.costs.1.whole_ns"), 500);
	assert_int_equal(json_int(root, "api.0.open_ns"), 100 * MS - 200);
	assert_int_equal(json_int(root, "api.0.total_ns"), 10 * MS - 200);
	assert_string_equal(json_string(root, "api.1.function"), "clEnqueueNDRangeKernel");
	assert_int_equal(json_int(root, "api.1.total_ns"), 5050 * US - 100 * 240);
	assert_int_equal(json_int(root, "api.1.max_ns"), 100 * US - 240);
	assert_string_equal(json_string(root, "api.2.function"), "cudaLaunchKernel");
	assert_int_equal(json_int(root, "api.2.max_ns"), 20 * US - 200 - 500);
	assert_int_equal(json_int(root, "api.3.max_ns"), 10 * US - 200);
	assert_int_equal(json_int(root, "api_totals.1.total_ns"), 5 * (20 * US - 700));
	yajl_tree_free(root);
	root = report_of_sample(0, &(struct analysis_options){ 0 });
	assert_false(json_true(root, "trace.probes.subtracted"));
	assert_int_equal(json_int(root, "trace.probes.total_ns"), 112 * 500 + 100 * 40);
	yajl_tree_free(root);
	text = report_of(sample_trace(0), &(struct analysis_options){ .subtract_probe_cost = true },
			 &options, report_text);
	assert_says(text, "the probes of 112 calls took at least about 0.060 ms");
	assert_says(text, "the probes' cost is subtracted from the times");
	free(text);
}

/* Calls shorter than their probe's cost, short calls that were only counted, and a trace with a single figure. */
static void probe_cost_leaves_no_less_than_nothing(void **state)
{
	const struct analysis_options wanted = { .subtract_probe_cost = true };
	const struct report_options options = ALL_ROWS;

	for (int old = 0; old < 2; old++) {
		struct trace_builder *builder = trace_builder_new();
		uint64_t cost = old ? 250 : 200;
		yajl_val root;
		char *text;

		trace_segment(builder,
			      &(struct trace_segment){ .start_ns = 1000, .old_probe_cost = old });
		trace_target(builder, 1000, 10, 10, "t");
		trace_function(builder,
			       &(struct trace_function){ .id = 1, .runtime = "r", .name = "f" });
		for (uint64_t i = 0; i < 2; i++)
			trace_call(builder, &(struct trace_call_row){ .tid = 10,
								      .tgid = 10,
								      .start_ns = 2000 + 1000 * i,
								      .end_ns = 2150 + 1500 * i,
								      .function = 1 });
		trace_short_calls(builder, 1, 10, 90, 90 * 260);
		trace_statistics(builder, 9000, true, "stopped");
		text = report_of(builder, &wanted, &options, report_json);
		root = json_parse(text);
		assert_int_equal(json_int(root, "api.0.total_ns"),
				 (650 - cost) + 90 * (260 - cost));
		assert_int_equal(json_int(root, "api.0.max_ns"), 650 - cost);
		assert_int_equal(json_int(root, "trace.probes.calls"), 92);
		yajl_tree_free(root);
		free(text);
	}
}

#define LEFT 32
#define ENTRY 64

static void add_call(struct trace_builder *builder, uint64_t start_ns, uint64_t end_ns,
		     uint32_t flags, uint32_t depth)
{
	trace_call(builder, &(struct trace_call_row){ .tid = 10,
						      .tgid = 10,
						      .start_ns = start_ns,
						      .end_ns = end_ns,
						      .function = 1,
						      .flags = flags,
						      .depth = depth,
						      .ret = 7 });
}

/* A call that returned, one left by an exception with a call nested in it, two whose entry was seen, an open one. */
static struct trace_builder *calls_without_ends(void)
{
	struct trace_builder *builder = trace_builder_new();

	trace_segment(builder, &(struct trace_segment){ .start_ns = 1000 });
	trace_target(builder, 1000, 10, 10, "t");
	trace_function(builder,
		       &(struct trace_function){ .id = 1,
						 .runtime = "r",
						 .name = "f",
						 .error = PROFBPF__FUNCTION__ERROR__NONZERO });
	add_call(builder, 2000, 2100, 0, 0);
	add_call(builder, 3200, 3300, 0, 1);
	add_call(builder, 3000, 4000, LEFT, 0);
	add_call(builder, 4000, 4000, ENTRY, 0);
	add_call(builder, 4100, 4100, ENTRY, 0);
	add_call(builder, 5000, 5050, 1, 0);
	trace_statistics(builder, 9000, true, "stopped");
	return builder;
}

/* Calls without a seen return count, but have neither times nor errors. */
static void calls_without_ends_have_no_times(void **state)
{
	const struct report_options options = ALL_ROWS;
	char *text = report_of(calls_without_ends(), &(struct analysis_options){ 0 }, &options,
			       report_json);
	yajl_val root = json_parse(text);

	assert_int_equal(json_int(root, "api.0.count"), 6);
	assert_int_equal(json_int(root, "api.0.open"), 1);
	assert_int_equal(json_int(root, "api.0.open_ns"), 50);
	assert_int_equal(json_int(root, "api.0.left"), 1);
	assert_int_equal(json_int(root, "api.0.end_unknown"), 2);
	assert_int_equal(json_int(root, "api.0.errors"), 2);
	assert_int_equal(json_int(root, "api.0.inner"), 1);
	assert_int_equal(json_int(root, "api.0.total_ns"), 200);
	assert_int_equal(json_int(root, "api.0.mean_ns"), 100);
	assert_int_equal(json_int(root, "api.0.min_ns"), 100);
	assert_int_equal(json_int(root, "api.0.p50_ns"), 100);
	assert_int_equal(json_int(root, "api.0.max_ns"), 100);
	assert_int_equal(json_int(root, "api_totals.0.count"), 5);
	assert_int_equal(json_int(root, "api_totals.0.end_unknown"), 3);
	assert_int_equal(json_int(root, "api_totals.0.total_ns"), 150);
	assert_int_equal(json_int(root, "api_statistics.0.count"), 2);
	assert_int_equal(json_int(root, "api_statistics.0.total_ns"), 200);
	yajl_tree_free(root);
	free(text);
	text = report_of(calls_without_ends(), &(struct analysis_options){ 0 }, &options,
			 report_text);
	assert_says(text, "calls open left end unknown errors");
	assert_says(text, "    6    1    1           2      2");
	assert_says(text, "left: ended by an exception, longjmp or unwinding");
	assert_says(text, "end unknown: only the entry was recorded");
	assert_says(text, "and 3 calls whose end is not known");
	free(text);
	text = report_of(sample_trace(0), &(struct analysis_options){ 0 }, &options, report_text);
	assert_null(strstr(text, "end unknown"));
	free(text);
}

/* Ten calls, of which the recorder reports that it wrote @delivered. */
static struct trace_builder *ten_of(uint64_t delivered)
{
	struct trace_builder *builder = trace_builder_new();

	trace_segment(builder, &(struct trace_segment){ .start_ns = 1000 });
	trace_target(builder, 1000, 10, 10, "t");
	trace_function(builder, &(struct trace_function){ .id = 1, .runtime = "r", .name = "f" });
	for (uint64_t i = 0; i < 10; i++)
		trace_call(builder, &(struct trace_call_row){ .tid = 10,
							      .tgid = 10,
							      .start_ns = 2000,
							      .end_ns = 2100 + i,
							      .function = 1 });
	trace_source(builder, "api", delivered, delivered, NULL, 0);
	trace_statistics(builder, 9000, true, "stopped");
	return builder;
}

/* The statistics report no loss, but the file has fewer calls than they say. */
static void calls_that_are_not_in_the_file(void **state)
{
	const struct report_options options = ALL_ROWS;
	char *text = report_of(ten_of(12), &(struct analysis_options){ 0 }, &options, report_text);

	assert_says(text, "INCOMPLETE");
	assert_says(text, "2 records that the recorder wrote are missing in the file read here");
	free(text);
	text = report_of(ten_of(10), &(struct analysis_options){ 0 }, &options, report_text);
	assert_null(strstr(text, "INCOMPLETE"));
	assert_null(strstr(text, "read here"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_calls),
		cmocka_unit_test(short_calls_of_a_part),
		cmocka_unit_test(short_calls_without_ends),
		cmocka_unit_test(probe_cost_is_left_out),
		cmocka_unit_test(probe_cost_leaves_no_less_than_nothing),
		cmocka_unit_test(calls_without_ends_have_no_times),
		cmocka_unit_test(calls_that_are_not_in_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

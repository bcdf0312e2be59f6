/* SPDX-License-Identifier: Apache-2.0 */
/* Records that were left out of a recording to keep within its budget: from the trace to the report. */
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
#define SAMPLES PROFBPF__SHED__WHAT__SAMPLES
#define WAKES PROFBPF__SHED__WHAT__WAKES
#define COST PROFBPF__SHED__REASON__COST
#define ROOM PROFBPF__SHED__REASON__ROOM

static void begin_segment(struct trace_builder *builder, uint8_t session, uint32_t index, uint64_t start_ns)
{
	trace_segment(builder, &(struct trace_segment){
				       .start_ns = start_ns, .session = session, .index = index, .boot = 1 });
	trace_target(builder, start_ns, 10, 10, "t");
}

static void change(struct trace_builder *builder, uint64_t ts_ns, uint32_t what, uint32_t kept,
		   uint32_t reason, uint32_t cost)
{
	Profbpf__Shed m = PROFBPF__SHED__INIT;
	int64_t ts = (int64_t)ts_ns;
	uint8_t bytes[128];

	m.n_what = m.n_ts_ns = m.n_kept_permille = m.n_reason = m.n_cost_ppm = 1;
	m.what = &what;
	m.ts_ns = &ts;
	m.kept_permille = &kept;
	m.reason = &reason;
	m.cost_ppm = &cost;
	trace_packet(builder, PROFBPF__PACKET__KIND__SHED, bytes, profbpf__shed__pack(&m, bytes));
}

/* Samples in two steps, wake-ups until the end; the segment in between repeats the current state. */
static struct trace_builder *some_left_out(void)
{
	struct trace_builder *builder = trace_builder_new();

	begin_segment(builder, 1, 0, START);
	change(builder, START + 1000 * MS, SAMPLES, 250, COST, 51000);
	change(builder, START + 3000 * MS, SAMPLES, 0, COST, 43000);
	change(builder, START + 3500 * MS, WAKES, 0, ROOM, 900);
	begin_segment(builder, 1, 1, START);
	change(builder, START + 3000 * MS, SAMPLES, 0, COST, 43000);
	change(builder, START + 3500 * MS, WAKES, 0, ROOM, 900);
	change(builder, START + 7000 * MS, SAMPLES, 250, COST, 1000);
	change(builder, START + 9000 * MS, SAMPLES, 1000, COST, 2000);
	trace_statistics(builder, START + 10000 * MS, true, "duration");
	return builder;
}

static void expect_row(yajl_val root, int i, const char *what, uint64_t start_ns, uint64_t ns, double kept,
		       const char *reason, double cost)
{
	char path[64];

#define AT(field) (snprintf(path, sizeof(path), "capture.left_out.%d." field, i), path)
	assert_string_equal(json_string(root, AT("what")), what);
	assert_int_equal(json_int(root, AT("start_ns")), start_ns);
	assert_int_equal(json_int(root, AT("duration_ns")), ns);
	assert_float_equal(json_double(root, AT("kept_percent")), kept, 1e-3);
	assert_string_equal(json_string(root, AT("reason")), reason);
	assert_float_equal(json_double(root, AT("cost_percent")), cost, 1e-3);
#undef AT
}

static void stretches(void **state)
{
	const struct report_options options = ALL_ROWS;
	char *text = report_of(some_left_out(), &(struct analysis_options){ 0 }, &options, report_json);
	yajl_val root = json_parse(text);

	free(text);
	assert_int_equal(json_length(root, "capture.left_out"), 4);
	expect_row(root, 0, "samples", START + 1000 * MS, 2000 * MS, 25, "cost", 5.1);
	expect_row(root, 1, "samples", START + 3000 * MS, 4000 * MS, 0, "cost", 4.3);
	expect_row(root, 2, "samples", START + 7000 * MS, 2000 * MS, 25, "cost", 0.1);
	expect_row(root, 3, "wakeups", START + 3500 * MS, 6500 * MS, 0, "room", 0.09);
	/* No record of the wanted ones was lost. */
	assert_true(json_true(root, "capture.complete"));
	yajl_tree_free(root);
}

static void in_words(void **state)
{
	const struct analysis_options wanted = { 0 };
	struct report_options options = ALL_ROWS;
	char *text = report_of(some_left_out(), &wanted, &options, report_text);

	assert_says(text, "left out: 75 % of the samples from 1.000 s to 3.000 s of the recording: recording took "
			  "5.10 % of a CPU, more than --budget allows");
	assert_says(text, "left out: 100 % of the wake-ups from 3.500 s to 10.000 s of the recording: there was no "
			  "room for all records");
	assert_says(text, "which thread woke another then is unknown");
	free(text);
	options.top = 1;
	text = report_of(some_left_out(), &wanted, &options, report_text);
	assert_says(text, "3 more such stretches");
	free(text);
	text = report_of(sample_trace(0), &wanted, &options, report_text);
	assert_null(strstr(text, "left out"));
	free(text);
}

/* Unknown kinds of a later version, too large values, another session's, before the session, after its end. */
static void nonsense(void **state)
{
	struct trace_builder *builder = trace_builder_new();
	static const uint8_t unequal[] = { 0x0a, 2, 1, 2, 0x12, 3, 2, 2, 2 };
	struct capture_results results;
	struct model *model;

	begin_segment(builder, 1, 0, START);
	change(builder, START + 1000 * MS, 77, 0, COST, 1);
	change(builder, START + 1000 * MS, 0, 0, COST, 1);
	change(builder, START + 1000 * MS, WAKES, 1001, COST, 1);
	change(builder, START + 1000 * MS, WAKES, 0, 9, 1);
	change(builder, START - 1000 * MS, SAMPLES, 0, COST, 1);
	trace_packet(builder, PROFBPF__PACKET__KIND__SHED, unequal, sizeof(unequal));
	trace_packet(builder, PROFBPF__PACKET__KIND__SHED, "\xff\xff", 2);
	trace_statistics(builder, START + 5000 * MS, true, "duration");
	begin_segment(builder, 2, 0, START + 10000 * MS);
	change(builder, START + 11000 * MS, SAMPLES, 1000, COST, 1);
	change(builder, START + 90000 * MS, WAKES, 0, COST, 1);
	trace_statistics(builder, START + 15000 * MS, true, "duration");
	model = load_trace(builder);
	assert_int_equal(capture_analyse(model, &results), 0);
	assert_int_equal(results.left_out_count, 1);
	assert_int_equal(results.left_out[0].start_ns, START);
	assert_int_equal(results.left_out[0].ns, 5000 * MS);
	assert_int_equal(model->bad_rows, 2);
	assert_int_equal(model->unknown_values, 2);
	assert_int_equal(model->damage.packets_skipped, 2);
	capture_free(&results);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stretches),
		cmocka_unit_test(in_words),
		cmocka_unit_test(nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

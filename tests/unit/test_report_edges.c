/* SPDX-License-Identifier: Apache-2.0 */
/* Sections at their limits: a part of the time, an empty sum, a cause without a row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/compare/figures.h"
#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/analyse/idle/verdict.h"
#include "analyzer/view/report_parts.h"
#include "tests/unit/json_path.h"
#include "tests/unit/report_of.h"
#include "tests/unit/small_model.h"

#define START 1000000000ull
#define END 3000000000ull

/* Returns the report's text; the caller frees it. */
static char *text_of(const struct model *model, const struct results *results, uint32_t sections)
{
	const struct report_options options = { .sections = sections };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(report_text(out, model, results, &options), 0);
	fclose(out);
	return text;
}

/* Does the report describe the time of @results as a part of the recording? */
static bool is_part(uint64_t start_ns, uint64_t end_ns, uint64_t from_ns, uint64_t to_ns)
{
	struct model *model = small_model(start_ns, end_ns);
	const struct results results = { .from_ns = from_ns, .to_ns = to_ns };
	char *text = text_of(model, &results, SECTION_TRACE);
	bool part = strstr(text, "\npart ");

	free(text);
	model_free(model);
	return part;
}

static void a_part_is_told_at_either_end(void **state)
{
	assert_false(is_part(START, END, START, END));
	assert_true(is_part(START, END, START + 1, END));
	assert_true(is_part(START, END, START, END - 1));
	assert_true(is_part(START, END, START + 1, END - 1));
	/* The recording covers no instant: all events lie elsewhere. */
	assert_false(is_part(START, START, START + 1, END));
	assert_false(is_part(0, 0, START, END));
	assert_true(is_part(START, START + 1, START, END));
}

static void device_files_beside_a_trace(void **state)
{
	static const struct { uint32_t files, imports; bool nothing; } cases[] = {
		{ 0, 0, false }, { 1, 0, false }, { 0, 1, true }, { 1, 1, false },
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct model *model = small_model(START, END);

		model->files.count = cases[i].files;
		model->imports.count = cases[i].imports;
		assert_int_equal(text_nothing_recorded(out, model), cases[i].nothing);
		model->files.count = model->imports.count = 0;
		model_free(model);
	}
	fclose(out);
	free(text);
}

/* Two devices; all steps of the first one began before the reported part of the time. */
static void means_of_no_steps(void **state)
{
	struct model *model = small_model(START, END);
	struct device_step_row row = { .end_ns = START };
	struct device_step_trace traces[] = {
		{ .device = 0, .source = STEPS_MARKS, .rows = &row },
		{ .device = 1, .source = STEPS_MARKS, .rows = &row, .count = 1,
		  .means = { .steps = 2, .duration_ns = 7 } },
	};
	struct device_step_results steps = { .traces = traces, .count = 2, .main = 1,
					     .loops = { .main = INDEX_NONE } };
	const struct results results = { .device_steps = &steps };
	const struct report_options options = { .sections = SECTION_STEPS };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	yajl_val root;

	small_device(model, INDEX_NONE, "a", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	small_device(model, INDEX_NONE, "b", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	small_index(model);
	assert_int_equal(report_json(out, model, &results, &options), 0);
	fclose(out);
	root = json_parse(text);
	assert_null(json_at(root, "steps.devices.0.mean"));
	assert_int_equal(json_int(root, "steps.devices.1.mean.duration_ns"), 7);
	yajl_tree_free(root);
	free(text);
	model_free(model);
}

/* Only the cause of a job thread's activity may be known. */
static void host_code_without_a_word(void **state)
{
	struct idle_root rows[] = { { .ns = 5, .word = "imports" }, { .ns = 5 } };
	struct idle_roots roots = { .row = rows, .count = 2, .total_ns = 10 };
	struct verdict verdict = { .state = VERDICT_HOST_CODE, .percent = 50, .has_percent = true,
				   .roots = &roots, .roots_of_ns = 10, .pipeline = INDEX_NONE,
				   .op = INDEX_NONE, .straggler = INDEX_NONE,
				   .source = INDEX_NONE };
	const struct results results = { .verdict = &verdict };
	struct model *model = small_model(START, END);

	for (int i = 0; i < 3; i++) {
		char *text;

		verdict.idle.most = i < 2 ? &rows[i] : NULL;
		text = text_of(model, &results, SECTION_VERDICT);
		assert_says(text, "by it, most of all ");
		assert_int_equal(strstr(text, ": imports") != NULL, i == 0);
		assert_null(strstr(text, "(null)"));
		free(text);
	}
	model_free(model);
}

/* Each kind of figure is included, whatever else there is. */
static void all_kinds_of_figures(void **state)
{
	struct model *model = small_model(START, END);
	uint32_t function = small_function(model, "opencl", "clFinish", PROFBPF__FUNCTION__KIND__OTHER);
	struct api_usage call = { .function = function, .durations = { .count = 2, .total_ns = 8 } };
	struct api_results api = { .rows = &call, .row_count = 1 };
	struct host_results host = { .known = true, .all = { .user_ns = 1, .idle_ns = 3 } };
	const struct results results = { .from_ns = START, .to_ns = END, .api = &api, .host = &host };
	struct figures figures = { 0 };

	assert_int_equal(figures_take(model, &results, &figures), 0);
	assert_int_equal(figures.count, 2);
	assert_int_equal(figures.row[0].kind, FIGURE_API);
	assert_true(figure_value(&figures.row[0]) == 4);
	assert_int_equal(figures.row[1].kind, FIGURE_CPU);
	assert_true(figure_value(&figures.row[1]) == 25);
	figures_free(&figures);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_is_told_at_either_end),
		cmocka_unit_test(device_files_beside_a_trace),
		cmocka_unit_test(means_of_no_steps),
		cmocka_unit_test(host_code_without_a_word),
		cmocka_unit_test(all_kinds_of_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

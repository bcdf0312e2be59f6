/* SPDX-License-Identifier: Apache-2.0 */
/* Files written in msprof's layout are read back unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/import/importer.h"
#include "analyzer/cli/analysis.h"
#include "analyzer/view/render/csv_file.h"
#include "analyzer/export/export.h"
#include "analyzer/export/layouts/msprof/msprof.h"
#include "tests/unit/small_model.h"

#define START 1700000000000000000ull
#define KERNEL PROFBPF__DEVICE_TASKS__KIND__KERNEL
#define COMMUNICATION PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION
#define COPY PROFBPF__DEVICE_TASKS__KIND__COPY

static char folder[64];

static void add(struct model *model, const char *name, const char *type, const char *core,
		uint64_t start_ns, uint64_t end_ns, uint8_t kind)
{
	struct task_detail detail = { .task_id = 7,
				      .context_id = MODEL_ID_NONE,
				      .model_id = 3,
				      .step = MODEL_ID_NONE,
				      .blocks = 24,
				      .mix_blocks = INDEX_NONE,
				      .input_shapes = model_string(model, "\"8,16;\n,\"") };
	struct device_task *task = small_task(model, 0, START + start_ns, START + end_ns);

	task->name = model_string(model, name);
	task->type = model_string(model, type);
	task->core = model_string(model, core);
	task->kind = kind;
	task->stream = kind == COMMUNICATION ? UINT64_MAX : 2;
	assert_true(MODEL_PUSH(&model->task_details, detail));
	task->detail = model->task_details.count;
}

/* Three steps of a kernel, a collective and a copy; and calls. */
static void fill(struct model *model)
{
	uint32_t process = small_process(model, 100, "job", true);
	uint32_t thread = small_thread(model, process, 100, "main");
	uint32_t launch =
		small_function(model, "acl", "aclrtMalloc", PROFBPF__FUNCTION__KIND__ALLOC);

	small_device(model, process, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME);
	model->devices.row[0].id = 5;
	model->devices.row[0].own_clock = true;
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t at_ns = 1000000 + i * 100000;

		add(model, "net/MatMul \"a\", b", "MatMulV2", "AI_CORE", at_ns, at_ns + 10125,
		    KERNEL);
		add(model, "hcom_allReduce__1", "", "", at_ns + 20001, at_ns + 30000,
		    COMMUNICATION);
		add(model, "copy", "", "", at_ns + 40000, at_ns + 40500, COPY);
		small_call(model, thread, launch, START + at_ns, START + at_ns + 2000 * (i + 1));
	}
	small_index(model);
}

static void analyse(struct analysis *analysis, struct model *model, const char *fp_point)
{
	const struct analysis_options options = { .fp_point = fp_point };
	char error[256] = "";

	*analysis = (struct analysis){ .model = model };
	/* The model's builders prepare what the analysis computes itself. */
	free(model->timelines.row);
	memset(&model->timelines, 0, sizeof(model->timelines));
	assert_int_equal(analysis_compute(analysis, &options, error, sizeof(error)), 0);
}

static int make_folder(void **state)
{
	strcpy(folder, "/tmp/test_msprof_export.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static void check_same(const struct analysis *analysis)
{
	const struct overlap_usage *overlap = &analysis->devices.overlap.devices[0].all;
	const struct model *model = analysis->model;
	const struct device_step_trace *steps = &analysis->device_steps.traces[0];

	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->devices.row[0].id, 5);
	assert_int_equal(overlap->computation_ns, 3 * 10125);
	assert_int_equal(overlap->communication_ns, 3 * 9999);
	assert_int_equal(overlap->free_ns,
			 analysis->devices.overlap.devices[0].stage_ns - 3 * (10125 + 9999));
	assert_int_equal(steps->count, 3);
	assert_int_equal(steps->rows[1].number, 1);
	assert_int_equal(steps->rows[1].fp_start_ns, START + 1100000);
	assert_int_equal(steps->rows[1].fp_bp_ns, 10125);
	assert_int_equal(steps->rows[1].gap_ns, 59500);
	assert_int_equal(steps->rows[1].tail_ns, 30375);
	assert_int_equal(steps->rows[1].reduce_count, 1);
	assert_int_equal(steps->reduces[steps->rows[1].first_reduce].total_ns, 9999);
	assert_string_equal(analysis->api_statistic.rows[0].level, "AscendCL");
	assert_int_equal(analysis->api_statistic.rows[0].count, 3);
	assert_int_equal(analysis->api_statistic.rows[0].total_ns, 12000);
	assert_int_equal(analysis->api_statistic.rows[0].max_ns, 6000);
}

static void round_trip(void **state)
{
	struct analysis analysis, again;
	const struct device_task *task;
	const struct task_detail *detail;
	struct model *model = small_model(START, START + 10000000);
	char error[512] = "";

	fill(model);
	analyse(&analysis, model, "matmul");
	check_same(&analysis);
	assert_int_equal(export_msprof.write(model, &analysis.results, folder, &(struct export_options){ 0 }, error, sizeof(error)), 0);
	model = model_new();
	assert_int_equal(import_device_file(model, folder, true, error, sizeof(error)), 0);
	assert_int_equal(import_finish(model, true), 0);
	analyse(&again, model, NULL);
	assert_int_equal(again.device_steps.traces[0].source, STEPS_FILE);
	check_same(&again);
	/* Each task once, though the timeline and two tables contain it. */
	assert_int_equal(model->tasks.count, 9);
	task = &model->tasks.row[0];
	detail = &model->task_details.row[task->detail - 1];
	assert_string_equal(model_text(model, task->name), "net/MatMul \"a\", b");
	assert_string_equal(model_text(model, task->type), "MatMulV2");
	assert_string_equal(model_text(model, detail->input_shapes), "\"8,16;\n,\"");
	assert_int_equal(detail->task_id, 7);
	assert_int_equal(detail->blocks, 24);
	assert_int_equal(model->device_steps.count, 3);
	assert_int_equal(model->device_steps.row[1].bp_end_ns, START + 1110125);
	assert_int_equal(model->findings.count, 0);
	analysis_free(&analysis);
	analysis_free(&again);
}

static void nothing_to_write(void **state)
{
	struct model *model = small_model(START, START + 10000000);
	struct analysis analysis;
	char error[512] = "";

	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME);
	small_index(model);
	analyse(&analysis, model, "matmul");
	assert_int_equal(export_msprof.write(model, &analysis.results, folder, &(struct export_options){ 0 }, error, sizeof(error)), -2);
	assert_non_null(strstr(error, "no device task"));
	analysis_free(&analysis);
}

static void cells(void **state)
{
	char path[128], text[128] = "";
	struct csv_file csv;
	FILE *file;

	assert_int_equal(csv_open(&csv, folder, "cells.csv", "a,b"), 0);
	csv_text(&csv, "plain");
	csv_text(&csv, "a \"quote\"");
	csv_text(&csv, NULL);
	csv_text(&csv, "x,y");
	csv_us(&csv, 1002);
	csv_end_row(&csv);
	csv_format(&csv, "%d", 1);
	csv_end_row(&csv);
	assert_int_equal(csv_close(&csv), 0);
	snprintf(path, sizeof(path), "%s/cells.csv", folder);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	assert_string_equal(text, "a,b\nplain,\"a \"\"quote\"\"\",,\"x,y\",1.002\n1\n");
	unlink(path);
	assert_int_equal(csv_open(&csv, "/nonexistent", "cells.csv", NULL), -2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells),
		cmocka_unit_test(nothing_to_write),
		cmocka_unit_test(round_trip),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

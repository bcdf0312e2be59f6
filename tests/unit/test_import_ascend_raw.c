/* SPDX-License-Identifier: Apache-2.0 */
/* Raw logs of an Ascend device, in a "JOB*" folder of 2020, built by the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/import/importer.h"
#include "tests/unit/import_text.h"

static void put_record(uint8_t *record, unsigned int kind, uint16_t stream, uint16_t task,
		       uint64_t tick)
{
	memset(record, 0, 64);
	record[0] = (uint8_t)kind;
	record[2] = 0xd3;
	record[3] = 0x6b;
	memcpy(record + 6, &task, sizeof(task));
	memcpy(record + 8, &tick, sizeof(tick));
	memcpy(record + 16, &stream, sizeof(stream));
}

/* A task that ran twice, one with two starts, an extra end, an extra start, trailing zeros, a truncated record. */
static void test_raw_log(void **state)
{
	static const struct {
		unsigned int kind;
		uint16_t stream, task;
		uint64_t tick;
	} RECORDS[] = {
		{ 0x00, 513, 60002, 38771077493 }, { 0x11, 513, 60002, 38771077593 },
		{ 0x20, 513, 60002, 38771078000 }, { 0x30, 513, 7, 38771078001 },
		{ 0x41, 513, 60002, 38771078005 }, { 0x50, 513, 7, 38771078010 },
		{ 0x61, 513, 7, 38771078020 },	   { 0x71, 513, 7, 38771078030 },
		{ 0x80, 514, 9, 38771078040 },
	};
	uint8_t log[12 * 64] = { 0 };
	struct model *model;
	int error;

	for (size_t i = 0; i < sizeof(RECORDS) / sizeof(RECORDS[0]); i++)
		put_record(log + 64 * i, RECORDS[i].kind, RECORDS[i].stream, RECORDS[i].task,
			   RECORDS[i].tick);
	model = import_text("hwts.log.data.45.dev.profiler_default_tag.1.slice_0", log,
			    sizeof(log) - 10, &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.row[0].id, 1);
	assert_int_equal(model->tasks.count, 3);
	assert_int_equal(model->tasks.row[0].start_ns, 387710774930);
	assert_int_equal(model->tasks.row[0].end_ns, 387710775930);
	assert_int_equal(model->tasks.row[0].stream, 513);
	assert_string_equal(model_text(model, model->tasks.row[0].name), "stream 513 task 60002");
	/* Its last start counts. */
	assert_int_equal(model->tasks.row[2].start_ns, 387710780100);
	assert_int_equal(model->tasks.row[2].end_ns, 387710780200);
	assert_int_equal(model->findings.count, 2);
	model_free(model);
	import_same("hwts.log.data.45.dev.profiler_default_tag.1.slice_0", log, sizeof(log), false);
}

/* Writes records of each of @tasks on @stream, one after the other; returns the size. */
static size_t put_tasks(uint8_t *log, uint16_t stream, const uint16_t *tasks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		put_record(log + 128 * i, 0, stream, tasks[i], 1000 + 10 * i);
		put_record(log + 128 * i + 64, 1, stream, tasks[i], 1005 + 10 * i);
	}
	return 128 * count;
}

/* The framework numbers streams from another constant than the hardware; the reader finds the constant. */
static void test_names(void **state)
{
	static const uint16_t TASKS[] = { 30092, 30093, 30094 };
	char folder[] = "/tmp/test_import_raw.XXXXXX", command[96];
	uint8_t log[128 * 4];
	struct model *model;
	size_t size;

	assert_non_null(mkdtemp(folder));
	size = put_tasks(log, 519, TASKS, 3);
	/* The same task number on another stream, which has no operator under the constant that fits most tasks. */
	size += put_tasks(log + size, 700, TASKS, 1);
	import_write(folder, "hwts.log.data.45.dev.profiler_default_tag.1.slice_0", log, size);
	import_write_text(folder, "hwts.log.data.45.dev.profiler_default_tag.1.slice_0.done", "");
	import_write_text(folder, "Framework.host.vm.task_desc_info.1.slice_0",
			  "Default/AssignAdd-op414 1 30092 3\nDefault/net/Mul-op29 2 30093 3\n"
			  "no numbers\nDefault/net/Mul-op30 1 30094 4\nDefault/Cast-op1 1 x 3\n");
	model = import_take(folder);
	assert_int_equal(model->tasks.count, 4);
	assert_string_equal(model_text(model, model->tasks.row[0].name), "Default/AssignAdd-op414");
	assert_string_equal(model_text(model, model->tasks.row[0].type), "AssignAdd");
	assert_string_equal(model_text(model, model->tasks.row[1].name), "Default/net/Mul-op29");
	assert_int_equal(model_task_detail(model, &model->tasks.row[1])->blocks, 2);
	assert_string_equal(model_text(model, model->tasks.row[2].name), "stream 519 task 30094");
	assert_string_equal(model_text(model, model->tasks.row[3].name), "stream 700 task 30092");
	assert_int_equal(model->findings.count, 1); /* the log's mark and the names of tasks, which were read */
	assert_int_equal(model->findings.row[0].count, 2);
	model_free(model);
	/* Two constants fit equally well: none is used. */
	import_write_text(folder, "Framework.host.vm.task_desc_info.1.slice_0",
			  "Default/AssignAdd-op414 1 30092 3\nDefault/AssignAdd-op414 1 30092 4\n");
	model = import_take(folder);
	assert_string_equal(model_text(model, model->tasks.row[0].name), "stream 519 task 30092");
	assert_int_equal(model->findings.count, 2);
	model_free(model);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

/* A record and a task span slices, of which there are more than ten; another log starts again at slice 0. */
static void test_slices(void **state)
{
	char folder[] = "/tmp/test_import_raw.XXXXXX", command[96], name[96], path[192], words[512];
	uint8_t log[128 * 27];
	size_t size, part = 4 * 64 + 26;
	struct model *model = model_new();
	uint16_t tasks[27];

	for (uint16_t i = 0; i < 27; i++)
		tasks[i] = i + 1;
	size = put_tasks(log, 519, tasks, 27);
	assert_non_null(mkdtemp(folder));
	for (size_t at = 0, slice = 0; at < size; at += part, slice++) {
		snprintf(name, sizeof(name), "hwts.data.1.slice_%zu", slice);
		import_write(folder, name, log + at, size - at < part ? size - at : part);
		snprintf(name, sizeof(name), "hwts.data.1.slice_%zu.done", slice);
		import_write_text(folder, name, "");
	}
	put_tasks(log, 7, tasks, 2);
	import_write(folder, "hwts.data.2.slice_0", log, 256);
	assert_int_equal(import_device_file(model, folder, true, words, sizeof(words)), 0);
	assert_int_equal(import_finish(model, true), 0);
	assert_int_equal(model->tasks.count, 29);
	assert_int_equal(model->devices.count, 2);
	assert_int_equal(model->tasks.row[26].start_ns, 12600);
	assert_int_equal(model->tasks.row[26].end_ns, 12650);
	assert_string_equal(model_text(model, model->tasks.row[26].name), "stream 519 task 27");
	/* Each slice but the first is reported as a part of the log; the marks are one finding. */
	assert_int_equal(model->findings.count, 13);
	assert_non_null(strstr(model_text(model, model->findings.row[0].what), "slice of a log"));
	model_free(model);
	/* Any slice stands for all of them. */
	snprintf(path, sizeof(path), "%s/hwts.data.1.slice_10", folder);
	model = import_take(path);
	assert_int_equal(model->tasks.count, 27);
	assert_int_equal(model->findings.count, 0);
	model_free(model);
	/* Without one slice, the slices before and after it are separate logs. */
	snprintf(path, sizeof(path), "%s/hwts.data.1.slice_5", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/hwts.data.1.slice_0", folder);
	model = import_take(path);
	assert_int_equal(model->tasks.count, 11);
	assert_int_equal(model->findings.count, 1);
	model_free(model);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

static void put_point(uint8_t *record, uint16_t tag, uint16_t stream, uint64_t tick)
{
	memset(record, 0, 20);
	memcpy(record, &tag, sizeof(tag));
	memcpy(record + 10, &stream, sizeof(stream));
	memcpy(record + 12, &tick, sizeof(tick));
}

/* Reductions of two streams at the same time; an end without a begin; a step without a begin; a truncated record. */
static void test_steps(void **state)
{
	static const char name[] = "training_trace.46.dev.profiler_default_tag.3.slice_0";
	static const struct {
		uint16_t tag, stream;
		uint64_t tick;
	} POINTS[] = {
		{ 10010, 0, 1000 }, { 1, 0, 1100 },   { 3, 10, 1200 }, { 5, 11, 1210 },
		{ 6, 11, 1300 },    { 4, 10, 1310 },  { 2, 0, 1400 },  { 8, 10, 1410 },
		{ 255, 0, 1500 },   { 0, 0, 1600 },   { 2, 0, 1800 },  { 255, 0, 1900 },
		{ 1, 0, 2000 },	    { 255, 0, 2500 },
	};
	uint8_t log[16 * 20];
	const size_t count = sizeof(POINTS) / sizeof(POINTS[0]);
	const struct device_step *step;
	struct model *model;
	int error;

	memset(log, 0xff, sizeof(log));
	for (size_t i = 0; i < count; i++)
		put_point(log + 20 * i, POINTS[i].tag, POINTS[i].stream, POINTS[i].tick);
	model = import_text(name, log, 20 * count + 7, &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.row[0].id, 3);
	assert_int_equal(model->device_steps.count, 2);
	step = &model->device_steps.row[0];
	assert_int_equal(step->number, 1);
	assert_int_equal(step->fp_start_ns, 11000);
	assert_int_equal(step->bp_end_ns, 14000);
	assert_int_equal(step->end_ns, 15000);
	assert_int_equal(step->reduce_count, 2);
	assert_int_equal(model->device_reduces.row[0].stream, 11);
	assert_int_equal(model->device_reduces.row[0].end_ns, 13000);
	assert_int_equal(model->device_reduces.row[1].start_ns, 12000);
	assert_int_equal(model->device_reduces.row[1].end_ns, 13100);
	assert_int_equal(model->device_steps.row[1].number, 3);
	assert_int_equal(model->device_steps.row[1].bp_end_ns, 0);
	assert_int_equal(model->findings.count, 3);
	model_free(model);
	import_same(name, log, 20 * count, false);
}

static void put_run(uint8_t *record, uint16_t stream, uint16_t task, uint64_t start, uint64_t end)
{
	static const uint16_t magic = 0x5a5a;
	const uint32_t us[2] = { 3, 25 }; /* time until dispatch; total time */

	memset(record, 0xee, 128);
	memcpy(record, &magic, sizeof(magic));
	memcpy(record + 4, &stream, sizeof(stream));
	memcpy(record + 6, &task, sizeof(task));
	memcpy(record + 16, &start, sizeof(start));
	memcpy(record + 56, &end, sizeof(end));
	memcpy(record + 108, us, sizeof(us));
}

static double metric(const struct model *model, const struct device_task *task, const char *name)
{
	const struct task_detail *detail = model_task_detail(model, task);

	for (uint32_t i = 0; i < detail->metric_count; i++) {
		const struct task_metric *at = &model->task_metrics.row[detail->first_metric + i];

		if (strcmp(model_text(model, at->name), name) == 0)
			return at->value;
	}
	return -1;
}

#define AICPU "DATA_PREPROCESS.dev.AICPU.45.dev.profiler_default_tag.1.slice_0"

/*
 * A task that the hardware's log has, two runs, one that the log has at another time, one that ends before it begins,
 * a truncated record.
 */
static void test_aicpu(void **state)
{
	char folder[] = "/tmp/test_import_raw.XXXXXX", command[96];
	const uint16_t tasks[] = { 7, 8 };
	uint8_t log[5 * 128];
	struct model *model;
	int error;

	put_run(log, 3, 7, 1001, 1004);
	put_run(log + 128, 3, 7, 1002, 1003);
	put_run(log + 256, 3, 7, 2000, 2100);
	put_run(log + 384, 3, 9, 300, 200);
	put_run(log + 512, 3, 9, 300, 400);
	model = import_text(AICPU, log, sizeof(log) - 8, &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.row[0].id, 1);
	assert_int_equal(model->tasks.count, 3);
	assert_int_equal(model->tasks.row[2].start_ns, 20000);
	assert_int_equal(model->tasks.row[2].end_ns, 21000);
	assert_int_equal(model->tasks.row[2].stream, 3);
	assert_string_equal(model_text(model, model->tasks.row[2].name), "stream 3 task 7");
	assert_string_equal(model_text(model, model->tasks.row[2].core), "AI_CPU");
	assert_true(metric(model, &model->tasks.row[2], "Dispatch_time(us)") == 3);
	assert_true(metric(model, &model->tasks.row[2], "Total_time(us)") == 25);
	assert_int_equal(model->findings.count, 2);
	model_free(model);
	import_same(AICPU, log, sizeof(log), false);

	assert_non_null(mkdtemp(folder));
	import_write(folder, AICPU, log, 3 * 128);
	put_tasks(log, 519, tasks, 2);
	import_write(folder, "hwts.log.data.45.dev.profiler_default_tag.1.slice_0", log, 256);
	model = import_take(folder);
	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->tasks.count, 3);
	assert_string_equal(model_text(model, model->tasks.row[0].core), "AI_CPU");
	assert_int_equal(model->tasks.row[0].start_ns, 10000);
	assert_int_equal(model->tasks.row[1].core, 0);
	assert_int_equal(model->tasks.row[2].start_ns, 20000);
	assert_int_equal(model->findings.count, 1);
	model_free(model);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

/* Text logs from before binary records: MindSpore's own kernel, another one, a node without its thread. */
static void test_aicpu_text(void **state)
{
	static const char text[] =
		"[0]Node:InitData, Run start:11 1100, Run end:12 1300\n\0"
		"[0]Thread:1, device:1, submit:0, schedule:0, ticks:0, dispatch_time=70 us, total_time=215 us\n\0"
		"[1]Node:Default/network/Cast-op12, Run start:13 1400, compute start:0, memcpy start:0, memcpy end:0, "
		"Run end:14 1500\n\0"
		"[1]Thread:2, device:1, submit:0, schedule:0, ticks:0, dispatch_time=1 us, total_time=2 us\n\0"
		"[2]Node:Lost, Run start:15 1600, Run end:16 1700\n\0"
		"[3]Node:Default/Print-op1, Run start:15 x, Run end:16 1700\n\0"
		"[3]Thread:2, device:1, submit:0, schedule:0, ticks:0, dispatch_time=1 us, total_time=2 us\n\0";
	struct model *model;
	int error;

	model = import_text("DATA_PREPROCESS.AICPU.2.slice_0", text, sizeof(text) - 1, &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.row[0].id, 2);
	assert_int_equal(model->tasks.count, 2);
	assert_string_equal(model_text(model, model->tasks.row[0].name), "InitData");
	assert_int_equal(model->tasks.row[0].start_ns, 11000);
	assert_int_equal(model->tasks.row[0].end_ns, 13000);
	assert_true(metric(model, &model->tasks.row[0], "Total_time(us)") == 215);
	assert_string_equal(model_text(model, model->tasks.row[1].name), "Default/network/Cast-op12");
	assert_string_equal(model_text(model, model->tasks.row[1].type), "Cast");
	assert_int_equal(model->findings.row[0].count, 2);
	model_free(model);
	import_same("DATA_PREPROCESS.AICPU.2.slice_0", text, sizeof(text) - 1, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raw_log),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_aicpu),
		cmocka_unit_test(test_aicpu_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A device's steps, from each source, with known parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/cli/command_line.h"
#include "analyzer/cli/step_window.h"
#include "tests/unit/small_model.h"

#define KERNEL PROFBPF__DEVICE_TASKS__KIND__KERNEL
#define COMMUNICATION PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION
#define STEPS 5
#define STEP_NS 1000

static struct device_task *add(struct model *model, const char *name, uint64_t start_ns,
			       uint64_t end_ns, uint8_t kind, uint64_t stream)
{
	struct device_task *task = small_task(model, 0, start_ns, end_ns);

	task->name = model_string(model, name);
	task->kind = kind;
	task->stream = stream;
	return task;
}

/*
 * Each step, from 10,000 + 1,000 n: conv 100-300, grad 300-600, a collective on stream 8 from 550 to
 * 700 (600 to 700 is after grad), another on stream 9 from 610 to 640, optimizer 700-800 (in the first step
 * to 850). 300 ns of gap before each.
 */
static struct model *make_model(void)
{
	struct model *model = small_model(0, 100000);

	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t at_ns = 10000 + i * STEP_NS;

		add(model, "conv", at_ns + 100, at_ns + 300, KERNEL, 1);
		add(model, "grad", at_ns + 300, at_ns + 600, KERNEL, 1);
		add(model, "allReduce", at_ns + 550, at_ns + 700, COMMUNICATION, 8);
		add(model, "allReduce", at_ns + 610, at_ns + 640, COMMUNICATION, 9);
		add(model, "optimizer", at_ns + 700, at_ns + (i ? 800 : 850), KERNEL, 1);
	}
	small_index(model);
	return model;
}

static void check_rows(const struct device_step_trace *trace)
{
	assert_int_equal(trace->count, STEPS);
	for (uint32_t i = 0; i < STEPS; i++) {
		const struct device_step_row *row = &trace->rows[i];
		uint64_t at_ns = 10000 + i * STEP_NS;

		assert_int_equal(row->fp_start_ns, at_ns + 100);
		assert_int_equal(row->end_ns, at_ns + (i ? 800 : 850));
		assert_int_equal(row->bp_end_ns, at_ns + 600);
		assert_int_equal(row->fp_bp_ns, 500);
		assert_int_equal(row->tail_ns, i ? 200 : 250);
		assert_int_equal(row->gap_ns, i == 0 ? 0 : i == 1 ? 250 : 300);
		assert_int_equal(row->gap_ns + row->fp_bp_ns + row->tail_ns,
				 row->end_ns - row->start_ns);
		assert_int_equal(row->busy_ns, i ? 700 : 750);
		assert_int_equal(row->reduce_count, 2);
		assert_int_equal(trace->reduces[row->first_reduce].stream, 8);
		assert_int_equal(trace->reduces[row->first_reduce].total_ns, 150);
		assert_int_equal(trace->reduces[row->first_reduce + 1].stream, 9);
		assert_int_equal(trace->reduces[row->first_reduce + 1].total_ns, 30);
	}
}

/* Means without the first step: gaps of 250, 300, 300, 300. */
static void check_means(const struct device_step_trace *trace)
{
	assert_int_equal(trace->means.steps, STEPS - 1);
	assert_int_equal(trace->means.bp_steps, STEPS - 1);
	assert_true(trace->means.gap_ns == 287.5);
	assert_true(trace->means.duration_ns == 987.5);
	assert_true(trace->means.fp_bp_ns == 500);
	assert_true(trace->means.tail_ns == 200);
	assert_true(trace->means.busy_ns == 700);
	assert_int_equal(trace->mean_reduce_count, 2);
	assert_int_equal(trace->mean_reduces[0].total_ns, 150 * (STEPS - 1));
	assert_int_equal(trace->mean_reduces[1].count, STEPS - 1);
}

static struct device_step_results find(const struct model *model,
				       const struct analysis_options *options)
{
	struct device_step_results results;

	assert_int_equal(device_steps_analyse(model, options, NULL, &results), 0);
	return results;
}

static void inferred(void **state)
{
	static const struct analysis_options options;
	struct model *model = make_model();
	struct device_step_results results = find(model, &options);

	assert_int_equal(results.count, 1);
	assert_int_equal(results.main, 0);
	assert_int_equal(results.traces[0].source, STEPS_DEVICE);
	assert_string_equal(step_source_name(results.traces[0].source), "inferred");
	assert_true(results.traces[0].confidence == 100);
	assert_string_equal(model_text(model, results.traces[0].fp_name), "conv");
	check_rows(&results.traces[0]);
	check_means(&results.traces[0]);
	device_steps_free(&results);
	model_free(model);
}

static void by_points(void **state)
{
	struct analysis_options options = { .fp_point = "conv", .bp_point = "GRAD" };
	struct model *model = make_model();
	struct device_step_results results = find(model, &options);

	assert_int_equal(results.traces[0].source, STEPS_POINTS);
	check_rows(&results.traces[0]);
	check_means(&results.traces[0]);
	device_steps_free(&results);
	options = (struct analysis_options){ .fp_point = "grad", .bp_point = "grad" };
	results = find(model, &options);
	/* A task that runs before the next point belongs to the step: the step ends when conv does. */
	assert_int_equal(results.traces[0].rows[1].gap_ns, 0);
	device_steps_free(&results);
	options = (struct analysis_options){ .fp_point = "no such kernel" };
	results = find(model, &options);
	assert_int_equal(results.count, 0);
	assert_int_equal(results.main, INDEX_NONE);
	device_steps_free(&results);
	model_free(model);
}

/* The host's marks are earlier than the tasks enqueued after them: the instants of enqueuing count. */
static void by_marks(void **state)
{
	static const struct analysis_options options;
	struct model *model = make_model();
	struct device_step_results results;

	for (uint32_t i = 0; i < model->tasks.count; i++)
		model->tasks.row[i].enqueue_ns = model->tasks.row[i].start_ns - 5000;
	for (uint64_t i = STEPS; i-- > 0;) {
		struct step_mark mark = { .number = 7 + i,
					  .start_ns = 5000 + i * STEP_NS,
					  .end_ns = 5900 + i * STEP_NS,
					  .process = INDEX_NONE,
					  .device = INDEX_NONE };

		assert_true(MODEL_PUSH(&model->step_marks, mark));
	}
	results = find(model, &options);
	assert_int_equal(results.traces[0].source, STEPS_MARKS);
	assert_int_equal(results.traces[0].rows[0].number, 7);
	check_rows(&results.traces[0]);
	device_steps_free(&results);
	model_free(model);
}

/* Marks of another process than the device's are not its steps; a mark without a process, or any mark, may be. */
static void by_marks_of_processes(void **state)
{
	static const struct analysis_options options;

	for (int known = 0; known < 2; known++) {
		struct model *model = make_model();
		uint32_t own = small_process(model, 1, "own", true), other = small_process(model, 2, "other", true);
		struct device_step_results results;

		model->devices.row[0].process = known ? own : INDEX_NONE;
		for (uint64_t i = 0; i < STEPS; i++) {
			struct step_mark mark = { .number = i,
						  .start_ns = 10000 + i * STEP_NS,
						  .end_ns = 10900 + i * STEP_NS,
						  .process = i < 2 ? other : i < 3 ? own : INDEX_NONE,
						  .device = INDEX_NONE };

			assert_true(MODEL_PUSH(&model->step_marks, mark));
		}
		results = find(model, &options);
		assert_int_equal(results.traces[0].source, STEPS_MARKS);
		assert_int_equal(results.traces[0].count, known ? 3 : STEPS);
		assert_int_equal(results.traces[0].rows[0].number, known ? 2 : 0);
		device_steps_free(&results);
		model_free(model);
	}
}

/* Marks of another device file are not its steps, though neither file says which process the device has. */
static void by_marks_of_files(void **state)
{
	static const struct analysis_options options;

	for (uint32_t file = 0; file < 3; file++) {
		struct model *model = make_model();
		struct device_step_results results;

		model->devices.row[0].file = file;
		for (uint64_t i = 0; i < STEPS; i++) {
			struct step_mark mark = { .number = i,
						  .start_ns = 10000 + i * STEP_NS,
						  .end_ns = 10900 + i * STEP_NS,
						  .process = INDEX_NONE,
						  .device = INDEX_NONE,
						  .file = i < 2 ? 1 : i < 3 ? 2 : 0 };

			assert_true(MODEL_PUSH(&model->step_marks, mark));
		}
		results = find(model, &options);
		assert_int_equal(results.traces[0].source, STEPS_MARKS);
		assert_int_equal(results.traces[0].count, STEPS - (file == 1 ? 1 : file == 2 ? 2 : 0));
		assert_int_equal(results.traces[0].rows[0].number, file == 2 ? 2 : 0);
		device_steps_free(&results);
		model_free(model);
	}
}

static void by_numbers_of_tasks(void **state)
{
	static const struct analysis_options options;
	struct model *model = make_model();
	struct device_step_results results;

	for (uint32_t i = 0; i < model->tasks.count; i++) {
		struct task_detail detail = { .step = 40 + (model->tasks.row[i].start_ns - 10000) /
								   STEP_NS };

		assert_true(MODEL_PUSH(&model->task_details, detail));
		model->tasks.row[i].detail = model->task_details.count;
	}
	results = find(model, &options);
	assert_int_equal(results.traces[0].source, STEPS_MARKS);
	assert_int_equal(results.traces[0].rows[4].number, 44);
	check_rows(&results.traces[0]);
	device_steps_free(&results);
	model_free(model);
}

/* The file's steps take precedence, also for a device without tasks; the end of the backward pass may be absent. */
static void by_file(void **state)
{
	static const struct analysis_options options;
	struct model *model = small_model(0, 100000);
	struct device_reduce reduce = { .start_ns = 150, .end_ns = 170, .stream = 3 };
	struct device_step steps[] = {
		{ .number = 2, .fp_start_ns = 220, .end_ns = 300 },
		{ .number = 1,
		  .fp_start_ns = 100,
		  .bp_end_ns = 180,
		  .end_ns = 200,
		  .reduce_count = 1 },
		{ .number = 3, .fp_start_ns = 500, .end_ns = 400 },
	};
	struct device_step_results results;
	const struct device_step_trace *trace;

	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	assert_true(MODEL_PUSH(&model->device_reduces, reduce));
	for (int i = 0; i < 3; i++)
		assert_true(MODEL_PUSH(&model->device_steps, steps[i]));
	results = find(model, &options);
	trace = &results.traces[0];
	assert_int_equal(trace->source, STEPS_FILE);
	assert_int_equal(trace->count, 2);
	assert_int_equal(trace->rows[0].number, 1);
	assert_int_equal(trace->rows[0].tail_ns, 20);
	assert_int_equal(trace->reduces[trace->rows[0].first_reduce].total_ns, 20);
	assert_int_equal(trace->rows[1].gap_ns, 20);
	assert_int_equal(trace->rows[1].bp_end_ns, 0);
	assert_int_equal(trace->means.steps, 1);
	assert_int_equal(trace->means.bp_steps, 0);
	device_steps_free(&results);
	model_free(model);
}

/* Random names make no steps. */
static void no_steps(void **state)
{
	static const struct analysis_options options;
	struct model *model = small_model(0, 100000);
	struct device_step_results results;
	uint32_t random = 1;

	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	for (uint64_t i = 0; i < 60; i++) {
		char name[2] = "a";

		random = random * 1103515245 + 12345;
		name[0] = (char)('a' + random / 65536 % 8);
		add(model, name, 1000 + i * 10, 1008 + i * 10, KERNEL, 1);
	}
	small_index(model);
	results = find(model, &options);
	assert_int_equal(results.count, 0);
	device_steps_free(&results);
	model_free(model);
}

/* An optimizer that repeats the same work for each tensor does not make many steps of training. */
static void repetition_inside(void **state)
{
	static const struct analysis_options options;
	struct model *model = small_model(0, 100000);
	struct device_step_results results;

	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	for (uint64_t i = 0; i < 60; i++) {
		char name[16];

		snprintf(name, sizeof(name), "layer%d", (int)i);
		add(model, name, 1000 + i * 10, 1008 + i * 10, KERNEL, 1);
	}
	for (uint64_t i = 0; i < 10; i++) {
		add(model, "mul", 2000 + i * 20, 2008 + i * 20, KERNEL, 1);
		add(model, "add", 2010 + i * 20, 2018 + i * 20, KERNEL, 1);
	}
	small_index(model);
	results = find(model, &options);
	assert_int_equal(results.count, 0);
	device_steps_free(&results);
	model_free(model);
}

static void window_of_steps(void **state)
{
	struct model *model = make_model();
	struct analysis_options options = { .has_steps = true };
	struct device_step_results results;
	char error[256] = "";

	assert_true(parse_steps("1..2", &options.first_step, &options.last_step));
	assert_int_equal(step_window_find(model, &options, error, sizeof(error)), 0);
	assert_int_equal(options.from_ns, 10850);
	assert_int_equal(options.to_ns, 12800);
	results = find(model, &options);
	assert_int_equal(results.traces[0].count, 2);
	assert_int_equal(results.traces[0].rows[0].number, 1);
	assert_int_equal(results.traces[0].means.steps, 2);
	device_steps_free(&results);
	options = (struct analysis_options){ .has_steps = true, .first_step = 5, .last_step = 9 };
	assert_int_equal(step_window_find(model, &options, error, sizeof(error)), -2);
	assert_string_equal(error, "no such step: the steps are 0 to 4");
	assert_true(parse_steps("3", &options.first_step, &options.last_step));
	assert_int_equal(options.last_step, 3);
	assert_false(parse_steps("3..2", &options.first_step, &options.last_step));
	assert_false(parse_steps("..2", &options.first_step, &options.last_step));
	assert_false(parse_steps("3..", &options.first_step, &options.last_step));
	assert_false(parse_steps("3-4", &options.first_step, &options.last_step));
	model_free(model);
}

/* The evidence of a loop is shown for loops only. */
static void sources_in_words(void **state)
{
	static const struct { enum step_source source; const char *text; } cases[] = {
		{ STEPS_POINTS, "the operators given" },
		{ STEPS_FILE, "the device file" },
		{ STEPS_MARKS, "the framework's marks" },
		{ STEPS_TRAINER, "the trainer's fetches" },
		{ STEPS_HOST, "the host's loop, by copies to the device" },
		{ STEPS_DEVICE, "what the device did, by copies to the device" },
		{ STEPS_REPETITION, "what repeats" },
	};
	char text[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		step_source_text(cases[i].source, LOOP_BY_FEED, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
}

/* An evaluation inside of epochs may fetch more batches than the training does: its fetches are no steps, if both are known. */
static void training_first(void **state)
{
	struct pipeline pipelines[2] = { { .evaluates = true }, { 0 } };
	struct pipeline_usage usages[2] = { { .pipeline = &pipelines[0] }, { .pipeline = &pipelines[1] } };
	struct pipeline_steps steps[2] = { { &usages[0], NULL, 9 }, { &usages[1], NULL, 3 } };

	assert_false(steps_precede(&steps[0], &steps[1]));
	assert_true(steps_precede(&steps[1], &steps[0]));
	assert_true(steps_precede(&steps[0], NULL));
	pipelines[0].evaluates = false;
	assert_true(steps_precede(&steps[0], &steps[1]));
	assert_false(steps_precede(&steps[1], &steps[0]));
	pipelines[0].evaluates = true;
	steps[1].count = 0;
	assert_true(steps_precede(&steps[0], &steps[1]));
	assert_false(steps_precede(&steps[1], NULL));
}

/* Two jobs with a device and a pipeline each: the steps of each device are the fetches of its own process. */
static void by_own_fetches(void **state)
{
	static const struct analysis_options options;
	static const uint64_t LENGTHS[] = { 1000, 2000 };
	struct model *model = small_model(0, 100000);
	struct step rows[2][STEPS];
	struct pipeline pipelines[2] = { 0 };
	struct pipeline_usage usages[2] = { 0 };
	struct pipeline_steps steps[2] = { 0 };
	struct step_results trainer = { steps, 2, 0 };
	struct device_step_results results;

	for (uint32_t job = 0; job < 2; job++) {
		pipelines[job].process = small_process(model, 100 + job, "job", true);
		usages[job].pipeline = &pipelines[job];
		steps[job] = (struct pipeline_steps){ &usages[job], rows[job], STEPS - job };
		small_device(model, pipelines[job].process, "npu",
			     PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
		for (uint32_t i = 0; i < STEPS - job; i++) {
			uint64_t at_ns = 10000 + i * LENGTHS[job];

			rows[job][i] = (struct step){ i, at_ns, LENGTHS[job], 0, INDEX_NONE };
			small_task(model, job, at_ns + 100, at_ns + 200)->kind = KERNEL;
		}
	}
	small_index(model);
	assert_int_equal(device_steps_analyse(model, &options, &trainer, &results), 0);
	assert_int_equal(results.count, 2);
	for (uint32_t job = 0; job < 2; job++) {
		assert_int_equal(results.traces[job].source, STEPS_TRAINER);
		assert_int_equal(results.traces[job].count, STEPS - job);
		assert_int_equal(results.traces[job].rows[1].host_ns, 10000 + LENGTHS[job]);
	}
	device_steps_free(&results);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inferred),	     cmocka_unit_test(by_points),
		cmocka_unit_test(by_marks),	     cmocka_unit_test(by_marks_of_processes),
		cmocka_unit_test(by_marks_of_files),
		cmocka_unit_test(by_numbers_of_tasks),
		cmocka_unit_test(by_file),	     cmocka_unit_test(no_steps),
		cmocka_unit_test(repetition_inside), cmocka_unit_test(window_of_steps),
		cmocka_unit_test(sources_in_words),  cmocka_unit_test(by_own_fetches),
		cmocka_unit_test(training_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

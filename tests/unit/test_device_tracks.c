/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a device in timelines besides tasks: steps, scopes, overlap, and groups of streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/export/timeline/device_tracks.h"
#include "tests/unit/small_model.h"

#define KERNEL PROFBPF__DEVICE_TASKS__KIND__KERNEL
#define COMMUNICATION PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION
#define TASKS 6

static void add(struct model *model, const char *name, const char *core, uint64_t start_ns,
		uint64_t end_ns, uint8_t kind)
{
	struct device_task *task = small_task(model, 0, start_ns, end_ns);

	task->name = model_string(model, name);
	task->core = model_string(model, core);
	task->kind = kind;
}

/* a/b 100-200 and 150-250, a/c from 240, another a/c below d, no scope, a collective from 350 to 500. */
static struct model *make_model(void)
{
	struct model *model = small_model(0, 10000);

	small_device(model, INDEX_NONE, "npu", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	add(model, "a/b/Add", "AI_CORE", 100, 200, KERNEL);
	add(model, "a/b/Mul", "AI_CPU", 150, 250, KERNEL);
	add(model, "a/c/Mul", "AI_CORE", 240, 300, KERNEL);
	add(model, "hcom_allReduce", "COMMUNICATION", 350, 500, COMMUNICATION);
	add(model, "d/c/Mul", "AI_CORE", 400, 450, KERNEL);
	add(model, "plain", "AI_CORE", 600, 700, KERNEL);
	small_index(model);
	return model;
}

static struct device_tracks build(struct model *model, const struct export_options *options)
{
	static const uint32_t order[TASKS] = { 0, 1, 2, 3, 4, 5 };
	struct device_tracks tracks;

	assert_int_equal(device_tracks_build(model, options, 0, order, TASKS, &tracks), 0);
	return tracks;
}

static const struct device_track *find(const struct device_tracks *tracks, const char *name)
{
	for (uint32_t i = 0; i < tracks->count; i++) {
		if (strcmp(tracks->track[i].name, name) == 0)
			return &tracks->track[i];
	}
	return NULL;
}

static void check(const struct device_tracks *tracks, const struct device_track *track, uint32_t row,
		  uint64_t start_ns, uint64_t end_ns, const char *text)
{
	assert_in_range(row, 0, track->count - 1);
	assert_int_equal(track->row[row].start_ns, start_ns);
	assert_int_equal(track->row[row].end_ns, end_ns);
	assert_string_equal(string_table_get(tracks->texts, track->row[row].text), text);
}

static void overlap(void **state)
{
	static const struct export_options options;
	struct model *model = make_model();
	struct device_tracks tracks = build(model, &options);
	const struct device_track *track = find(&tracks, "Computing");

	assert_int_equal(tracks.count, 4);
	assert_int_equal(track->count, 3);
	check(&tracks, track, 0, 100, 300, "Computing");
	check(&tracks, track, 1, 400, 450, "Computing");
	track = find(&tracks, "Communication(Not Overlapped)");
	assert_int_equal(track->count, 2);
	check(&tracks, track, 0, 350, 400, "Communication(Not Overlapped)");
	check(&tracks, track, 1, 450, 500, "Communication(Not Overlapped)");
	track = find(&tracks, "Free");
	assert_int_equal(track->count, 2);
	check(&tracks, track, 0, 300, 350, "Free");
	check(&tracks, track, 1, 500, 600, "Free");
	device_tracks_free(&tracks);
	model_free(model);
}

static void scopes(void **state)
{
	static const struct export_options options = { .scope_depth = 5 };
	struct model *model = make_model();
	struct device_tracks tracks = build(model, &options);
	const struct device_track *track = find(&tracks, "Scope 1");

	assert_int_equal(track->count, 2);
	check(&tracks, track, 0, 100, 300, "a");
	check(&tracks, track, 1, 400, 450, "d");
	track = find(&tracks, "Scope 2");
	assert_int_equal(track->count, 3);
	check(&tracks, track, 0, 100, 240, "b");
	check(&tracks, track, 1, 240, 300, "c");
	check(&tracks, track, 2, 400, 450, "c");
	assert_null(find(&tracks, "Scope 3"));
	device_tracks_free(&tracks);
	model_free(model);
}

static void steps(void **state)
{
	struct device_step_row rows[] = {
		{ .number = 7, .start_ns = 100, .fp_start_ns = 100, .bp_end_ns = 300, .end_ns = 320 },
		{ .number = 8, .start_ns = 320, .fp_start_ns = 330, .end_ns = 700 },
		{ .number = 9, .start_ns = 650, .fp_start_ns = 660, .bp_end_ns = 680, .end_ns = 900 },
	};
	struct device_step_trace trace = { .rows = rows, .count = 3 };
	struct device_step_results results = { .traces = &trace, .count = 1 };
	const struct export_options options = { .steps = &results };
	struct model *model = make_model();
	struct device_tracks tracks = build(model, &options);
	const struct device_track *track = find(&tracks, "Steps");

	assert_int_equal(track->count, 6);
	check(&tracks, track, 0, 100, 320, "Step 7");
	check(&tracks, track, 1, 100, 300, "FP_BP Time");
	check(&tracks, track, 2, 300, 320, "Iteration Refresh");
	assert_int_equal(track->row[2].depth, 1);
	/* The end of its backward pass is unknown. */
	check(&tracks, track, 3, 320, 700, "Step 8");
	check(&tracks, track, 4, 320, 330, "Data_aug Bound");
	/* It began before the previous step had ended. */
	check(&tracks, track, 5, 700, 900, "Step 9");
	device_tracks_free(&tracks);
	model_free(model);
}

static void groups(void **state)
{
	static const uint32_t kernels[] = { 0, 1 }, others[] = { 3 };
	struct model *model = make_model();

	assert_true(device_is_grouped(model, kernels, 2));
	assert_false(device_is_grouped(model, others, 1));
	assert_int_equal(task_group(model, &model->tasks.row[0]), GROUP_AI_CORE);
	assert_int_equal(task_group(model, &model->tasks.row[1]), GROUP_AI_CPU);
	assert_int_equal(task_group(model, &model->tasks.row[3]), GROUP_COMMUNICATION);
	assert_string_equal(task_group_name(GROUP_HOST_CPU), "Host CPU");
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overlap),
		cmocka_unit_test(scopes),
		cmocka_unit_test(steps),
		cmocka_unit_test(groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/idle_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct scene scene_make(void)
{
	struct scene scene = { .model = small_model(0, 1000 * US) };
	struct model *model = scene.model;
	uint32_t other;
	struct device_task *task;

	scene.process = small_process(model, 100, "job", true);
	scene.main = small_thread(model, scene.process, 100, "main");
	scene.worker = small_thread(model, scene.process, 101, "worker");
	other = small_process(model, 200, "other", false);
	scene.outsider = small_thread(model, other, 200, "outsider");
	scene.sync = small_function(model, "opencl", "clFinish", PROFBPF__FUNCTION__KIND__SYNC);
	scene.launch = small_function(model, "opencl", "clEnqueueNDRangeKernel",
				      PROFBPF__FUNCTION__KIND__LAUNCH);
	small_device(model, scene.process, "the device", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	small_task(model, 0, 50 * US, 100 * US);
	task = small_task(model, 0, 200 * US, 300 * US);
	task->thread = scene.main;
	task->enqueue_ns = 181 * US;
	task->enqueue_dur_ns = 8 * US;
	task->submit_ns = 185 * US;
	return scene;
}

void scene_compute(struct scene *scene)
{
	const struct analysis_options options = { 0 };
	const struct idle_result *idle = &scene->results.idle;
	uint64_t totals_ns = 0;

	small_index(scene->model);
	assert_int_equal(device_results_compute(scene->model, &options, &scene->results), 0);
	for (uint32_t i = 0; i < idle->total_count; i++)
		totals_ns += idle->totals[i].ns;
	assert_int_equal(totals_ns, idle->total_ns);
}

void scene_end(struct scene *scene)
{
	device_results_free(&scene->results);
	model_free(scene->model);
}

void scene_expect(struct scene *scene, uint32_t part, uint64_t start_us, uint64_t end_us,
		  uint8_t cause, const char *who, const char *detail)
{
	const struct idle_result *idle = &scene->results.idle;
	const struct idle_part *row;

	assert_int_equal(idle->gap_count, 1);
	assert_true(part < idle->gaps[0].part_count);
	row = &idle->gaps[0].parts[part];
	assert_int_equal(row->start_ns, start_us * US);
	assert_int_equal(row->end_ns, end_us * US);
	assert_string_equal(idle_cause_name(row->cause), idle_cause_name(cause));
	if (who)
		assert_string_equal(model_text(scene->model, row->who), who);
	if (detail)
		assert_string_equal(model_text(scene->model, row->detail), detail);
}

void scene_expect_parts(struct scene *scene, uint32_t count)
{
	assert_int_equal(scene->results.idle.gaps[0].part_count, count);
}

void scene_main_launches(struct scene *scene, uint64_t from_us)
{
	small_span(scene->model, scene->main, from_us * US, 1000 * US, STATE_RUNNING);
	small_call(scene->model, scene->main, scene->launch, 180 * US, 190 * US);
}

void scene_main_waits(struct scene *scene, uint32_t waker)
{
	small_sleep(scene->model, scene->main, 0, 170 * US, FUTEX, waker, 0);
	scene_main_launches(scene, 170);
}

void scene_compute_roots(struct scene *scene)
{
	const struct idle_roots *roots;
	uint64_t ns = 0, causes_ns = 0;

	scene_compute(scene);
	roots = scene->results.idle.roots;
	for (uint32_t i = 0; i < roots->count; i++) {
		const struct idle_root *row = &roots->row[i];

		ns += row->ns;
		assert_true(row->hop_count > 0 && row->hop_count <= ROOT_DEPTH_MAX);
		assert_int_equal(row->hops[row->hop_count - 1].cause,
				 row->root.cause);
		assert_true(row->hops[0].ns <= row->ns);
		assert_true(i == 0 || row->ns <= roots->row[i - 1].ns);
	}
	for (int i = 0; i < IDLE_CAUSES; i++)
		causes_ns += roots->cause_ns[i];
	assert_int_equal(ns, scene->results.idle.total_ns);
	assert_int_equal(causes_ns, ns);
	assert_int_equal(roots->total_ns, ns);
}

const struct idle_root *scene_root(const struct scene *scene, uint8_t cause, uint32_t who)
{
	const struct idle_roots *roots = scene->results.idle.roots;

	for (uint32_t i = 0; i < roots->count; i++) {
		const struct root *root = &roots->row[i].root;

		if (root->cause == cause && (who == INDEX_NONE || root->who == who))
			return &roots->row[i];
	}
	fail_msg("no root of cause %s", idle_cause_name(cause));
	return NULL;
}

void scene_expect_chain(const struct idle_root *row, uint32_t count,
			 const uint32_t *threads)
{
	assert_int_equal(row->hop_count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(row->hops[i].thread, threads[i]);
}

uint32_t scene_frame(struct model *model, const char *name, const char *path)
{
	struct code_file file = { .path = path ? model_string(model, path) : 0 };
	struct code_frame frame = { .name = name ? model_string(model, name) : 0,
				    .file = path ? model->code_files.count : INDEX_NONE,
				    .kind = PROFBPF__STACKS__KIND__USER };

	assert_true(!path || MODEL_PUSH(&model->code_files, file));
	assert_true(MODEL_PUSH(&model->code_frames, frame));
	return model->code_frames.count - 1;
}

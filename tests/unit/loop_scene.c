/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/loop_scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

void loop_scene_begin(struct loop_scene *scene, unsigned int known)
{
	struct model *model = small_model(0, 1000000000000ull);

	*scene = (struct loop_scene){ .model = model, .known = known, .now_ns = 1000000 };
	scene->process = small_process(model, 100, "job", true);
	scene->thread = small_thread(model, scene->process, 100, "main");
	small_device(model, known & HOST ? scene->process : INDEX_NONE, "gpu",
		     PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
#define FUNCTION(name, kind) small_function(model, "cuda", name, PROFBPF__FUNCTION__KIND__##kind)
	scene->launch = FUNCTION("cudaLaunchKernel", LAUNCH);
	scene->copy_in = FUNCTION("cuMemcpyHtoDAsync_v2", COPY);
	scene->copy_out = FUNCTION("cuMemcpyDtoH_v2", COPY);
	scene->sync = FUNCTION("cudaStreamSynchronize", SYNC);
	scene->collective = FUNCTION("ncclAllReduce", COLLECTIVE);
	scene->graph = FUNCTION("cudaGraphLaunch", LAUNCH);
	scene->push = FUNCTION("nvtxRangePushA", MARKER);
	scene->pop = FUNCTION("nvtxRangePop", MARKER);
	scene->mark = FUNCTION("record_function_enter_new", MARKER);
	scene->leave = FUNCTION("record_function_exit_new", MARKER);
}

struct call *loop_scene_call(struct loop_scene *scene, uint32_t function, const char *text,
			     uint64_t ns)
{
	struct model *model = scene->model;
	uint32_t row =
		small_call(model, scene->thread, function, scene->now_ns, scene->now_ns + ns);

	scene->now_ns += ns + 500;
	model->calls.row[row].text = text ? model_string(model, text) : 0;
	if (!(scene->known & HOST))
		model->calls.count--;
	return &model->calls.row[row];
}

void loop_scene_task(struct loop_scene *scene, const char *name, uint8_t kind, uint64_t enqueue_ns,
		     uint64_t ns)
{
	uint64_t start_ns = enqueue_ns + 2 * US;
	struct device_task *row;

	if (start_ns < scene->free_ns)
		start_ns = scene->free_ns;
	scene->free_ns = start_ns + ns;
	row = small_task(scene->model, 0, start_ns, scene->free_ns);
	row->name = model_string(scene->model, name);
	row->kind = kind;
	if (scene->known & HOST) {
		row->enqueue_ns = enqueue_ns;
		row->thread = scene->thread;
	}
	if (!(scene->known & DEVICE))
		scene->model->tasks.count--;
}

void loop_scene_submit(struct loop_scene *scene, uint32_t function, const char *name, uint8_t kind,
		       uint64_t ns)
{
	uint64_t enqueue_ns = scene->now_ns + 100;

	loop_scene_call(scene, function, name, 2 * US);
	loop_scene_task(scene, name, kind, enqueue_ns, ns);
}

void loop_scene_kernel(struct loop_scene *scene, const char *name)
{
	loop_scene_submit(scene, scene->launch, name, PROFBPF__DEVICE_TASKS__KIND__KERNEL, 5 * US);
}

void loop_scene_copy_in(struct loop_scene *scene)
{
	loop_scene_submit(scene, scene->copy_in, "Memcpy HtoD", PROFBPF__DEVICE_TASKS__KIND__COPY,
			  20 * US);
}

void loop_scene_wait_for_device(struct loop_scene *scene)
{
	if (scene->now_ns < scene->free_ns)
		scene->now_ns = scene->free_ns;
}

void loop_scene_copy_out(struct loop_scene *scene)
{
	loop_scene_submit(scene, scene->copy_out, "Memcpy DtoH", PROFBPF__DEVICE_TASKS__KIND__COPY,
			  3 * US);
	loop_scene_wait_for_device(scene);
}

void loop_scene_sync(struct loop_scene *scene)
{
	loop_scene_call(scene, scene->sync, NULL, US);
	loop_scene_wait_for_device(scene);
}

void loop_scene_turn(struct loop_scene *scene)
{
	assert_true(scene->turns < TURNS_MAX);
	scene->begins[scene->turns++] = scene->now_ns;
}

void loop_scene_layers(struct loop_scene *scene, const char *what)
{
	for (int layer = 0; layer < LAYERS; layer++)
		for (int i = 0; i < KERNELS; i++) {
			char name[32];

			snprintf(name, sizeof(name), "%s%d", what, i);
			loop_scene_kernel(scene, name);
		}
}

struct device_step_results loop_scene_find(const struct loop_scene *scene)
{
	static const struct analysis_options options;
	struct device_step_results results;

	small_index(scene->model);
	assert_int_equal(device_steps_analyse(scene->model, &options, NULL, &results), 0);
	for (uint32_t i = 0; i < results.loops.loops.count; i++)
		assert_true(results.loops.loops.row[i].confidence <= 100);
	for (uint32_t i = 0; i < results.count; i++)
		assert_true(results.traces[i].confidence <= 100);
	for (uint32_t i = 0; i < results.repetition_count; i++)
		assert_true(results.repetitions[i].confidence <= 100);
	return results;
}

void loop_scene_end(struct loop_scene *scene, struct device_step_results *results)
{
	device_steps_free(results);
	model_free(scene->model);
}

/* Checks that the host's loop has the scene's turns, with the same starts within @off_ns. */
void loop_scene_check(const struct loop_scene *scene, const struct device_step_results *results,
		      uint8_t evidence, uint64_t off_ns)
{
	const struct host_loop *loop;

	assert_int_equal(results->loops.loops.count, 1);
	loop = &results->loops.loops.row[0];
	assert_int_equal(loop->evidence, evidence);
	assert_int_equal(loop->count, scene->turns);
	for (uint32_t i = 0; i < loop->count; i++) {
		const struct host_turn *row = &results->loops.turns.row[loop->first + i];

		assert_in_range(row->start_ns, scene->begins[i] - off_ns,
				scene->begins[i] + off_ns);
		assert_true(row->end_ns > row->start_ns);
	}
}

const struct device_step_trace *loop_scene_check_steps(const struct loop_scene *scene,
						       const struct device_step_results *results,
						       enum step_source source, uint32_t count)
{
	assert_int_equal(results->repetition_count, 0);
	assert_int_equal(results->count, 1);
	assert_int_equal(results->traces[0].source, source);
	assert_int_equal(results->traces[0].count, count);
	for (uint32_t i = 1; i < count; i++) {
		const struct device_step_row *row = &results->traces[0].rows[i];

		assert_int_equal(row->start_ns, row[-1].end_ns);
		assert_true(row->fp_start_ns >= row->start_ns && row->end_ns > row->fp_start_ns);
		if (source == STEPS_HOST)
			assert_int_equal(row->host_ns, scene->begins[i]);
	}
	return &results->traces[0];
}

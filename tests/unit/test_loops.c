/* SPDX-License-Identifier: Apache-2.0 */
/* Loops with known turns, of jobs of many shapes: the number of steps, and their beginnings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/device/device_advice.h"
#include "analyzer/analyse/device/device_steps.h"
#include "analyzer/model/step_names.h"
#include "tests/unit/loop_scene.h"

/* ---- Training: a batch, 24 equal layers, an optimizer, the loss */

static void train(struct loop_scene *scene, uint32_t steps)
{
	for (uint32_t i = 0; i < 40; i++)
		loop_scene_copy_in(scene); /* weights */
	for (uint32_t i = 0; i < steps; i++) {
		scene->now_ns += 200 * US; /* waits for its batch */
		loop_scene_turn(scene);
		loop_scene_copy_in(scene);
		loop_scene_copy_in(scene);
		loop_scene_kernel(scene, "embedding");
		loop_scene_layers(scene, "layer");
		loop_scene_kernel(scene, "loss");
		loop_scene_kernel(scene, "multi_tensor_adam");
		loop_scene_copy_out(scene);
	}
}

/* 136 steps, not 136 * 24 layers; they begin with the copies of the batch. */
static void equal_layers(void **state)
{
	for (unsigned int known = HOST; known <= (HOST | DEVICE); known++) {
		struct loop_scene scene;
		struct device_step_results results;
		const struct device_step_trace *trace;

		loop_scene_begin(&scene, known);
		train(&scene, 136);
		results = loop_scene_find(&scene);
		if (known & HOST)
			loop_scene_check(&scene, &results, LOOP_BY_FEED, 0);
		else
			assert_int_equal(results.loops.loops.count, 0);
		if (known & DEVICE) {
			trace = loop_scene_check_steps(
				&scene, &results, known & HOST ? STEPS_HOST : STEPS_DEVICE, 136);
			assert_true(trace->confidence > 99);
			/* The wait for the batch and its copies belong to the gap, not to the step before. */
			assert_true(trace->rows[5].gap_ns >= (int64_t)(240 * US));
			assert_true(trace->rows[5].end_ns - trace->rows[5].fp_start_ns < 1100 * US);
		}
		loop_scene_end(&scene, &results);
	}
}

static struct advice_results advise(const struct loop_scene *scene,
				    const struct device_step_results *steps)
{
	static const struct analysis_options options;
	struct advice_results advice = { 0 };
	struct device_results devices;

	assert_int_equal(device_results_compute(scene->model, &options, &devices), 0);
	assert_int_equal(device_advice_add(scene->model, &options, &devices, steps, NULL, &advice),
			 0);
	device_results_free(&devices);
	return advice;
}

static bool is_advised(const struct advice_results *advice, const char *id)
{
	for (uint32_t i = 0; i < advice->advice_count; i++)
		if (strcmp(advice->list[i].id, id) == 0)
			return true;
	return false;
}

/* The copy of the next batch is not the tail of a step; otherwise the advice would be to shard the optimizer. */
static void no_false_tail(void **state)
{
	struct loop_scene scene;
	struct device_step_results results;
	struct advice_results advice;

	loop_scene_begin(&scene, DEVICE);
	for (uint32_t i = 0; i < 20; i++) {
		scene.now_ns += 5000 * US;
		loop_scene_copy_in(&scene);
		loop_scene_layers(&scene, "layer");
		loop_scene_submit(&scene, scene.collective, "allReduce",
				  PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION, 30 * US);
		loop_scene_kernel(&scene, "ApplyAdam");
		loop_scene_wait_for_device(&scene);
	}
	results = loop_scene_find(&scene);
	loop_scene_check_steps(&scene, &results, STEPS_DEVICE, 20);
	assert_int_equal(results.traces[0].means.bp_steps, 19);
	assert_true(results.traces[0].means.tail_ns == 35 * US);
	assert_true(results.traces[0].means.gap_ns > 5000 * US);
	advice = advise(&scene, &results);
	assert_true(is_advised(&advice, "device_gap"));
	assert_false(is_advised(&advice, "device_tail"));
	free(advice.list);
	loop_scene_end(&scene, &results);
}

/* ---- Loops without evidence of steps */

static void check_repetition(const struct loop_scene *scene, struct device_step_results *results,
			     uint32_t times)
{
	struct advice_results advice;

	assert_int_equal(results->count, 0);
	assert_int_equal(results->main, INDEX_NONE);
	assert_int_equal(results->loops.loops.count, 0);
	assert_int_equal(results->repetition_count, 1);
	assert_int_equal(results->repetitions[0].count, times);
	assert_int_equal(results->repetitions[0].source, STEPS_REPETITION);
	assert_string_equal(step_source_name(STEPS_REPETITION), "repetition");
	advice = advise(scene, results);
	assert_false(is_advised(&advice, "device_gap"));
	assert_false(is_advised(&advice, "device_tail"));
	free(advice.list);
}

/* A unit that explains all is better than one that explains all but the head: the longest unit. */
static void repetitions(void **state)
{
	struct device_step_results results;
	struct loop_scene scene;

	loop_scene_begin(&scene, DEVICE);
	for (int i = 0; i < 137; i++) {
		scene.now_ns += 3000 * US;
		loop_scene_kernel(&scene, "embedding");
		loop_scene_layers(&scene, "layer");
		loop_scene_kernel(&scene, "head");
	}
	results = loop_scene_find(&scene);
	check_repetition(&scene, &results, 137);
	loop_scene_end(&scene, &results);
	loop_scene_begin(&scene, DEVICE);
	loop_scene_layers(&scene, "layer");
	results = loop_scene_find(&scene);
	check_repetition(&scene, &results, LAYERS);
	loop_scene_end(&scene, &results);
}

/*
 * 40 turns of 20 kernels; a rare kernel after each fourth turn, once after three. The turns explain all but the rare
 * kernel; from one rare kernel to the next, 8 of 9 stretches are alike.
 */
static void rare_kernel(void **state)
{
	struct device_step_results results;
	struct loop_scene scene;

	loop_scene_begin(&scene, DEVICE);
	for (int i = 0; i < 40; i++) {
		scene.now_ns += 3000 * US;
		for (int k = 0; k < 20; k++) {
			char name[16];

			snprintf(name, sizeof(name), "kernel%c", 'a' + k);
			loop_scene_kernel(&scene, name);
		}
		if (i < 16 ? i % 4 == 3 : i % 4 == 2)
			loop_scene_kernel(&scene, "rare");
	}
	results = loop_scene_find(&scene);
	check_repetition(&scene, &results, 40);
	loop_scene_end(&scene, &results);
}

/* ---- Decoding */

static void decode_graphs(void **state)
{
	for (unsigned int known = HOST; known <= (HOST | DEVICE); known += DEVICE) {
		struct device_step_results results;
		struct loop_scene scene;

		loop_scene_begin(&scene, known);
		for (int i = 0; i < 500; i++) {
			uint64_t enqueue_ns = scene.now_ns + 100;

			loop_scene_turn(&scene);
			loop_scene_call(&scene, scene.graph, NULL, 4 * US);
			for (int k = 0; k < LAYERS; k++)
				loop_scene_task(&scene, "layer",
						PROFBPF__DEVICE_TASKS__KIND__KERNEL, enqueue_ns,
						5 * US);
			loop_scene_copy_out(&scene);
		}
		results = loop_scene_find(&scene);
		loop_scene_check(&scene, &results, LOOP_BY_WHOLE, 0);
		if (known & DEVICE)
			loop_scene_check_steps(&scene, &results, STEPS_HOST, 500);
		loop_scene_end(&scene, &results);
	}
}

/* Without graphs and marks: each turn copies a token back. */
static void decode_kernels(void **state)
{
	for (unsigned int known = HOST; known <= (HOST | DEVICE); known++) {
		struct device_step_results results;
		struct loop_scene scene;

		loop_scene_begin(&scene, known);
		for (int i = 0; i < 36; i++) {
			loop_scene_turn(&scene);
			loop_scene_layers(&scene, "decode");
			loop_scene_copy_out(&scene);
		}
		results = loop_scene_find(&scene);
		if (known & HOST)
			loop_scene_check(&scene, &results, LOOP_BY_RESULT, 0);
		if (known & DEVICE) {
			const struct device_step_row *row =
				&loop_scene_check_steps(&scene, &results,
							known & HOST ? STEPS_HOST : STEPS_DEVICE,
							36)
					 ->rows[1];

			/* The copy back ends a step; only copies to the device begin the next one. */
			assert_int_equal(row->end_ns - row->fp_start_ns,
					 (LAYERS * KERNELS * 5 + 3) * US);
		}
		loop_scene_end(&scene, &results);
	}
}

/* ---- Collectives as the only evidence */

enum { BUCKETS = 4 };

static void all_reduce(struct loop_scene *scene)
{
	loop_scene_submit(scene, scene->collective, "allReduce",
			  PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION, 30 * US);
}

/*
 * Gradients are reduced at the end of a turn, or in four buckets while the others are computed; the update has its
 * own name.
 */
static void data_parallel(void **state)
{
	for (unsigned int known = HOST; known <= (HOST | DEVICE); known++)
		for (int pieces = 0; pieces < 2; pieces++) {
			struct device_step_results results;
			struct loop_scene scene;

			loop_scene_begin(&scene, known);
			for (int i = 0; i < 60; i++) {
				loop_scene_turn(&scene);
				loop_scene_layers(&scene, "layer");
				for (int k = 0; k < BUCKETS; k++) {
					for (int n = 0; n < 8 && pieces; n++)
						loop_scene_kernel(&scene, "gradient");
					all_reduce(&scene);
				}
			}
			results = loop_scene_find(&scene);
			if (known & HOST)
				loop_scene_check(&scene, &results, LOOP_BY_COLLECTIVE, 0);
			if (known & DEVICE)
				loop_scene_check_steps(&scene, &results,
						       known & HOST ? STEPS_HOST : STEPS_DEVICE,
						       60);
			loop_scene_end(&scene, &results);
		}
}

/* Each layer exchanges its results: these are parts of turns, which begin with work that no layer has. */
static void tensor_parallel(void **state)
{
	for (int big = 0; big < 2; big++) {
		struct device_step_results results;
		struct loop_scene scene;

		loop_scene_begin(&scene, HOST | DEVICE);
		for (int i = 0; i < 60; i++) {
			loop_scene_kernel(&scene, "embedding");
			for (int layer = 0; layer < LAYERS; layer++) {
				for (int k = 0; k < (big ? 20 : KERNELS); k++)
					loop_scene_kernel(&scene, "attention");
				all_reduce(&scene);
				for (int k = 0; k < (big ? 20 : KERNELS); k++)
					loop_scene_kernel(&scene, "feed_forward");
				all_reduce(&scene);
			}
		}
		results = loop_scene_find(&scene);
		check_repetition(&scene, &results, 60);
		loop_scene_end(&scene, &results);
	}
}

/* ---- Blocking launches */

static void blocking(void **state)
{
	for (int fed = 0; fed < 2; fed++) {
		struct device_step_results results;
		struct loop_scene scene;

		loop_scene_begin(&scene, HOST | DEVICE);
		for (int i = 0; i < 50; i++) {
			loop_scene_turn(&scene);
			if (fed)
				loop_scene_copy_in(&scene);
			for (int k = 0; k < LAYERS; k++) {
				loop_scene_kernel(&scene, "matmul");
				loop_scene_sync(&scene);
				loop_scene_kernel(&scene, "softmax");
				loop_scene_sync(&scene);
			}
		}
		results = loop_scene_find(&scene);
		if (fed) {
			loop_scene_check(&scene, &results, LOOP_BY_FEED, 0);
			loop_scene_check_steps(&scene, &results, STEPS_HOST, 50);
		} else {
			check_repetition(&scene, &results, 50 * LAYERS);
		}
		loop_scene_end(&scene, &results);
	}
}

static void one_kernel(void **state)
{
	for (int fed = 0; fed < 2; fed++) {
		struct device_step_results results;
		struct loop_scene scene;

		loop_scene_begin(&scene, HOST | DEVICE);
		for (int i = 0; i < 300; i++) {
			loop_scene_turn(&scene);
			if (fed)
				loop_scene_copy_in(&scene);
			loop_scene_kernel(&scene, "only");
			loop_scene_sync(&scene);
		}
		results = loop_scene_find(&scene);
		if (fed) {
			loop_scene_check(&scene, &results, LOOP_BY_FEED, 0);
			loop_scene_check_steps(&scene, &results, STEPS_HOST, 300);
			assert_true(results.traces[0].confidence <= 100);
		} else {
			check_repetition(&scene, &results, 300);
		}
		loop_scene_end(&scene, &results);
	}
}

/*
 * ---- Gradients of four batches: the host's loop turns once per batch; without copies, the optimizer shows the steps
 */

static void accumulation(void **state)
{
	for (int fed = 0; fed < 2; fed++) {
		struct device_step_results results;
		struct loop_scene scene;

		loop_scene_begin(&scene, HOST | DEVICE);
		for (int i = 0; i < 160; i++) {
			if (fed || i % 4 == 0)
				loop_scene_turn(&scene);
			if (fed)
				loop_scene_copy_in(&scene);
			loop_scene_layers(&scene, "layer");
			if (i % 4 < 3)
				continue;
			loop_scene_kernel(&scene, "multi_tensor_adam");
			loop_scene_kernel(&scene, "multi_tensor_adam");
		}
		results = loop_scene_find(&scene);
		loop_scene_check(&scene, &results, fed ? LOOP_BY_FEED : LOOP_BY_OPTIMIZER, 0);
		loop_scene_check_steps(&scene, &results, STEPS_HOST, fed ? 160 : 40);
		loop_scene_end(&scene, &results);
	}
}

static void evaluations(void **state)
{
	struct device_step_results results;
	struct loop_scene scene;

	loop_scene_begin(&scene, HOST | DEVICE);
	for (int epoch = 0; epoch < 5; epoch++) {
		for (int i = 0; i < 20; i++) {
			loop_scene_turn(&scene);
			loop_scene_copy_in(&scene);
			loop_scene_layers(&scene, "forward");
			loop_scene_layers(&scene, "backward");
			loop_scene_kernel(&scene, "multi_tensor_adam");
		}
		for (int i = 0; i < 4; i++) {
			loop_scene_turn(&scene);
			loop_scene_copy_in(&scene);
			loop_scene_layers(&scene, "forward");
		}
		loop_scene_copy_out(&scene);
	}
	results = loop_scene_find(&scene);
	loop_scene_check(&scene, &results, LOOP_BY_FEED, 0);
	loop_scene_check_steps(&scene, &results, STEPS_HOST, 120);
	loop_scene_end(&scene, &results);
}

/* ---- Two jobs in one process, each with its own thread and loop */

/* The last turn of each ends with the last call of its own thread. */
static void two_jobs(void **state)
{
	struct device_step_results results;
	uint32_t threads[2], done[2] = { 0 }, random = 1;
	uint64_t last_ns[2];
	struct loop_scene scene;

	loop_scene_begin(&scene, HOST | DEVICE);
	threads[0] = scene.thread;
	threads[1] = small_thread(scene.model, scene.process, 101, "other");
	for (uint32_t i = 0; i < 600; i++) {
		uint32_t job = (random = random * 1103515245 + 12345) / 65536 % 5 < 2;
		/* Six kernels in a turn of one job, four in a turn of the other. */
		uint32_t at = done[job]++ % (job ? 5 : 7);
		char name[16];

		scene.thread = threads[job];
		snprintf(name, sizeof(name), "%s%u", job ? "infer" : "train", at);
		if (at == 0)
			loop_scene_copy_in(&scene);
		else
			loop_scene_kernel(&scene, name);
		last_ns[job] = scene.model->calls.row[scene.model->calls.count - 1].end_ns;
	}
	results = loop_scene_find(&scene);
	assert_int_equal(results.loops.loops.count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct host_loop *loop = &results.loops.loops.row[i];
		uint32_t job = loop->thread == threads[1];

		assert_int_equal(loop->thread, threads[job]);
		assert_int_equal(loop->count, (done[job] + (job ? 4 : 6)) / (job ? 5 : 7));
		assert_int_equal(results.loops.turns.row[loop->first + loop->count - 1].end_ns, last_ns[job]);
	}
	loop_scene_end(&scene, &results);
}

/* ---- Training on a CPU: nothing is submitted, nothing feeds it; what another process submits is not its work */

static void on_a_cpu(void **state)
{
	struct device_step_results results;
	struct loop_scene scene;
	uint32_t other;

	loop_scene_begin(&scene, HOST);
	for (int i = 0; i < 60; i++) {
		loop_scene_turn(&scene);
		loop_scene_call(&scene, scene.mark, "Optimizer.zero_grad#SGD.zero_grad", 100);
		loop_scene_call(&scene, scene.leave, NULL, 100);
		scene.now_ns += 10000 * US;
		loop_scene_call(&scene, scene.mark, "forward", 100);
		loop_scene_call(&scene, scene.leave, NULL, 100);
		scene.now_ns += 10000 * US;
		loop_scene_call(&scene, scene.mark, "Optimizer.step#SGD.step", 100);
		loop_scene_call(&scene, scene.leave, NULL, 100);
	}
	other = small_process(scene.model, 200, "other", true);
	scene.thread = small_thread(scene.model, other, 200, "other");
	loop_scene_kernel(&scene, "other");
	results = loop_scene_find(&scene);
	loop_scene_check(&scene, &results, LOOP_BY_OPTIMIZER, 5 * US);
	loop_scene_end(&scene, &results);
}

/* ---- Marks */

/* A step is a range named by its number, which begins after the copy of its batch. */
static void marks(void **state)
{
	struct device_step_results results;
	const struct device_step_trace *trace;
	struct loop_scene scene;

	loop_scene_begin(&scene, HOST | DEVICE);
	for (int i = 0; i < 30; i++) {
		char name[32];

		loop_scene_turn(&scene);
		loop_scene_copy_in(&scene);
		snprintf(name, sizeof(name), "step %d", 10 + i);
		loop_scene_call(&scene, scene.push, name, 100);
		loop_scene_call(&scene, scene.push, "forward", 100);
		loop_scene_layers(&scene, "layer");
		loop_scene_call(&scene, scene.pop, NULL, 100);
		loop_scene_call(&scene, scene.pop, NULL, 100);
		if (i % 10 == 9) {
			loop_scene_copy_in(&scene);
			loop_scene_layers(&scene, "evaluation");
		}
	}
	results = loop_scene_find(&scene);
	loop_scene_check(&scene, &results, LOOP_BY_MARKS, 0);
	trace = &results.traces[0];
	assert_int_equal(trace->source, STEPS_MARKS);
	assert_int_equal(trace->count, 30);
	assert_int_equal(trace->rows[0].number, 10);
	assert_int_equal(trace->rows[29].number, 39);
	/* The evaluation belongs to no step. */
	assert_true(trace->rows[9].end_ns - trace->rows[9].fp_start_ns < 1000 * US);
	loop_scene_end(&scene, &results);
}

static void names(void **state)
{
	static const struct {
		const char *text;
		enum step_name name;
		uint64_t number;
	} NAMES[] = {
		{ "ProfilerStep#12", STEP_NAME_PROFILER, 12 },
		{ "ProfilerStep#", STEP_NAME_NONE, UINT64_MAX },
		{ "step[train]", STEP_NAME_STEP, UINT64_MAX },
		{ "step[7]", STEP_NAME_STEP, 7 },
		{ "Step 3", STEP_NAME_STEP, 3 },
		{ "train_step", STEP_NAME_STEP, UINT64_MAX },
		{ "iteration:40", STEP_NAME_STEP, 40 },
		{ "execute_context_0(0)_generation_5(5)", STEP_NAME_EXECUTE, UINT64_MAX },
		{ "steps", STEP_NAME_NONE, UINT64_MAX },
		{ "step_size", STEP_NAME_NONE, UINT64_MAX },
		{ "Optimizer.step#SGD.step", STEP_NAME_NONE, UINT64_MAX },
		{ "step 99999999999999999999999", STEP_NAME_NONE, UINT64_MAX },
		{ "", STEP_NAME_NONE, UINT64_MAX },
	};

	for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
		uint64_t number;

		assert_int_equal(step_name_of(NAMES[i].text, &number), NAMES[i].name);
		assert_int_equal(number, NAMES[i].number);
	}
	assert_true(loop_is_optimizer("ApplyAdam"));
	assert_true(loop_is_optimizer("Default/opt/Adam-op3"));
	assert_true(loop_is_optimizer("void at::native::multi_tensor_apply_kernel<FusedAdamW>"));
	assert_true(loop_is_optimizer("Optimizer.step#SGD.step"));
	assert_false(loop_is_optimizer("adamantine"));
	assert_false(loop_is_optimizer("battalion_kernel"));
	assert_false(loop_is_optimizer("gemm"));
}

/* ---- A loop without any information */
static void nothing(void **state)
{
	struct loop_finding finding;

	assert_int_equal(loop_find(NULL, 0, &finding), 0);
	assert_int_equal(finding.evidence, LOOP_BY_NOTHING);
	assert_int_equal(finding.count, 0);
	loop_finding_free(&finding);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_layers),	   cmocka_unit_test(no_false_tail),
		cmocka_unit_test(repetitions),	   cmocka_unit_test(decode_graphs),
		cmocka_unit_test(decode_kernels),  cmocka_unit_test(data_parallel),
		cmocka_unit_test(tensor_parallel), cmocka_unit_test(blocking),
		cmocka_unit_test(one_kernel),	   cmocka_unit_test(accumulation),
		cmocka_unit_test(evaluations),	   cmocka_unit_test(two_jobs),
		cmocka_unit_test(on_a_cpu),	   cmocka_unit_test(marks),
		cmocka_unit_test(names),	   cmocka_unit_test(nothing),
		cmocka_unit_test(rare_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Loops of known turns, of jobs of many shapes: how many steps there are, and where they begin. */
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
#include "tests/unit/small_model.h"

#define US 1000ull
#define LAYERS 24
#define KERNELS 8 /* of a layer */
#define TURNS_MAX 4096

enum { HOST = 1, DEVICE = 2 }; /* what is known */

/* A host that submits, and a device that runs what was submitted in this order. */
struct scene {
	struct model *model;
	uint32_t process;
	uint32_t thread;
	unsigned int known;
	uint64_t now_ns; /* of the host */
	uint64_t free_ns; /* when the device has nothing left to do */
	uint32_t launch, copy_in, copy_out, sync, collective, graph, push, pop, mark, leave;
	uint32_t turns; /* the truth */
	uint64_t begins[TURNS_MAX]; /* of the host */
};

static void begin(struct scene *scene, unsigned int known)
{
	struct model *model = small_model(0, 1000000000000ull);

	*scene = (struct scene){ .model = model, .known = known, .now_ns = 1000000 };
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

static struct call *call(struct scene *scene, uint32_t function, const char *text, uint64_t ns)
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

static void task(struct scene *scene, const char *name, uint8_t kind, uint64_t enqueue_ns,
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

static void submit(struct scene *scene, uint32_t function, const char *name, uint8_t kind,
		   uint64_t ns)
{
	uint64_t enqueue_ns = scene->now_ns + 100;

	call(scene, function, name, 2 * US);
	task(scene, name, kind, enqueue_ns, ns);
}

static void kernel(struct scene *scene, const char *name)
{
	submit(scene, scene->launch, name, PROFBPF__DEVICE_TASKS__KIND__KERNEL, 5 * US);
}

static void copy_in(struct scene *scene)
{
	submit(scene, scene->copy_in, "Memcpy HtoD", PROFBPF__DEVICE_TASKS__KIND__COPY, 20 * US);
}

static void wait_for_device(struct scene *scene)
{
	if (scene->now_ns < scene->free_ns)
		scene->now_ns = scene->free_ns;
}

static void copy_out(struct scene *scene)
{
	submit(scene, scene->copy_out, "Memcpy DtoH", PROFBPF__DEVICE_TASKS__KIND__COPY, 3 * US);
	wait_for_device(scene);
}

static void sync(struct scene *scene)
{
	call(scene, scene->sync, NULL, US);
	wait_for_device(scene);
}

static void turn(struct scene *scene)
{
	assert_true(scene->turns < TURNS_MAX);
	scene->begins[scene->turns++] = scene->now_ns;
}

static void layers(struct scene *scene, const char *what)
{
	for (int layer = 0; layer < LAYERS; layer++)
		for (int i = 0; i < KERNELS; i++) {
			char name[32];

			snprintf(name, sizeof(name), "%s%d", what, i);
			kernel(scene, name);
		}
}

static struct device_step_results find(const struct scene *scene)
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

static void end(struct scene *scene, struct device_step_results *results)
{
	device_steps_free(results);
	model_free(scene->model);
}

/* The host's loop has the turns of the scene, and begins them where they begin, give or take @off_ns. */
static void check_loop(const struct scene *scene, const struct device_step_results *results,
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

static const struct device_step_trace *check_steps(const struct scene *scene,
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

/* ---- Training: a batch, 24 equal layers, an optimizer, the loss */

static void train(struct scene *scene, uint32_t steps)
{
	for (uint32_t i = 0; i < 40; i++)
		copy_in(scene); /* weights */
	for (uint32_t i = 0; i < steps; i++) {
		scene->now_ns += 200 * US; /* waits for its batch */
		turn(scene);
		copy_in(scene);
		copy_in(scene);
		kernel(scene, "embedding");
		layers(scene, "layer");
		kernel(scene, "loss");
		kernel(scene, "multi_tensor_adam");
		copy_out(scene);
	}
}

/* 136 steps, not 136 * 24 layers; and they begin with the copies of the batch. */
static void equal_layers(void **state)
{
	for (unsigned int known = HOST; known <= (HOST | DEVICE); known++) {
		struct scene scene;
		struct device_step_results results;
		const struct device_step_trace *trace;

		begin(&scene, known);
		train(&scene, 136);
		results = find(&scene);
		if (known & HOST)
			check_loop(&scene, &results, LOOP_BY_FEED, 0);
		else
			assert_int_equal(results.loops.loops.count, 0);
		if (known & DEVICE) {
			trace = check_steps(&scene, &results,
					    known & HOST ? STEPS_HOST : STEPS_DEVICE, 136);
			assert_true(trace->confidence > 99);
			/* The wait for the batch and its copies are in the gap, not in the step before. */
			assert_true(trace->rows[5].gap_ns >= (int64_t)(240 * US));
			assert_true(trace->rows[5].end_ns - trace->rows[5].fp_start_ns < 1100 * US);
		}
		end(&scene, &results);
	}
}

static struct advice_results advise(const struct scene *scene,
				    const struct device_step_results *steps)
{
	static const struct analysis_options options;
	struct advice_results advice = { 0 };
	struct device_results devices;

	assert_int_equal(device_results_compute(scene->model, &options, &devices), 0);
	assert_int_equal(device_advice_add(scene->model, &options, &devices, steps, NULL, &advice), 0);
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

/* The copy of the next batch is no tail of a step, so that nobody is told to shard the optimizer. */
static void no_false_tail(void **state)
{
	struct scene scene;
	struct device_step_results results;
	struct advice_results advice;

	begin(&scene, DEVICE);
	for (uint32_t i = 0; i < 20; i++) {
		scene.now_ns += 5000 * US;
		copy_in(&scene);
		layers(&scene, "layer");
		submit(&scene, scene.collective, "allReduce",
		       PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION, 30 * US);
		kernel(&scene, "ApplyAdam");
		wait_for_device(&scene);
	}
	results = find(&scene);
	check_steps(&scene, &results, STEPS_DEVICE, 20);
	assert_int_equal(results.traces[0].means.bp_steps, 19);
	assert_true(results.traces[0].means.tail_ns == 35 * US);
	assert_true(results.traces[0].means.gap_ns > 5000 * US);
	advice = advise(&scene, &results);
	assert_true(is_advised(&advice, "device_gap"));
	assert_false(is_advised(&advice, "device_tail"));
	free(advice.list);
	end(&scene, &results);
}

/* ---- Nothing says that they are steps */

static void check_repetition(const struct scene *scene, struct device_step_results *results,
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

/* What explains all is better than what explains all but the head: the longest unit. */
static void repetitions(void **state)
{
	struct device_step_results results;
	struct scene scene;

	begin(&scene, DEVICE);
	for (int i = 0; i < 137; i++) {
		scene.now_ns += 3000 * US;
		kernel(&scene, "embedding");
		layers(&scene, "layer");
		kernel(&scene, "head");
	}
	results = find(&scene);
	check_repetition(&scene, &results, 137);
	end(&scene, &results);
	begin(&scene, DEVICE);
	layers(&scene, "layer");
	results = find(&scene);
	check_repetition(&scene, &results, LAYERS);
	end(&scene, &results);
}

/* ---- Decoding */

static void decode_graphs(void **state)
{
	for (unsigned int known = HOST; known <= (HOST | DEVICE); known += DEVICE) {
		struct device_step_results results;
		struct scene scene;

		begin(&scene, known);
		for (int i = 0; i < 500; i++) {
			uint64_t enqueue_ns = scene.now_ns + 100;

			turn(&scene);
			call(&scene, scene.graph, NULL, 4 * US);
			for (int k = 0; k < LAYERS; k++)
				task(&scene, "layer", PROFBPF__DEVICE_TASKS__KIND__KERNEL,
				     enqueue_ns, 5 * US);
			copy_out(&scene);
		}
		results = find(&scene);
		check_loop(&scene, &results, LOOP_BY_WHOLE, 0);
		if (known & DEVICE)
			check_steps(&scene, &results, STEPS_HOST, 500);
		end(&scene, &results);
	}
}

/* Without graphs and marks: a token comes back from each. */
static void decode_kernels(void **state)
{
	for (unsigned int known = HOST; known <= (HOST | DEVICE); known++) {
		struct device_step_results results;
		struct scene scene;

		begin(&scene, known);
		for (int i = 0; i < 36; i++) {
			turn(&scene);
			layers(&scene, "decode");
			copy_out(&scene);
		}
		results = find(&scene);
		if (known & HOST)
			check_loop(&scene, &results, LOOP_BY_RESULT, 0);
		if (known & DEVICE)
			check_steps(&scene, &results, known & HOST ? STEPS_HOST : STEPS_DEVICE, 36);
		end(&scene, &results);
	}
}

/* ---- Collectives, and nothing else that tells */

enum { BUCKETS = 4 };

static void all_reduce(struct scene *scene)
{
	submit(scene, scene->collective, "allReduce", PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION,
	       30 * US);
}

/* Gradients at the end of a turn, or in four pieces while the others are made; the update has a name of its own. */
static void data_parallel(void **state)
{
	for (unsigned int known = HOST; known <= (HOST | DEVICE); known++)
		for (int pieces = 0; pieces < 2; pieces++) {
			struct device_step_results results;
			struct scene scene;

			begin(&scene, known);
			for (int i = 0; i < 60; i++) {
				turn(&scene);
				layers(&scene, "layer");
				for (int k = 0; k < BUCKETS; k++) {
					for (int n = 0; n < 8 && pieces; n++)
						kernel(&scene, "gradient");
					all_reduce(&scene);
				}
			}
			results = find(&scene);
			if (known & HOST)
				check_loop(&scene, &results, LOOP_BY_COLLECTIVE, 0);
			if (known & DEVICE)
				check_steps(&scene, &results,
					    known & HOST ? STEPS_HOST : STEPS_DEVICE, 60);
			end(&scene, &results);
		}
}

/* Each layer exchanges what it made: these are parts of turns, which something begins that no layer has. */
static void tensor_parallel(void **state)
{
	for (int big = 0; big < 2; big++) {
		struct device_step_results results;
		struct scene scene;

		begin(&scene, HOST | DEVICE);
		for (int i = 0; i < 60; i++) {
			kernel(&scene, "embedding");
			for (int layer = 0; layer < LAYERS; layer++) {
				for (int k = 0; k < (big ? 20 : KERNELS); k++)
					kernel(&scene, "attention");
				all_reduce(&scene);
				for (int k = 0; k < (big ? 20 : KERNELS); k++)
					kernel(&scene, "feed_forward");
				all_reduce(&scene);
			}
		}
		results = find(&scene);
		check_repetition(&scene, &results, 60);
		end(&scene, &results);
	}
}

/* ---- Blocking launches */

static void blocking(void **state)
{
	for (int fed = 0; fed < 2; fed++) {
		struct device_step_results results;
		struct scene scene;

		begin(&scene, HOST | DEVICE);
		for (int i = 0; i < 50; i++) {
			turn(&scene);
			if (fed)
				copy_in(&scene);
			for (int k = 0; k < LAYERS; k++) {
				kernel(&scene, "matmul");
				sync(&scene);
				kernel(&scene, "softmax");
				sync(&scene);
			}
		}
		results = find(&scene);
		if (fed) {
			check_loop(&scene, &results, LOOP_BY_FEED, 0);
			check_steps(&scene, &results, STEPS_HOST, 50);
		} else {
			check_repetition(&scene, &results, 50 * LAYERS);
		}
		end(&scene, &results);
	}
}

static void one_kernel(void **state)
{
	for (int fed = 0; fed < 2; fed++) {
		struct device_step_results results;
		struct scene scene;

		begin(&scene, HOST | DEVICE);
		for (int i = 0; i < 300; i++) {
			turn(&scene);
			if (fed)
				copy_in(&scene);
			kernel(&scene, "only");
			sync(&scene);
		}
		results = find(&scene);
		if (fed) {
			check_loop(&scene, &results, LOOP_BY_FEED, 0);
			check_steps(&scene, &results, STEPS_HOST, 300);
			assert_true(results.traces[0].confidence <= 100);
		} else {
			check_repetition(&scene, &results, 300);
		}
		end(&scene, &results);
	}
}

/* ---- Gradients of four batches: the host's loop turns once per batch; without copies there is the optimizer */

static void accumulation(void **state)
{
	for (int fed = 0; fed < 2; fed++) {
		struct device_step_results results;
		struct scene scene;

		begin(&scene, HOST | DEVICE);
		for (int i = 0; i < 160; i++) {
			if (fed || i % 4 == 0)
				turn(&scene);
			if (fed)
				copy_in(&scene);
			layers(&scene, "layer");
			if (i % 4 < 3)
				continue;
			kernel(&scene, "multi_tensor_adam");
			kernel(&scene, "multi_tensor_adam");
		}
		results = find(&scene);
		check_loop(&scene, &results, fed ? LOOP_BY_FEED : LOOP_BY_OPTIMIZER, 0);
		check_steps(&scene, &results, STEPS_HOST, fed ? 160 : 40);
		end(&scene, &results);
	}
}

static void evaluations(void **state)
{
	struct device_step_results results;
	struct scene scene;

	begin(&scene, HOST | DEVICE);
	for (int epoch = 0; epoch < 5; epoch++) {
		for (int i = 0; i < 20; i++) {
			turn(&scene);
			copy_in(&scene);
			layers(&scene, "forward");
			layers(&scene, "backward");
			kernel(&scene, "multi_tensor_adam");
		}
		for (int i = 0; i < 4; i++) {
			turn(&scene);
			copy_in(&scene);
			layers(&scene, "forward");
		}
		copy_out(&scene);
	}
	results = find(&scene);
	check_loop(&scene, &results, LOOP_BY_FEED, 0);
	check_steps(&scene, &results, STEPS_HOST, 120);
	end(&scene, &results);
}

/* ---- Two jobs in one process, each with a thread and a loop of its own */

static void two_jobs(void **state)
{
	struct device_step_results results;
	uint32_t threads[2], done[2] = { 0 }, random = 1;
	struct scene scene;

	begin(&scene, HOST | DEVICE);
	threads[0] = scene.thread;
	threads[1] = small_thread(scene.model, scene.process, 101, "other");
	for (uint32_t i = 0; i < 600; i++) {
		uint32_t job = (random = random * 1103515245 + 12345) / 65536 % 5 < 2;
		/* Six kernels in a turn of one, four in one of the other. */
		uint32_t at = done[job]++ % (job ? 5 : 7);
		char name[16];

		scene.thread = threads[job];
		snprintf(name, sizeof(name), "%s%u", job ? "infer" : "train", at);
		if (at == 0)
			copy_in(&scene);
		else
			kernel(&scene, name);
	}
	results = find(&scene);
	assert_int_equal(results.loops.loops.count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct host_loop *loop = &results.loops.loops.row[i];
		uint32_t job = loop->thread == threads[1];

		assert_int_equal(loop->thread, threads[job]);
		assert_int_equal(loop->count, (done[job] + (job ? 4 : 6)) / (job ? 5 : 7));
	}
	end(&scene, &results);
}

/* ---- Training on a CPU: nothing is submitted, nothing feeds it */

static void on_a_cpu(void **state)
{
	struct device_step_results results;
	struct scene scene;

	begin(&scene, HOST);
	for (int i = 0; i < 60; i++) {
		turn(&scene);
		call(&scene, scene.mark, "Optimizer.zero_grad#SGD.zero_grad", 100);
		call(&scene, scene.leave, NULL, 100);
		scene.now_ns += 10000 * US;
		call(&scene, scene.mark, "forward", 100);
		call(&scene, scene.leave, NULL, 100);
		scene.now_ns += 10000 * US;
		call(&scene, scene.mark, "Optimizer.step#SGD.step", 100);
		call(&scene, scene.leave, NULL, 100);
	}
	results = find(&scene);
	check_loop(&scene, &results, LOOP_BY_OPTIMIZER, 5 * US);
	end(&scene, &results);
}

/* ---- Marks */

/* A step called by its number, in a range that begins after the copy of its batch. */
static void marks(void **state)
{
	struct device_step_results results;
	const struct device_step_trace *trace;
	struct scene scene;

	begin(&scene, HOST | DEVICE);
	for (int i = 0; i < 30; i++) {
		char name[32];

		turn(&scene);
		copy_in(&scene);
		snprintf(name, sizeof(name), "step %d", 10 + i);
		call(&scene, scene.push, name, 100);
		call(&scene, scene.push, "forward", 100);
		layers(&scene, "layer");
		call(&scene, scene.pop, NULL, 100);
		call(&scene, scene.pop, NULL, 100);
		if (i % 10 == 9) {
			copy_in(&scene);
			layers(&scene, "evaluation");
		}
	}
	results = find(&scene);
	check_loop(&scene, &results, LOOP_BY_MARKS, 0);
	trace = &results.traces[0];
	assert_int_equal(trace->source, STEPS_MARKS);
	assert_int_equal(trace->count, 30);
	assert_int_equal(trace->rows[0].number, 10);
	assert_int_equal(trace->rows[29].number, 39);
	/* The evaluation is of no step. */
	assert_true(trace->rows[9].end_ns - trace->rows[9].fp_start_ns < 1000 * US);
	end(&scene, &results);
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

/* ---- A loop of which nothing at all can be known */
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
		cmocka_unit_test(equal_layers),	  cmocka_unit_test(no_false_tail),
		cmocka_unit_test(repetitions),	  cmocka_unit_test(decode_graphs),
		cmocka_unit_test(decode_kernels), cmocka_unit_test(data_parallel),
		cmocka_unit_test(tensor_parallel),
		cmocka_unit_test(blocking),
		cmocka_unit_test(one_kernel),	  cmocka_unit_test(accumulation),
		cmocka_unit_test(evaluations),	  cmocka_unit_test(two_jobs),
		cmocka_unit_test(on_a_cpu),	  cmocka_unit_test(marks),
		cmocka_unit_test(names),	  cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks merged by their frames, of each kind, in the three output formats. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "analyzer/export/stacks/stack_tree.h"
#include "proto/pprof.pb-c.h"
#include "tests/unit/small_model.h"

#define MS 1000000ull

static const struct export_options ALL = { .end_ns = 1000 * MS };

static uint32_t code(struct model *model, const char *name, const char *source, uint32_t line)
{
	struct code_frame frame = { .file = INDEX_NONE, .line = line };

	frame.name = model_string(model, name);
	frame.source = model_string(model, source);
	frame.kind = source ? PROFBPF__STACKS__KIND__PYTHON : PROFBPF__STACKS__KIND__USER;
	assert_true(MODEL_PUSH(&model->code_frames, frame));
	return model->code_frames.count - 1;
}

/* Frames are passed innermost first, as in files. */
static uint32_t stack(struct model *model, const uint32_t *frames, uint32_t depth)
{
	struct code_stack row = { .first = model->stack_frames.count, .depth = depth };

	for (uint32_t i = 0; i < depth; i++)
		assert_true(MODEL_PUSH(&model->stack_frames, frames[i]));
	assert_true(MODEL_PUSH(&model->code_stacks, row));
	return model->code_stacks.count - 1;
}

static void sample(struct model *model, uint32_t thread, uint32_t stack, uint64_t ts_ns,
		   uint64_t dur_ns, uint8_t flags)
{
	struct stack_sample row = {
		.times = 1,
		.ts_ns = ts_ns, .dur_ns = dur_ns, .thread = thread, .stack = stack, .flags = flags
	};

	assert_true(MODEL_PUSH(&model->stack_samples, row));
}

/*
 * main > step twice on a CPU, at two places of step's code, and once in main itself; main > read asleep for 3 and
 * 4 ms; a sample of it while it was asleep, which is no sleep; one sample without a stack; one Python sample, which is no
 * sample of a CPU. The thread had the interpreter's lock at the second sample of step, at a sleep and at the Python sample.
 */
static struct model *sampled(void)
{
	struct model *model = small_model(0, 1000 * MS);
	uint32_t process = small_process(model, 10, "job", true);
	uint32_t thread = small_thread(model, process, 10, "job;1");
	uint32_t in_main = code(model, "main", NULL, 0), step = code(model, "step", NULL, 0);
	uint32_t again = code(model, "step", NULL, 0), read = code(model, "read", NULL, 0);
	uint32_t python = code(model, "step", "/srv/train.py", 19);

	model->info.stack_rate = 100;
	sample(model, thread, stack(model, (uint32_t[]){ step, in_main }, 2), 1 * MS, 0, 0);
	sample(model, thread, stack(model, (uint32_t[]){ again, in_main }, 2), 2 * MS, 0, MODEL_SAMPLE_LOCK);
	sample(model, thread, stack(model, (uint32_t[]){ in_main }, 1), 3 * MS, 0, MODEL_SAMPLE_NO_LOCK);
	sample(model, thread, stack(model, (uint32_t[]){ read, in_main }, 2), 4 * MS, 3 * MS,
	       MODEL_SAMPLE_BLOCK);
	sample(model, thread, stack(model, (uint32_t[]){ read, in_main }, 2), 9 * MS, 4 * MS,
	       MODEL_SAMPLE_BLOCK | MODEL_SAMPLE_LOCK);
	sample(model, thread, stack(model, (uint32_t[]){ read, in_main }, 2), 14 * MS, 0,
	       MODEL_SAMPLE_BLOCK | MODEL_SAMPLE_STILL | MODEL_SAMPLE_WHOLE);
	sample(model, thread, INDEX_NONE, 20 * MS, 0, 0);
	sample(model, thread, stack(model, (uint32_t[]){ python }, 1), 21 * MS, 0,
	       MODEL_SAMPLE_PYTHON | MODEL_SAMPLE_LOCK);
	sample(model, thread, stack(model, (uint32_t[]){ python, in_main }, 2), 22 * MS, 0, 0);
	small_index(model);
	return model;
}

/* outer [0, 10) holds launch [2, 3) and launch [5, 6); the next launch is in no other call. */
static struct model *launched(void)
{
	struct model *model = small_model(0, 1000 * MS);
	uint32_t process = small_process(model, 10, "job", true);
	uint32_t thread = small_thread(model, process, 10, "trainer");
	uint32_t outer = small_function(model, "torch", "backward", PROFBPF__FUNCTION__KIND__OTHER);
	uint32_t launch =
		small_function(model, "cuda", "cudaLaunchKernel", PROFBPF__FUNCTION__KIND__LAUNCH);
	uint32_t device = small_device(model, process, "gpu", 0);
	const uint64_t at[] = { 2 * MS, 5 * MS, 20 * MS };
	struct device_task *task;
	uint32_t call;

	small_call(model, thread, outer, 0, 10 * MS);
	for (int i = 0; i < 3; i++) {
		call = small_call(model, thread, launch, at[i], at[i] + MS);
		model->calls.row[call].depth = i < 2;
		task = small_task(model, device, at[i] + MS, at[i] + (uint64_t)(2 + i) * MS);
		task->thread = thread;
		task->call = call;
		task->name = model_string(model, "gemm");
	}
	task = small_task(model, device, 50 * MS, 51 * MS);
	task->thread = task->call = INDEX_NONE;
	task->name = model_string(model, "of nobody");
	small_index(model);
	return model;
}

static void written_path(char *path)
{
	int fd;

	strcpy(path, "/tmp/test_stack_tree.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
}

static void assert_folded(const struct model *model, enum stacks_kind kind,
			  const struct export_options *options, const char *expected)
{
	struct export_options of_kind = *options;
	char path[64], error[256], text[4096];
	FILE *file;
	size_t size;

	of_kind.stacks = kind;
	written_path(path);
	assert_int_equal(export_folded.write(model, NULL, path, &of_kind, error, sizeof(error)), 0);
	file = fopen(path, "r");
	assert_non_null(file);
	size = fread(text, 1, sizeof(text) - 1, file);
	text[size] = '\0';
	fclose(file);
	unlink(path);
	assert_string_equal(text, expected);
}

/* Absent stacks are an error with a remedy, and no empty file is written. */
static void assert_none(const struct model *model, enum stacks_kind kind,
			const struct export_options *options, const char *remedy)
{
	struct export_options of_kind = *options;
	char path[64], error[256];

	of_kind.stacks = kind;
	written_path(path);
	unlink(path);
	assert_int_equal(export_speedscope.write(model, NULL, path, &of_kind, error, sizeof(error)),
			 -ENODATA);
	assert_non_null(strstr(error, remedy));
	assert_int_equal(access(path, F_OK), -1);
}

static void test_folded_of_each_kind(void **state)
{
	struct model *model = sampled();

	(void)state;
	assert_folded(model, STACKS_ON_CPU, &ALL,
		      "job_1;main 1\n"
		      "job_1;main;step 2\n"
		      "job_1;[unknown] 1\n"
		      "job_1;main;step (train.py:19) 1\n");
	assert_folded(model, STACKS_GIL, &ALL, "job_1;main;step 1\n");
	assert_folded(model, STACKS_OFF_CPU, &ALL, "job_1;main;read 7000000\n");
	assert_none(model, STACKS_DEVICE, &ALL, "--device");
	model_free(model);
}

/* A walk that ended early is told from one that reached the thread's start, if the recording knows the difference. */
static void test_walks_that_ended_early(void **state)
{
	struct model *model = sampled();

	(void)state;
	model->stack_samples.row[0].flags |= MODEL_SAMPLE_WHOLE;
	model->stack_samples.row[3].flags |= MODEL_SAMPLE_WHOLE;
	assert_folded(model, STACKS_ON_CPU, &ALL,
		      "job_1;main;step 1\n"
		      "job_1;[unknown] 1\n"
		      "job_1;[unknown];main 1\n"
		      "job_1;[unknown];main;step 1\n"
		      "job_1;[unknown];main;step (train.py:19) 1\n");
	assert_folded(model, STACKS_OFF_CPU, &ALL, "job_1;main;read 3000000\njob_1;[unknown];main;read 4000000\n");
	model_free(model);
}

static void test_only_what_is_asked_for(void **state)
{
	const uint32_t other = 11, pid = 10;
	struct export_options part = { .start_ns = 2 * MS, .end_ns = 3 * MS };
	struct export_options of_other = ALL, of_job = ALL;
	struct model *model = sampled();

	(void)state;
	assert_folded(model, STACKS_ON_CPU, &part, "job_1;main 1\njob_1;main;step 1\n");
	of_other.pids = &other;
	of_other.pid_count = 1;
	assert_none(model, STACKS_ON_CPU, &of_other, "+sample");
	assert_none(model, STACKS_OFF_CPU, &of_other, "+stack");
	model_free(model);
	model = launched();
	of_job.pids = &pid;
	of_job.pid_count = 1;
	assert_folded(model, STACKS_DEVICE, &of_job,
		      "trainer;backward;cudaLaunchKernel;gemm 3000000\n"
		      "trainer;cudaLaunchKernel;gemm 3000000\n");
	model_free(model);
}

/* A task lies below the calls that its launch was nested in, in full or as far as the window reaches. */
static void test_device_stacks_follow_the_launch(void **state)
{
	struct export_options part = { .start_ns = 0, .end_ns = 23 * MS };
	struct model *model = launched();

	(void)state;
	assert_folded(model, STACKS_DEVICE, &ALL,
		      "trainer;backward;cudaLaunchKernel;gemm 3000000\n"
		      "trainer;cudaLaunchKernel;gemm 3000000\n"
		      "[unknown];of nobody 1000000\n");
	assert_folded(model, STACKS_DEVICE, &part,
		      "trainer;backward;cudaLaunchKernel;gemm 3000000\n"
		      "trainer;cudaLaunchKernel;gemm 2000000\n");
	model_free(model);
}

/* Without a sample near the launch the function is unknown; a thread that runs no Python has none. */
static void test_device_stacks_have_python(void **state)
{
	struct model *model = launched();
	uint32_t train = code(model, "train", "/srv/train.py", 0), step = code(model, "step", "/srv/train.py", 19);
	uint32_t other_line = code(model, "step", "/srv/train.py", 23), save = code(model, "save", "/srv/train.py", 40);
	uint32_t native = code(model, "PyObject_Call", NULL, 0), late = 5 * MS / 2;
	uint32_t in_step = stack(model, (uint32_t[]){ native, step, native, train }, 4);
	uint32_t in_save = stack(model, (uint32_t[]){ save, train }, 2);
	uint32_t on_other_line = stack(model, (uint32_t[]){ other_line, train }, 2);

	(void)state;
	/* Within the first launch, and on both sides of the second and of the third one. */
	sample(model, 0, in_step, late, 0, 0);
	sample(model, 0, stack(model, (uint32_t[]){ native }, 1), 5 * MS, 0, 0);
	sample(model, 0, on_other_line, 7 * MS, 0, 0);
	sample(model, 0, in_save, 30 * MS, 5 * MS, MODEL_SAMPLE_BLOCK);
	assert_folded(model, STACKS_DEVICE, &ALL,
		      "trainer;train (train.py);step (train.py:19);backward;cudaLaunchKernel;gemm 1000000\n"
		      "trainer;train (train.py);step (train.py);backward;cudaLaunchKernel;gemm 2000000\n"
		      "trainer;train (train.py);cudaLaunchKernel;gemm 3000000\n"
		      "[unknown];of nobody 1000000\n");
	/* The last sample is too late for the third launch. */
	model->stack_samples.row[model->stack_samples.count - 1].ts_ns = 900 * MS;
	assert_folded(model, STACKS_DEVICE, &ALL,
		      "trainer;train (train.py);step (train.py:19);backward;cudaLaunchKernel;gemm 1000000\n"
		      "trainer;train (train.py);step (train.py);backward;cudaLaunchKernel;gemm 2000000\n"
		      "trainer;[unknown];cudaLaunchKernel;gemm 3000000\n"
		      "[unknown];of nobody 1000000\n");
	/*
	 * On another line step() may have left the function that it called before: the function of the second launch
	 * stays unknown.
	 */
	model->stack_samples.row[0].stack = stack(model, (uint32_t[]){ save, step, train }, 3);
	model->stack_samples.row[2].stack = stack(model, (uint32_t[]){ save, other_line, train }, 3);
	assert_folded(model, STACKS_DEVICE, &ALL,
		      "trainer;train (train.py);step (train.py:19);save (train.py:40);backward;cudaLaunchKernel;gemm 1000000\n"
		      "trainer;train (train.py);step (train.py);backward;cudaLaunchKernel;gemm 2000000\n"
		      "trainer;[unknown];cudaLaunchKernel;gemm 3000000\n"
		      "[unknown];of nobody 1000000\n");
	model->functions.row[0].scope = SCOPE_PYTHON;
	assert_folded(model, STACKS_DEVICE, &ALL,
		      "trainer;backward;cudaLaunchKernel;gemm 3000000\n"
		      "trainer;[unknown];cudaLaunchKernel;gemm 3000000\n"
		      "[unknown];of nobody 1000000\n");
	model_free(model);
}

static Pprof__Profile *pprof_of(const struct model *model, enum stacks_kind kind)
{
	const struct export_options of_kind = { .end_ns = 1000 * MS, .stacks = kind };
	char path[64], error[256];
	Pprof__Profile *profile;
	uint8_t bytes[4096];
	gzFile file;
	int size;

	written_path(path);
	assert_int_equal(export_pprof.write(model, NULL, path, &of_kind, error, sizeof(error)), 0);
	file = gzopen(path, "rb");
	assert_non_null(file);
	size = gzread(file, bytes, sizeof(bytes));
	gzclose(file);
	unlink(path);
	assert_in_range(size, 1, sizeof(bytes) - 1);
	profile = pprof__profile__unpack(NULL, (size_t)size, bytes);
	assert_non_null(profile);
	return profile;
}

static const char *frame_text(const Pprof__Profile *profile, const Pprof__Sample *s, size_t at)
{
	const Pprof__Location *location = profile->location[s->location_id[at] - 1];

	assert_int_equal(location->id, s->location_id[at]);
	return profile->string_table[profile->function[location->line[0]->function_id - 1]->name];
}

static void test_pprof_holds_the_same(void **state)
{
	struct model *model = sampled();
	Pprof__Profile *profile = pprof_of(model, STACKS_ON_CPU);

	(void)state;
	assert_int_equal(profile->n_sample, 4);
	assert_int_equal(profile->n_sample_type, 2);
	assert_string_equal(profile->string_table[0], "");
	assert_string_equal(profile->string_table[profile->sample_type[0]->type], "samples");
	assert_string_equal(profile->string_table[profile->sample_type[1]->unit], "nanoseconds");
	assert_int_equal(profile->period, 10 * MS);
	assert_int_equal(profile->sample[1]->n_location_id, 3);
	assert_string_equal(frame_text(profile, profile->sample[1], 0), "step");
	assert_string_equal(frame_text(profile, profile->sample[1], 2), "job;1");
	assert_int_equal(profile->sample[1]->value[0], 2);
	assert_int_equal(profile->sample[1]->value[1], 20 * MS);
	pprof__profile__free_unpacked(profile, NULL);
	profile = pprof_of(model, STACKS_OFF_CPU);
	assert_int_equal(profile->n_sample, 1);
	assert_int_equal(profile->sample[0]->value[0], 2);
	assert_int_equal(profile->sample[0]->value[1], 7 * MS);
	pprof__profile__free_unpacked(profile, NULL);
	model_free(model);
}

static void test_depths(void **state)
{
	struct model *model = sampled();
	struct stack_tree tree;

	(void)state;
	assert_int_equal(stack_tree_init(&tree, model, STACKS_ON_CPU, &ALL), 0);
	assert_int_equal(stack_tree_depth(&tree), 3);
	stack_tree_free(&tree);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folded_of_each_kind),
		cmocka_unit_test(test_walks_that_ended_early),
		cmocka_unit_test(test_only_what_is_asked_for),
		cmocka_unit_test(test_device_stacks_follow_the_launch),
		cmocka_unit_test(test_device_stacks_have_python),
		cmocka_unit_test(test_pprof_holds_the_same),
		cmocka_unit_test(test_depths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

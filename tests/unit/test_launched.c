/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operation that a call launched: names by argument, function, handle, registered address, symbol, inner call and
 * task; operators of two phases, joined by executor.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analyzer/analyse/calls/launched.h"
#include "analyzer/join/launch/launched_names.h"
#include "tests/unit/small_model.h"

#define ROLE(name) PROFBPF__FUNCTION__ROLE__##name
#define KIND(name) PROFBPF__FUNCTION__KIND__##name

struct job {
	struct model *model;
	uint32_t process, thread, other; /* other: a thread of a second process */
	uint64_t now_ns;
};

static struct job make_job(void)
{
	struct job job = { .model = small_model(1000, 1000000), .now_ns = 2000 };

	job.process = small_process(job.model, 100, "job", true);
	job.thread = small_thread(job.model, job.process, 100, "job");
	job.other =
		small_thread(job.model, small_process(job.model, 200, "other", true), 200, "other");
	return job;
}

static uint32_t function(struct job *job, const char *name, int kind, int role0, int role1,
			 int role2)
{
	uint32_t index = small_function(job->model, "cuda", name, kind);
	struct function *f = &job->model->functions.row[index];

	f->roles[0] = (uint8_t)role0;
	f->roles[1] = (uint8_t)role1;
	f->roles[2] = (uint8_t)role2;
	return index;
}

/* Adds the first thread's next call, 100 ns long; returns its row. */
static uint32_t call(struct job *job, uint32_t what, const char *text, uint64_t arg0, uint64_t arg1,
		     uint64_t arg2)
{
	uint32_t index = small_call(job->model, job->thread, what, job->now_ns, job->now_ns + 100);
	struct call *row = &job->model->calls.row[index];

	row->text = model_string(job->model, text);
	row->args[0] = arg0;
	row->args[1] = arg1;
	row->args[2] = arg2;
	job->now_ns += 1000;
	return index;
}

static void expect_name(struct job *job, uint32_t index, const char *name, uint8_t named)
{
	const struct call *row = &job->model->calls.row[index];

	assert_string_equal(model_text(job->model, row->text), name);
	assert_int_equal(row->named, named);
}

static void test_handles(void **state)
{
	struct job job = make_job();
	uint32_t create =
		function(&job, "create", KIND(COMPILE), ROLE(HANDLE), 0, ROLE(OUT_HANDLE));
	uint32_t clone = function(&job, "clone", KIND(COMPILE), ROLE(HANDLE), 0, ROLE(OUT_HANDLE));
	uint32_t launch = function(&job, "launch", KIND(LAUNCH), ROLE(STREAM), ROLE(HANDLE), 0);
	uint32_t buffer = function(&job, "buffer", KIND(ALLOC), 0, 0, ROLE(OUT_HANDLE));
	uint32_t before, first, second, third, failed, unknown, stranger;

	before = call(&job, launch, NULL, 1, 0xa0, 0);
	call(&job, create, "one", 0x50, 0, 0xa0);
	first = call(&job, launch, NULL, 1, 0xa0, 0);
	call(&job, clone, NULL, 0xa0, 0, 0xb0);
	second = call(&job, launch, NULL, 1, 0xb0, 0);
	call(&job, create, "two", 0x50, 0, 0xa0); /* the handle is reused */
	third = call(&job, launch, NULL, 1, 0xa0, 0);
	failed = call(&job, create, "three", 0x50, 0, 0xc0);
	job.model->calls.row[failed].flags = MODEL_CALL_ERROR;
	call(&job, buffer, "memory", 0, 0, 0xc0);
	unknown = call(&job, launch, NULL, 1, 0xc0, 0);
	stranger = call(&job, launch, NULL, 1, 0xa0, 0);
	job.model->calls.row[stranger].thread = job.other;
	small_index(job.model);
	assert_int_equal(launched_names_join(job.model), 0);
	expect_name(&job, before, "", NAMED_NOT);
	expect_name(&job, first, "one", NAMED_HANDLE);
	expect_name(&job, second, "one", NAMED_HANDLE);
	expect_name(&job, third, "two", NAMED_HANDLE);
	expect_name(&job, unknown, "", NAMED_NOT);
	expect_name(&job, stranger, "", NAMED_NOT);
	model_free(job.model);
}

static void test_addresses(void **state)
{
	struct job job = make_job();
	uint32_t registers = function(&job, "register", KIND(LOAD), ROLE(CODE), 0, 0);
	uint32_t get = function(&job, "get", KIND(LOAD), ROLE(CODE), 0, ROLE(OUT_HANDLE));
	uint32_t launch = function(&job, "launch", KIND(LAUNCH), ROLE(CODE), 0, 0);
	uint32_t driver = function(&job, "driver", KIND(LAUNCH), ROLE(HANDLE), 0, 0);
	struct code_name symbol = { .address = 0x402000,
				    .from_ns = 2000,
				    .process = job.process,
				    .name = model_string(job.model, "kernel") };
	uint32_t first, second, third, handle, unknown;

	assert_true(MODEL_PUSH(&job.model->code_names, symbol));
	call(&job, registers, "registered", 0x401000, 0, 0);
	call(&job, get, NULL, 0x401000, 0, 0xd0);
	first = call(&job, launch, NULL, 0x401000, 0, 0);
	second = call(&job, driver, NULL, 0xd0, 0, 0);
	third = call(&job, launch, NULL, 0x402000, 0, 0);
	handle = call(&job, launch, NULL, 0xd0, 0, 0); /* which cudaLaunchKernel() accepts, too */
	unknown = call(&job, launch, NULL, 0xe0, 0, 0);
	small_index(job.model);
	assert_int_equal(launched_names_join(job.model), 0);
	expect_name(&job, first, "registered", NAMED_HANDLE);
	expect_name(&job, second, "registered", NAMED_HANDLE);
	expect_name(&job, third, "kernel", NAMED_SYMBOL);
	expect_name(&job, handle, "registered", NAMED_HANDLE);
	expect_name(&job, unknown, "", NAMED_NOT);
	model_free(job.model);
}

static void test_others(void **state)
{
	struct job job = make_job();
	uint32_t create = function(&job, "create", KIND(COMPILE), 0, 0, ROLE(OUT_HANDLE));
	uint32_t outer = function(&job, "outer", KIND(LAUNCH), ROLE(CODE), 0, 0);
	uint32_t inner = function(&job, "inner", KIND(LAUNCH), ROLE(HANDLE), 0, 0);
	uint32_t op = function(&job, "aclnnAdd", KIND(LAUNCH), 0, 0, 0);
	uint32_t exec = function(&job, "execute", KIND(LAUNCH), 0, 0, 0);
	uint32_t around, by_task, by_function, by_argument;
	struct device_task *task;

	job.model->functions.row[op].launches = model_string(job.model, "Add");
	call(&job, create, "one", 0, 0, 0xa0);
	around = call(&job, outer, NULL, 0x401000, 0, 0);
	job.now_ns -= 990;
	call(&job, inner, NULL, 0xa0, 0, 0);
	job.model->calls.row[around].end_ns += 500;
	job.model->calls.row[around + 1].depth = 1;
	by_task = call(&job, outer, NULL, 0x401000, 0, 0);
	by_function = call(&job, op, NULL, 0, 0, 0);
	by_argument = call(&job, exec, "MatMul", 0, 0, 0);
	small_device(job.model, job.process, "device", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	task = small_task(job.model, 0, 9000, 9100);
	task->name = model_string(job.model, "from_the_device");
	job.model->calls.row[by_task].task = 0;
	task = small_task(job.model, 0, 9200, 9300);
	task->name = 0;
	task->call = by_argument;
	small_index(job.model);
	assert_int_equal(launched_names_join(job.model), 0);
	expect_name(&job, around, "one", NAMED_INNER);
	expect_name(&job, by_task, "from_the_device", NAMED_TASK);
	expect_name(&job, by_function, "Add", NAMED_FUNCTION);
	expect_name(&job, by_argument, "MatMul", NAMED_ARGUMENT);
	assert_string_equal(model_text(job.model, job.model->tasks.row[1].name), "MatMul");
	model_free(job.model);
}

/* A name is that of the last call that gave one, at the latest at the very instant of the launch. */
static void test_instants(void **state)
{
	struct job job = make_job();
	uint32_t create = function(&job, "create", KIND(COMPILE), 0, 0, ROLE(OUT_HANDLE));
	uint32_t launch = function(&job, "launch", KIND(LAUNCH), ROLE(HANDLE), 0, 0);
	uint32_t code = function(&job, "code", KIND(LAUNCH), ROLE(CODE), 0, 0);
	struct code_name symbols[] = { { .address = 0x401000, .from_ns = 5000 },
				       { .address = 0x402000, .from_ns = 2000 } };
	uint32_t made, at_once, early, late;

	symbols[0].process = symbols[1].process = job.process;
	symbols[0].name = model_string(job.model, "loaded_late");
	symbols[1].name = model_string(job.model, "behind");
	assert_true(MODEL_PUSH(&job.model->code_names, symbols[0]));
	assert_true(MODEL_PUSH(&job.model->code_names, symbols[1]));
	made = call(&job, create, "_Z6kernelPfi", 0, 0, 0xa0);
	job.now_ns -= 1000;
	at_once = call(&job, launch, NULL, 0xa0, 0, 0);
	early = call(&job, code, NULL, 0x401000, 0, 0); /* at 3,000: another file was loaded there */
	job.now_ns += 1000;
	late = call(&job, code, NULL, 0x401000, 0, 0); /* at 5,000: as the symbol's file is loaded */
	small_index(job.model);
	assert_int_equal(launched_names_join(job.model), 0);
	assert_int_equal(job.model->calls.row[made].start_ns, job.model->calls.row[at_once].start_ns);
	expect_name(&job, at_once, "kernel", NAMED_HANDLE);
	expect_name(&job, early, "", NAMED_NOT);
	expect_name(&job, late, "loaded_late", NAMED_SYMBOL);
	model_free(job.model);
}

/* A handle has its name from a second one, which has its own from a third, and that is as far as it goes. */
static void test_handles_of_handles(void **state)
{
	struct job job = make_job();
	uint32_t create = function(&job, "create", KIND(COMPILE), 0, 0, ROLE(OUT_HANDLE));
	uint32_t clone = function(&job, "clone", KIND(COMPILE), ROLE(HANDLE), 0, ROLE(OUT_HANDLE));
	uint32_t launch = function(&job, "launch", KIND(LAUNCH), ROLE(HANDLE), 0, 0);
	uint32_t third, fourth;

	call(&job, create, "one", 0, 0, 0xa0);
	call(&job, clone, NULL, 0xa0, 0, 0xb0);
	call(&job, clone, NULL, 0xb0, 0, 0xc0);
	call(&job, clone, NULL, 0xc0, 0, 0xd0);
	third = call(&job, launch, NULL, 0xc0, 0, 0);
	fourth = call(&job, launch, NULL, 0xd0, 0, 0);
	small_index(job.model);
	assert_int_equal(launched_names_join(job.model), 0);
	expect_name(&job, third, "one", NAMED_HANDLE);
	expect_name(&job, fourth, "", NAMED_NOT);
	model_free(job.model);
}

/* Only a call of the same thread that begins before the launch ends, or as it ends, is inside of it. */
static void test_inside(void **state)
{
	static const struct {
		int64_t after_end_ns;
		bool same_thread;
		bool inside;
	} CASES[] = { { -1, true, true }, { 0, true, true }, { 1, true, false }, { -1, false, false } };

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct job job = make_job();
		uint32_t outer = function(&job, "outer", KIND(LAUNCH), 0, 0, 0);
		uint32_t around = call(&job, outer, NULL, 0, 0, 0), inner;

		job.now_ns = (uint64_t)((int64_t)job.model->calls.row[around].end_ns + CASES[i].after_end_ns);
		inner = call(&job, outer, "one", 0, 0, 0);
		job.model->calls.row[inner].end_ns = job.model->calls.row[inner].start_ns;
		job.model->calls.row[inner].depth = 1; /* of a call that began before the recording, if not of this one */
		if (!CASES[i].same_thread)
			job.model->calls.row[inner].thread = job.other;
		small_index(job.model);
		assert_int_equal(launched_names_join(job.model), 0);
		if (CASES[i].inside)
			expect_name(&job, around, "one", NAMED_INNER);
		else
			expect_name(&job, around, "", NAMED_NOT);
		model_free(job.model);
	}
}

/* What has a name keeps it: a launch with one inside of it, a task; without a source of a name nothing has any. */
static void test_names_stay(void **state)
{
	struct job job = make_job();
	uint32_t outer = function(&job, "outer", KIND(LAUNCH), 0, 0, 0);
	uint32_t copy = function(&job, "copy", KIND(COPY), 0, 0, 0);
	uint32_t named, beside, nameless, copies;

	named = call(&job, outer, "around", 0, 0, 0);
	job.now_ns -= 990;
	call(&job, outer, "within", 0, 0, 0);
	job.model->calls.row[named].end_ns += 500;
	job.model->calls.row[named + 1].depth = 1;
	nameless = call(&job, outer, NULL, 0, 0, 0);
	job.model->calls.row[nameless].named = NAMED_TASK;
	job.now_ns -= 900;
	beside = call(&job, outer, "beside", 0, 0, 0); /* begins as the one in front of it ends */
	copies = call(&job, copy, NULL, 0, 0, 0);
	assert_int_equal(job.model->calls.row[beside].start_ns, job.model->calls.row[nameless].end_ns);
	small_device(job.model, job.process, "device", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	small_task(job.model, 0, 9000, 9100)->name = model_string(job.model, "of_the_task");
	small_task(job.model, 0, 9100, 9200)->name = 0;
	small_task(job.model, 0, 9200, 9300)->name = 0;
	job.model->tasks.row[0].call = named;
	job.model->tasks.row[1].call = INDEX_NONE;
	job.model->tasks.row[2].call = copies;
	job.model->calls.row[named].task = 0;
	job.model->calls.row[copies].task = 0;
	small_index(job.model);
	assert_int_equal(launched_names_join(job.model), 0);
	expect_name(&job, named, "around", NAMED_ARGUMENT);
	expect_name(&job, nameless, "", NAMED_NOT);
	expect_name(&job, copies, "", NAMED_NOT);
	assert_string_equal(model_text(job.model, job.model->tasks.row[0].name), "of_the_task");
	assert_int_equal(job.model->tasks.row[1].name, 0);
	assert_int_equal(job.model->tasks.row[2].name, 0);
	model_free(job.model);
}

/* Of the calls inside of a launch the first launch with a name counts: neither one without a name, nor another call. */
static void test_first_inside(void **state)
{
	struct job job = make_job();
	uint32_t outer = function(&job, "outer", KIND(LAUNCH), 0, 0, 0);
	uint32_t copy = function(&job, "copy", KIND(COPY), 0, 0, 0);
	uint32_t around = call(&job, outer, NULL, 0, 0, 0), nameless;

	job.now_ns -= 990;
	nameless = call(&job, outer, NULL, 0, 0, 0);
	call(&job, copy, "copied", 0, 0, 0);
	call(&job, outer, "one", 0, 0, 0);
	job.model->calls.row[around].end_ns += 5000;
	for (uint32_t i = 1; i <= 3; i++)
		job.model->calls.row[around + i].depth = 1;
	small_index(job.model);
	assert_int_equal(launched_names_join(job.model), 0);
	expect_name(&job, around, "one", NAMED_INNER);
	expect_name(&job, nameless, "", NAMED_NOT);
	model_free(job.model);
}

/* A row that was taken back is neither read nor named. */
static void test_behind_the_last(void **state)
{
	struct job job = make_job();
	uint32_t outer = function(&job, "outer", KIND(LAUNCH), 0, 0, 0);
	uint32_t last = call(&job, outer, NULL, 0, 0, 0), behind, further;

	job.now_ns -= 990;
	behind = call(&job, outer, NULL, 0, 0, 0);
	further = call(&job, outer, "within", 0, 0, 0);
	job.model->calls.row[last].end_ns += 5000;
	job.model->calls.row[behind].depth = 1;
	job.model->calls.row[further].depth = 2;
	small_device(job.model, job.process, "device", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
	small_task(job.model, 0, 9000, 9100)->name = model_string(job.model, "of_the_task");
	job.model->calls.row[behind].task = 0;
	small_index(job.model);
	job.model->calls.count = behind;
	assert_int_equal(launched_names_join(job.model), 0);
	expect_name(&job, last, "", NAMED_NOT);
	expect_name(&job, behind, "", NAMED_NOT);
	job.model->calls.row[behind].text = model_string(job.model, "inside");
	assert_int_equal(launched_names_join(job.model), 0);
	expect_name(&job, last, "", NAMED_NOT);
	model_free(job.model);
}

static const struct launched_usage *row_of(const struct job *job,
					   const struct launched_results *results, const char *name)
{
	for (uint32_t i = 0; i < results->row_count; i++)
		if (!strcmp(model_text(job->model, results->rows[i].name), name))
			return &results->rows[i];
	fail_msg("no row of %s", name);
	return NULL;
}

static void test_phases(void **state)
{
	struct job job = make_job();
	uint32_t size =
		function(&job, "aclnnAddGetWorkspaceSize", KIND(COMPILE), 0, 0, ROLE(CORRELATION));
	uint32_t run = function(&job, "aclnnAdd", KIND(LAUNCH), ROLE(STREAM), ROLE(CORRELATION), 0);
	uint32_t other =
		function(&job, "aclnnMul", KIND(LAUNCH), ROLE(STREAM), ROLE(CORRELATION), 0);
	uint32_t kernel = function(&job, "aclrtLaunchKernel", KIND(LAUNCH), 0, 0, 0);
	struct analysis_options options = { 0 };
	struct launched_results results;
	const struct launched_usage *add, *mul;
	uint32_t inside;

	job.model->functions.row[size].launches = model_string(job.model, "Add");
	job.model->functions.row[run].launches = model_string(job.model, "Add");
	job.model->functions.row[other].launches = model_string(job.model, "Mul");
	call(&job, run, NULL, 1, 0xe0, 0); /* prepared before the recording */
	call(&job, size, NULL, 0, 0, 0xe0);
	call(&job, run, NULL, 1, 0xe0, 0); /* prepared */
	call(&job, run, NULL, 1, 0xe0, 0); /* reused */
	call(&job, run, NULL, 1, 0xe0, 0); /* reused */
	call(&job, size, NULL, 0, 0, 0xe0);
	call(&job, run, NULL, 1, 0xe0, 0); /* prepared: the address is reused */
	call(&job, other, NULL, 1, 0xe0, 0); /* the executor of another operator */
	call(&job, run, NULL, 1, 0, 0); /* without an executor */
	inside = call(&job, kernel, NULL, 0, 0, 0);
	job.model->calls.row[inside].flags = MODEL_CALL_INNER | MODEL_CALL_PART;
	call(&job, kernel, NULL, 0, 0, 0);
	small_index(job.model);
	assert_int_equal(launched_names_join(job.model), 0);
	assert_int_equal(launched_analyse(job.model, &options, &results), 0);
	assert_int_equal(results.row_count, 3);
	add = row_of(&job, &results, "Add");
	assert_true(add->phases);
	assert_int_equal(add->count, 6);
	assert_int_equal(add->prepared, 2);
	assert_int_equal(add->reused, 2);
	assert_int_equal(add->unprepared, 2);
	assert_int_equal(add->prepare_count, 2);
	assert_int_equal(add->prepare_ns, 200);
	assert_int_equal(add->total_ns, 600);
	mul = row_of(&job, &results, "Mul");
	assert_int_equal(mul->count, 1);
	assert_int_equal(mul->unprepared, 1);
	assert_int_equal(row_of(&job, &results, "")->count, 1);
	assert_false(row_of(&job, &results, "")->phases);
	launched_free(&results);
	model_free(job.model);
}

/* Most launches of a kernel are named by its handle, whichever comes first; of as many, what says more. */
static void test_usual_source(void **state)
{
	static const struct {
		const char *calls; /* a: named by an argument, h: by a handle, t: by a task */
		uint8_t named;
	} CASES[] = {
		{ "a", NAMED_ARGUMENT },   { "ahh", NAMED_HANDLE },	{ "hha", NAMED_HANDLE },
		{ "haa", NAMED_ARGUMENT }, { "hhaa", NAMED_ARGUMENT }, { "aahh", NAMED_ARGUMENT },
		{ "att", NAMED_TASK },	   { "t", NAMED_TASK },
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct job job = make_job();
		uint32_t create = function(&job, "create", KIND(COMPILE), 0, 0, ROLE(OUT_HANDLE));
		uint32_t launch = function(&job, "launch", KIND(LAUNCH), ROLE(HANDLE), 0, 0);
		struct analysis_options options = { 0 };
		struct launched_results results;

		call(&job, create, "one", 0, 0, 0xa0);
		small_device(job.model, job.process, "device", PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC);
		small_task(job.model, 0, 9000, 9100)->name = model_string(job.model, "one");
		for (const char *how = CASES[i].calls; *how; how++)
			job.model->calls.row[call(&job, launch, *how == 'a' ? "one" : NULL, *how == 'h' ? 0xa0 : 0, 0, 0)]
				.task = *how == 't' ? 0 : INDEX_NONE;
		call(&job, launch, NULL, 0xb0, 0, 0);
		small_index(job.model);
		assert_int_equal(launched_names_join(job.model), 0);
		assert_int_equal(launched_analyse(job.model, &options, &results), 0);
		assert_int_equal(results.row_count, 2);
		assert_int_equal(row_of(&job, &results, "one")->named, CASES[i].named);
		assert_int_equal(row_of(&job, &results, "")->named, NAMED_NOT);
		launched_free(&results);
		model_free(job.model);
	}
}

/* Most launches first; of as many the ones that took longer, then those of the first process and name. */
static void test_order(void **state)
{
	static const char *const ORDER[] = { "often", "long", "first", "second" };
	struct job job = make_job();
	uint32_t launch = function(&job, "launch", KIND(LAUNCH), 0, 0, 0);
	struct analysis_options options = { 0 };
	struct launched_results results;

	for (size_t i = 2; i < 4; i++)
		model_string(job.model, ORDER[i]);
	call(&job, launch, "second", 0, 0, 0);
	call(&job, launch, "first", 0, 0, 0);
	job.model->calls.row[call(&job, launch, "long", 0, 0, 0)].end_ns += 200;
	call(&job, launch, "often", 0, 0, 0);
	call(&job, launch, "often", 0, 0, 0);
	job.model->calls.row[job.model->calls.count - 1].flags = MODEL_CALL_ERROR;
	job.model->calls.row[call(&job, launch, "first", 0, 0, 0)].thread = job.other;
	small_index(job.model);
	assert_int_equal(launched_names_join(job.model), 0);
	assert_int_equal(launched_analyse(job.model, &options, &results), 0);
	assert_int_equal(results.row_count, 5);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(model_text(job.model, results.rows[i].name), ORDER[i]);
		assert_int_equal(results.rows[i].process, job.process);
		assert_int_equal(results.rows[i].errors, i == 0);
	}
	assert_true(results.rows[4].process != job.process);
	launched_free(&results);
	model_free(job.model);
}

static void test_source_texts(void **state)
{
	assert_string_equal(call_named_text(NAMED_NOT), "unknown");
	assert_string_equal(call_named_text(NAMED_TASK), "task");
	assert_string_equal(call_named_text(NAMED_TASK + 1), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_handles),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_instants),
		cmocka_unit_test(test_handles_of_handles),
		cmocka_unit_test(test_inside),
		cmocka_unit_test(test_names_stay),
		cmocka_unit_test(test_first_inside),
		cmocka_unit_test(test_behind_the_last),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_usual_source),
		cmocka_unit_test(test_source_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_handles),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

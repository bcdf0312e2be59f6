/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations and frees by calls, and files' records of memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/analyse/memory/memory.h"
#include "tests/unit/small_model.h"

static const struct analysis_options everything;

struct job {
	struct model *model;
	uint32_t thread;
	uint32_t allocate, allocate_host, reserve, release, unload;
};

static uint32_t function(struct model *model, const char *name, Profbpf__Function__Kind kind)
{
	uint32_t row = small_function(model, "acl", name, kind);

	if (kind == PROFBPF__FUNCTION__KIND__ALLOC) {
		model->functions.row[row].roles[0] = PROFBPF__FUNCTION__ROLE__BYTES;
		model->functions.row[row].roles[1] = PROFBPF__FUNCTION__ROLE__OUT_HANDLE;
	} else {
		model->functions.row[row].roles[2] = PROFBPF__FUNCTION__ROLE__HANDLE;
	}
	return row;
}

static struct job make_job(void)
{
	struct job job = { .model = small_model(0, 100000) };
	uint32_t process = small_process(job.model, 100, "job", true);

	job.thread = small_thread(job.model, process, 100, "main");
	job.allocate = function(job.model, "aclrtMalloc", PROFBPF__FUNCTION__KIND__ALLOC);
	job.allocate_host = function(job.model, "aclrtMallocHost", PROFBPF__FUNCTION__KIND__ALLOC);
	job.reserve = function(job.model, "aclrtReserveMemAddress", PROFBPF__FUNCTION__KIND__ALLOC);
	job.release = function(job.model, "aclrtFree", PROFBPF__FUNCTION__KIND__FREE);
	job.unload = function(job.model, "aclmdlUnload", PROFBPF__FUNCTION__KIND__FREE);
	return job;
}

static struct call *call(const struct job *job, uint32_t of, uint64_t at_ns, uint64_t first,
			 uint64_t second)
{
	uint32_t row = small_call(job->model, job->thread, of, at_ns, at_ns + 10);
	struct call *made = &job->model->calls.row[row];

	made->args[0] = first;
	made->args[1] = second;
	made->args[2] = first;
	return made;
}

static void ledger(void **state)
{
	struct job job = make_job();
	struct memory_results results;
	const struct memory_ledger *device, *host;

	call(&job, job.allocate, 1000, 500, 0xa000);
	call(&job, job.allocate, 1100, 300, 0xb000);
	/* Addresses that were returned but not seen: neither is an allocation, nor do they free each other. */
	call(&job, job.allocate, 1101, 7000, 0)->flags = MODEL_CALL_VALUE_UNKNOWN;
	call(&job, job.allocate, 1103, 7000, 0)->flags = MODEL_CALL_VALUE_UNKNOWN;
	/* A deeper layer of the same call, a failed call, and addresses without memory. */
	call(&job, job.allocate, 1102, 300, 0xb000)->flags = MODEL_CALL_INNER;
	call(&job, job.allocate, 1200, 9000, 0xa000)->flags = MODEL_CALL_ERROR;
	call(&job, job.reserve, 1300, 1 << 20, 0xf000);
	call(&job, job.release, 1400, 0xa000, 0);
	call(&job, job.allocate, 1500, 100, 0xa000);
	call(&job, job.allocate, 1600, 100, 0xc000);
	call(&job, job.allocate_host, 1700, 64, 0xd000);
	call(&job, job.release, 1800, 0xd000, 0);
	call(&job, job.release, 1900, 0xeeee, 0);
	call(&job, job.unload, 2000, 0xc000, 0);
	/* Allocated again: the free between was not recorded. */
	call(&job, job.allocate, 2100, 50, 0xb000);
	small_index(job.model);
	assert_int_equal(memory_analyse(job.model, &everything, &results), 0);
	assert_int_equal(results.ledger_count, 2);
	device = &results.ledgers[0];
	host = &results.ledgers[1];
	assert_false(device->host);
	assert_int_equal(device->allocations, 5);
	assert_int_equal(device->allocated_bytes, 1050);
	assert_int_equal(device->failed, 1);
	assert_int_equal(device->frees, 2);
	assert_int_equal(device->unknown_frees, 1);
	assert_int_equal(device->curve.peak_bytes, 800);
	assert_int_equal(device->curve.peak_ns, 1110);
	assert_int_equal(device->curve.last_bytes, 250);
	assert_int_equal(device->live_count, 3);
	assert_int_equal(device->live_rows, 2);
	assert_int_equal(device->live[0].bytes, 100);
	assert_int_equal(device->live[0].count, 2);
	assert_int_equal(device->live[0].first_ns, 1510);
	/* 500, 800, 300, 400, 500, 250. */
	assert_int_equal(device->curve.count, 6);
	assert_int_equal(device->curve.points[2].ts_ns, 1400);
	assert_int_equal(device->curve.points[2].bytes, 300);
	assert_int_equal(device->curve.points[5].bytes, 250);
	assert_true(host->host);
	assert_int_equal(host->curve.peak_bytes, 64);
	assert_int_equal(host->curve.last_bytes, 0);
	assert_int_equal(host->frees, 1);
	memory_free(&results);
	model_free(job.model);
}

static void window(void **state)
{
	const struct analysis_options options = { .from_ns = 1500, .to_ns = 1750 };
	struct job job = make_job();
	struct memory_results results;

	call(&job, job.allocate, 1000, 500, 0xa000);
	call(&job, job.allocate, 1600, 100, 0xb000);
	call(&job, job.release, 1700, 0xb000, 0);
	call(&job, job.release, 1800, 0xa000, 0);
	small_index(job.model);
	assert_int_equal(memory_analyse(job.model, &options, &results), 0);
	assert_int_equal(results.ledgers[0].allocations, 1);
	assert_int_equal(results.ledgers[0].frees, 1);
	assert_int_equal(results.ledgers[0].curve.peak_bytes, 600);
	assert_int_equal(results.ledgers[0].curve.last_bytes, 500);
	assert_int_equal(results.ledgers[0].curve.points[0].ts_ns, 1500);
	assert_int_equal(results.ledgers[0].live_count, 1);
	memory_free(&results);
	model_free(job.model);
}

/* The part ends at 1610: what happens at that instant, an allocation there and the free of another, is after it. */
static void end_of_a_part(void **state)
{
	const struct analysis_options options = { .from_ns = 1010, .to_ns = 1610 };
	struct job job = make_job();
	struct memory_results results;

	call(&job, job.allocate, 1000, 500, 0xa000); /* returns at 1010, the part's first instant */
	call(&job, job.allocate, 1600, 100, 0xb000);
	call(&job, job.release, 1610, 0xa000, 0);
	small_index(job.model);
	assert_int_equal(memory_analyse(job.model, &options, &results), 0);
	assert_int_equal(results.ledgers[0].allocations, 1);
	assert_int_equal(results.ledgers[0].frees, 0);
	assert_int_equal(results.ledgers[0].curve.last_bytes, 500);
	assert_int_equal(results.ledgers[0].live_count, 1);
	memory_free(&results);
	model_free(job.model);
}

/* Memory of the host, by the function's name; functions that only return addresses or names of memory allocate none. */
static void names(void **state)
{
	static const struct { const char *name; bool counts, host; } cases[] = {
		{ "aclrtMalloc", true, false },		{ "aclrtMallocHost", true, true },
		{ "rtMbufAlloc", true, true },		{ "halAllocBuf", true, true },
		{ "aclrtReserveMemAddress", false },	{ "cudaHostRegister", false },
		{ "cudaHostUnregister", false },	{ "cuMemGetAddress", false },
		{ "aclrtMapMem", false },		{ "aclrtUnmapMem", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct job job = make_job();
		struct memory_results results;

		call(&job, function(job.model, cases[i].name, PROFBPF__FUNCTION__KIND__ALLOC), 1000, 64, 0xa000);
		small_index(job.model);
		assert_int_equal(memory_analyse(job.model, &everything, &results), 0);
		assert_int_equal(results.ledger_count, cases[i].counts);
		if (cases[i].counts)
			assert_int_equal(results.ledgers[0].host, cases[i].host);
		memory_free(&results);
		model_free(job.model);
	}
}

/* A thinned curve keeps its peaks. */
static void long_curve(void **state)
{
	struct memory_point *points = calloc(100000, sizeof(*points));
	struct memory_curve curve;
	uint64_t highest = 0;

	assert_non_null(points);
	for (uint32_t i = 0; i < 100000; i++)
		points[i] = (struct memory_point){ 1000 + i, i == 77777 ? 999 : i % 10 };
	memory_curve_make(&curve, points, 100000, 0, UINT64_MAX);
	assert_true(curve.count <= MEMORY_CURVE_POINTS);
	assert_true(curve.count > MEMORY_CURVE_POINTS / 2);
	for (uint32_t i = 0; i < curve.count; i++)
		highest = curve.points[i].bytes > highest ? curve.points[i].bytes : highest;
	assert_int_equal(highest, 999);
	assert_int_equal(curve.peak_ns, 1000 + 77777);
	assert_int_equal(curve.last_bytes, 9);
	free(curve.points);
}

static void records(void **state)
{
	struct model *model = small_model(0, 100000);
	uint32_t pta = model_string(model, "PTA"), ge = model_string(model, "GE");
	struct memory_record rows[] = {
		{ .ts_ns = 300,
		  .allocated = 70,
		  .reserved = 100,
		  .component = pta,
		  .flags = MODEL_MEMORY_ALLOCATED | MODEL_MEMORY_RESERVED },
		{ .ts_ns = 100,
		  .allocated = 90,
		  .reserved = 95,
		  .component = pta,
		  .flags = MODEL_MEMORY_ALLOCATED | MODEL_MEMORY_RESERVED },
		{ .ts_ns = 100, .bytes = 40, .component = ge, .flags = MODEL_MEMORY_CHANGE },
		{ .ts_ns = 200, .bytes = -30, .component = ge, .flags = MODEL_MEMORY_CHANGE },
		{ .ts_ns = 250, .bytes = -30, .component = ge, .flags = MODEL_MEMORY_CHANGE },
		{ .ts_ns = 100, .reserved = 5, .flags = MODEL_MEMORY_RESERVED | MODEL_MEMORY_HOST },
	};
	struct memory_results results;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rows[i].process = INDEX_NONE;
		assert_true(MODEL_PUSH(&model->memory_records, rows[i]));
	}
	assert_int_equal(memory_analyse(model, &everything, &results), 0);
	assert_int_equal(results.series_count, 3);
	assert_int_equal(results.series[0].component, pta);
	assert_int_equal(results.series[0].curve.peak_bytes, 90);
	assert_int_equal(results.series[0].curve.peak_ns, 100);
	assert_int_equal(results.series[0].curve.last_bytes, 70);
	assert_int_equal(results.series[0].peak_reserved, 100);
	assert_int_equal(results.series[1].component, ge);
	assert_int_equal(results.series[1].curve.peak_bytes, 40);
	assert_int_equal(results.series[1].releases, 2);
	/* More was freed than is known to have been allocated. */
	assert_int_equal(results.series[1].curve.last_bytes, 0);
	assert_true(results.series[2].host);
	assert_int_equal(results.series[2].curve.count, 0);
	memory_free(&results);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ledger),
		cmocka_unit_test(window),
		cmocka_unit_test(end_of_a_part),
		cmocka_unit_test(names),
		cmocka_unit_test(long_curve),
		cmocka_unit_test(records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

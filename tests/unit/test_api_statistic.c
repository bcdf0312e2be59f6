/* SPDX-License-Identifier: Apache-2.0 */
/* Calls by level and name: recorded calls, and sums from a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/analyse/calls/api_statistic.h"
#include "analyzer/import/importer.h"
#include "tests/unit/small_model.h"

static const struct analysis_options everything;

static void own_calls(void **state)
{
	struct model *model = small_model(0, 1000000);
	uint32_t process = small_process(model, 100, "job", true);
	uint32_t thread = small_thread(model, process, 100, "main");
	uint32_t launch =
		small_function(model, "acl", "aclrtLaunchKernel", PROFBPF__FUNCTION__KIND__LAUNCH);
	uint32_t inner = small_function(model, "cann_runtime", "rtKernelLaunch",
					PROFBPF__FUNCTION__KIND__LAUNCH);
	uint32_t again =
		small_function(model, "acl", "aclrtLaunchKernel", PROFBPF__FUNCTION__KIND__LAUNCH);
	struct api_statistic_results results;
	uint32_t row;

	small_call(model, thread, launch, 1000, 3000);
	row = small_call(model, thread, inner, 1500, 2500);
	model->calls.row[row].flags = MODEL_CALL_INNER;
	small_call(model, thread, again, 5000, 9000);
	row = small_call(model, thread, launch, 10000, 90000);
	model->calls.row[row].flags = MODEL_CALL_OPEN;
	small_index(model);
	assert_int_equal(api_statistic_analyse(model, &everything, &results), 0);
	assert_int_equal(results.count, 2);
	assert_string_equal(results.rows[0].level, "AscendCL");
	assert_int_equal(results.rows[0].count, 2);
	assert_int_equal(results.rows[0].total_ns, 6000);
	assert_int_equal(results.rows[0].min_ns, 2000);
	assert_int_equal(results.rows[0].max_ns, 4000);
	/* 2 and 4 us: 1 us from the mean each. */
	assert_true(results.rows[0].variance > 0.999 && results.rows[0].variance < 1.001);
	assert_string_equal(results.rows[1].level, "Runtime");
	assert_int_equal(results.rows[1].total_ns, 1000);
	assert_true(results.rows[1].variance == 0);
	api_statistic_free(&results);
	model_free(model);
}

/*
 * Alternating threads of two processes with the same function: each process has its row, whichever was looked up
 * last.
 */
static void processes_in_turn(void **state)
{
	struct model *model = small_model(0, 1000000);
	uint32_t process[2] = { small_process(model, 100, "job", true), small_process(model, 200, "job", true) };
	uint32_t functions[2] = {
		small_function(model, "acl", "aclrtLaunchKernel", PROFBPF__FUNCTION__KIND__LAUNCH),
		small_function(model, "acl", "aclrtMemcpy", PROFBPF__FUNCTION__KIND__COPY),
	};
	struct api_statistic_results results;

	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t thread = small_thread(model, process[i % 2], 100 + i, "worker");

		small_call(model, thread, functions[0], 1000, 1001 + i);
		small_call(model, thread, functions[i % 2], 2000, 2010 + i);
	}
	small_index(model);
	assert_int_equal(api_statistic_analyse(model, &everything, &results), 0);
	assert_int_equal(results.count, 3);
	for (uint32_t i = 0; i < results.count; i++) {
		bool second = results.rows[i].process == process[1];
		bool launches = results.rows[i].name == model->functions.row[functions[0]].name;

		assert_int_equal(results.rows[i].count, second ? 3 : 6);
		assert_int_equal(results.rows[i].total_ns, !second ? 45 : launches ? 12 : 39);
	}
	api_statistic_free(&results);
	model_free(model);
}

static void of_a_file(void **state)
{
	static const char table[] =
		"Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n"
		"host,acl,aclrtMalloc,30.5,2,15.25,10,20.5\t,27.5625\n"
		"host,node,launch,5,1,5,5,5,N/A\n"
		"host,node,broken,N/A,1,5,5,5,0\n";
	char path[] = "/tmp/test_api_statistic.XXXXXX", error[256];
	struct model *model = model_new();
	struct api_statistic_results results;
	int file = mkstemp(path);

	assert_true(file >= 0);
	assert_int_equal(write(file, table, sizeof(table) - 1), sizeof(table) - 1);
	close(file);
	assert_int_equal(import_device_file(model, path, true, error, sizeof(error)), 0);
	assert_int_equal(import_finish(model, true), 0);
	assert_int_equal(api_statistic_analyse(model, &everything, &results), 0);
	assert_int_equal(results.count, 2);
	assert_string_equal(results.rows[0].level, "AscendCL");
	assert_string_equal(model_text(model, results.rows[0].name), "aclrtMalloc");
	assert_int_equal(results.rows[0].total_ns, 30500);
	assert_int_equal(results.rows[0].count, 2);
	assert_int_equal(results.rows[0].max_ns, 20500);
	assert_true(results.rows[0].variance == 27.5625);
	assert_string_equal(results.rows[1].level, "Node");
	assert_true(results.rows[1].variance < 0);
	assert_int_equal(model->findings.count, 1);
	api_statistic_free(&results);
	model_free(model);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_calls),
		cmocka_unit_test(processes_in_turn),
		cmocka_unit_test(of_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

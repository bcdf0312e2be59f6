/* SPDX-License-Identifier: Apache-2.0 */
/* Files with operators by shape, and with the memory use of graphs, built by the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/import/importer.h"
#include "tests/unit/import_text.h"

static const struct operator_sum *sum(const struct model *model, const char *name,
				      const char *shapes)
{
	for (uint32_t i = 0; i < model->operator_sums.count; i++) {
		const struct operator_sum *row = &model->operator_sums.row[i];

		if (strcmp(model_text(model, row->name), name) == 0 &&
		    strcmp(model_text(model, row->shapes), shapes) == 0)
			return row;
	}
	fail_msg("no %s of %s", name, shapes);
	return NULL;
}

#define ASCEND                                                                                  \
	"{\"Cast\": [{\"Cast-op1\": {\"op_exe_time\": [0.5, 1.25, 0.75, 5e-05], "               \
	"\"op_shape\": [\"{input_0: 4,2}\", \"{input_0: 8,2}\", \"{input_0: 4,2}\", "          \
	"\"{input_0: 8,2}\"], \"op_exe_occurrences\": 4}}, "                                   \
	"{\"Cast-op2\": {\"op_exe_time\": [1, 2], \"op_shape\": [\"a\"]}}, "                     \
	"{\"Cast-op3\": {\"op_exe_time\": [null, 3], \"op_shape\": [\"a\", \"b\"]}}], "           \
	"\"op_type\": {\"Cast\": [100, 100]}}"

/*
 * Milliseconds by name and shape; means by type belong to the same calls. Rows that cannot be distinguished are left
 * out.
 */
static void test_ascend(void **state)
{
	struct model *model = import_words("dynamic_shape_info_5.json", ASCEND);
	const struct operator_sum *row = sum(model, "Cast-op1", "{input_0: 4,2}");

	assert_int_equal(model->operator_sums.count, 3);
	assert_int_equal(row->count, 2);
	assert_int_equal(row->total_ns, 1250000);
	assert_int_equal(row->min_ns, 500000);
	assert_int_equal(row->max_ns, 750000);
	assert_true(row->self_ns == UINT64_MAX && row->host_ns == UINT64_MAX);
	assert_string_equal(model_text(model, row->type), "Cast");
	assert_int_equal(model->devices.row[row->device].id, 5);
	assert_string_equal(model_text(model, model->devices.row[0].kind), "npu");
	assert_int_equal(sum(model, "Cast-op1", "{input_0: 8,2}")->total_ns, 1250050);
	assert_int_equal(sum(model, "Cast-op3", "b")->total_ns, 3000000);
	assert_int_equal(model->findings.count, 2);
	model_free(model);
	import_same("dynamic_shape_info_5.json", ASCEND, strlen(ASCEND), true);
}

#define GPU                                                                                      \
	"{\"operator\": {\"1\": [{\"step\": 1, \"op_side\": \"gpu\", \"op_type\": \"MatMul\", "         \
	"\"op_name\": \"MatMul-op1\", \"dur\": 12.5, \"shape_info\": [\"8,16\", \"16,4\"]}, "         \
	"{\"step\": 1, \"op_side\": \"cpu\", \"op_type\": \"Cast\", \"op_name\": \"Cast-op2\", "      \
	"\"dur\": 3, \"shape_info\": [\"8\"]}], \"2\": [{\"step\": 2, \"op_side\": \"gpu\", "           \
	"\"op_type\": \"MatMul\", \"op_name\": \"MatMul-op1\", \"dur\": 7.5, "                      \
	"\"shape_info\": [\"8,16\", \"16,4\"]}, {\"op_name\": \"lost\"}]}, "                         \
	"\"kernel\": {\"1\": [{\"step\": 1, \"op_type\": \"cuLaunchKernel\", \"op_name\": \"gemm\", " \
	"\"op_full_name\": \"Default/MatMul-op1\", \"dur\": 10}]}, "                              \
	"\"operator_type\": {\"1\": {\"MatMul\": [99, 1, 99]}}, \"kernel_type\": {}}"

/* Microseconds by step; shapes of all inputs; kernels have no shapes. */
static void test_gpu(void **state)
{
	struct model *model = import_words("dynamic_shape_info_0.json", GPU);
	const struct operator_sum *row = sum(model, "MatMul-op1", "8,16;16,4");

	assert_int_equal(model->operator_sums.count, 3);
	assert_int_equal(row->count, 2);
	assert_int_equal(row->total_ns, 20000);
	assert_string_equal(model_text(model, row->core), "GPU");
	assert_string_equal(model_text(model, sum(model, "Cast-op2", "8")->core), "HOSTCPU");
	assert_int_equal(sum(model, "gemm", "")->total_ns, 10000);
	assert_int_equal(sum(model, "gemm", "")->type, 0);
	assert_string_equal(model_text(model, model->devices.row[0].kind), "gpu");
	assert_int_equal(model->findings.count, 1);
	model_free(model);
	import_same("dynamic_shape_info_0.json", GPU, strlen(GPU), true);
}

#define GRAPHS                                                                                    \
	"{\"7\": {\"graph_id\": 7, \"static_mem\": 0.25, \"nodes\": ["                                 \
	"{\"name\": \"Cast-op1\", \"fullname\": \"Default/Cast-op1\", \"node_id\": 0}, "              \
	"{\"name\": \"Mul-op2\", \"fullname\": \"\", \"node_id\": 1}, {\"node_id\": 2}], "              \
	"\"fp_start\": null, \"bp_end\": null, \"lines\": [0.5, 0.75, 0.75], \"breakdowns\": "       \
	"[[], [{\"tensor_name\": \"Cast-op1:0\", \"size\": 0.125, \"type\": \"output\"}, "            \
	"{\"tensor_name\": \"Mul-op2:0\", \"size\": 0.25, \"type\": \"output\"}, "                    \
	"{\"tensor_name\": \"\", \"size\": 9}]]}, \"8\": {\"graph_id\": 8, \"nodes\": [], "            \
	"\"lines\": []}, \"9\": {\"graph_id\": 9, \"nodes\": [], \"lines\": [1], \"breakdowns\": []}}"

/*
 * GiB converted to bytes; the first of equal peaks, under the shorter name if there is no other; largest tensors
 * first.
 */
static void test_graphs(void **state)
{
	struct model *model = import_words("memory_usage_details_3.json", GRAPHS);

	assert_int_equal(model->devices.row[0].id, 3);
	assert_true(import_fact(model, NULL, "static")->value == 268435456);
	assert_string_equal(model_text(model, import_fact(model, NULL, "static")->topic), "memory of graph 7");
	assert_true(import_fact(model, NULL, "peak of operators listed")->value == 805306368);
	assert_string_equal(model_text(model, import_fact(model, NULL, "peak at")->text), "Mul-op2");
	assert_true(import_fact(model, NULL, "at the peak: output Mul-op2:0")->value == 268435456);
	assert_true(import_fact(model, NULL, "at the peak: output Mul-op2:0") <
		    import_fact(model, NULL, "at the peak: output Cast-op1:0"));
	/* For graph 9 there is only the peak; for graph 8 nothing. */
	assert_int_equal(model->device_facts.count, 5 + 1);
	assert_int_equal(model->findings.count, 1);
	model_free(model);
	import_same("memory_usage_details_3.json", GRAPHS, strlen(GRAPHS), true);
}

/* MindSpore's own evaluation has more facts, and is imported beside the plan. */
static void test_told(void **state)
{
	/* 1: graph {1: id 7, 2: 1000 static, 3: operator {1: "a"}, 4: tensor of 300 at 0 to 0} */
	static const char plan[] = "\x0a\x13\x08\x07\x10\xe8\x07\x1a\x03\x0a\x01"
				   "a\x22\x07\x10\xac\x02\x20\x00\x28\x00";
	char folder[] = "/tmp/test_import_shapes.XXXXXX", command[96];
	struct model *model;

	assert_non_null(mkdtemp(folder));
	import_write(folder, "memory_usage_3.pb", plan, sizeof(plan) - 1);
	import_write_text(folder, "memory_usage_details_3.json", GRAPHS);
	import_write_text(folder, "dynamic_shape_info_3.json", ASCEND);
	import_write_text(folder, "flops_summary_3.json", "{\"FLOPs\": 1, \"FLOPS\": 2}");
	model = import_take(folder);
	assert_true(import_fact(model, NULL, "peak")->value == 1300);
	assert_string_equal(model_text(model, import_fact(model, NULL, "peak")->topic), "memory of graph 7");
	/* Only one of the files contains graph 9. */
	assert_string_equal(model_text(model, import_fact(model, NULL, "peak of operators listed")->topic),
			    "memory of graph 9");
	assert_null(import_fact(model, NULL, "at the peak: output Mul-op2:0"));
	assert_int_equal(model->operator_sums.count, 3);
	assert_int_equal(model->devices.count, 1);
	model_free(model);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

#define DETAILS                                                                                  \
	"Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),"          \
	"Device Self Duration(us),Device Total Duration(us),"                                   \
	"Device Self Duration With AICore(us),Device Total Duration With AICore(us)\n"          \
	"aten::linear,\"8,16;16,4\",\"a.py(1): f;\nb.py(2): g\",1.5,4,0,10.25,0,10.25\n"         \
	"aten::mm,\"8,16;16,4\",,2.5,2.5,10.25,10.25,10.25,10.25\n"                              \
	"aten::mm,\"8,16;16,4\",,3,3.125,\"5\t\",5,5,5\n"                                         \
	"aten::mm,N/A,,1,1,N/A,7,0,0\naten::mm,N/A,,1,1,2,7,0,0\n,N/A,,1,1,1,1,1,1\n"

/* By name and shapes; if one call lacks a time, the sum is unknown, not nought. */
static void test_details(void **state)
{
	struct model *model = import_words("operator_details.csv", DETAILS);
	const struct operator_sum *row = sum(model, "aten::mm", "8,16;16,4");

	assert_int_equal(model->operator_sums.count, 3);
	assert_int_equal(row->count, 2);
	assert_int_equal(row->host_ns, 5625);
	assert_int_equal(row->host_self_ns, 5500);
	assert_int_equal(row->self_ns, 15250);
	assert_int_equal(row->total_ns, 15250);
	assert_int_equal(row->min_ns, 5000);
	assert_int_equal(row->max_ns, 10250);
	assert_true(row->device == INDEX_NONE);
	row = sum(model, "aten::linear", "8,16;16,4");
	assert_int_equal(row->self_ns, 0);
	assert_int_equal(row->total_ns, 10250);
	assert_int_equal(row->host_self_ns, 1500);
	row = sum(model, "aten::mm", "");
	assert_true(row->self_ns == UINT64_MAX);
	assert_int_equal(row->total_ns, 14000);
	assert_int_equal(model->findings.count, 1);
	/* None of these rows is a task. */
	assert_int_equal(model->tasks.count, 0);
	model_free(model);
	import_same("operator_details.csv", DETAILS, strlen(DETAILS), true);
	model = import_words("operator_details.csv", "Name,Input Shapes\nMatMul,\"8,16;16,4\"\n");
	row = sum(model, "MatMul", "8,16;16,4");
	assert_int_equal(row->count, 1);
	assert_true(row->total_ns == UINT64_MAX && row->min_ns == UINT64_MAX);
	assert_true(row->host_ns == UINT64_MAX);
	model_free(model);
}

#define STATIC                                                                       \
	"Device_id,Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)\n" \
	"2,Conv1,resnet,1,3,7,1.5\n2,Relu1,resnet,1,4,4294967295,\"64\t\"\n"                \
	"2,Add1,,N/A,N/A,N/A,0\n2,Mul1,resnet,1,1,2,N/A\nhost,Mul2,resnet,1,1,2,3\n"

/* Kilobytes, the largest first; a lifetime that the file lacks is unknown. */
static void test_static(void **state)
{
	struct model *model = import_words("static_op_mem_1.csv", STATIC);

	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->devices.row[0].id, 2);
	assert_int_equal(model->device_facts.count, 4);
	assert_true(import_fact(model, NULL, "Mul2, nodes 1 to 2")->device == INDEX_NONE);
	assert_true(import_fact(model, NULL, "Relu1, node 4 to the end") == &model->device_facts.row[0]);
	assert_true(model->device_facts.row[0].value == 65536);
	assert_string_equal(model_text(model, model->device_facts.row[0].topic),
			    "static memory of graph 1 of resnet");
	assert_true(import_fact(model, NULL, "Conv1, nodes 3 to 7")->value == 1536);
	assert_true(import_fact(model, NULL, "Add1")->value == 0);
	assert_int_equal(model->findings.row[0].count, 1);
	model_free(model);
	import_same("static_op_mem_1.csv", STATIC, strlen(STATIC), true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ascend),
		cmocka_unit_test(test_gpu),
		cmocka_unit_test(test_graphs),
		cmocka_unit_test(test_told),
		cmocka_unit_test(test_details),
		cmocka_unit_test(test_static),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

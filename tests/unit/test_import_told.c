/* SPDX-License-Identifier: Apache-2.0 */
/* Files of Ascend's profilers with sums, comparisons or advice, built by the test. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/analyse/cluster/cluster.h"
#include "analyzer/import/importer.h"
#include "tests/unit/import_text.h"

static char folder[64];

static int setup(void **state)
{
	strcpy(folder, "/tmp/test_import_told.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static const struct device_fact *fact(const struct model *model, const char *topic,
				      const char *name)
{
	const struct device_fact *row = import_fact(model, topic, name);

	if (!row)
		fail_msg("nothing of %s %s", topic, name);
	return row;
}

static const struct operator_sum *sum(const struct model *model, const char *text)
{
	for (uint32_t i = 0; i < model->operator_sums.count; i++) {
		const struct operator_sum *row = &model->operator_sums.row[i];

		if (strcmp(model_text(model, row->name ? row->name : row->type), text) == 0)
			return row;
	}
	fail_msg("no sum of %s", text);
	return NULL;
}

#define STATISTIC                                                                          \
	"Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),"      \
	"Max Time(us),Ratio(%)\n"                                                          \
	"3,MatMulV2,AI_CORE,4,\"100.5\t\",20,25.125,30.25,80\n3,Cast,AI_VECTOR_CORE,0,0,0," \
	"0,0,0\n4,Mul,AI_CORE,2,N/A,1,1.5,1,1\n4,,AI_CORE,1,1,1,1,1,1\n"

/* Two devices; a row without a count and one without a type are left out. */
static void test_statistic(void **state)
{
	struct model *model = import_words("op_statistic_1.csv", STATISTIC);
	const struct operator_sum *row = sum(model, "MatMulV2");

	assert_int_equal(model->operator_sums.count, 2);
	assert_int_equal(row->count, 4);
	assert_int_equal(row->total_ns, 100500);
	assert_int_equal(row->min_ns, 20000);
	assert_int_equal(row->max_ns, 30250);
	assert_string_equal(model_text(model, row->core), "AI_CORE");
	assert_int_equal(model->devices.row[row->device].id, 3);
	/* The total follows from the mean. */
	assert_int_equal(sum(model, "Mul")->total_ns, 3000);
	assert_int_equal(model->findings.row[0].count, 2);
	model_free(model);
	import_same("op_statistic_1.csv", STATISTIC, strlen(STATISTIC), true);
	model = import_words("communication_statistic_1.csv",
		     "Device_id,OP Type,Count,Total Time(us),Min Time(us),Avg Time(us),"
		     "Max Time(us),Ratio(%)\n0,hcom_allReduce_,2,10,5,5,5,100\n");
	assert_string_equal(model_text(model, sum(model, "hcom_allReduce_")->core),
			    "COMMUNICATION");
	model_free(model);
}

/* Totals by type in ms, means by name, with a misspelt column; the host's file and a GPU's. */
static void test_intermediate(void **state)
{
	static const char *const UNCOUNTED[] = { "full_kernel_name,execution_time\nDefault/Cast-op1,0.5\n",
						 "full_op_name,execution_time\nCast-op1,0.5\n" };
	int error;
	struct model *model = import_words("aicore_intermediate_2_type.csv",
				   "kernel_type,total_time,execution_frequency,percent\n"
				   "Cast,0.053395,13,3.63\n");

	assert_int_equal(sum(model, "Cast")->total_ns, 53395);
	assert_int_equal(sum(model, "Cast")->count, 13);
	assert_true(sum(model, "Cast")->min_ns == UINT64_MAX);
	assert_string_equal(model_text(model, sum(model, "Cast")->core), "AI_CORE");
	assert_int_equal(model->devices.row[0].id, 2);
	model_free(model);
	model = import_words("aicore_intermediate_2_detail.csv",
		     "full_kernel_time,execution_time,execution_frequency\n"
		     "Default/Cast-op10,0.00466,3\n");
	assert_int_equal(sum(model, "Default/Cast-op10")->total_ns, 13980);
	model_free(model);
	/*
	 * The same for names of 2.0; files of 0.7 and of PyNative mode have no count, so that no sum can be computed.
	 */
	model = import_words("aicore_intermediate_2_detail.csv",
			     "full_op_name,execution_time,execution_frequency\nDefault/Cast-op1,0.5,4\n");
	assert_int_equal(sum(model, "Default/Cast-op1")->total_ns, 2000000);
	model_free(model);
	for (size_t i = 0; i < sizeof(UNCOUNTED) / sizeof(UNCOUNTED[0]); i++) {
		model = import_text("aicore_intermediate_2_detail.csv", UNCOUNTED[i], strlen(UNCOUNTED[i]),
				    &error);
		assert_int_equal(error, -EBADMSG);
		assert_int_equal(model->operator_sums.count, 0);
		model_free(model);
	}
	model = import_words("cpu_op_detail_info_0.csv",
		     "op_side,op_type,op_name,full_op_name,op_occurrences,op_total_time(ms),"
		     "op_avg_time(ms),total_proportion,subgraph,pid\n"
		     "Default,MatMul,MatMul-op1,Default/MatMul-op1,10,1.25,0.125,0.5,Default,42\n");
	assert_int_equal(sum(model, "Default/MatMul-op1")->total_ns, 1250000);
	assert_string_equal(model_text(model, sum(model, "Default/MatMul-op1")->core), "HOSTCPU");
	assert_string_equal(model_text(model, model->devices.row[0].kind), "cpu");
	model_free(model);
	model = import_words("cpu_op_type_info_0.csv",
		     "op_type,type_occurrences,execution_frequency(per-step),total_compute_time,"
		     "avg_time(ms),percent\nConv2D,80,2,4.5,0.05625,10\n");
	assert_int_equal(sum(model, "Conv2D")->total_ns, 4500000);
	assert_int_equal(sum(model, "Conv2D")->count, 80);
	model_free(model);
	model = import_words("gpu_op_type_info_1.csv", "op_type,type_occurrences,total_time(us),"
					       "total_proportion,avg_time(us)\nAdd,2,7.5,1,3.75\n");
	assert_int_equal(sum(model, "Add")->total_ns, 7500);
	assert_string_equal(model_text(model, model->devices.row[0].kind), "gpu");
	model_free(model);
}

/* Calls of the C library by thread, and the memory of the device and of the process on it. */
static void test_more_tables(void **state)
{
	struct model *model =
		import_words("os_runtime_statistic_1.csv",
		     "Device_id,Process ID,Thread ID,Name,Time(%),Time(us),Count,Avg(us),Max(us),"
		     "Min(us)\nhost,42,43,pthread_mutex_lock,80,12.5,5,2.5,4.25,1\n"
		     "host,42,44,read,N/A,N/A,0,0,0,0\n");
	const struct memory_record *record;

	assert_int_equal(model->api_statistics.count, 1);
	assert_string_equal(model_text(model, model->api_statistics.row[0].level), "OS Runtime");
	assert_string_equal(model_text(model, model->api_statistics.row[0].name),
			    "pthread_mutex_lock");
	assert_int_equal(model->api_statistics.row[0].total_ns, 12500);
	assert_int_equal(model->api_statistics.row[0].max_ns, 4250);
	assert_int_equal(model->findings.count, 1);
	model_free(model);
	model = import_words("npu_mem_1.csv", "Device_id,event,ddr(KB),hbm(KB),memory(KB),timestamp(us)\n"
				      "3,APP,0,1.5,1.5,\"1700000000000000.25\t\"\n");
	record = model->memory_records.row;
	assert_int_equal(model->memory_records.count, 1);
	assert_int_equal(record->device, 3);
	assert_int_equal(record->reserved, 1536);
	assert_int_equal(record->flags, MODEL_MEMORY_RESERVED);
	assert_int_equal(record->ts_ns, 1700000000000000250);
	assert_string_equal(model_text(model, record->component), "APP");
	model_free(model);
}

#define FUSION                                                                               \
	"Device_id,Model Name,Model ID,Fusion Op,Original Ops,Memory Input(KB),"             \
	"Memory Output(KB),Memory Weight(KB),Memory Workspace(KB),Memory Total(KB)\n"        \
	"host,resnet,1,conv1+relu,conv1;bn1;relu1,1.5,N/A,0,0,1.5\n"                         \
	"host,resnet,4294967295,add+cast,\"add,cast\",1,1,1,1,4\nhost,resnet,1,alone,,1,1,1,1,4\n"

static void test_fusion(void **state)
{
	struct model *model = import_words("fusion_op_1.csv", FUSION);
	const struct fused_operator *row = model->fused_operators.row;

	assert_int_equal(model->fused_operators.count, 2);
	assert_string_equal(model_text(model, row->originals), "conv1;bn1;relu1");
	assert_int_equal(row->count, 3);
	assert_int_equal(row->model_id, 1);
	assert_int_equal(row->input_bytes, 1536);
	assert_true(row->output_bytes == UINT64_MAX);
	assert_int_equal(row->weight_bytes, 0);
	assert_int_equal(row[1].count, 2);
	assert_true(row[1].model_id == MODEL_ID_NONE);
	assert_int_equal(model->findings.count, 1);
	model_free(model);
	import_same("fusion_op_1.csv", FUSION, strlen(FUSION), true);
}

#define RULES                                                                                  \
	"[{\"Rule Type\":\"Operator Processing\",\"result\":[{\"Rule Subtype\":\"tiling\","     \
	"\"Rule Suggestion\":\"use more cores\",\"Tuning Data\":[\"MatMul_1\",\"MatMul_2\",1.5]" \
	"},{\"Rule Suggestion\":\"\",\"Tuning Data\":[]}]},"                                   \
	"{\"Rule Type\":\"Parallelism\",\"Rule Suggestion\":\"overlap them\",\"Tuning Data\":" \
	"{\"AI CPU Execution Time(us)\":12.25,\"other\":{}}},{\"Rule Type\":\"Memory\"}]"

/* In both layouts; a rule without a suggestion and a topic without findings are left out. */
static void test_rules(void **state)
{
	struct model *model = import_words("prof_rule_0_1.json", RULES);
	const struct told_advice *row = model->told_advice.row;

	assert_int_equal(model->told_advice.count, 2);
	assert_string_equal(model_text(model, row->topic), "Operator Processing");
	assert_string_equal(model_text(model, row->part), "tiling");
	assert_string_equal(model_text(model, row->text), "use more cores");
	assert_string_equal(model_text(model, row->subjects), "MatMul_1;MatMul_2;1.5");
	assert_int_equal(row->count, 3);
	assert_string_equal(model_text(model, row[1].topic), "Parallelism");
	assert_string_equal(model_text(model, row[1].subjects), "AI CPU Execution Time(us) 12.25");
	model_free(model);
	import_same("prof_rule_0_1.json", RULES, strlen(RULES), true);
}

/* Trees are freed recursively: a file with endless nesting is refused. */
static void test_depth(void **state)
{
	static const char start[] = "{\"Rule Type\":\"a\",\"Rule Suggestion\":\"b[[\\\"[\",\"x\":";
	const size_t depth = 3000000, length = sizeof(start) - 1;
	char *text = malloc(length + depth);
	struct model *model;
	int error;

	memcpy(text, start, length);
	memset(text + length, '[', depth);
	model = import_text("prof_rule_0.json", text, length + depth, &error);
	assert_int_equal(error, -EBADMSG);
	model_free(model);
	free(text);
}

#define HBM                                                                \
	"Device_id,Metric,Read(MB/s),Write(MB/s)\n0,Average,10.5,\"20\t\"\n" \
	"0,hbm_1,N/A,2\nhost,hbm_2,1,1\n"

static void test_figures(void **state)
{
	struct model *model = import_words("hbm_0_1_1.csv", HBM);
	const struct device_fact *row = fact(model, "hbm", "Average Read");

	assert_int_equal(model->device_facts.count, 5);
	assert_true(row->value == 10.5);
	assert_string_equal(model_text(model, row->unit), "MB/s");
	assert_int_equal(model->devices.row[row->device].id, 0);
	assert_true(fact(model, "hbm", "Average Write")->value == 20);
	assert_true(fact(model, "hbm", "hbm_2 Read")->device == INDEX_NONE);
	model_free(model);
	import_same("hbm_0_1_1.csv", HBM, strlen(HBM), true);
	model = import_words("ai_core_utilization_1.csv",
		     "Device_id,Core ID,vec_ratio,mac_ratio\n1,Core0,0.25,N/A\n");
	row = fact(model, "ai_core_utilization", "Core0 vec_ratio");
	assert_string_equal(model_text(model, row->unit), "of 1");
	assert_int_equal(model->device_facts.count, 1);
	model_free(model);
	model = import_words("llc_read_write_1.csv",
		     "Device_id,Mode,Task,Hit Rate(%),Throughput(MB/s)\n0,read,0,50,7\n");
	assert_true(fact(model, "llc_read_write", "read 0 Hit Rate")->value == 50);
	model_free(model);
}

/* Millions, 10^9 and GiB converted to operations, operations per second and bytes. */
static void test_facts(void **state)
{
	struct model *model =
		import_words("flops_summary_3.json",
		     "{\"FLOPs\": 107146.75, \"FLOPS\": 5385.5, \"FLOPS_Utilization\": 0.23}");

	assert_int_equal(model->devices.row[0].id, 3);
	assert_true(fact(model, "calculations", "FLOPs")->value == 107146750000);
	assert_true(fact(model, "calculations", "FLOPS")->value == 5385500000000);
	assert_true(fact(model, "calculations", "FLOPS_Utilization")->value == 0.23);
	model_free(model);
	model = import_words("memory_usage_summary_0.json",
		     "{\"capacity\": 32.0, \"allocations\": 7, \"deallocations\": 7, "
		     "\"peak_mem\": 0.5, \"static_mem\": 0.25}");
	assert_true(fact(model, "memory", "capacity")->value == 34359738368);
	assert_true(fact(model, "memory", "peak of a graph")->value == 536870912);
	assert_true(fact(model, "memory", "allocations")->value == 7);
	model_free(model);
	model = import_words("parallel_strategy_0.json",
		     "{\"config\":{\"rankId\":0,\"stageId\":1,\"parallelType\":\"auto_parallel\","
		     "\"stageDevices\":[{\"dim\":[{\"size\":\"0\"},{\"size\":\"1\"}]},"
		     "{\"dim\":[{\"size\":\"2\"}]}]},\"graph\":{\"node\":[{},{}],"
		     "\"parameters\":[{}]}}");
	assert_true(fact(model, "parallel", "stageId")->value == 1);
	assert_string_equal(model_text(model, fact(model, "parallel", "stageDevices")->text),
			    "0,1;2");
	assert_true(fact(model, "parallel", "operators")->value == 2);
	/* The file's part about how operators are split is not imported. */
	assert_int_equal(model->findings.count, 1);
	model_free(model);
	import_same("flops_summary_3.json", "{\"FLOPs\": 1, \"FLOPS\": 2}",
		    strlen("{\"FLOPs\": 1, \"FLOPS\": 2}"), true);
}

#define SCOPES                                                                             \
	"{\"data\": {\"nodes\": [{\"name\": \"Total\"}, {\"name\": \"Default\"}], \"links\": [" \
	"{\"source\": \"Default\", \"target\": \"network(1_Default)\", \"value\": 2.5}, "      \
	"{\"source\": \"Total\", \"target\": \"Default\", \"value\": 555.25}, "                \
	"{\"source\": \"Total\", \"target\": \"Gradients\", \"value\": 0.0}, "                 \
	"{\"source\": \"Total\", \"value\": 1}]}, \"max_scope_num\": 2}"

/* Millions by scope, the largest first; a link without an end is left out. Files of 2.0 are empty. */
static void test_scopes(void **state)
{
	struct model *model = import_words("flops_scope_2.json", SCOPES);
	const char *topic = "calculations of scopes";

	assert_int_equal(model->devices.row[0].id, 2);
	assert_int_equal(model->device_facts.count, 3);
	assert_true(fact(model, topic, "Default in Total") == &model->device_facts.row[0]);
	assert_true(model->device_facts.row[0].value == 555250000);
	assert_true(fact(model, topic, "network(1_Default) in Default")->value == 2500000);
	assert_true(fact(model, topic, "Gradients in Total")->value == 0);
	assert_int_equal(model->findings.count, 1);
	assert_int_equal(model->findings.row[0].count, 1);
	model_free(model);
	import_same("flops_scope_2.json", SCOPES, strlen(SCOPES), true);
	model = import_words("flops_scope_0.json",
		     "{\"data\": {\"nodes\": [], \"links\": []}, \"max_scope_num\": 0}");
	assert_int_equal(model->device_facts.count, 0);
	assert_int_equal(model->findings.count, 1);
	model_free(model);
}

static size_t put_varint(uint8_t *at, uint64_t value)
{
	size_t size = 0;

	for (; value > 127; value >>= 7)
		at[size++] = (uint8_t)(value | 128);
	at[size++] = (uint8_t)value;
	return size;
}

static size_t put_number(uint8_t *at, unsigned int field, uint64_t value)
{
	at[0] = (uint8_t)(field << 3);
	return 1 + put_varint(at + 1, value);
}

static size_t put_bytes(uint8_t *at, unsigned int field, const void *bytes, size_t size)
{
	size_t length;

	at[0] = (uint8_t)(field << 3 | 2);
	length = 1 + put_varint(at + 1, size);
	memcpy(at + length, bytes, size);
	return length + size;
}

static size_t put_operator(uint8_t *at, const char *name)
{
	uint8_t inner[64];

	return put_bytes(at, 3, inner, put_bytes(inner, 1, name, strlen(name)));
}

static size_t put_tensor(uint8_t *at, uint64_t bytes, uint64_t from, uint64_t to, const char *life)
{
	uint8_t inner[128];
	size_t size = put_number(inner, 2, bytes);

	size += put_bytes(inner + size, 3, "OutputTensor", 12);
	size += put_number(inner + size, 4, from);
	size += put_number(inner + size, 5, to);
	size += put_bytes(inner + size, 6, life, strlen(life));
	return put_bytes(at, 4, inner, size);
}

/* Four operators: 1000 static, and tensors of 300 + 5; 300 + 50 + 5; 50 + 20 + 5; 20 + 7 + 5. */
static void test_memory_plan(void **state)
{
	uint8_t graph[1024], root[1100];
	size_t size = put_number(graph, 1, 7), length;
	struct model *model;
	int error;

	size += put_number(graph + size, 2, 1000);
	size += put_operator(graph + size, "Cast-op1");
	size += put_operator(graph + size, "MatMul-op2");
	size += put_operator(graph + size, "Add-op3");
	size += put_operator(graph + size, "Mul-op4");
	size += put_tensor(graph + size, 300, 9, 1, "LifeLongGraphStart");
	size += put_tensor(graph + size, 50, 1, 2, "LifeLongNone");
	size += put_tensor(graph + size, 20, 2, 0, "LifeLongGraphEnd");
	size += put_tensor(graph + size, 5, 0, 0, "LifeLongGraphAll");
	/* A tensor with its end beyond the graph's; one that ends before it begins; one of an impossible size. */
	size += put_tensor(graph + size, 7, 3, 99, "LifeLongNone");
	size += put_tensor(graph + size, 9000, 2, 1, "LifeLongNone");
	size += put_tensor(graph + size, UINT64_MAX, 0, 1, "LifeLongNone");
	length = put_bytes(root, 1, graph, size);
	length += put_number(root + length, 2, 1ull << 35);
	model = import_text("memory_usage_2.pb", root, length, &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->devices.row[0].id, 2);
	assert_true(fact(model, "memory", "capacity")->value == 34359738368);
	assert_true(fact(model, "memory of graph 7", "static")->value == 1000);
	assert_true(fact(model, "memory of graph 7", "peak")->value == 1355);
	assert_string_equal(model_text(model, fact(model, "memory of graph 7", "peak at")->text),
			    "MatMul-op2, operator 2 of 4");
	assert_true(fact(model, "memory of graph 7", "at the peak: OutputTensor since Cast-op1")
			    ->value == 300);
	assert_true(fact(model, "memory of graph 7", "at the peak: OutputTensor since MatMul-op2")
			    ->value == 50);
	/* Three tensors are alive at that time. */
	assert_int_equal(model->device_facts.count, 5 + 3);
	assert_int_equal(model->findings.row[0].count, 2);
	model_free(model);
	import_same("memory_usage_2.pb", root, length, false);
}

#define PIPELINE                                                                          \
	"computation_time,communication_alone_time,stage_time,receive_alone_time,"        \
	"collective_communication_alone_time\n"

static void write_rank(int rank, const char *steps)
{
	char name[96], text[512];

	snprintf(name, sizeof(name), "ascend_cluster_analyse_pipeline-parallel_2_4_%d.csv", rank);
	snprintf(text, sizeof(text), "%s%s", PIPELINE, steps);
	import_write_text(folder, name, text);
	snprintf(name, sizeof(name), "flops_summary_%d.json", rank);
	snprintf(text, sizeof(text), "{\"FLOPs\": 1, \"FLOPS\": %d, \"FLOPS_Utilization\": 1}",
		 rank == 3 ? 10 : 100);
	import_write_text(folder, name, text);
}

static const struct cluster_finding *finding(const struct cluster_results *cluster,
					     enum cluster_rule rule)
{
	for (uint32_t i = 0; i < cluster->finding_count; i++) {
		if (cluster->findings[i].rule == rule)
			return &cluster->findings[i];
	}
	fail_msg("no finding %d", (int)rule);
	return NULL;
}

/* Four ranks in two stages: the first step, which is longer, and the row of means do not count. */
static void test_cluster(void **state)
{
	struct device_results devices = { 0 };
	struct cluster_results cluster;
	struct model *model;

	for (int rank = 0; rank < 3; rank++)
		write_rank(rank, "999,999,999,999,999\n10,2,11,1,1\n20,4,22,2,2\n15,3,16.5,1.5,1.5\n");
	write_rank(3, "1,1,1,1,1\n30,60,45,45,15\n30,60,45,45,15\n");
	model = import_take(folder);
	/* Three rows for each of the first three ranks, two for the last: the last row of each contains the means. */
	assert_int_equal(model->cluster_steps.count, 3 * 3 + 2);
	assert_int_equal(model->devices.count, 4);
	assert_int_equal(model->devices.row[3].rank, 3);
	assert_true(fact(model, "job", "pipeline stages")->value == 2);
	assert_string_equal(model_text(model, fact(model, "job", "parallel mode")->text),
			    "pipeline-parallel");
	assert_int_equal(cluster_analyse(model, &devices, NULL, &cluster), 0);
	assert_int_equal(cluster.count, 4);
	assert_true(cluster.ranks[0].told);
	assert_int_equal(cluster.ranks[0].parts.computation_ns, 15000000);
	assert_int_equal(cluster.ranks[0].stage_ns, 18000000);
	assert_int_equal(cluster.ranks[0].parts.work_ns, 16500000);
	assert_int_equal(cluster.ranks[0].parts.receive_ns, 1500000);
	assert_int_equal(cluster.ranks[0].parts.collective_ns, 1500000);
	assert_true(cluster.ranks[0].parts.free_ns == UINT64_MAX);
	assert_int_equal(cluster.slowest, 3);
	assert_int_equal(finding(&cluster, CLUSTER_WORK)->device, 3);
	assert_int_equal(finding(&cluster, CLUSTER_COMPUTATION)->device, 3);
	assert_int_equal(finding(&cluster, CLUSTER_FLOPS)->device, 3);
	assert_int_equal(finding(&cluster, CLUSTER_RECEIVE)->device, 3);
	cluster_free(&cluster);
	model_free(model);
	/* A single step is its own mean; blanks in the header and other names of columns. */
	model = import_words("ascend_cluster_analyse_model-parallel_1_2_1.csv",
		     "computation, communication_alone_time\n651.9051, 1293.1231\n");
	assert_int_equal(model->cluster_steps.count, 1);
	assert_int_equal(model->cluster_steps.row[0].computation_ns, 651905100);
	assert_int_equal(model->cluster_steps.row[0].communication_ns, 1293123100);
	assert_true(model->cluster_steps.row[0].receive_ns == UINT64_MAX);
	model_free(model);
	/* Ticks. */
	model = import_words("ascend_cluster_analyse_data-parallel_1_1_1.csv",
		     "iteration_interval, fp_and_bp, tail\n82528, 2366808, 4097\n");
	assert_int_equal(model->cluster_steps.row[0].gap_ns, 825280);
	model_free(model);
	import_same("ascend_cluster_analyse_pipeline-parallel_2_4_0.csv",
		    PIPELINE "1,2,3,4,5\n1,2,3,4,5\n", strlen(PIPELINE) + 20, true);
}

/* Work on a collective's stream beside it, in none of its planes, is not part of the collective. */
static void reductions_beside(void **state)
{
	static const char text[] =
		"[{\"name\":\"process_name\",\"pid\":3,\"tid\":0,\"ph\":\"M\",\"args\":{\"name\":\"Ascend Hardware\"}},"
		"{\"name\":\"process_name\",\"pid\":9,\"tid\":0,\"ph\":\"M\",\"args\":{\"name\":\"HCCL\"}},"
		"{\"name\":\"thread_name\",\"pid\":9,\"tid\":7,\"ph\":\"M\",\"args\":{\"name\":\"Communication Kernel\"}},"
		"{\"name\":\"thread_name\",\"pid\":9,\"tid\":1,\"ph\":\"M\",\"args\":{\"name\":\"Plane 1\"}},"
		"{\"name\":\"REDUCE_ASYNC_V2\",\"pid\":3,\"tid\":13,\"ts\":100,\"dur\":2,\"ph\":\"X\",\"args\":"
		"{\"Task Type\":\"REDUCE_ASYNC_V2\",\"Stream Id\":13,\"Task Id\":5}},"
		"{\"name\":\"REDUCE_ASYNC_V2\",\"pid\":3,\"tid\":13,\"ts\":120,\"dur\":30,\"ph\":\"X\",\"args\":"
		"{\"Task Type\":\"REDUCE_ASYNC_V2\",\"Stream Id\":13,\"Task Id\":6}},"
		"{\"name\":\"Reduce\",\"pid\":9,\"tid\":1,\"ts\":120,\"dur\":30,\"ph\":\"X\",\"args\":"
		"{\"stream id\":13,\"task id\":6,\"task type\":\"Reduce\"}},"
		"{\"name\":\"Default/AllReduce-op534_0\",\"pid\":9,\"tid\":7,\"ts\":110,\"dur\":50,\"ph\":\"X\",\"args\":{}},"
		"{\"name\":\"MatMul\",\"pid\":3,\"tid\":2,\"ts\":200,\"dur\":40,\"ph\":\"X\",\"args\":"
		"{\"Task Type\":\"AI_CORE\",\"Stream Id\":2,\"Task Id\":1}}]";
	struct model *model = import_words("msprof_0_1_1.json", text);

	(void)state;
	assert_int_equal(model->tasks.count, 4);
	assert_int_equal(import_busy(model, 0, PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION), 50000);
	assert_int_equal(import_busy(model, 0, PROFBPF__DEVICE_TASKS__KIND__KERNEL), 40000);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_statistic), cmocka_unit_test(test_intermediate),
		cmocka_unit_test(test_fusion),	  cmocka_unit_test(test_rules),
		cmocka_unit_test(test_figures),	  cmocka_unit_test(test_facts),
		cmocka_unit_test(test_cluster),	  cmocka_unit_test(test_depth),
		cmocka_unit_test(test_more_tables), cmocka_unit_test(test_memory_plan),
		cmocka_unit_test(test_scopes),
		cmocka_unit_test(reductions_beside),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Times that lost digits, as spreadsheets save them, make no figure: which they are, and where they stand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/import/decimal_ns.h"
#include "tests/unit/import_text.h"

static void test_decision(void **state)
{
	static const struct {
		const char *text;
		int power;
		bool rounded;
	} CASES[] = {
		{ "1.70E+15", 3, true },
		{ "1.69953E+15", 3, true },
		{ "1.69953e+18", 0, true },
		{ "1.23457e+09", 3, true },
		{ " \"1.7E+15\"\t", 3, true },
		{ "-1.7E+15", 3, true },
		{ "1.2E+4", 6, true },
		/* The last digit stands for a microsecond or less. */
		{ "1.699529622790614e+15", 3, false },
		{ "1.6995296227906148e+15", 3, false },
		{ "1.699529622790614e+18", 0, false },
		{ "5.477e-05", 3, false },
		{ "5.477e-05", 9, false },
		{ "1.5e+00", 3, false },
		{ "1E3", 0, false },
		/* Writers of the shortest exact form leave zeros at the end out; a spreadsheet writes "E+". */
		{ "1E4", 0, false },
		{ "1E5", 0, false },
		{ "1.2E2", 3, false },
		{ "1.673382441141209E9", 9, false },
		{ "1.234567E7", 3, false },
		{ "9e-05", 9, false },
		{ "1.69952962279061e+15", 3, false },
		{ "1.743521598e+18", 0, false },
		/* Nine digits, zeros included, and ten. */
		{ "1.70000000E+18", 0, true },
		{ "1.700000000E+18", 0, false },
		/* Without an exponent nothing was rounded; nothing is nothing; what is no number is no rounded one. */
		{ "1699529622790614.812", 3, false },
		{ "1700000000000000", 3, false },
		{ "0E+00", 3, false },
		{ "0.0e+10", 9, false },
		{ "N/A", 3, false },
		{ "0x1e9", 3, false },
		{ "1.7E", 3, false },
		{ "elapsed", 3, false },
		{ "", 3, false },
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
		if (decimal_is_rounded(CASES[i].text, strlen(CASES[i].text), CASES[i].power) !=
		    CASES[i].rounded)
			fail_msg("\"%s\" in units of 10^%d ns", CASES[i].text, CASES[i].power);
}

/* The only finding of a file; its text is that of rounded times. */
static void assert_finding(const struct model *model, uint64_t count, const char *place)
{
	const struct import_finding *finding = model->findings.row;

	assert_int_equal(model->findings.count, 1);
	assert_non_null(strstr(model_text(model, finding->what), "whose times lost digits"));
	assert_non_null(strstr(model_text(model, finding->what), "export the file again"));
	assert_string_equal(model_text(model, finding->example), place);
	assert_int_equal(finding->count, count);
	assert_true(finding->damage);
}

/* msprof's op_summary, saved by a spreadsheet: a number column is wide enough in one row only. */
#define OP_SUMMARY                                                                                                     \
	"Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),"                 \
	"Task Duration(us),Task Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,"    \
	"Input Formats,Output Shapes,Output Data Types,Output Formats,Context ID,aicore_time(us)\n"

static void test_op_summary(void **state)
{
	struct model *model = import_words(
		"op_summary_20231109.csv",
		OP_SUMMARY
		"0,4294967295,3,7,\"Mat\nMul\",MatMul,dynamic,AI_CORE,1699529622790614.8,26.661,0,24,0,NO,"
		"\"\"\"8,16\"\"\",DT_BF16,ND,,DT_BF16,ND,N/A,12.5\n"
		"0,4294967295,4,7,Add,Add,dynamic,AI_VECTOR_CORE,1.69953E+15,3.2,0,24,0,NO,,,,,,,N/A,N/A\n\r\n"
		"0,4294967295,5,7,Cast,Cast,dynamic,AI_VECTOR_CORE,1.70E+15,3.2,0,24,0,NO,,,,,,,N/A,N/A\n"
		"0,4294967295,6,7,Mul,Mul,dynamic,AI_VECTOR_CORE,1699529622790650.1,1.2E+9,0,24,0,NO,,,,,,,N/A,N/A\n");

	assert_int_equal(model->tasks.count, 1);
	assert_int_equal(model->tasks.row[0].start_ns, 1699529622790614800);
	assert_int_equal(model->tasks.row[0].end_ns - model->tasks.row[0].start_ns, 26661);
	assert_finding(model, 3, "line 4: Task Start Time(us): 1.69953E+15");
	model_free(model);
}

/* The other names of the columns, of torn ends of lines (CR), and no row that is usable. */
static void test_kernel_details(void **state)
{
	struct model *model = import_words("kernel_details.csv",
					   "Step Id,Device_id,Name,Type,OP State,Accelerator Core,Start Time(us),"
					   "Duration(us),Wait Time(us),Block Num\r"
					   "1,0,MatMul,MatMul,N/A,AI_CORE,1736413971558972.912,1.23457e+06,0,8\r\r"
					   "1,0,Add,Add,N/A,AI_CORE,1.73641E+15,2.5,0,8\r");

	assert_int_equal(model->tasks.count, 0);
	assert_int_equal(model->findings.count, 2);
	assert_string_equal(model_text(model, model->findings.row[0].example),
			    "line 2: Duration(us): 1.23457e+06");
	assert_int_equal(model->findings.row[0].count, 2);
	model_free(model);
}

#define KERNEL_TRACE                                                                                                   \
	"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\","                \
	"\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\","                 \
	"\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\","                    \
	"\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n"

static void test_rocprof(void **state)
{
	struct model *model = import_words(
		"77_kernel_trace.csv",
		KERNEL_TRACE "\"KERNEL_DISPATCH\",\"Agent 4\",1,0,77,1,12,\"gemm\",5,810970000001000,810970000004000,"
			     "0,0,8,0,16,64,1,1,1024,1,1\n"
			     "\"KERNEL_DISPATCH\",\"Agent 4\",1,0,77,2,12,\"gemm\",6,8.1097E+14,8.1097E+14,"
			     "0,0,8,0,16,64,1,1,1024,1,1\n");

	assert_int_equal(model->tasks.count, 1);
	assert_int_equal(model->tasks.row[0].end_ns - model->tasks.row[0].start_ns, 3000);
	assert_finding(model, 1, "line 3: Start_Timestamp: 8.1097E+14");
	model_free(model);
	model = import_words("77_kernel_stats.csv",
			     "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\",\"MaxNs\","
			     "\"StdDev\"\n"
			     "\"gemm\",10,1.23457E+11,1.23457E+10,60.5,100,200,1.5e+01\n"
			     "\"add\",10,3000,300,39.5,100,400,1.5e+01\n");
	assert_int_equal(model->operator_sums.count, 1);
	assert_int_equal(model->operator_sums.row[0].total_ns, 3000);
	assert_finding(model, 1, "line 2: TotalDurationNs: 1.23457E+11");
	model_free(model);
}

/* Tables that are read with that of kernels are named. */
static void test_other_file(void **state)
{
	struct model *model;

	import_write_text(import_root(), "77_kernel_trace.csv",
			  KERNEL_TRACE "\"KERNEL_DISPATCH\",\"Agent 4\",1,0,77,1,12,\"gemm\",5,810970000001000,"
				       "810970000004000,0,0,8,0,16,64,1,1,1024,1,1\n");
	import_write_text(import_root(), "77_memory_copy_trace.csv",
			  "\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\",\"Destination_Agent_Id\","
			  "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
			  "\"MEMORY_COPY\",\"MEMORY_COPY_HOST_TO_DEVICE\",0,\"Agent 0\",\"Agent 4\",9,8.1E+14,8.1E+14\n");
	model = import_take(import_in_root("77_kernel_trace.csv"));
	assert_int_equal(model->tasks.count, 1);
	assert_finding(model, 1, "77_memory_copy_trace.csv, line 2: Start_Timestamp: 8.1E+14");
	model_free(model);
}

static void test_nsys_stats(void **state)
{
	struct model *model = import_words(
		"report1_cuda_gpu_kern_sum.csv",
		"Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
		"60.0,1.23E+11,4,3.08E+10,3.08E+10,3.00E+10,3.1E+10,1.2E+3,gemm\n"
		"40.0,\"82,000\",2,\"41,000\",\"41,000\",\"40,000\",\"42,000\",0.0,add\n"
		"0.0,82,2,41,41,40,42,5.0e+00,fill\n");

	assert_int_equal(model->operator_sums.count, 2);
	assert_int_equal(model->operator_sums.row[0].total_ns, 82000);
	assert_finding(model, 1, "line 2: Total Time (ns): 1.23E+11");
	model_free(model);
	/* Without a deviation the other figures of a row are still exact. */
	model = import_words("report1_cuda_api_sum.csv",
			     "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
			     "60.0,82000,2,41000,41000,40000,42000,1.2E+9,cudaMalloc\n"
			     "40.0,82000,2,41000,41000,40000,42000,1000,cudaFree\n");
	assert_int_equal(model->findings.count, 0);
	assert_int_equal(model->api_statistics.count, 2);
	assert_int_equal(model->api_statistics.row[0].total_ns, 82000);
	assert_true(model->api_statistics.row[0].variance < 0);
	assert_true(model->api_statistics.row[1].variance == 1);
	model_free(model);
}

/* The unit of nvprof's columns is in a row of its own. */
static void test_nvprof(void **state)
{
	struct model *model = import_words("nvprof.csv",
					   "==9== Profiling application: ./a\n==9== Profiling result:\n"
					   "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n"
					   ",%,ms,,ms,us,us,\n"
					   "\"GPU activities\",50.0,1.5E+03,2,2,1,3,\"gemm\"\n"
					   "\"GPU activities\",50.0,1.5E+01,2,2,1,3,\"add\"\n"
					   "\"GPU activities\",50.0,1.25,2,2,1,3,\"fill\"\n");

	assert_int_equal(model->operator_sums.count, 1);
	assert_int_equal(model->operator_sums.row[0].total_ns, 1250000);
	assert_finding(model, 2, "line 5: Time: 1.5E+03");
	model_free(model);
}

/* MindSpore's steps are in ticks of 10 ns. */
static void test_step_trace(void **state)
{
	struct model *model = import_words(
		"step_trace_raw_1_detail_time.csv",
		"step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail\n"
		"1,100000000,100300000,300000,100000100,100200000,100,199900,100000\n"
		"2,1.003E+08,1.006E+08,300000,1.003E+08,1.005E+08,100,199900,100000\n");

	assert_int_equal(model->device_steps.count, 1);
	assert_finding(model, 1, "line 3: fp_point: 1.003E+08");
	model_free(model);
}

static void test_kineto(void **state)
{
	struct model *model = import_words(
		"kineto.json",
		"{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"GPU\"}],\"traceEvents\":[\n"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"a\",\"pid\":0,\"tid\":7,\"ts\":110.25,\"dur\":1.2e+6,"
		"\"args\":{\"device\":0,\"stream\":7,\"correlation\":5}},\n"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"b\",\"pid\":0,\"tid\":7,\"ts\":110.25,\"dur\":10,"
		"\"args\":{\"device\":0,\"stream\":7,\"correlation\":6}},\n"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"c\",\"pid\":0,\"tid\":7,\"ts\":1.69953e+15,\"dur\":10,"
		"\"args\":{\"device\":0,\"stream\":7,\"correlation\":7}}],"
		"\"baseTimeNanoseconds\":1700000000000000000}\n");

	assert_int_equal(model->tasks.count, 1);
	assert_finding(model, 2, "traceEvents[0]: dur: 1.2e+6");
	model_free(model);
	model = import_words("kineto.json",
			     "{\"schemaVersion\":1,\"traceEvents\":["
			     "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"b\",\"pid\":0,\"tid\":7,\"ts\":110.25,"
			     "\"dur\":10,\"args\":{\"device\":0,\"stream\":7,\"correlation\":6}}],"
			     "\"baseTimeNanoseconds\":1.7e+18}\n");
	assert_int_equal(model->tasks.count, 1);
	assert_int_equal(model->findings.count, 1);
	assert_non_null(strstr(model_text(model, model->findings.row[0].what), "times are relative"));
	assert_string_equal(model_text(model, model->findings.row[0].example), "1.7e+18");
	assert_true(model->findings.row[0].damage);
	model_free(model);
	model = import_words("kineto.json",
			     "{\"schemaVersion\":1,\"traceEvents\":["
			     "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"b\",\"pid\":0,\"tid\":7,\"ts\":110.25,"
			     "\"dur\":1e1,\"args\":{\"device\":0,\"stream\":7,\"correlation\":6}}],"
			     "\"baseTimeNanoseconds\":1.743521598e+18}\n");
	assert_int_equal(model->findings.count, 0);
	assert_int_equal(model->tasks.count, 1);
	assert_int_equal(model->tasks.row[0].start_ns, 1743521598000110250);
	assert_int_equal(model->tasks.row[0].end_ns - model->tasks.row[0].start_ns, 10000);
	model_free(model);
}

/* The same in a list at the root, of which a part is read by the slower parser, and of texts. */
static void test_chrome(void **state)
{
	struct model *model = import_words(
		"any.json",
		"[{\"ph\":\"X\",\"cat\":\"gpu_kernel\",\"name\":\"a\",\"pid\":0,\"tid\":7,\"ts\":5,\"dur\":2},\n"
		"{\"ph\":\"X\",\"cat\":\"gpu_kernel\",\"name\":\"b\",\"pid\":0,\"tid\":7,\"ts\":NaN,\"dur\":2},\n"
		"{\"ph\":\"X\",\"cat\":\"gpu_kernel\",\"name\":\"c\",\"pid\":0,\"tid\":7,\"ts\":\"1.23457e+09\","
		"\"dur\":2}]\n");
	const struct import_finding *finding = &model->findings.row[model->findings.count - 1];

	assert_int_equal(model->tasks.count, 1);
	assert_string_equal(model_text(model, finding->example), "[2]: ts: 1.23457e+09");
	assert_int_equal(finding->count, 1);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decision),       cmocka_unit_test(test_op_summary),
		cmocka_unit_test(test_kernel_details), cmocka_unit_test(test_rocprof),
		cmocka_unit_test(test_other_file),
		cmocka_unit_test(test_nsys_stats),     cmocka_unit_test(test_nvprof),
		cmocka_unit_test(test_step_trace),     cmocka_unit_test(test_kineto),
		cmocka_unit_test(test_chrome),
	};

	return cmocka_run_group_tests(tests, import_root_make, import_root_remove);
}

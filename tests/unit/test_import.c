/* SPDX-License-Identifier: Apache-2.0 */
/* Device files of other profilers, built by the test with the pitfalls of real ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/importer.h"
#include "analyzer/join/clock/device_clock.h"
#include "analyzer/join/launch/launches.h"

/* A call, its inner driver call, two kernels of one launch, a copy, and events that are no device work. */
#define KINETO                                                                                     \
	"{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"GPU X\"}],\n"       \
	" \"traceEvents\": [\n"                                                                    \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":110.25,"    \
	"\"dur\":10,\"args\":{\"device\":0,\"stream\":7,\"correlation\":5,\"shape\":[1,{\"a\":2}]" \
	"}},\n"                                                                                    \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":42,\"tid\":" \
	"43,"                                                                                      \
	"\"ts\":100,\"dur\":8.5,\"args\":{\"correlation\":5}},\n"                                  \
	"{\"ph\":\"X\",\"cat\":\"cuda_driver\",\"name\":\"cuLaunchKernel\",\"pid\":42,\"tid\":43," \
	"\"ts\":101,\"dur\":5,\"args\":{\"correlation\":5}},\n"                                    \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclKernel_AllReduce\",\"pid\":0,"            \
	"\"tid\":\"stream 9\",\"ts\":115,\"dur\":10,\"args\":{\"device\":0,\"correlation\":5}},\n" \
	"{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy\",\"pid\":0,\"tid\":7,\"ts\":130," \
	"\"dur\":0,\"args\":{\"device\":0,\"stream\":7,\"correlation\":77,\"bytes\":64}},\n"       \
	"{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"step\",\"pid\":0,\"tid\":7,"     \
	"\"ts\":100,\"dur\":500},\n"                                                               \
	"{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"PyTorch\",\"pid\":\"Spans\",\"tid\":\"x\","    \
	"\"ts\":0,\"dur\":500},\n"                                                                 \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"bad\",\"pid\":0,\"tid\":7,\"ts\":\"N/A\","    \
	"\"dur\":1,\"args\":{\"device\":0}}\n"                                                     \
	"], \"baseTimeNanoseconds\": 1700000000000000000}\n"

/* A step of the framework, the same step on the device, two memory records, a rank. */
#define KINETO_JOB                                                                             \
	"{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, "    \
	"\"pg\": "                                                                             \
	"[{\"rank\": 9}], \"pg_config\": [{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\","     \
	" \"ranks\": [3, 0, 1, 2]},"                                                             \
	" {\"pg_desc\": \"PIPELINE_MODEL_PARALLEL_GROUP\", \"pg_size\": 2, \"ranks\": [1, 3]},"  \
	" {\"pg_desc\": \"mesh_infer_pp\", \"ranks\": [3]},"                                     \
	" {\"pg_desc\": \"mesh_dp\", \"ranks\": [2, 1, 3]}]}, \"traceEvents\": [\n"               \
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#7\",\"pid\":42,"    \
	"\"tid\":42,\"ts\":100,\"dur\":50},\n"                                                 \
	"{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"ProfilerStep#7\",\"pid\":0," \
	"\"tid\":7,\"ts\":120,\"dur\":50},\n"                                                  \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":110,"   \
	"\"dur\":10,\"args\":{\"device\":0,\"stream\":7}},\n"                                  \
	"{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":42,\"tid\":42,\"ts\":105,"    \
	"\"args\":"                                                                            \
	"{\"Device Type\":1,\"Device Id\":0,\"Addr\":140000,\"Bytes\":512,\"Total "            \
	"Allocated\":1024,"                                                                    \
	"\"Total Reserved\":4096}},\n"                                                         \
	"{\"ph\":\"i\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":42,\"tid\":42,\"ts\":106,"    \
	"\"args\":"                                                                            \
	"{\"Device Type\":0,\"Device Id\":-1,\"Addr\":140000,\"Bytes\":-512}}\n"               \
	"], \"traceName\": \"x\"}\n"

struct file {
	char path[64];
};

static void write_file(struct file *file, const char *text, size_t size, bool packed)
{
	int fd;

	strcpy(file->path, "/tmp/test_import.XXXXXX");
	fd = mkstemp(file->path);
	assert_true(fd >= 0);
	if (packed) {
		gzFile out = gzdopen(fd, "wb");

		assert_int_equal(gzwrite(out, text, (unsigned int)size), (int)size);
		gzclose(out);
		return;
	}
	assert_int_equal(write(fd, text, size), (ssize_t)size);
	close(fd);
}

/* Imports a text without a trace; *error is the result of import_device_file(). */
static struct model *import_text(const char *text, size_t size, bool packed, int *error)
{
	struct model *model = model_new();
	char words[512] = "";
	struct file file;

	write_file(&file, text, size, packed);
	*error = import_device_file(model, file.path, true, words, sizeof(words));
	assert_int_equal(import_finish(model, true), 0);
	unlink(file.path);
	if (*error)
		assert_non_null(strstr(words, file.path));
	return model;
}

static struct launch_join join(struct model *model)
{
	struct device_clock clocks[8];
	struct launch_join launches;

	assert_true(model->devices.count <= 8);
	assert_int_equal(device_clocks_join(model, clocks), 0);
	assert_int_equal(launches_join(model, &launches), 0);
	return launches;
}

static void check_kineto(const char *text, bool packed, uint64_t base_ns)
{
	struct launch_join launches;
	struct model *model;
	int error;

	model = import_text(text, strlen(text), packed, &error);
	assert_int_equal(error, 0);
	launches = join(model);
	assert_int_equal(model->devices.count, 1);
	assert_string_equal(model_text(model, model->devices.row[0].name), "GPU X");
	assert_int_equal(model->tasks.count, 3);
	assert_int_equal(model->tasks.row[0].start_ns, base_ns + 110250);
	assert_int_equal(model->tasks.row[0].end_ns, base_ns + 120250);
	assert_int_equal(model->tasks.row[0].stream, 7);
	assert_int_equal(model->tasks.row[0].kind, PROFBPF__DEVICE_TASKS__KIND__KERNEL);
	assert_int_equal(model->tasks.row[1].stream, 9);
	assert_int_equal(model->tasks.row[1].kind, PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION);
	assert_int_equal(model->tasks.row[2].kind, PROFBPF__DEVICE_TASKS__KIND__COPY);
	assert_int_equal(model->tasks.row[2].bytes, 64);
	/* The driver's call nested in the runtime's call is not another launch. */
	assert_int_equal(launches.launches, 1);
	assert_int_equal(launches.by_correlation, 2);
	assert_int_equal(launches.unmatched_tasks, 1);
	assert_int_equal(launches.unmatched_launches, 0);
	assert_int_equal(model->calls.row[model->tasks.row[1].call].start_ns, base_ns + 100000);
	assert_int_equal(model->findings.count, 1);
	assert_int_equal(model->findings.row[0].count, 1);
	assert_string_equal(model_text(model, model->findings.row[0].example), "traceEvents[7]: bad");
	model_free(model);
}

static void test_kineto(void **state)
{
	check_kineto(KINETO, false, 1700000000000000000);
}

/* Shapes of the operator that launched a kernel; an invalid number; one reported twice, out of order. */
static void test_kineto_operators(void **state)
{
	static const char text[] =
		"{\"schemaVersion\":1,\"traceEvents\":[\n"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":110,"
		"\"dur\":10,\"args\":{\"device\":0,\"stream\":7,\"External "
		"id\":5,\"occupancy\":NaN}},\n"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"other\",\"pid\":0,\"tid\":7,\"ts\":"
		"130,"
		"\"dur\":10,\"args\":{\"device\":0,\"stream\":7,\"External id\":9}},\n"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"late\",\"pid\":0,\"tid\":7,\"ts\":-"
		"Infinity,"
		"\"dur\":10,\"args\":{\"device\":0,\"stream\":7}},\n"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::y\",\"pid\":1,\"tid\":1,\"ts\":"
		"1,\"dur\":2,\"args\":{\"External id\":7}},\n"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":"
		"1,"
		"\"dur\":2,\"args\":{\"External id\":5,\"Input Dims\":[[8, 16],[],[[2,3],[4]]],"
		"\"Input type\":[\"float\",\"\",\"long int\"]}},\n"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::x\",\"pid\":1,\"tid\":1,\"ts\":"
		"1,"
		"\"dur\":2,\"args\":{\"External id\":5}},\n"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::z\",\"pid\":1,\"tid\":1,\"ts\":"
		"1,\"dur\":2,\"args\":{\"External id\":3}}]}";
	const struct task_detail *detail;
	struct model *model;
	int error;

	model = import_text(text, sizeof(text) - 1, false, &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->tasks.count, 2);
	assert_string_equal(model_text(model, model->tasks.row[0].type), "aten::mm");
	detail = model_task_detail(model, &model->tasks.row[0]);
	assert_non_null(detail);
	assert_string_equal(model_text(model, detail->input_shapes), "8,16;;2,3;4");
	assert_string_equal(model_text(model, detail->input_types), "float;;long int");
	assert_int_equal(model->tasks.row[1].type, 0);
	assert_null(model_task_detail(model, &model->tasks.row[1]));
	/* The kernel without a time. */
	assert_int_equal(model->findings.count, 1);
	assert_string_equal(model_text(model, model->findings.row[0].example), "traceEvents[2]: late");
	model_free(model);
}

/* The example of a finding is stored whole, however long its name is. */
static void test_long_example(void **state)
{
	static const char BEGIN[] = "{\"schemaVersion\":1,\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"";
	static const char END[] = "\",\"pid\":0,\"tid\":7,\"ts\":\"N/A\",\"dur\":1,\"args\":{\"device\":0}}]}";
	char name[1501] = "", text[2000], example[1600];
	struct model *model;
	int error;

	for (size_t i = 0; i < 500; i++)
		memcpy(name + 3 * i, "\xe6\xa0\xb8", 4);
	snprintf(text, sizeof(text), "%s%s%s", BEGIN, name, END);
	snprintf(example, sizeof(example), "traceEvents[0]: %s", name);
	model = import_text(text, strlen(text), false, &error);
	assert_true(model->findings.count > 0);
	assert_string_equal(model_text(model, model->findings.row[0].example), example);
	model_free(model);
}

static void test_kineto_job(void **state)
{
	const struct memory_record *record;
	struct file file;
	struct model *model = model_new();
	char error[512];

	write_file(&file, KINETO_JOB, sizeof(KINETO_JOB) - 1, false);
	assert_int_equal(import_device_file(model, file.path, true, error, sizeof(error)), 0);
	assert_int_equal(import_finish(model, true), 0);
	assert_int_equal(model->devices.count, 1);
	assert_true(model->devices.row[0].has_rank);
	assert_int_equal(model->devices.row[0].rank, 3);
	assert_int_equal(model->devices.row[0].stages, 2);
	assert_int_equal(model->devices.row[0].stage, 1);
	assert_int_equal(model->step_marks.count, 1);
	assert_int_equal(model->step_marks.row[0].number, 7);
	assert_int_equal(model->step_marks.row[0].start_ns, 100000);
	assert_int_equal(model->step_marks.row[0].end_ns, 150000);
	assert_int_equal(model->memory_records.count, 2);
	record = &model->memory_records.row[0];
	assert_int_equal(record->ts_ns, 105000);
	assert_int_equal(record->bytes, 512);
	assert_int_equal(record->address, 140000);
	assert_int_equal(record->allocated, 1024);
	assert_int_equal(record->reserved, 4096);
	assert_int_equal(record->flags,
			 MODEL_MEMORY_CHANGE | MODEL_MEMORY_ALLOCATED | MODEL_MEMORY_RESERVED);
	record++;
	assert_int_equal(record->bytes, -512);
	assert_int_equal(record->flags, MODEL_MEMORY_CHANGE | MODEL_MEMORY_HOST);
	unlink(file.path);
	model_free(model);
}

/*
 * Intel's profiles: queues are threads, calls belong to two runtimes; calls that waited for the device are not its
 * work.
 */
static void test_kineto_xpu(void **state)
{
	static const char text[] =
		"{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"Intel(R) Data Center GPU Max 1550\"}],"
		"\"traceEvents\":["
		"{\"ph\":\"X\",\"cat\":\"xpu_runtime\",\"name\":\"urEnqueueKernelLaunch\",\"pid\":9,\"tid\":9,\"ts\":100,\"dur\":4,"
		"\"args\":{\"correlation\":41}},"
		"{\"ph\":\"X\",\"cat\":\"xpu_driver\",\"name\":\"zeCommandListAppendMemoryCopy\",\"pid\":9,\"tid\":9,\"ts\":110,"
		"\"dur\":3,\"args\":{\"correlation\":42}},"
		"{\"ph\":\"X\",\"cat\":\"xpu_runtime\",\"name\":\"urEventWait\",\"pid\":9,\"tid\":9,\"ts\":120,\"dur\":30,\"args\":{}},"
		"{\"ph\":\"X\",\"cat\":\"xpu_sync\",\"name\":\"Event Wait\",\"pid\":-1,\"tid\":9,\"ts\":120,\"dur\":30,\"args\":{}},"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm_kernel\",\"pid\":0,\"tid\":5,\"ts\":108,\"dur\":20,\"args\":"
		"{\"correlation\":41,\"device\":0,\"sycl queue\":5,\"kernel_id\":7}},"
		"{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy H2D\",\"pid\":0,\"tid\":6,\"ts\":130,\"dur\":5,\"args\":"
		"{\"correlation\":42,\"device\":0,\"bytes\":64}}]}";
	int error;
	struct model *model = import_text(text, strlen(text), false, &error);
	const uint8_t kinds[] = { PROFBPF__FUNCTION__KIND__LAUNCH, PROFBPF__FUNCTION__KIND__COPY, PROFBPF__FUNCTION__KIND__SYNC };

	assert_int_equal(error, 0);
	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->tasks.count, 2);
	assert_int_equal(model->calls.count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct function *function = &model->functions.row[model->calls.row[i].function];

		assert_int_equal(function->kind, kinds[i]);
		assert_string_equal(model_text(model, function->runtime), i == 1 ? "level_zero" : "unified_runtime");
	}
	for (uint32_t i = 0; i < 2; i++) {
		const struct device_task *task = &model->tasks.row[i];

		assert_int_equal(task->stream, 5 + task->correlation - 41);
		assert_int_equal(task->enqueue_dur_ns, task->correlation == 41 ? 4000 : 3000);
	}
	model_free(model);
}

static void test_kineto_packed(void **state)
{
	check_kineto(KINETO, true, 1700000000000000000);
}

/* Windows line ends, and no base time, as before 2023. */
static void test_kineto_variants(void **state)
{
	char *text = calloc(1, 2 * sizeof(KINETO)), *to = text, *base;

	for (const char *from = KINETO; *from; from++) {
		if (*from == '\n')
			*to++ = '\r';
		*to++ = *from;
	}
	check_kineto(text, false, 1700000000000000000);
	base = strstr(text, "baseTimeNanoseconds");
	memcpy(base, "somethingElse______", strlen("baseTimeNanoseconds"));
	check_kineto(text, false, 0);
	free(text);
}

/* Truncated anywhere: never a crash, and all complete objects are imported. */
static void test_kineto_truncated(void **state)
{
	size_t whole = strlen(KINETO);
	uint32_t before = 0;

	for (size_t size = 1; size < whole - 1; size++) {
		struct model *model;
		int error;

		model = import_text(KINETO, size, false, &error);
		assert_true(model->tasks.count >= before || error);
		if (!error)
			before = model->tasks.count;
		/* The truncation is reported as an error or a finding. */
		assert_true(error || model->findings.count);
		model_free(model);
	}
	assert_int_equal(before, 3);
}

#define GRAPH_KERNELS 421

/*
 * ROCm's events under Kineto's CUDA names: a graph with hundreds of kernels of one launch, device events before host
 * events, in an order given by @step (prime to the number of rows), @shift_us later.
 */
static char *make_graph(unsigned int step, unsigned int shift_us)
{
	static const char *const calls[] = { "hipGraphLaunch", "hipModuleLaunchKernel",
					     "hipMemcpyWithStream" };
	unsigned int rows = GRAPH_KERNELS + 5;
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	fprintf(out, "{\"schemaVersion\":1,\"traceEvents\":[{\"ph\":\"M\",\"name\":\"x\"}");
	for (unsigned int n = 0; n < rows; n++) {
		unsigned int i = n * step % rows, at = shift_us;

		fputs(",\n{\"ph\":\"X\",\"pid\":", out);
		if (i < 3)
			fprintf(out,
				"42,\"tid\":43,\"cat\":\"cuda_runtime\",\"name\":\"%s\",\"ts\":%u."
				"5,"
				"\"dur\":1,\"args\":{\"correlation\":%u}}",
				calls[i], at + 100 + 10 * i, 5 + i);
		else
			fprintf(out,
				"0,\"tid\":%u,\"cat\":\"%s\",\"name\":\"k%u\",\"ts\":%u,\"dur\":2."
				"125,"
				"\"args\":{\"device\":0,\"stream\":3,\"correlation\":%u}}",
				3, i == 3 ? "gpu_memcpy" : "kernel", i, at + 90 + 3 * i,
				i == 3	 ? 7
				: i == 4 ? 6
					 : 5);
	}
	fputs("]}", out);
	fclose(out);
	return text;
}

static struct model *take_graph(unsigned int step, unsigned int shift_us,
				struct launch_join *joined)
{
	char *text = make_graph(step, shift_us);
	struct model *model;
	int error;

	model = import_text(text, strlen(text), false, &error);
	assert_int_equal(error, 0);
	*joined = join(model);
	free(text);
	return model;
}

static void test_graph_replay(void **state)
{
	static const unsigned int ways[][2] = { { 1, 0 }, { 5, 0 }, { 11, 1000000 } };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct launch_join joined;
		struct model *model = take_graph(ways[i][0], ways[i][1], &joined);
		uint64_t shift_ns = (uint64_t)ways[i][1] * 1000;

		assert_int_equal(model->tasks.count, GRAPH_KERNELS + 2);
		assert_int_equal(joined.launches, 3);
		assert_int_equal(joined.by_correlation, GRAPH_KERNELS + 2);
		assert_int_equal(joined.unmatched_tasks, 0);
		assert_int_equal(joined.unmatched_launches, 0);
		/* Sorted by start, whatever the file's order; the first task starts before its launch. */
		assert_int_equal(model->tasks.row[0].start_ns, 99000 + shift_ns);
		assert_int_equal(model->tasks.row[0].kind, PROFBPF__DEVICE_TASKS__KIND__COPY);
		assert_int_equal(model->calls.row[model->tasks.row[0].call].start_ns,
				 120500 + shift_ns);
		assert_string_equal(model_text(model, model->tasks.row[9].name), "k12");
		assert_int_equal(model->findings.count, 0);
		model_free(model);
	}
}

/* A part of a trace of 2021: only kernels, capitalised. */
static void test_kernels_only(void **state)
{
	static const char text[] =
		"{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"k\",\"pid\":0,"
		"\"tid\":"
		"\"stream 7\",\"ts\":1616000000000001,\"dur\":3,\"args\":{\"device\":0,"
		"\"correlation\":9,\"stream\":7}}]}";
	struct model *model;
	int error;

	model = import_text(text, strlen(text), false, &error);
	assert_int_equal(error, 0);
	assert_int_equal(model->tasks.count, 1);
	assert_string_equal(model_text(model, model->devices.row[0].source), "pytorch");
	assert_int_equal(model->tasks.row[0].start_ns, 1616000000000001000);
	model_free(model);
}

static void test_chrome(void **state)
{
	static const char text[] =
		"[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":3,\"args\":{\"name\":\"/"
		"device:GPU:0\"}},"
		"{\"ph\":\"X\",\"name\":\"MatMul\",\"pid\":3,\"tid\":1,\"ts\":\"0\",\"dur\":2.0005}"
		","
		"{\"ph\":\"B\",\"name\":\"outer\",\"pid\":3,\"tid\":2,\"ts\":10},"
		"{\"ph\":\"B\",\"name\":\"inner\",\"pid\":3,\"tid\":2,\"ts\":11},"
		"{\"ph\":\"E\",\"pid\":3,\"tid\":2,\"ts\":12},"
		"{\"ph\":\"E\",\"pid\":3,\"tid\":2,\"ts\":20},"
		"{\"ph\":\"E\",\"pid\":3,\"tid\":2,\"ts\":21},"
		"{\"ph\":\"X\",\"name\":\"python\",\"pid\":4,\"tid\":1,\"ts\":0,\"dur\":100}]";
	struct model *model;
	int error;

	model = import_text(text, strlen(text), false, &error);
	assert_int_equal(error, 0);
	join(model);
	assert_int_equal(model->tasks.count, 3);
	/* All are moved by 1 ns, so that none begins at 0. */
	assert_int_equal(model->tasks.row[0].start_ns, 1);
	assert_int_equal(model->tasks.row[0].end_ns, 2002);
	assert_string_equal(model_text(model, model->tasks.row[1].name), "outer");
	assert_int_equal(model->tasks.row[1].end_ns, 20001);
	assert_int_equal(model->tasks.row[2].end_ns - model->tasks.row[2].start_ns, 1000);
	assert_int_equal(model->findings.count, 1);
	model_free(model);
}

static void test_unknown(void **state)
{
	static const char *const texts[] = { "", "hello", "{\"a\": 1}", "{\"traceEvents\": [[[[" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct model *model;
		int error;

		model = import_text(texts[i], strlen(texts[i]), false, &error);
		assert_true(error < 0);
		assert_int_equal(model->tasks.count, 0);
		model_free(model);
	}
}

static void check_decimal(const char *text, int power, int64_t expected)
{
	int64_t value = -1;

	assert_true(decimal_scaled(text, strlen(text), power, &value));
	assert_int_equal(value, expected);
}

static void test_decimal(void **state)
{
	static const char *const bad[] = { "",	   "N/A",  "nan",
					   "-",	   "1e",   "1.2.3",
					   "12a",  "1e99", "9223372036854775808",
					   "0x12", "." };
	int64_t value;

	check_decimal("1699529622790614.812", 3, 1699529622790614812);
	check_decimal("\"1699529622790614.812\t\"", 3, 1699529622790614812);
	check_decimal("0.60003125", 3, 600);
	check_decimal("0.0005", 3, 1);
	check_decimal("0.00049999", 3, 0);
	check_decimal("-83.655", 3, -83655);
	check_decimal("5.477e-05", 9, 54770);
	check_decimal("51.7E2", 0, 5170);
	check_decimal(" 12\r", 0, 12);
	check_decimal("1.00000000000000000000000000001", 3, 1000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(decimal_scaled(bad[i], strlen(bad[i]), 0, &value));
}

static void test_real(void **state)
{
	static const char *const bad[] = { "",	    ".",   "-1", "1e3",
					   "1.2.3", "N/A", " 1", "1234567890.123456" };
	static const struct {
		const char *text;
		double value;
	} GOOD[] = { { "0.125", 0.125 },
		     { "12", 12 },
		     { "12.", 12 },
		     { ".5", 0.5 },
		     { "123456789012345", 123456789012345.0 },
		     { "0.12345678901234", 0.12345678901234 } };
	double value;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(decimal_real(bad[i], strlen(bad[i]), &value));
	for (size_t i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++) {
		assert_true(decimal_real(GOOD[i].text, strlen(GOOD[i].text), &value));
		assert_true(value == GOOD[i].value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real),
		cmocka_unit_test(test_kineto),
		cmocka_unit_test(test_kineto_operators),
		cmocka_unit_test(test_long_example),
		cmocka_unit_test(test_kineto_job),
		cmocka_unit_test(test_kineto_xpu),
		cmocka_unit_test(test_kineto_packed),
		cmocka_unit_test(test_kineto_variants),
		cmocka_unit_test(test_kineto_truncated),
		cmocka_unit_test(test_graph_replay),
		cmocka_unit_test(test_kernels_only),
		cmocka_unit_test(test_chrome),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_decimal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

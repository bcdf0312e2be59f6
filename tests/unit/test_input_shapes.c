/* SPDX-License-Identifier: Apache-2.0 */
/* Device files as they come: compressed, in other encodings, through pipes, in any order; and what is none. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "analyzer/import/importer.h"
#include "analyzer/import/readers/input_file.h"
#include "tests/unit/import_text.h"

/* Reads a file of these bytes, @part at a time. Returns the number of bytes; *err: how it ended. */
static size_t read_back(const void *bytes, size_t size, size_t part, char *to, size_t room, int *err)
{
	struct input_file file;
	char error[256] = "";
	size_t used = 0;
	int length;

	import_write(import_root(), "bytes", bytes, size);
	assert_int_equal(input_file_open(&file, import_in_root("bytes"), error, sizeof(error)), 0);
	do {
		assert_true(used + part < room);
		length = input_file_read(&file, to + used, part, error, sizeof(error));
		used += length > 0 ? (size_t)length : 0;
	} while (length > 0);
	input_file_close(&file);
	*err = length;
	if (length < 0)
		assert_string_not_equal(error, "");
	to[used] = '\0';
	return used;
}

static void check_text(const void *bytes, size_t size, const char *expected)
{
	char text[256];
	int err;

	for (size_t part = 1; part < 12; part++) {
		read_back(bytes, size, part, text, sizeof(text), &err);
		assert_int_equal(err, 0);
		assert_string_equal(text, expected);
	}
}

/* U+00E9, U+20AC, U+1F600, then halves of surrogates that lack the other. */
static void test_encodings(void **state)
{
	static const char LITTLE[] = "\xff\xfe"
				     "a\0\xe9\0\xac\x20\x3d\xd8\x00\xdez\0\x3d\xd8"
				     "b\0\x00\xde";
	static const char BIG[] = "\xfe\xff\0a\0\xe9\x20\xac\xd8\x3d\xde\0\0z\xd8\x3d\0b\xde";
	static const char EXPECTED[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z\xef\xbf\xbd"
				       "b\xef\xbf\xbd";

	check_text(LITTLE, sizeof(LITTLE), EXPECTED); /* the last zero is half a unit, which is left out */
	check_text(BIG, sizeof(BIG), EXPECTED);
	check_text("\xef\xbb\xbfname", 7, "name");
	check_text("\xef\xbb\xbf", 3, "");
	check_text("\xef\xbb", 2, "\xef\xbb");
	check_text("x", 1, "x");
	check_text("", 0, "");
	/* A record of bits, not a text. */
	check_text("\xff\xfe\x01\x02z", 5, "\xff\xfe\x01\x02z");
	check_text("\xff\xfe", 2, "\xff\xfe");
}

#define NUMBERS 20000

static char *numbers(size_t *size)
{
	char *text = malloc(NUMBERS * 6 + 1), *to = text;

	for (int i = 0; i < NUMBERS; i++)
		to += sprintf(to, "%d\n", i * 7919 % NUMBERS);
	*size = (size_t)(to - text);
	return text;
}

/* Two frames, of which the second is torn, then changed. What came before is read. */
static void test_zstd(void **state)
{
	size_t size, first, whole, used;
	char *text = numbers(&size), *back = malloc(size + 4096), *packed = malloc(2 * size);
	int err;

	first = ZSTD_compress(packed, 2 * size, text, size / 2, 3);
	whole = first + ZSTD_compress(packed + first, 2 * size - first, text + size / 2, size - size / 2, 3);
	used = read_back(packed, whole, 1000, back, size + 4096, &err);
	assert_int_equal(err, 0);
	assert_int_equal(used, size);
	assert_memory_equal(back, text, size);
	used = read_back(packed, whole - 5, 1000, back, size + 4096, &err);
	assert_int_equal(err, -EBADMSG);
	assert_true(used >= size / 2 && used <= size);
	assert_memory_equal(back, text, used);
	memset(packed + first, 0, 4);
	used = read_back(packed, whole, 1000, back, size + 4096, &err);
	assert_int_equal(err, -EBADMSG);
	assert_int_equal(used, size / 2);
	free(text);
	free(back);
	free(packed);
}

/* Zeros compress to nothing: the reader stops at what no profile unpacks to. */
static void test_zstd_bomb(void **state)
{
	size_t size = 64u << 20, packed_size, used;
	char *zeros = calloc(1, size), *packed = malloc(1u << 20), *back = malloc(size + (2u << 20));
	int err;

	packed_size = ZSTD_compress(packed, 1u << 20, zeros, size, 1);
	assert_true(packed_size < 100000);
	used = read_back(packed, packed_size, 1u << 20, back, size + (2u << 20), &err);
	assert_int_equal(err, -EBADMSG);
	assert_true(used > INPUT_UNPACKED_FREE / 2 && used < size / 2);
	free(zeros);
	free(packed);
	free(back);
}

#define KERNEL                                                                         \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,"       \
	"\"ts\":1000,\"dur\":40,\"args\":{\"device\":0,\"stream\":7,\"correlation\":1}}"
#define KINETO "{\"schemaVersion\":1,\"traceEvents\":[" KERNEL "]}"

struct feed {
	const char *path;
	const void *bytes;
	size_t size;
};

static void *feed(void *context)
{
	const struct feed *from = context;
	FILE *pipe = fopen(from->path, "w");

	fwrite(from->bytes, 1, from->size, pipe);
	fclose(pipe);
	return NULL;
}

static int take_pipe(const char *path, const void *bytes, size_t size, struct model **model,
		     char *words, size_t words_size)
{
	struct feed from = { path, bytes, size };
	pthread_t thread;
	int err;

	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(pthread_create(&thread, NULL, feed, &from), 0);
	*model = model_new();
	err = import_device_file(*model, path, true, words, words_size);
	pthread_join(thread, NULL);
	unlink(path);
	return err;
}

/* Importers open a file several times; a pipe's content is copied before. */
static void test_pipe(void **state)
{
	char path[160], words[512], packed[1024];
	struct model *model;
	size_t size;

	strcpy(path, import_in_root("pipe"));
	assert_int_equal(take_pipe(path, KINETO, strlen(KINETO), &model, words, sizeof(words)), 0);
	assert_int_equal(model->tasks.count, 1);
	assert_string_equal(model_text(model, model->imports.row[0].path), path);
	model_free(model);
	size = ZSTD_compress(packed, sizeof(packed), KINETO, strlen(KINETO), 1);
	assert_int_equal(take_pipe(path, packed, size, &model, words, sizeof(words)), 0);
	assert_int_equal(model->tasks.count, 1);
	model_free(model);
	assert_int_equal(take_pipe(path, "", 0, &model, words, sizeof(words)), -EBADMSG);
	assert_non_null(strstr(words, "pipe: an empty file"));
	model_free(model);
	assert_int_equal(take_pipe(path, "SQLite format 3\0...", 20, &model, words, sizeof(words)),
			 -EBADMSG);
	assert_non_null(strstr(words, "pipe: an SQLite database, which cannot be read through a pipe"));
	model_free(model);
}

static void check_refused(const char *name, const void *bytes, size_t size, const char *why)
{
	struct model *model;
	char words[512];

	import_write(import_root(), name, bytes, size);
	model = model_new();
	assert_int_equal(import_device_file(model, import_in_root(name), true, words, sizeof(words)),
			 -EBADMSG);
	if (!strstr(words, why))
		fail_msg("%s: %s", why, words);
	model_free(model);
}

/* Each refusal says what the file is, and what to do. */
static void test_refusals(void **state)
{
	char packed[1024], twice[1024];
	uLongf size = sizeof(packed);

	check_refused("empty.json", "", 0, "an empty file");
	check_refused("trace.json.xz", "\xfd" "7zXZ\0\0", 8, "unxz");
	check_refused("trace.json.bz2", "BZh91AY", 7, "bunzip2");
	check_refused("trace.json.lz4", "\x04\x22\x4d\x18", 4, "unlz4");
	check_refused("new.csv", "Op Name,Op Type,Took (ticks)\nMatMul,Mul,4\n", 42,
		      "columns are those of no format known here: Op Name,Op Type,Took (ticks)");
	check_refused("de.csv", "Op Name;Op Type;Took(us)\nMatMul;Mul;4,0\n", 40,
		      "semicolons between its columns");
	check_refused("tabs.csv", "Op Name\tOp Type\tTook(us)\nMatMul\tMul\t4\n", 38,
		      "tabs between its columns");
	size = ZSTD_compress(packed, sizeof(packed), "SQLite format 3\0...", 20, 1);
	check_refused("job.sqlite.zst", packed, size, "a compressed SQLite database");
	size = ZSTD_compress(twice, sizeof(twice), packed, size, 1);
	check_refused("job.zst.zst", twice, size, "compressed twice");
	check_refused("torn.json.zst", packed, 8, "cannot be decompressed");
	check_refused("a.ncu-rep", "NVR", 3, "a report of Nsight Compute's");
	check_refused("a.csv", "==PROF== Connected to process 9\n\"ID\",\"Process ID\",\"Process Name\"\n", 65,
		      "a table of Nsight Compute's");
	check_refused("a.ntff", "\x0a", 1, "neuron-explorer view");
	check_refused("a.hltv", "\x0a", 1, "ProfilerActivity.HPU");
	check_refused("a.arrow", "ARROW1\0\0", 8, "nsys export --type sqlite");
	check_refused("a.pickle", "\x80\x04\x95\x10", 4, "a pickle of Python");
	check_refused("perf.data", "PERFILE2h", 9, "a recording of perf");
	check_refused("a.hatchet_msgpack", "\x92\x83", 2, "output_format=\"hatchet\"");
	check_refused("torch.op_range", "\1\2", 2, "torch_npu.profiler.profiler.analyse");
	check_refused("host.overview_page.pb", "\x0a\2", 2, "XProf");
	/* A frame with a window of 256 MiB, and an empty block. */
	check_refused("long.json.zst", "\x28\xb5\x2f\xfd\0\x90\1\0\0", 9, "unzstd --long");
}

/* Texts are refused by their words, also if many other bytes come before. */
static void test_refused_texts(void **state)
{
	static const char *const TEXTS[][2] = {
		{ "{\"traceEvents\": [{\"name\": \"load\", \"ph\": \"X\", \"ts\": 1, \"dur\": 2, \"pid\": \"mm Core0 CTA0\", "
		  "\"args\": {\"Finalization Time (ns)\": 4, \"call_stack\": []}}]}",
		  "warps inside of kernels" },
		{ "{\"summary\": [{\"tensor_engine_active_time_percent\": 0.4}]}", "neuron-explorer view" },
		{ "{\"events\": [{\"event_type\": \"nc_exec_running\", \"nc_idx\": 1}]}", "neuron-explorer view" },
		{ "== L0 Backend ==\n\nKernel, Calls, Time (ns)\n", "--chrome-kernel-logging" },
		{ "[{\"cols\":[{\"id\":\"step\"}],\"rows\":[],\"p\":{}}]", "*.xplane.pb" },
		{ "{\"Layers\": [\"conv\"], \"Bindings\": []}", "--exportProfile" },
		{ "{\"schema\": \"1.1\", \"nodes\": [{\"id\": 1, \"ctrl_deps\": 0}]}", "torch.profiler" },
	};
	struct model *model;
	char text[8192];

	for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
		int length = snprintf(text, sizeof(text), "%*s%s", 5000, "\n", TEXTS[i][0]);

		check_refused("text.json", text, (size_t)length, TEXTS[i][1]);
	}
	import_make_folder("host_1_ascend_pt");
	import_make_folder("host_1_ascend_pt/FRAMEWORK");
	import_make_folder("host_1_ascend_pt/host");
	import_write(import_root(), "host_1_ascend_pt/FRAMEWORK/torch.op_range", "\1", 1);
	model = model_new();
	assert_int_equal(import_device_file(model, import_in_root("host_1_ascend_pt"), true, text, sizeof(text)), -EBADMSG);
	assert_non_null(strstr(text, "torch_npu.profiler.profiler.analyse"));
	model_free(model);
}

/* The file's order is not that of time: begins and ends belong together by their times. */
static void test_order(void **state)
{
	struct model *model = import_words(
		"trace.json",
		"[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":3,\"args\":{\"name\":\"/device:GPU:0\"}},"
		"{\"ph\":\"E\",\"pid\":3,\"tid\":2,\"ts\":40},{\"ph\":\"E\",\"pid\":3,\"tid\":2,\"ts\":20},"
		"{\"ph\":\"B\",\"name\":\"second\",\"pid\":3,\"tid\":2,\"ts\":30},"
		"{\"ph\":\"B\",\"name\":\"first\",\"pid\":3,\"tid\":2,\"ts\":10},"
		"{\"ph\":\"E\",\"pid\":3,\"tid\":2,\"ts\":50},"
		"{\"ph\":\"B\",\"name\":\"third\",\"pid\":3,\"tid\":2,\"ts\":45},"
		"{\"ph\":\"B\",\"name\":\"open\",\"pid\":3,\"tid\":2,\"ts\":60}]");
	uint64_t base = model->tasks.row[0].start_ns;

	assert_int_equal(model->tasks.count, 3);
	for (int i = 0; i < 3; i++) {
		static const unsigned int START[] = { 0, 20000, 35000 }, TOOK[] = { 10000, 10000, 5000 };
		const struct device_task *task = &model->tasks.row[i];

		assert_int_equal(task->start_ns - base, START[i]);
		assert_int_equal(task->end_ns - task->start_ns, TOOK[i]);
	}
	assert_string_equal(model_text(model, model->tasks.row[1].name), "second");
	assert_int_equal(model->findings.count, 1);
	model_free(model);
}

#define HOST "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":285,\"ts\":1,\"args\":{\"name\":\"RANK 3 HOST<n1>\"}}"
#define NAMED(what, more, name)                                                                       \
	",\n{\"ph\": \"M\", \"name\": \"" what "\", " more ", \"args\": {\"name\": \"" name "\"}}"
#define EVENT(cat, place, name, ts, dur)                                                            \
	",\n{\"ph\": \"X\", " place ", \"name\": \"" name "\", \"cat\": \"" cat "\", \"ts\": " ts         \
	", \"dur\": " dur ", \"args\": {\"id\": \"3418\"}}"
#define DEVICE_0 "\"pid\": 4294967294"
#define DEVICE_1 "\"pid\": 4294967293"

/* Intel's unitrace has categories of Kineto, and other events of devices. */
static void test_unitrace(void **state)
{
	struct model *model = import_words(
		"python.285.json",
		"{ \"traceEvents\":[\n" HOST EVENT("cpu_op", "\"tid\": 285, \"pid\": 285",
						"zeCommandListAppendLaunchKernel", "100", "5")
		NAMED("process_name", DEVICE_0, "RANK 3 DEVICE<n1>[Intel(R) GPU] 0:3a:0:0 #0")
		NAMED("thread_name", DEVICE_0 ", \"tid\": 4294967295", "Thread 285 CCS<0,0>")
		NAMED("process_name", DEVICE_1, "RANK 3 DEVICE<n1>[Intel(R) GPU] 0:9a:0:0 #1")
		NAMED("thread_name", DEVICE_1 ", \"tid\": 4294967292", "Thread 285 BCS<1,0>")
		EVENT("gpu_op", "\"tid\": 4294967295, " DEVICE_0, "gemm[SIMD32 {8; 1; 1} {512; 1; 1}]", "110", "9")
		EVENT("gpu_op", "\"tid\": 4294967295, " DEVICE_0, "gemm[SIMD32 {8; 1; 1} {512; 1; 1}]", "130", "7")
		EVENT("gpu_op", "\"tid\": 4294967292, " DEVICE_1, "zeCommandListAppendMemoryCopy(M2D)[64 bytes]", "120", "4")
		"\n]\n}\n");

	assert_int_equal(model->devices.count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(model->devices.row[i].id, i);
		assert_true(model->devices.row[i].has_rank);
		assert_int_equal(model->devices.row[i].rank, 3);
	}
	assert_int_equal(model->tasks.count, 3);
	assert_int_equal(import_busy(model, 0, PROFBPF__DEVICE_TASKS__KIND__KERNEL), 16000);
	assert_int_equal(import_busy(model, 1, PROFBPF__DEVICE_TASKS__KIND__COPY), 4000);
	assert_int_equal(model->tasks.row[0].stream, 0);
	assert_int_equal(model->calls.count, 1);
	assert_int_equal(model->functions.row[model->calls.row[0].function].kind,
			 PROFBPF__FUNCTION__KIND__LAUNCH);
	model_free(model);
}

/* In a file of several nodes each has a device #0. */
static void test_unitrace_nodes(void **state)
{
	struct model *model = import_words(
		"python.merged.json",
		"{ \"traceEvents\":[\n" HOST
		NAMED("process_name", DEVICE_0, "RANK 0 DEVICE<n1>[Intel(R) GPU] 0:3a:0:0 #0")
		NAMED("process_name", DEVICE_1, "RANK 1 DEVICE<n2>[Intel(R) GPU] 0:3a:0:0 #0")
		EVENT("gpu_op", "\"tid\": 4294967295, " DEVICE_0, "gemm", "110", "9")
		EVENT("gpu_op", "\"tid\": 4294967292, " DEVICE_1, "gemm", "120", "4")
		"\n]\n}\n");

	assert_int_equal(model->devices.count, 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(model->devices.row[i].rank, model->devices.row[i].id);
	assert_int_equal(import_busy(model, 0, PROFBPF__DEVICE_TASKS__KIND__KERNEL), 9000);
	assert_int_equal(import_busy(model, 1, PROFBPF__DEVICE_TASKS__KIND__KERNEL), 4000);
	model_free(model);
}

#define ARROW(phase, category, place, ts)                                                                            \
	",\n{\"ph\": \"" phase "\", \"name\": \"dep\", \"cat\": \"" category "\", " place ", \"ts\": " ts ", \"id\": 1}"
#define THREAD "\"tid\": 285, \"pid\": 285"
#define QUEUE "\"tid\": 4294967295, " DEVICE_0

/* unitrace's arrows tell which call made a device work: one call may, of several kernels; some have no arrow. */
static void test_unitrace_arrows(void **state)
{
	static const uint64_t CALLED[] = { 100000, 100000, 200000, 0, 0 };
	struct model *model = import_words(
		"python.285.json",
		"{ \"traceEvents\":[\n" HOST
		NAMED("process_name", DEVICE_0, "RANK 3 DEVICE<n1>[Intel(R) GPU] 0:3a:0:0 #0")
		/* The device's events may come first. */
		EVENT("gpu_op", QUEUE, "gemm", "110", "9") ARROW("t", "Flow_H2D_7_3", QUEUE, "110")
		ARROW("s", "Flow_D2H_7_3", QUEUE, "110")
		EVENT("gpu_op", QUEUE, "add", "120", "9") ARROW("t", "Flow_H2D_8_3", QUEUE, "120")
		EVENT("cpu_op", THREAD, "zeCommandQueueExecuteCommandLists", "100", "5")
		ARROW("s", "Flow_H2D_7_3", THREAD, "100") ARROW("s", "Flow_H2D_8_3", THREAD, "100")
		EVENT("cpu_op", THREAD, "zeCommandListAppendLaunchKernel", "200", "5")
		ARROW("s", "CL_Flow_H2D_7_3", THREAD, "200")
		EVENT("gpu_op", QUEUE, "mul", "210", "9") ARROW("t", "CL_Flow_H2D_7_3", QUEUE, "210")
		EVENT("gpu_op", QUEUE, "no arrow", "230", "9")
		/* Not at the begin of its work: of other work, which the file does not have. */
		EVENT("gpu_op", QUEUE, "other", "250", "9") ARROW("t", "Flow_H2D_7_3", QUEUE, "240")
		"\n]\n}\n");

	assert_int_equal(model->tasks.count, 5);
	assert_int_equal(model->calls.count, 2);
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t call = model->tasks.row[i].call;

		if (CALLED[i])
			assert_int_equal(model->calls.row[call].start_ns, CALLED[i]);
		else
			assert_int_equal(call, INDEX_NONE);
	}
	model_free(model);
}

#define NSYS(cat, pid, tid, name, ts, dur)                                                                            \
	"{\"name\": \"" name "\", \"ph\": \"X\", \"cat\": \"" cat "\", \"ts\": " ts ", \"dur\": " dur                    \
	", \"tid\": \"" tid "\", \"pid\": \"" pid "\", \"args\": {}}"

/* A Chrome trace that a script made of an export of Nsight Systems: the sums by range are not the device's work. */
static void test_nsys_chrome(void **state)
{
	struct model *model = import_words(
		"report.json",
		"[" NSYS("cuda", "Device 1", "CUDA API 7", "gemm", "20", "10")
		", " NSYS("cuda", "Device 1", "CUDA API 13", "add", "30", "5")
		", " NSYS("nvtx-kernel", "Device 1", "NVTX 9946", "step", "20", "15")
		", " NSYS("cuda_api", "Host 1", "CUDA API 9946", "cudaLaunchKernel_v7000", "10", "4")
		", " NSYS("nvtx", "Host 1", "NVTX 9946", "step", "5", "50")
		", " NSYS("cuda", "Device 1 of none", "CUDA API 7", "other", "20", "10") "]");

	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->devices.row[0].id, 1);
	assert_int_equal(model->tasks.count, 2);
	assert_int_equal(model->tasks.row[0].stream, 7);
	assert_int_equal(model->tasks.row[1].stream, 13);
	assert_int_equal(import_busy(model, 0, PROFBPF__DEVICE_TASKS__KIND__KERNEL), 15000);
	assert_int_equal(model->calls.count, 3);
	for (uint32_t i = 0, launches = 0; i < 3; i++) {
		launches += model->functions.row[model->calls.row[i].function].kind == PROFBPF__FUNCTION__KIND__LAUNCH;
		assert_true(i < 2 || launches == 1);
	}
	model_free(model);
}

/* The same by nsys2json, which has the host's threads in the device's process. */
static void test_nsys2json(void **state)
{
	struct model *model = import_words(
		"nsys2json.json",
		"[" NSYS("cuda", "Device 1", "Stream 7", "gemm", "20", "10")
		", " NSYS("cuda", "Device 1", "Stream 13", "add", "30", "5")
		", " NSYS("nvtx-kernel", "Device 1", "NVTX Kernel Thread 9946", "step", "20", "15")
		", " NSYS("cuda_api", "Device 1", "CUDA API Thread 9946", "cudaLaunchKernel_v7000", "10", "4")
		", " NSYS("nvtx", "Device 1", "NVTX Thread 9946", "step", "5", "50") "]");

	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->devices.row[0].id, 1);
	assert_int_equal(model->tasks.count, 2);
	assert_int_equal(model->tasks.row[0].stream, 7);
	assert_int_equal(model->tasks.row[1].stream, 13);
	assert_int_equal(import_busy(model, 0, PROFBPF__DEVICE_TASKS__KIND__KERNEL), 15000);
	assert_int_equal(model->calls.count, 2); /* the launch and the host's range */
	model_free(model);
}

/* AWS Neuron names its groups of events: the hardware's, and those of calls of its runtime. */
static void test_neuron(void **state)
{
	struct model *model = import_words(
		"system_profile.json",
		"{ \"traceEvents\":[\n{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": \"i-0b1e/PID:17/TID:0/neuron_rt\"}}"
		NAMED("process_name", "\"pid\": 2", "i-0b1e/PID:17/Worker:0/neuron_hw")
		EVENT("", "\"tid\": 1, \"pid\": 1", "nrt_execute", "100", "50")
		EVENT("", "\"tid\": 1, \"pid\": 2", "nc_exec_running", "110", "30") "\n]}\n");

	assert_int_equal(model->tasks.count, 1);
	assert_int_equal(import_busy(model, 0, PROFBPF__DEVICE_TASKS__KIND__KERNEL), 30000);
	assert_int_equal(model->calls.count, 1);
	model_free(model);
}

#define PROTON(name, cat, more, ts, dur)                                                                              \
	"{\"args\":{\"call_stack\":[\"ROOT\",\"fwd\",\"" name "\"]},\"cat\":\"" cat "\",\"dur\":" dur ",\"name\":\"" name      \
	"\",\"ph\":\"X\"," more ",\"ts\":" ts "}"
#define LANE(name, tid)                                                                                               \
	"{\"args\":{\"name\":\"" name "\"},\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":0,\"tid\":" tid "},"
#define PROTON_BEGIN "{\"displayTimeUnit\":\"us\",\"traceEvents\":["

/* proton's trace until 2025: a text for each stream, without processes. */
static void test_proton_streams(void **state)
{
	struct model *model = import_words("proton.chrome_trace",
					   PROTON_BEGIN PROTON("foo", "kernel", "\"tid\":0", "0.0", "3.0") ","
					   PROTON("bar", "kernel", "\"tid\":0", "10.0", "5.5") "]}\n"
					   PROTON_BEGIN PROTON("baz", "kernel", "\"tid\":7", "20.0", "7.0") "]}\n");

	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->devices.row[0].id, 0);
	assert_string_equal(model_text(model, model->devices.row[0].source), "proton");
	assert_int_equal(model->tasks.count, 3);
	assert_int_equal(model->tasks.row[2].stream, 7);
	assert_int_equal(import_busy(model, 0, PROFBPF__DEVICE_TASKS__KIND__KERNEL), 15500);
	assert_int_equal(model->calls.count, 0);
	model_free(model);
}

/* Newer ones: scopes of the host, and of captured kernels, which are no work besides that of the kernels. */
static void test_proton_lanes(void **state)
{
	struct model *model = import_words(
		"proton.chrome_trace",
		PROTON_BEGIN LANE("CPU Thread 77", "1000077") LANE("Graph: Stream 9", "2000009") LANE("GPU Stream 9", "3000009")
		PROTON("fwd", "scope", "\"pid\":0,\"tid\":1000077", "0.0", "30.0") ","
		PROTON("<captured_at>", "scope", "\"pid\":0,\"tid\":2000009", "10.0", "9.0") ","
		PROTON("foo", "kernel", "\"pid\":0,\"tid\":3000009", "10.0", "4.0") ","
		PROTON("bar", "kernel", "\"pid\":0,\"tid\":3000009", "16.0", "3.0") "]}\n");

	assert_int_equal(model->tasks.count, 2);
	assert_int_equal(model->tasks.row[0].stream, 9);
	assert_int_equal(import_busy(model, 0, PROFBPF__DEVICE_TASKS__KIND__KERNEL), 7000);
	assert_int_equal(model->calls.count, 1);
	assert_string_equal(model_text(model, model->functions.row[model->calls.row[0].function].name), "fwd");
	model_free(model);
}

/* A link, a copy, and a file that is given again are the same work. */
static void test_twice(void **state)
{
	static const char OTHER[] = "{\"schemaVersion\":2,\"traceEvents\":[" KERNEL "]}";
	char path[160], linked[160], words[512];
	struct model *model;

	strcpy(path, import_in_root("twice"));
	assert_int_equal(mkdir(path, 0700), 0);
	import_write_text(path, "a.json", KINETO);
	import_write_text(path, "b.json", KINETO);
	import_write_text(path, "c.json", OTHER);
	strcpy(linked, import_in_root("twice/d.json"));
	assert_int_equal(symlink("c.json", linked), 0);
	model = import_take(path);
	assert_int_equal(model->devices.count, 2); /* a.json and c.json, of equal size */
	assert_int_equal(model->tasks.count, 2);
	assert_int_equal(model->findings.count, 2);
	assert_non_null(strstr(model_text(model, model->findings.row[0].what), "b.json: left out: the same as a.json"));
	assert_non_null(strstr(model_text(model, model->findings.row[1].what), "d.json: left out: the same as c.json"));
	model_free(model);

	model = model_new();
	strcpy(path, import_in_root("twice/c.json"));
	assert_int_equal(import_device_file(model, path, true, words, sizeof(words)), 0);
	assert_int_equal(import_device_file(model, linked, true, words, sizeof(words)), 0);
	assert_int_equal(model->devices.count, 1);
	assert_int_equal(model->tasks.count, 1);
	assert_int_equal(model->findings.count, 1);
	/* Its folder adds a.json only. */
	strcpy(path, import_in_root("twice"));
	assert_int_equal(import_device_file(model, path, true, words, sizeof(words)), 0);
	assert_int_equal(model->devices.count, 2);
	assert_int_equal(model->tasks.count, 2);
	assert_int_equal(model->findings.count, 4);
	assert_non_null(strstr(model_text(model, model->findings.row[2].what), "c.json: given more than once"));
	model_free(model);

	/* So are the calls of a file without a device. */
	import_write_text(import_root(), "host.json", "[{\"ph\":\"X\",\"name\":\"f\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2}]");
	model = model_new();
	for (int i = 0; i < 2; i++)
		assert_int_equal(import_device_file(model, import_in_root("host.json"), true, words, sizeof(words)), 0);
	assert_int_equal(model->calls.count, 1);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encodings), cmocka_unit_test(test_zstd),
		cmocka_unit_test(test_zstd_bomb), cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_refusals),  cmocka_unit_test(test_order),
		cmocka_unit_test(test_unitrace),  cmocka_unit_test(test_unitrace_nodes),
		cmocka_unit_test(test_unitrace_arrows),
		cmocka_unit_test(test_neuron), cmocka_unit_test(test_refused_texts), cmocka_unit_test(test_proton_streams), cmocka_unit_test(test_proton_lanes),
		cmocka_unit_test(test_nsys_chrome),
		cmocka_unit_test(test_nsys2json),
		cmocka_unit_test(test_twice),
	};

	return cmocka_run_group_tests(tests, import_root_make, import_root_remove);
}

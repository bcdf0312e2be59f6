/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of device files: every file is imported or has a finding with the reason, by its content and by its name. */
#include <errno.h>
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

#include "analyzer/import/importer.h"
#include "tests/unit/import_text.h"

#define KERNEL(ts)                                                                                  \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":" #ts          \
	",\"dur\":40,\"args\":{\"device\":0,\"stream\":7,\"correlation\":1}}"
#define KINETO(rank, ts)                                                                            \
	"{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":" #rank "},\"traceEvents\":[" KERNEL(ts) "]}"
#define ASCEND(ts)                                                                                  \
	"[{\"name\":\"process_name\",\"pid\":416,\"tid\":0,\"ph\":\"M\","                             \
	"\"args\":{\"name\":\"Ascend Hardware\"}},"                                                   \
	"{\"name\":\"MatMul\",\"pid\":416,\"tid\":2,\"ts\":\"" #ts ".000\",\"dur\":40,\"ph\":\"X\","  \
	"\"args\":{\"Task Type\":\"AI_CORE\",\"Physic Stream Id\":2,\"Task Id\":1}}]"

static char place[256];

/* Makes folder @name, in which put() puts files. */
static const char *folder(const char *name)
{
	return strcpy(place, import_make_folder(name));
}

static void put(const char *name, const char *text)
{
	import_write_text(place, name, text);
}

static void put_packed(const char *name, const char *text)
{
	char path[320];
	gzFile file;

	snprintf(path, sizeof(path), "%s/%s", place, name);
	file = gzopen(path, "w");
	assert_int_equal(gzwrite(file, text, (unsigned int)strlen(text)), strlen(text));
	assert_int_equal(gzclose(file), Z_OK);
}

/* The finding about @name with @why; fails if there is none, or if it is damage and @damage is not set, or the reverse. */
static void told(const struct model *model, const char *name, const char *why, bool damage)
{
	for (uint32_t i = 0; i < model->findings.count; i++) {
		const struct import_finding *finding = &model->findings.row[i];
		const char *what = model_text(model, finding->what);
		const char *example = finding->example ? model_text(model, finding->example) : "";

		if ((strstr(what, name) || strstr(example, name)) &&
		    (strstr(what, why) || strstr(example, why))) {
			assert_int_equal(finding->damage, damage);
			return;
		}
	}
	fail_msg("%s: %s: not among %u findings", name, why, model->findings.count);
}

/* A rank whose file has another name than those of the other ranks. */
static void test_same_format(void **state)
{
	struct model *model;

	folder("ranks/eval");
	put("eval_results.json", "{\"loss\": 1}");
	folder("ranks/run");
	put("rank0.pt.trace.json", KINETO(0, 1000));
	put("rank-1.json", KINETO(1, 2000));
	put("rank0.json", KINETO(0, 1000) " ");
	put("copy.json", KINETO(0, 1000));
	put("view.json", ASCEND(1700000000000000));
	put("train_results.json", "{\"loss\": 1}");
	folder("ranks/run/more");
	put("rank2.pt.trace.json", KINETO(2, 1000));
	model = import_take(import_in_root("ranks"));
	assert_int_equal(model->tasks.count, 2);
	assert_int_equal(model->devices.count, 2);
	told(model, "run/rank0.json", "left out: a file beside it may have the same", false);
	told(model, "run/copy.json", "left out: the same as rank0.pt.trace.json", false);
	told(model, "run/view.json", "left out: a file beside it may have the same", false);
	told(model, "run/train_results.json", "no device file of a known format", false);
	told(model, "eval/eval_results.json", "no device file of a known format", false);
	told(model, "run/more", "not searched", false);
	assert_int_equal(model->findings.count, 6);
	model_free(model);
}

/* A rank's file that is empty or torn is missing work, a file of other content with such a name is not. */
static void test_missing_rank(void **state)
{
	struct model *model;

	folder("torn");
	put("rank0.pt.trace.json", KINETO(0, 1000));
	put("rank1.pt.trace.json", "");
	put("rank2.pt.trace.json", "{\"a\": [{\"b\": \"}]}");
	put("rank3.pt.trace.json", "{\"a\": [{\"b\": \"}]\"}]}");
	model = import_take(import_in_root("torn"));
	assert_int_equal(model->tasks.count, 1);
	assert_int_equal(model->findings.count, 2);
	told(model, "torn/rank1", "an empty file", true);
	assert_int_equal(model->findings.row[0].count, 2);
	told(model, "torn/rank3", "no device file of a known format", false);
	model_free(model);
}

/* Ascend's folders: files of others, renamed and compressed files, tables of unknown columns. */
static void test_ascend(void **state)
{
	static const char *const PLACE = "job/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT";
	struct model *model;

	folder(PLACE);
	put_packed("trace_view.json.gz", ASCEND(1700000000000000));
	put("renamed.json", ASCEND(1700000000001000));
	put("notes.json", "{\"a\": 1}");
	put("hbm_1.csv", "Device_id,Nothing,Known\n0,1,2\n");
	put("op_summary_1.csv", "Device_id,Nothing,Known\n0,1,2\n");
	folder("job/rank0_ascend_pt/FRAMEWORK");
	put("torch.op_range", "\1\2");
	folder("job/rank0_ascend_pt/PROF_1/mindstudio_profiler_output");
	put("msprof_1.json", ASCEND(1700000000000000));
	folder("job/rank1_ascend_pt/ASCEND_PROFILER_OUTPUT");
	put("anything.json", ASCEND(1700000000000000));
	folder("job/rank2_ascend_pt/ASCEND_PROFILER_OUTPUT");
	put("trace_view.json", ASCEND(1700000000000000));
	put_packed("trace_view.json.gz", ASCEND(1700000000000000));
	model = import_take(import_in_root("job"));
	assert_int_equal(model->tasks.count, 3);
	assert_int_equal(model->devices.count, 3);
	told(model, "rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/renamed.json", "left out", false);
	told(model, "notes.json", "no device file of a known format", false);
	told(model, "hbm_1.csv", "columns are those of no format known here", false);
	told(model, "torch.op_range", "known, but not taken in", false);
	told(model, "rank0_ascend_pt/PROF_1", "not searched", false);
	told(model, "rank2_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json.gz", "is beside it, unpacked", false);
	model_free(model);
}

/* A profiler's own table whose columns are unknown is missing work if nothing else of its folder has it. */
static void test_unknown_table(void **state)
{
	struct model *model;

	folder("ranks2/PROF_1/mindstudio_profiler_output");
	put("op_summary_1.csv", "Device_id,Nothing,Known\n0,1,2\n");
	folder("ranks2/PROF_2/mindstudio_profiler_output");
	put("msprof_1.json", ASCEND(1700000000000000));
	put("op_summary_1.csv", "Device_id,Nothing,Known\n0,1,2\n");
	model = import_take(import_in_root("ranks2"));
	assert_int_equal(model->tasks.count, 1);
	told(model, "PROF_1/mindstudio_profiler_output/op_summary_1.csv", "columns", true);
	told(model, "PROF_2/mindstudio_profiler_output/op_summary_1.csv", "columns", false);
	model_free(model);
}

/* Nothing of it is opened for which a reader would wait, and nothing is counted twice. */
static void test_pipes_and_links(void **state)
{
	char path[256];
	struct model *model;

	folder("links/inner");
	put("rank0.pt.trace.json", KINETO(0, 1000));
	snprintf(path, sizeof(path), "%s/job.sqlite", import_in_root("links"));
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(path, sizeof(path), "%s/self", import_in_root("links"));
	assert_int_equal(symlink(".", path), 0);
	model = import_take(import_in_root("links"));
	assert_int_equal(model->tasks.count, 1);
	told(model, "links/job.sqlite", "not a regular file", false);
	told(model, "links/self/inner/rank0.pt.trace.json", "counted once", false);
	model_free(model);
}

/* The trace of kernels takes the tables beside it, whatever the names begin with. */
static void test_rocprof(void **state)
{
	static const char KERNELS[] =
		"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
		"\"KERNEL_DISPATCH\",4,1,\"gemm\",1,1000000,1004000\n";
	static const char COPIES[] =
		"\"Kind\",\"Direction\",\"Source_Agent_Id\",\"Destination_Agent_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
		"\"MEMORY_COPY\",\"HOST_TO_DEVICE\",0,4,2,1005000,1006000\n";
	struct model *model;

	folder("rocprof");
	put("kernel_trace.csv", KERNELS);
	put("memory_copy_trace.csv", COPIES);
	model = import_take(import_in_root("rocprof"));
	assert_int_equal(model->tasks.count, 2);
	told(model, "memory_copy_trace.csv", "read with the trace of kernels", false);
	model_free(model);
	folder("rocprof_many");
	put("7_kernel_trace.csv", KERNELS);
	put("7_memory_copy_trace.csv", COPIES);
	put("8_kernel_trace.csv", KERNELS);
	model = import_take(import_in_root("rocprof_many"));
	assert_int_equal(model->tasks.count, 3);
	model_free(model);
}

/* A folder without any device file is refused. */
static void test_none(void **state)
{
	char words[512];
	struct model *model = model_new();

	folder("none");
	put("eval_results.json", "{\"loss\": 1}");
	assert_int_equal(import_device_file(model, import_in_root("none"), true, words, sizeof(words)), -EBADMSG);
	assert_non_null(strstr(words, "is a device file that can be read"));
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_format),   cmocka_unit_test(test_missing_rank),
		cmocka_unit_test(test_ascend),	      cmocka_unit_test(test_unknown_table),
		cmocka_unit_test(test_pipes_and_links), cmocka_unit_test(test_rocprof),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, import_root_make, import_root_remove);
}

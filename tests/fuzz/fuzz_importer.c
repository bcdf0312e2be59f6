/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_importer.c - libFuzzer target for one importer, which PROFBPF_FUZZ=NAME selects.
 *
 * Designed for many inputs a second: it runs only the importer and the functions that it calls, on files and
 * databases in memory (virtual_files.h, virtual_database.h).
 *
 * An input is a byte, and the file. If bit 7 of that byte is set, its other bits are the size of the parts in
 * which files are read. Record separators (0x1e) divide the file into several: the byte after each
 * separator selects the place of the next file from the importer's places. Files of databases are rows
 * (rows.h). An input that ends with a group separator (0x1d) is imported as if a trace had been given.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/importer.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/sqlite_memory.h"
#include "tests/fuzz/virtual_database.h"
#include "tests/fuzz/virtual_files.h"

#define NEXT_FILE 0x1e
#define WITH_TRACE 0x1d
#define PLACES_MAX VIRTUAL_FILES_MAX
#define FILES_MAX 8
#define PART 4096 /* bytes read at a time */
#define PART_LEAST 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

struct target {
	const char *name;
	const struct importer *importer;
	/* Places of its files; the first is the imported one. A place that ends in / is a directory. */
	const char *places[PLACES_MAX];
};

#define RESULT "rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/"
#define OUTPUT "PROF_1/mindstudio_profiler_output/"

static const struct target TARGETS[] = {
	{ "pytorch", &import_pytorch, { "trace.json" } },
	{ "nsys", &import_nsys, { "report.db" } },
	{ "nvprof", &import_nvprof, { "nvprof.db" } },
	{ "nvprof_csv", &import_nvprof_csv, { "nvprof.csv" } },
	{ "rocpd", &import_rocpd, { "results.db" } },
	{ "rocprof_json", &import_rocprof_json, { "results.json" } },
	{ "rocprof_v1", &import_rocprof_v1, { "results.json" } },
	{ "nsys_stats", &import_nsys_stats, { "cuda_gpu_kern_sum.csv" } },
	{ "rocprof_stats", &import_rocprof_stats, { "results.hip_stats.csv" } },
	{ "rocprof_csv",
	  &import_rocprof_csv,
	  { "7_kernel_trace.csv", "7_agent_info.csv", "7_memory_copy_trace.csv",
	    "7_hip_api_trace.csv" } },
	{ "ascend_db", &import_ascend_db, { "msprof_1.db" } },
	{ "ascend_csv",
	  &import_ascend_csv,
	  { OUTPUT "op_summary_1.csv", "PROF_1/device_0/start_info.0" } },
	{ "step_trace", &import_step_trace, { "step_trace_raw_0_detail_time.csv" } },
	{ "ascend_json",
	  &import_ascend_json,
	  { "PROF_1/msprof_1.json", "PROF_1/host/start_info" } },
	{ "ascend_directory",
	  &import_ascend_directory,
	  { "profile/", RESULT "trace_view.json", RESULT "kernel_details.csv",
	    RESULT "communication.json", OUTPUT "op_summary_1.csv", OUTPUT "msprof_1.json",
	    OUTPUT "api_statistic_1.csv", "PROF_1/device_0/data" } },
	{ "ascend_complete",
	  &import_ascend_directory,
	  { "profile/", RESULT "trace_view.json", RESULT "kernel_details.csv",
	    RESULT "l2_cache_1.csv", "rank0_ascend_pt/profiler_info_0.json" } },
	{ "ascend_exports",
	  &import_ascend_directory,
	  { "profile/", OUTPUT "op_summary_20240101000000.csv",
	    OUTPUT "op_summary_20240102000000.csv", OUTPUT "msprof_slice_0_20240101000000.json",
	    OUTPUT "msprof_slice_0_20240102000000.json",
	    OUTPUT "msprof_slice_1_20240102000001.json" } },
	{ "ascend_l2", &import_ascend_l2, { "l2_cache_1.csv" } },
	{ "ascend_figures", &import_ascend_figures, { "hbm_1.csv" } },
	{ "ascend_fusion", &import_ascend_fusion, { "fusion_op_1.csv" } },
	{ "static_memory", &import_static_memory, { "static_op_mem_1.csv" } },
	{ "ascend_rules", &import_ascend_rules, { "prof_rule_0_1.json" } },
	{ "operator_sums", &import_operator_sums, { "aicore_intermediate_1_type.csv" } },
	{ "operator_details", &import_operator_details, { "operator_details.csv" } },
	{ "mindspore_cluster",
	  &import_mindspore_cluster,
	  { "ascend_cluster_analyse_pipeline-parallel_2_4_3.csv" } },
	{ "mindspore_facts", &import_mindspore_facts, { "flops_summary_1.json" } },
	{ "mindspore_memory", &import_mindspore_memory, { "memory_usage_1.pb" } },
	{ "mindspore_graphs", &import_mindspore_graphs, { "memory_usage_details_1.json" } },
	{ "mindspore_shapes", &import_mindspore_shapes, { "dynamic_shape_info_1.json" } },
	{ "ascend_communication", &import_ascend_communication, { "communication.json" } },
	{ "ascend_memory", &import_ascend_memory, { "memory_record.csv" } },
	{ "ascend_api", &import_ascend_api, { "api_statistic.csv" } },
	{ "xplane", &import_xplane, { "host.xplane.pb" } },
	{ "mindspore_timeline",
	  &import_mindspore_timeline,
	  { "output_timeline_data_0.txt", "framework_raw_0.csv", "aicpu_intermediate_0.csv",
	    "flops_0.txt" } },
	{ "mindspore_display", &import_mindspore_display, { "ascend_timeline_display_0.json" } },
	{ "hccl_raw", &import_hccl_raw, { "hccl_raw_0.csv" } },
	{ "hwts",
	  &import_hwts,
	  { "hwts.log.data.45.dev.1.slice_0", "Framework.host.vm.task_desc_info.1.slice_0",
	    "hwts.log.data.45.dev.1.slice_1" } },
	{ "aicpu_raw",
	  &import_aicpu_raw,
	  { "DATA_PREPROCESS.AICPU.1.slice_0", "DATA_PREPROCESS.AICPU.1.slice_1",
	    "Framework.host.vm.task_desc_info.1.slice_0" } },
	{ "training_trace", &import_training_trace, { "training_trace.46.dev.1.slice_0" } },
	{ "megengine", &import_megengine, { "1.chrome_timeline.json" } },
	{ "megengine_graph", &import_megengine_graph, { "profiling.json" } },
	{ "onnxruntime", &import_onnxruntime, { "onnxruntime_profile.json" } },
	{ "tensorrt", &import_tensorrt, { "times.json" } },
	{ "proton", &import_proton, { "proton.hatchet" } },
	{ "proton_trace", &import_proton_trace, { "proton.chrome_trace" } },
	{ "perfetto", &import_perfetto, { "trace.pftrace" } },
	{ "chrome", &import_chrome, { "trace.json" } },
	{ "directory",
	  &import_directory,
	  { "folder/", "a.json", "b.json.gz", "c.xplane.pb", "d/e.csv" } },
	{ "minddata",
	  &import_minddata,
	  { "folder/", "pipeline_profiling_0.json", "minddata_cpu_utilization_0.json",
	    "dataset_iterator_profiling_0.txt", "device_queue_profiling_1.txt",
	    "pipeline_profiling_1.json", "minddata_aicpu_0.txt" } },
};

static const struct target *target;
static char paths[PLACES_MAX][96];
static unsigned int place_count;
static bool in_folder; /* the first place is a directory */

static bool is_database(unsigned int place)
{
	return strstr(target->places[place], ".db");
}

/* Returns the owner of the tables of the databases. */
static char owner_of_tables(void)
{
	return target->importer == &import_nsys	  ? 'n' :
	       target->importer == &import_nvprof ? 'v' :
	       target->importer == &import_rocpd  ? 'r' :
						    'a';
}

static void make_paths(void)
{
	const char *first = target->places[0];

	in_folder = first[strlen(first) - 1] == '/';
	while (place_count < PLACES_MAX && target->places[place_count]) {
		char *path = paths[place_count];

		check(snprintf(path, sizeof(paths[0]), VIRTUAL_ROOT "/%s%s",
			       place_count && in_folder ? first : "",
			       target->places[place_count]) < (int)sizeof(paths[0]));
		place_count++;
	}
	if (in_folder)
		paths[0][strlen(paths[0]) - 1] = '\0';
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("PROFBPF_FUZZ");

	for (size_t i = 0; name && i < sizeof(TARGETS) / sizeof(TARGETS[0]); i++) {
		if (strcmp(TARGETS[i].name, name) == 0)
			target = &TARGETS[i];
	}
	if (!target) {
		fprintf(stderr, "PROFBPF_FUZZ must be one of these importers:\n");
		for (size_t i = 0; i < sizeof(TARGETS) / sizeof(TARGETS[0]); i++)
			printf("%s\n", TARGETS[i].name);
		exit(2);
	}
	sqlite_memory_use();
	/* Keeps memory in the program; else it would be returned to the kernel each time. */
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_MMAP_THRESHOLD, 1 << 26);
	make_paths();
	return 0;
}

static void put_file(unsigned int place, struct input bytes)
{
	static const uint8_t MAGIC[] = "SQLite format 3";

	if (is_database(place)) {
		virtual_database_set(bytes, owner_of_tables());
		bytes = (struct input){ MAGIC, sizeof(MAGIC) };
	}
	virtual_files_put(paths[place], bytes);
}

static void put_files(struct input in)
{
	unsigned int place = 0, first = in_folder;

	for (int i = 0; i < FILES_MAX; i++) {
		const uint8_t *end = place_count > 1 && in.size
					     ? memchr(in.data, NEXT_FILE, in.size)
					     : NULL;
		size_t size = end ? (size_t)(end - in.data) : in.size;

		if (place || !first)
			put_file(place, (struct input){ in.data, size });
		if (!end)
			break;
		in.data += size + 1;
		in.size -= size + 1;
		place = first + input_byte(&in) % (place_count - first);
	}
}

/* Calls the detection as importers.c does; its result is ignored, so that every file is imported. */
static void detect(struct input in)
{
	static char text[IMPORT_SAMPLE + 1];
	size_t size = in.size < IMPORT_SAMPLE ? in.size : IMPORT_SAMPLE;
	struct import_sample sample = { .path = paths[0],
					.directory = in_folder,
					.text = text,
					.size = size,
					.whole = size == in.size };

	if (is_database(0))
		memcpy(text, "SQLite format 3", size = sample.size = 16);
	else
		memcpy(text, in.data, size);
	text[size] = '\0';
	target->importer->detect(&sample);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	uint8_t first = input_byte(&in);
	struct model *model = model_new();
	bool alone = !size || data[size - 1] != WITH_TRACE;
	char error[1024];
	int err;

	check(model != NULL);
	error[0] = '\0';
	virtual_files_clear(in_folder ? paths[0] : NULL,
			    first & 0x80 ? PART_LEAST + (first & 0x7f) : PART);
	put_files(in);
	detect(in);
	err = import_as(target->importer, model, paths[0], alone, error, sizeof(error));
	check(!err == !error[0] && err != -ENOMEM);
	check(!import_finish(model, alone));
	check_model(model);
	model_free(model);
	return 0;
}

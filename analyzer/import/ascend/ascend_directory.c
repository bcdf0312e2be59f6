/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories of Ascend's profilers: PROF_* of msprof, *_ascend_pt of torch_npu and MindSpore, "profiler" of
 * MindSpore before 2.4.
 *
 * Several of their files contain the same tasks; the best file of each result is imported: the database, else the
 * timeline (it has the host's calls, and the table beside it adds details of its tasks), else the table. In 2023
 * and before there was a timeline for each device, model and iteration; together they are one result. If a profile
 * was exported twice, the newer files are imported (exports.h). A directory of many ranks is imported as a whole,
 * each rank as a device of its own. A directory that was not exported is an error that says so.
 */
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/import/ascend/ascend_rank.h"
#include "analyzer/import/directory_content.h"
#include "analyzer/import/importer.h"

#define RAW_DEPTH 4 /* depth of device_* below the given folder */
#define DETECT_DEPTH 3 /* depth of results: rank_0/profiler/PROF_* */

static const char *const PATTERNS[] = { "ascend_pytorch_profiler*.db",
					"ascend_mindspore_profiler*.db",
					"msprof_*.db",
					"trace_view.json",
					"msprof_*.json",
					"kernel_details.csv",
					"op_summary_*.csv",
					"task_time_*.json",
					"task_time_*.csv",
					"output_timeline_data_*.txt",
					"ascend_timeline_display_*.json",
					"gpu_timeline_display_*.json",
					"timeline_display_*.json",
					"hwts.log.data.*.slice_+([0-9])",
					"hwts.data.*.slice_+([0-9])",
					NULL };

/* Tables of the same tasks; they add types, shapes and counters to those of a timeline. */
static const char *const TABLES[] = { "kernel_details.csv", "op_summary_*.csv", NULL };

/* Files with further facts. */
static const char *const MORE[] = { "step_trace_[0-9]*.csv",
				    "step_trace_raw_*_detail_time.csv",
				    "communication.json",
				    "communication_matrix.json",
				    "memory_record*.csv",
				    "operator_memory*.csv",
				    "npu_module_mem*.csv",
				    "npu_mem_*.csv",
				    "api_statistic*.csv",
				    "os_runtime_statistic*.csv",
				    "l2_cache_*.csv",
				    "op_statistic*.csv",
				    "communication_statistic*.csv",
				    "fusion_op_*.csv",
				    "prof_rule_*.json",
				    "hbm_*.csv",
				    "ddr_*.csv",
				    "hccs_*.csv",
				    "pcie_*.csv",
				    "llc_read_write_*.csv",
				    "ai_*core_utilization_*.csv",
				    "cpu_usage_*.csv",
				    "process_cpu_usage_*.csv",
				    "host_*_usage_*.csv",
				    "flops_summary_*.json",
				    "memory_usage_summary_*.json",
				    "memory_usage_+([0-9]).pb",
				    "memory_usage_details_*.json",
				    "dynamic_shape_info_*.json",
				    "parallel_strategy_*.json",
				    "*_cluster_analyse_*.csv",
				    "aicore_intermediate_*_type.csv",
				    "aicore_intermediate_*_detail.csv",
				    "gpu_op_type_info_*.csv",
				    "gpu_op_detail_info_*.csv",
				    "cpu_op_type_info_*.csv",
				    "cpu_op_detail_info_*.csv",
				    "training_trace.*.slice_+([0-9])",
				    "DATA_PREPROCESS.?(dev.)AICPU.*.slice_+([0-9])",
				    "hccl_raw_*.csv",
				    "flops_scope_*.json",
				    "operator_details.csv",
				    "static_op_mem*.csv",
				    NULL };

/*
 * Files that are not imported: for most of them the analyses here have the same data or more. The records of
 * aicore.data are known (128 bytes: u16 task at 6, eight u64 counters at 32, u32 stream at 96; MindSpore 2.0's
 * flops_parser.py), but the meaning of the counters, which is set when profiling starts, is not.
 */
static const char *const LEFT[] = { "aicpu_mi_*.csv",
				    "aicpu_+([0-9])*.csv",
				    "dp_*.csv",
				    "msprof_tx_*.csv",
				    "nic_*.csv",
				    "roce_*.csv",
				    "dvpp_*.csv",
				    "soc_pmu_*.csv",
				    "sys_mem_*.csv",
				    "process_mem_*.csv",
				    "*_pmu_events_*.csv",
				    "*_top_function_*.csv",
				    "aicore.data.*.slice_+([0-9])",
				    "DATA_PREPROCESS.?(dev.)AICPUMI.*.slice_+([0-9])",
				    "*.slice_+([0-9])",
				    "torch.*",
				    "*.log",
				    NULL };

/* Names that Ascend's profilers give to directories of results. */
static bool is_result(const char *name)
{
	return fnmatch("PROF_*", name, 0) == 0 || fnmatch("*_ascend_pt", name, 0) == 0 ||
	       fnmatch("*_ascend_ms", name, 0) == 0;
}

static bool is_inside(const char *name)
{
	static const char *const NAMES[] = {
		"ASCEND_PROFILER_OUTPUT",	    "mindstudio_profiler_output",
		"output_timeline_data_*.txt",	    "ascend_timeline_display_*.json",
		"gpu_timeline_display_*.json",	    "timeline_display_*.json",
		"step_trace_raw_*_detail_time.csv", "hwts.log.data.*.slice_[0-9]*",
		"hwts.data.*.slice_[0-9]*",
		"training_trace.*.slice_[0-9]*",    "hccl_raw_*.csv",
		"DATA_PREPROCESS.*AICPU.*.slice_[0-9]*",
		"aicore_intermediate_*_type.csv",   "*_cluster_analyse_*.csv",
		"cpu_op_type_info_*.csv",	    "gpu_op_type_info_*.csv",
		"memory_usage_*.pb",		    "flops_summary_*.json",
	};

	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
		if (fnmatch(NAMES[i], name, 0) == 0)
			return true;
	}
	return is_result(name);
}

static int detect(const struct import_sample *sample)
{
	char name[NAME_MAX + 1];

	if (!sample->directory)
		return 0;
	directory_name(sample->path, name, sizeof(name));
	if (is_inside(name))
		return 80;
	return directory_holds(sample->path, is_inside, DETECT_DEPTH, false) ? 60 : 0;
}

/* In 2023 and before timelines and tables were in separate folders. */
static bool is_second(const char *name)
{
	return strcmp(name, "summary") == 0;
}

/* Folders of collected data that was not exported. */
static bool is_raw(const char *name)
{
	return fnmatch("device_[0-9]*", name, 0) == 0 || strcmp(name, "host") == 0;
}

/* Of torch_npu, which needs its own exporter. MindSpore's FRAMEWORK has mindspore.op_range. */
static bool is_torch(const char *name)
{
	return fnmatch("torch.op_*", name, 0) == 0;
}

static bool has_tasks(const char *name)
{
	for (size_t i = 0; PATTERNS[i]; i++) {
		if (fnmatch(PATTERNS[i], name, FNM_EXTMATCH) == 0)
			return true;
	}
	return false;
}

/*
 * torch_npu and MindSpore keep msprof's raw directory beside their own files; a newer msprof writes its export
 * beside the folders of devices, into which an older one did.
 */
static bool skip(const struct directory_walk *walk, const char *path, const char *name)
{
	char made[PATH_MAX];
	bool raw = is_raw(name);

	if (!raw && (strncmp(name, "PROF_", 5) != 0 || !walk->beside))
		return false;
	return snprintf(made, sizeof(made), "%s/%s", path,
			raw ? "mindstudio_profiler_output" : "ASCEND_PROFILER_OUTPUT") < (int)sizeof(made) &&
	       directory_holds(made, has_tasks, 0, true);
}

static int done(const struct directory_walk *walk, const char *path, uint32_t first_device)
{
	return ascend_rank_read(walk->import, path, first_device);
}

/* Imports exports of profbpf if there is nothing else. */
static int take_exports(struct directory_walk *walk)
{
	bool torn = walk->taken > walk->imported;
	int err;

	walk->import->own = true;
	walk->own.count = 0;
	err = directory_take(walk, walk->import->path);
	/* Exports to other formats have names that Ascend's profilers do not use. */
	if (err || !torn || walk->imported)
		return err;
	err = import_directory.import(walk->import);
	return err == -EBADMSG ? 0 : err;
}

/* Imports files by their names, then others by their content. */
static int take_names(struct directory_walk *walk)
{
	int err = directory_take(walk, walk->import->path);

	if (!err && !walk->import->own) {
		err = directory_take_content(walk->import, walk);
		walk->taken += err == 0;
		walk->imported += err == 0;
		if (err == -EBADMSG || err == -ENODATA) {
			walk->import->error[0] = '\0';
			err = 0;
		}
	}
	return !err && !walk->imported && walk->own.count ? take_exports(walk) : err;
}

static int import(struct import *import)
{
	struct directory_walk walk = { .import = import,
				       .patterns = PATTERNS,
				       .more = MORE,
				       .left = LEFT,
				       .tables = TABLES,
				       .is_second = is_second,
				       .is_result = is_result,
				       .skip = skip,
				       .certain = true,
				       .exports = true,
				       .done = done };
	int err = take_names(&walk);

	directory_walk_free(&walk);
	if (err || walk.taken)
		return err;
	if (directory_holds(import->path, is_torch, RAW_DEPTH, true))
		return import_fail(import, -EBADMSG,
				   "not exported yet: run torch_npu.profiler.profiler.analyse(FOLDER), where "
				   "FOLDER holds the *_ascend_pt, where CANN is installed");
	if (directory_holds(import->path, is_raw, RAW_DEPTH, true))
		return import_fail(import, -EBADMSG,
				   "not exported yet: run msprof --export=on --output=%.300s where "
				   "CANN is installed",
				   import->path);
	return import_fail(import, -EBADMSG, "no results of an Ascend profiler in it");
}

const struct importer import_ascend_directory = {
	.name = "msprof",
	.what = "a directory of Ascend's profilers (PROF_*, *_ascend_pt, MindSpore's)",
	.detect = detect,
	.import = import,
};

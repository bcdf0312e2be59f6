/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nsight Systems, exported to SQLite (`nsys export --type sqlite`).
 *
 * Times are nanoseconds since the session's start, whose UTC is TARGET_INFO_SESSION_START_TIME.utcEpochNs; pid =
 * globalTid >> 24 & 0xffffff, tid = globalTid & 0xffffff. Tables and columns differ by schema (2.9 to 3.24); a
 * table without recorded rows is absent, not empty. Names are numbers of StringIds; those of API functions have a
 * suffix ("cudaLaunchKernel_v7000"). For a CUDA graph there are its kernels, or, by default, one row of
 * CUPTI_ACTIVITY_KIND_GRAPH_TRACE for each launch. See "Exporting" in NVIDIA's user guide.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/nvidia/nsys_gpus.h"
#include "analyzer/import/nvidia/nsys_ranges.h"
#include "analyzer/import/nvidia/nsys_schedule.h"
#include "analyzer/import/readers/sqlite_column.h"
#include "analyzer/import/readers/sqlite_file.h"

#define GRAPHS "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
#define GRAPHS_SHARE 100 /* a device with less than 1 / this of its task time in graphs counts as one without graphs */
#define CLOCK PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME

struct nsys {
	struct import *import;
	struct import_rows rows;
	sqlite3 *db;
	struct map strings; /* StringIds.id -> string of the model */
	struct nsys_gpus gpus;
	struct map launches; /* correlation (with process) -> row of calls */
	MODEL_ARRAY(struct call) calls; /* calls of the file; thread is the low half of the file's global id */
	MODEL_ARRAY(uint64_t) global_tids; /* of each call */
	int64_t epoch_ns; /* added to all times */
	uint8_t kind; /* kind of the current tasks */
};

static bool is_known(sqlite3 *db)
{
	return sqlite_file_has(db, "StringIds", "value") &&
	       (sqlite_file_has(db, "TARGET_INFO_SESSION_START_TIME", NULL) ||
		sqlite_file_has(db, "ANALYSIS_DETAILS", NULL) ||
		sqlite_file_has(db, "META_DATA_EXPORT", NULL));
}

static int detect(const struct import_sample *sample)
{
	return sqlite_file_detect(sample, is_known) ? 90 : 0;
}

static const char *column_text(sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text ? text : "";
}

static int on_string(void *context, sqlite3_stmt *row)
{
	struct nsys *file = context;
	uint32_t text = model_string(file->import->model, column_text(row, 1));

	if (text == INDEX_NONE ||
	    !map_put(&file->strings, (uint64_t)sqlite3_column_int64(row, 0), text))
		return -ENOMEM;
	return 0;
}

static int on_epoch(void *context, sqlite3_stmt *row)
{
	struct nsys *file = context;

	file->epoch_ns = sqlite3_column_int64(row, 0);
	return 0;
}

static uint32_t string_of(const struct nsys *file, int64_t id)
{
	uint32_t text = map_get(&file->strings, (uint64_t)id);

	return text == MAP_NONE ? 0 : text;
}

static uint32_t pid_of(uint64_t global)
{
	return (uint32_t)(global >> 24 & 0xffffff);
}

static uint32_t tid_of(uint64_t global)
{
	return (uint32_t)(global & 0xffffff);
}

/* Converts an interval of the file to the model's time; returns false if it is impossible. */
static bool instants(const struct nsys *file, int64_t start, int64_t end, uint64_t *from,
		     uint64_t *to)
{
	return import_instants(start, end, file->epoch_ns, from, to);
}

static uint64_t launch_key(uint64_t correlation, uint64_t global)
{
	return correlation * 0x9e3779b97f4a7c15u + pid_of(global);
}

/*
 * Removes the version: "cuLaunchKernel_v3020" is cuLaunchKernel; but the _v2 of a driver function belongs to its
 * name.
 */
static void function_name(const char *text, char *name, size_t size)
{
	size_t length = strlen(text), digits = 0;

	while (digits < length && isdigit((unsigned char)text[length - 1 - digits]))
		digits++;
	if (digits >= 4 && length > digits + 2 && text[length - digits - 1] == 'v' &&
	    text[length - digits - 2] == '_')
		length -= digits + 2;
	snprintf(name, size, "%.*s", (int)length, text);
}

static int on_call(void *context, sqlite3_stmt *row)
{
	struct nsys *file = context;
	struct model *model = file->import->model;
	const char *text = model_text(model, string_of(file, sqlite3_column_int64(row, 4)));
	uint64_t correlation = (uint64_t)sqlite3_column_int64(row, 3);
	uint64_t global = (uint64_t)sqlite3_column_int64(row, 2);
	struct call call = { .args = { correlation },
			     .ret = (uint32_t)sqlite3_column_int(row, 5),
			     .task = INDEX_NONE };
	uint32_t index = file->calls.count;
	char name[256];

	if (!instants(file, sqlite_column_instant(row, 0), sqlite_column_instant(row, 1),
		      &call.start_ns, &call.end_ns))
		return import_finding(file->import, "runtime calls outside of any time: they end before they "
						    "begin, or begin before the file's clock does", text);
	function_name(text, name, sizeof(name));
	call.function = import_function(&file->rows, "cuda", *name ? name : "unnamed",
					call_kind_of_name(name));
	if (call.function == INDEX_NONE || !MODEL_PUSH(&file->calls, call) ||
	    !MODEL_PUSH(&file->global_tids, global))
		return -ENOMEM;
	model->functions.row[call.function].error = PROFBPF__FUNCTION__ERROR__NONZERO;
	if (!correlation || map_get(&file->launches, launch_key(correlation, global)) != MAP_NONE)
		return 0;
	return map_put(&file->launches, launch_key(correlation, global), index) ? 0 : -ENOMEM;
}

/* Columns: start, end, deviceId, streamId, correlationId, globalPid, bytes, name. */
static int on_task(void *context, sqlite3_stmt *row)
{
	struct nsys *file = context;
	struct model *model = file->import->model;
	uint64_t global_pid = (uint64_t)sqlite3_column_int64(row, 5);
	struct device_task task = {
		.stream = sqlite_column_stream(row, 3),
		.correlation = (uint64_t)sqlite3_column_int64(row, 4),
		.bytes = (uint64_t)sqlite3_column_int64(row, 6),
		.thread = INDEX_NONE,
		.call = INDEX_NONE,
		.kind = file->kind,
	};
	uint32_t launch;

	if (sqlite3_column_type(row, 7) == SQLITE_TEXT)
		task.name = model_string(model, column_text(row, 7));
	else
		task.name = string_of(file, sqlite3_column_int64(row, 7));
	if (task.name == INDEX_NONE)
		return -ENOMEM;
	if (task.kind == PROFBPF__DEVICE_TASKS__KIND__KERNEL &&
	    is_communication_name(model_text(model, task.name)))
		task.kind = PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION;
	if (!instants(file, sqlite_column_instant(row, 0), sqlite_column_instant(row, 1),
		      &task.start_ns, &task.end_ns))
		return import_finding(file->import, "device tasks outside of any time: they end before they "
						    "begin, or begin before the file's clock does",
				      model_text(model, task.name));
	task.device = nsys_gpu_row(&file->gpus, (uint64_t)sqlite3_column_int64(row, 2),
				   pid_of(global_pid));
	if (task.device == INDEX_NONE)
		return -ENOMEM;
	launch = map_get(&file->launches, launch_key(task.correlation, global_pid));
	if (task.correlation && launch != MAP_NONE) {
		const struct call *call = &file->calls.row[launch];
		uint64_t global = file->global_tids.row[launch];

		task.enqueue_ns = import_host_time(&file->rows, CLOCK, call->start_ns);
		task.enqueue_dur_ns = call->end_ns - call->start_ns;
		task.thread =
			import_thread(&file->rows, pid_of(global), tid_of(global), task.enqueue_ns);
	}
	return import_task(&file->rows, &task);
}

static int each(struct nsys *file, const char *query, int (*row)(void *, sqlite3_stmt *))
{
	return sqlite_file_read(file->import, file->db, query, row, file);
}

/* The column, or "0" if this schema lacks it. */
static const char *column_or(const struct nsys *file, const char *table, const char *column)
{
	return sqlite_file_has(file->db, table, column) ? column : "0";
}

/* CUpti_ActivityMemcpyKind, in the words of `nsys stats`. */
#define COPY                                                                                       \
	"'[CUDA memcpy' || CASE copyKind WHEN 1 THEN ' Host-to-Device' WHEN 2 THEN"                \
	" ' Device-to-Host' WHEN 3 THEN ' Host-to-Array' WHEN 4 THEN ' Array-to-Host' WHEN 5 THEN" \
	" ' Array-to-Array' WHEN 6 THEN ' Array-to-Device' WHEN 7 THEN ' Device-to-Array' WHEN 8"  \
	" THEN ' Device-to-Device' WHEN 9 THEN ' Host-to-Host' WHEN 10 THEN ' Peer-to-Peer' WHEN"  \
	" 11 THEN ' Unified Host-to-Device' WHEN 12 THEN ' Unified Device-to-Host' WHEN 13 THEN"   \
	" ' Unified Device-to-Device' ELSE '' END || ']'"

static int read_tasks(struct nsys *file, const char *table, uint8_t kind, const char *name)
{
	char query[1280];

	if (!sqlite_file_has(file->db, table, NULL))
		return 0;
	if (!sqlite_file_has(file->db, table, "deviceId") ||
	    !sqlite_file_has(file->db, table, "streamId"))
		return import_finding(file->import, "a table without devices or streams", table);
	file->kind = kind;
	snprintf(query, sizeof(query),
		 "SELECT start, end, deviceId, streamId, %s, %s, %s, %s FROM %s",
		 column_or(file, table, "correlationId"), column_or(file, table, "globalPid"),
		 column_or(file, table, "bytes"), name, table);
	return each(file, query, on_task);
}

static int read_names(struct nsys *file)
{
	int err = each(file, "SELECT id, value FROM StringIds", on_string);

	if (!err && sqlite_file_has(file->db, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs"))
		err = each(file, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME LIMIT 1",
			   on_epoch);
	if (!err)
		err = nsys_gpus_read(&file->gpus, file->db, &file->rows);
	if (!err && file->epoch_ns < 1)
		file->epoch_ns = 1; /* 0 stands for "not reported" */
	return err;
}

/* The kernels in a graph's row are unknown, and so is the busy time of a device that ran graphs. */
static int tell_graphs(struct nsys *file, uint32_t first, uint32_t graphs)
{
	struct model *model = file->import->model;
	uint64_t *ns = calloc((size_t)model->devices.count * 2 + 1, sizeof(*ns));

	if (!ns)
		return -ENOMEM;
	for (uint32_t i = first; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];

		ns[task->device * 2 + (i >= graphs)] += task->end_ns - task->start_ns;
	}
	for (uint32_t i = 0; i < model->devices.count; i++)
		if (ns[i * 2 + 1] > ns[i * 2] / GRAPHS_SHARE)
			model->devices.row[i].whole = true;
	free(ns);
	return import_finding(file->import,
			      "kernels of CUDA graphs are not told, and how busy the device was in a graph is not "
			      "known: record with nsys profile --cuda-graph-trace=node",
			      NULL);
}

static int read_device(struct nsys *file)
{
	uint32_t first = file->import->model->tasks.count, graphs;
	int err = 0;

	if (sqlite_file_has(file->db, "CUPTI_ACTIVITY_KIND_RUNTIME", "correlationId"))
		err = each(file,
			   "SELECT start, end, globalTid, correlationId, nameId, returnValue"
			   " FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY start, end DESC",
			   on_call);
	if (!err)
		err = read_tasks(
			file, "CUPTI_ACTIVITY_KIND_KERNEL", PROFBPF__DEVICE_TASKS__KIND__KERNEL,
			sqlite_file_has(file->db, "CUPTI_ACTIVITY_KIND_KERNEL", "demangledName")
				? "demangledName"
				: "shortName");
	if (!err)
		err = read_tasks(file, "CUPTI_ACTIVITY_KIND_MEMCPY",
				 PROFBPF__DEVICE_TASKS__KIND__COPY,
				 sqlite_file_has(file->db, "CUPTI_ACTIVITY_KIND_MEMCPY", "copyKind")
					 ? COPY
					 : "'[CUDA memcpy]'");
	if (!err)
		err = read_tasks(file, "CUPTI_ACTIVITY_KIND_MEMSET",
				 PROFBPF__DEVICE_TASKS__KIND__FILL, "'[CUDA memset]'");
	graphs = file->import->model->tasks.count;
	if (!err)
		err = read_tasks(file, GRAPHS, PROFBPF__DEVICE_TASKS__KIND__KERNEL,
				 sqlite_file_has(file->db, GRAPHS, "graphId")
					 ? "'[CUDA graph ' || graphId || ']'"
					 : "'[CUDA graph]'");
	if (!err && file->import->model->tasks.count > graphs)
		err = tell_graphs(file, first, graphs);
	return err;
}

/* The file's calls are used only if there is no trace. */
static int put_calls(struct nsys *file)
{
	struct model *model = file->import->model;

	for (uint32_t i = 0; i < file->calls.count; i++) {
		struct call *call = &file->calls.row[i];
		uint64_t global = file->global_tids.row[i];

		call->thread =
			import_thread(&file->rows, pid_of(global), tid_of(global), call->start_ns);
		if (call->thread == INDEX_NONE || !MODEL_PUSH(&model->calls, *call))
			return -ENOMEM;
	}
	return 0;
}

static int read_all(struct nsys *file)
{
	uint32_t tasks = file->import->model->tasks.count;
	int err = read_names(file);
	const struct nsys_file whole = { file->db, &file->rows, &file->gpus, &file->strings,
					 file->epoch_ns };

	if (!err)
		err = read_device(file);
	if (!err && file->import->model->tasks.count == tasks)
		err = import_finding(
			file->import,
			"no table of kernels or copies: nothing is known of any device (record with nsys "
			"profile --trace=cuda)", NULL);
	if (!err)
		err = nsys_memory_read(&file->gpus, file->db, file->epoch_ns);
	if (!err && file->import->alone)
		err = put_calls(file);
	if (!err && file->import->alone)
		err = nsys_ranges_read(&whole);
	if (!err)
		err = nsys_facts_read(&whole);
	if (!err && file->import->alone)
		err = nsys_schedule_read(file->db, &file->rows, file->epoch_ns, &file->strings);
	return err;
}

static int import(struct import *import)
{
	struct nsys file = { .import = import };
	int err = sqlite_file_open(import, &file.db);

	import_rows_begin(&file.rows, import);
	if (!err)
		err = read_all(&file);
	import_rows_free(&file.rows);
	map_free(&file.strings);
	nsys_gpus_free(&file.gpus);
	map_free(&file.launches);
	free(file.calls.row);
	free(file.global_tids.row);
	sqlite3_close(file.db);
	return err;
}

const struct importer import_nsys = {
	.name = "nsys",
	.what = "an Nsight Systems database",
	.detect = detect,
	.import = import,
};

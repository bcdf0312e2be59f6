/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ascend's SQLite databases: msprof_<time>.db and torch_npu's ascend_pytorch_profiler*.db.
 *
 * Times are Unix nanoseconds; names are numbers of STRING_IDS. TASK contains everything that ran on a device. Its
 * rows that are also in COMPUTE_TASK_INFO are compute; communication is COMMUNICATION_OP, whose tasks
 * (COMMUNICATION_TASK_INFO) are also in TASK and would be counted twice: they are imported as bookkeeping.
 * Collectives also run tasks that are in neither table, for their whole duration: if there is a COMPUTE_TASK_INFO,
 * those are no kernels. CANN_API are the host's calls, by level (20000 acl, 15000 model, 10000 node, 5500 hccl,
 * 5000 runtime); globalTid = pid << 32 | tid; connectionId joins calls and tasks. Layout: msprof's documentation of
 * the db format.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/ascend/ascend_clock.h"
#include "analyzer/import/ascend/ascend_db.h"
#include "analyzer/import/ascend/ascend_kinds.h"
#include "analyzer/import/import_rows.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/readers/sqlite_column.h"
#include "analyzer/import/readers/sqlite_file.h"

#define NO_CONNECTION 4294967295u
#define NANOSECONDS_2001 1000000000000000000 /* later than any CLOCK_MONOTONIC_RAW */

static bool is_known(sqlite3 *db)
{
	return sqlite_file_has(db, "STRING_IDS", "value") &&
	       (sqlite_file_has(db, "TASK", "startNs") ||
		sqlite_file_has(db, "COMMUNICATION_OP", "startNs") ||
		sqlite_file_has(db, "CANN_API", "startNs") ||
		sqlite_file_has(db, "PYTORCH_API", "startNs"));
}

static int detect(const struct import_sample *sample)
{
	return sqlite_file_detect(sample, is_known) ? 90 : 0;
}

uint8_t ascend_db_clock(const struct database *file)
{
	return file->shift_ns ? PROFBPF__DEVICE_CLOCK__CLOCK_MONOTONIC_RAW
			      : PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME;
}

uint64_t ascend_db_instant(const struct database *file, sqlite3_stmt *row, int column)
{
	int64_t ns = sqlite_column_instant(row, column);

	return ns > file->shift_ns ? (uint64_t)(ns - file->shift_ns) : 0;
}

static bool instants(const struct database *file, sqlite3_stmt *row, uint64_t *start_ns,
		     uint64_t *end_ns)
{
	*start_ns = ascend_db_instant(file, row, 0);
	*end_ns = ascend_db_instant(file, row, 1);
	/* An interval with start and end in different clocks is invalid. */
	return *start_ns && *end_ns >= *start_ns &&
	       (*start_ns > NANOSECONDS_2001) == (*end_ns > NANOSECONDS_2001);
}

uint32_t ascend_db_text(const struct database *file, sqlite3_stmt *row, int column)
{
	uint32_t text;

	if (sqlite3_column_type(row, column) == SQLITE_TEXT)
		return model_string(file->import->model,
				    (const char *)sqlite3_column_text(row, column));
	if (sqlite3_column_type(row, column) == SQLITE_NULL)
		return 0;
	text = map_get(&file->strings, (uint64_t)sqlite3_column_int64(row, column));
	return text == MAP_NONE ? 0 : text;
}

static int on_string(void *context, sqlite3_stmt *row)
{
	struct database *file = context;
	uint32_t text =
		model_string(file->import->model, (const char *)sqlite3_column_text(row, 1));

	if (text == INDEX_NONE ||
	    !map_put(&file->strings, (uint64_t)sqlite3_column_int64(row, 0), text))
		return -ENOMEM;
	return 0;
}

static int on_npu(void *context, sqlite3_stmt *row)
{
	struct database *file = context;
	uint32_t text =
		model_string(file->import->model, (const char *)sqlite3_column_text(row, 1));

	if (text == INDEX_NONE ||
	    !map_put(&file->device_names, (uint64_t)sqlite3_column_int64(row, 0), text))
		return -ENOMEM;
	return 0;
}

static uint32_t blocks_of(sqlite3_stmt *row, int column)
{
	int64_t blocks = sqlite3_column_int64(row, column);

	return sqlite3_column_type(row, column) == SQLITE_NULL || blocks < 0 || blocks > INT32_MAX
		       ? INDEX_NONE
		       : (uint32_t)blocks;
}

/* Columns: globalTaskId, name, opType, taskType, blockNum, mixBlockNum, then texts. */
static int on_compute(void *context, sqlite3_stmt *row)
{
	struct database *file = context;
	struct compute compute = {
		.name = ascend_db_text(file, row, 1),
		.type = ascend_db_text(file, row, 2),
		.core = ascend_db_text(file, row, 3),
		.detail = { .task_id = MODEL_ID_NONE,
			    .context_id = MODEL_ID_NONE,
			    .model_id = MODEL_ID_NONE,
			    .step = MODEL_ID_NONE,
			    .blocks = blocks_of(row, 4),
			    .mix_blocks = blocks_of(row, 5),
			    .input_shapes = ascend_db_text(file, row, 6),
			    .input_types = ascend_db_text(file, row, 7),
			    .input_formats = ascend_db_text(file, row, 8),
			    .output_shapes = ascend_db_text(file, row, 9),
			    .output_types = ascend_db_text(file, row, 10),
			    .output_formats = ascend_db_text(file, row, 11),
			    .state = ascend_db_text(file, row, 12),
			    .hf32 = ascend_db_text(file, row, 13) },
	};

	if (compute.name == INDEX_NONE || compute.type == INDEX_NONE ||
	    compute.core == INDEX_NONE || !MODEL_PUSH(&file->computes, compute) ||
	    !map_put(&file->compute, (uint64_t)sqlite3_column_int64(row, 0),
		     file->computes.count - 1))
		return -ENOMEM;
	return 0;
}

/* Columns: globalTaskId, name, value; rows of a task are consecutive. Compute tasks only. */
static int on_counter(void *context, sqlite3_stmt *row)
{
	struct database *file = context;
	struct model *model = file->import->model;
	uint32_t compute = map_get(&file->compute, (uint64_t)sqlite3_column_int64(row, 0));
	struct task_metric metric = { .name = ascend_db_text(file, row, 1),
				      .value = sqlite3_column_double(row, 2) };
	const char *name = model_text(model, metric.name);
	struct task_detail *detail;

	if (metric.name == INDEX_NONE)
		return -ENOMEM;
	if (compute == MAP_NONE || sqlite3_column_type(row, 2) == SQLITE_NULL ||
	    !ascend_is_metric(name))
		return 0;
	detail = &file->computes.row[compute].detail;
	if (!detail->metric_count)
		detail->first_metric = model->task_metrics.count;
	if (!MODEL_PUSH(&model->task_metrics, metric))
		return -ENOMEM;
	detail->metric_count++;
	if (strstr(name, "_fops")) {
		detail->flops += sqlite3_column_double(row, 2);
		detail->known |= MODEL_DETAIL_FLOPS;
	}
	return 0;
}

/* Columns: deviceId, rankId. */
static int on_rank(void *context, sqlite3_stmt *row)
{
	struct database *file = context;
	int64_t rank = sqlite3_column_int64(row, 1);

	if (sqlite3_column_type(row, 1) == SQLITE_NULL || rank < 0 || rank >= INDEX_NONE)
		return 0; /* msprof's -1 is no rank */
	return map_put(&file->ranks, (uint64_t)sqlite3_column_int64(row, 0), (uint32_t)rank)
		       ? 0
		       : -ENOMEM;
}

/* Columns: startNs, endNs, type, globalTid, connectionId, name. */
static int on_call(void *context, sqlite3_stmt *row)
{
	struct database *file = context;
	struct api_call call = { .level = sqlite3_column_int64(row, 2),
				 .global = (uint64_t)sqlite3_column_int64(row, 3),
				 .connection = (uint64_t)sqlite3_column_int64(row, 4),
				 .name = ascend_db_text(file, row, 5) };
	uint32_t index = file->calls.count;

	if (call.name == INDEX_NONE)
		return -ENOMEM;
	if (!instants(file, row, &call.start_ns, &call.end_ns))
		return import_finding(file->import, "calls outside of any time: they end before they begin, "
						    "or begin before the file's clock does",
				      model_text(file->import->model, call.name));
	if (call.connection == NO_CONNECTION)
		call.connection = 0;
	if (!MODEL_PUSH(&file->calls, call))
		return -ENOMEM;
	if (!call.connection || map_get(&file->launches, call.connection) != MAP_NONE)
		return 0;
	return map_put(&file->launches, call.connection, index) ? 0 : -ENOMEM;
}

static uint32_t device_row(struct database *file, int64_t device, const struct api_call *launch)
{
	uint32_t name = map_get(&file->device_names, (uint64_t)device);
	uint32_t rank = map_get(&file->ranks, (uint64_t)device);
	uint32_t process = launch ? import_process(&file->rows, (uint32_t)(launch->global >> 32))
				  : INDEX_NONE;
	struct model *model = file->import->model;
	uint32_t row = import_device(&file->rows, (uint64_t)device, process,
				     name == MAP_NONE ? "Ascend" : model_text(model, name), "npu",
				     "msprof", ascend_db_clock(file));

	if (row != INDEX_NONE && model->devices.row[row].process == INDEX_NONE)
		model->devices.row[row].process = process;
	if (row != INDEX_NONE && rank != MAP_NONE) {
		model->devices.row[row].has_rank = true;
		model->devices.row[row].rank = rank;
	}
	return row;
}

static int put_task(struct database *file, struct device_task *task, int64_t device)
{
	uint32_t launch = task->correlation ? map_get(&file->launches, task->correlation)
					    : MAP_NONE;
	const struct api_call *call = launch == MAP_NONE ? NULL : &file->calls.row[launch];

	task->thread = INDEX_NONE;
	task->call = INDEX_NONE;
	task->device = device_row(file, device, call);
	if (task->device == INDEX_NONE)
		return -ENOMEM;
	if (call) {
		task->enqueue_ns =
			import_host_time(&file->rows, ascend_db_clock(file), call->start_ns);
		task->enqueue_dur_ns = call->end_ns - call->start_ns;
		task->thread = import_thread(&file->rows, (uint32_t)(call->global >> 32),
					     call->global & UINT32_MAX, task->enqueue_ns);
	}
	return import_task(&file->rows, task);
}

static uint64_t id_of(sqlite3_stmt *row, int column)
{
	int64_t id = sqlite3_column_int64(row, column);

	return sqlite3_column_type(row, column) == SQLITE_NULL || id < 0 || id == NO_CONNECTION
		       ? MODEL_ID_NONE
		       : (uint64_t)id;
}

/* Adds the details of a task. @row: as in on_task(). */
static bool describe(struct database *file, struct device_task *task, sqlite3_stmt *row,
		     uint32_t compute)
{
	struct model *model = file->import->model;
	struct task_detail detail = { .step = MODEL_ID_NONE,
				      .blocks = INDEX_NONE,
				      .mix_blocks = INDEX_NONE };

	if (compute != MAP_NONE) {
		const struct compute *from = &file->computes.row[compute];

		detail = from->detail;
		task->name = from->name;
		task->type = from->type;
		if (from->core)
			task->core = from->core;
	}
	detail.task_id = id_of(row, 7);
	detail.context_id = id_of(row, 8);
	detail.model_id = id_of(row, 9);
	if (!MODEL_PUSH(&model->task_details, detail))
		return false;
	task->detail = model->task_details.count;
	return true;
}

/*
 * Columns: startNs, endNs, deviceId, streamId, connectionId, globalTaskId, taskType, taskId,
 * contextId, modelId.
 */
static int on_task(void *context, sqlite3_stmt *row)
{
	struct database *file = context;
	uint64_t id = (uint64_t)sqlite3_column_int64(row, 5);
	struct device_task task = { .stream = sqlite_column_stream(row, 3),
				    .correlation = (uint64_t)sqlite3_column_int64(row, 4) };
	uint32_t type = ascend_db_text(file, row, 6), compute = map_get(&file->compute, id);
	uint32_t part = map_get(&file->communication, id);
	int err;

	if (type == INDEX_NONE)
		return -ENOMEM;
	if (task.correlation == NO_CONNECTION)
		task.correlation = 0;
	task.name = type;
	task.core = type;
	if (!describe(file, &task, row, compute))
		return -ENOMEM;
	if (compute != MAP_NONE)
		task.kind = PROFBPF__DEVICE_TASKS__KIND__KERNEL;
	else if (part != MAP_NONE)
		task.kind = PROFBPF__DEVICE_TASKS__KIND__SYNC;
	else
		task.kind = ascend_task_kind(model_text(file->import->model, type));
	if (compute == MAP_NONE && file->computes.count &&
	    task.kind == PROFBPF__DEVICE_TASKS__KIND__KERNEL)
		task.kind = PROFBPF__DEVICE_TASKS__KIND__OTHER;
	if (!instants(file, row, &task.start_ns, &task.end_ns))
		return import_finding(file->import, "device tasks outside of any time: they end before they "
						    "begin, or begin before the file's clock does",
				      model_text(file->import->model, task.name));
	err = put_task(file, &task, sqlite3_column_int64(row, 2));
	return err || part == MAP_NONE ? err
				       : ascend_db_add_part(file, &task, &file->parts.row[part]);
}

/* Columns: startNs, endNs, deviceId, connectionId, opName, opId, groupName, dataType, count. */
static int on_operation(void *context, sqlite3_stmt *row)
{
	struct database *file = context;
	struct device_task task = { .stream = UINT64_MAX, /* an operation has several streams */
				    .correlation = (uint64_t)sqlite3_column_int64(row, 3),
				    .kind = PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION,
				    .name = ascend_db_text(file, row, 4) };
	int64_t device;
	int err;

	if (task.name == INDEX_NONE)
		return -ENOMEM;
	if (task.correlation == NO_CONNECTION)
		task.correlation = 0;
	if (!instants(file, row, &task.start_ns, &task.end_ns))
		return import_finding(file->import, "communication outside of any time: they end before they "
						    "begin, or begin before the file's clock does",
				      model_text(file->import->model, task.name));
	device = ascend_db_device_of_operation(file, row, 2, 5);
	if (device < 0)
		return import_finding(file->import, "communication of a device that is not told",
				      model_text(file->import->model, task.name));
	err = ascend_db_describe_operation(file, row, 6, &task);
	if (!err)
		err = put_task(file, &task, device);
	if (err || sqlite3_column_type(row, 5) == SQLITE_NULL)
		return err;
	return ascend_db_add_operation(file, &task, (uint64_t)sqlite3_column_int64(row, 5));
}

/* Appends a column, by one of its names over the years, "blockNum|blockDim", or NULL, to a query. */
static size_t put_column(struct database *file, const char *table, const char *names, char *query,
			 size_t room)
{
	char name[64];

	for (const char *at = names; *at; at += strcspn(at, "|"), at += *at == '|') {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, "|"), at);
		if (sqlite_file_has(file->db, table, name))
			return (size_t)snprintf(query, room, ", %s", name);
	}
	return (size_t)snprintf(query, room, ", NULL");
}

/* Reads a table if it exists with its first column; the other columns may be missing. */
static int each(struct database *file, const char *table, const char *const *columns,
		int (*row)(void *, sqlite3_stmt *), const char *order)
{
	char query[1024];
	size_t used;

	if (!sqlite_file_has(file->db, table, columns[0]))
		return 0;
	used = (size_t)snprintf(query, sizeof(query), "SELECT %s", columns[0]);
	for (size_t i = 1; columns[i] && used < sizeof(query); i++)
		used += put_column(file, table, columns[i], query + used, sizeof(query) - used);
	if (used < sizeof(query))
		snprintf(query + used, sizeof(query) - used, " FROM %s%s", table, order);
	return sqlite_file_read(file->import, file->db, query, row, file);
}

/* Finds the file's device if there is only one; called before its collectives, which may not have their device. */
static int find_only_device(struct database *file)
{
	static const char *const TABLES[] = { "TASK", "RANK_DEVICE_MAP" };
	char query[128], damage[256];
	int err = 0;

	file->only_device = ASCEND_DB_NO_DEVICE;
	for (size_t i = 0; i < sizeof(TABLES) / sizeof(TABLES[0]) && !err; i++) {
		if (file->only_device != ASCEND_DB_NO_DEVICE ||
		    !sqlite_file_has(file->db, TABLES[i], "deviceId"))
			continue;
		snprintf(query, sizeof(query),
			 "SELECT min(deviceId), max(deviceId) FROM %s WHERE deviceId >= 0",
			 TABLES[i]);
		err = sqlite_file_each(file->db, query, ascend_db_only_device, file, damage,
				       sizeof(damage));
		if (err == -EBADMSG)
			err = 0; /* reported when the table is read */
	}
	if (err || file->only_device != ASCEND_DB_SEVERAL)
		return err;
	err = ascend_db_place_operations(file);
	return err == -EBADMSG ? 0 : err;
}

static int read_tables(struct database *file)
{
	static const struct {
		const char *table;
		const char *columns[15];
		int (*row)(void *, sqlite3_stmt *);
		const char *order;
	} TABLES[] = {
		/* Each table comes after those that it depends on. */
		{ "STRING_IDS", { "id", "value" }, on_string, "" },
		{ "NPU_INFO", { "id", "name" }, on_npu, "" },
		{ "COMPUTE_TASK_INFO",
		  { "globalTaskId", "name", "opType", "taskType", "blockNum|blockDim", "mixBlockNum|mixBlockDim",
		    "inputShapes", "inputDataTypes", "inputFormats", "outputShapes",
		    "outputDataTypes", "outputFormats", "opState", "hf32Eligible" },
		  on_compute,
		  "" },
		{ "TASK_PMU_INFO",
		  { "globalTaskId", "name", "value" },
		  on_counter,
		  " ORDER BY globalTaskId" },
		{ "RANK_DEVICE_MAP", { "deviceId", "rankId" }, on_rank, "" },
		{ "CANN_API",
		  { "startNs", "endNs", "type", "globalTid", "connectionId", "name" },
		  on_call,
		  " ORDER BY startNs, endNs DESC" },
		{ "ENUM_HCCL_DATA_TYPE", { "id", "name" }, ascend_db_type, "" },
		{ "META_DATA", { "name", "value" }, ascend_db_group, "" },
		{ "COMMUNICATION_OP",
		  { "startNs", "endNs", "deviceId", "connectionId", "opName", "opId", "groupName",
		    "dataType", "count" },
		  on_operation,
		  "" },
		{ "ENUM_HCCL_TRANSPORT_TYPE", { "id", "name" }, ascend_db_transport, "" },
		{ "ENUM_HCCL_LINK_TYPE", { "id", "name" }, ascend_db_link, "" },
		{ "COMMUNICATION_TASK_INFO",
		  { "globalTaskId", "taskType", "opId", "size", "srcRank", "dstRank",
		    "transportType", "linkType", "isMaster", "planeId" },
		  ascend_db_part,
		  "" },
		{ "TASK",
		  { "startNs", "endNs", "deviceId", "streamId", "connectionId", "globalTaskId",
		    "taskType", "taskId", "contextId", "modelId" },
		  on_task,
		  " ORDER BY startNs" },
		{ "META_DATA", { "name", "value" }, ascend_db_meta, "" },
		{ "STEP_TIME", { "startNs", "endNs", "id" }, ascend_db_step, "" },
		{ "MEMORY_RECORD",
		  { "timestamp", "component", "totalAllocated", "totalReserved", "deviceId" },
		  ascend_db_memory,
		  "" },
	};
	int err = find_only_device(file);

	for (size_t i = 0; i < sizeof(TABLES) / sizeof(TABLES[0]) && !err; i++)
		err = each(file, TABLES[i].table, TABLES[i].columns, TABLES[i].row,
			   TABLES[i].order);
	return err;
}

static const char *level_name(int64_t level)
{
	switch (level) {
	case 20000: return "acl";
	case 15000: return "model";
	case 10000: return "node";
	case 5500: return "hccl";
	case 5000: return "runtime";
	default: return "cann";
	}
}

static int put_calls(struct database *file)
{
	struct model *model = file->import->model;

	for (uint32_t i = 0; i < file->calls.count; i++) {
		const struct api_call *from = &file->calls.row[i];
		const char *level = level_name(from->level), *name = model_text(model, from->name);
		struct call call = { .start_ns = from->start_ns,
				     .end_ns = from->end_ns,
				     .args = { from->connection },
				     .task = INDEX_NONE };

		call.function =
			import_function(&file->rows, level, name, ascend_call_kind(level, name));
		call.thread = import_thread(&file->rows, (uint32_t)(from->global >> 32),
					    from->global & UINT32_MAX, from->start_ns);
		if (call.function == INDEX_NONE || call.thread == INDEX_NONE ||
		    !MODEL_PUSH(&model->calls, call))
			return -ENOMEM;
		/* Levels are layers of one call: only one of them is counted. */
		model->functions.row[call.function].family = model_string(model, "cann");
		model->functions.row[call.function].layer = from->level >= 20000 ? 1 : 2;
	}
	return 0;
}

static int import(struct import *import)
{
	struct database file = { .import = import,
				 .shift_ns = import->alone ? 0 : ascend_clock_shift(import->path),
				 .first_device = import->model->devices.count };
	uint32_t first_mark = import->model->step_marks.count;
	uint32_t tasks = import->model->tasks.count;
	uint32_t operations = import->model->communication_times.count;
	int err = sqlite_file_open(import, &file.db);

	import_rows_begin(&file.rows, import);
	if (!err)
		err = read_tables(&file);
	ascend_db_finish_operations(&file, operations);
	import_marks_of_device(import->model, file.first_device, first_mark);
	if (!err && import->model->tasks.count == tasks)
		err = import_finding(import, "no table of tasks: nothing is known of any device (record with "
					     "ProfilerActivity.NPU, or msprof --task-time=on)",
				     NULL);
	if (!err && import->alone)
		err = put_calls(&file);
	import_rows_free(&file.rows);
	map_free(&file.strings);
	map_free(&file.device_names);
	map_free(&file.ranks);
	map_free(&file.compute);
	map_free(&file.communication);
	map_free(&file.transports);
	map_free(&file.links);
	map_free(&file.types);
	map_free(&file.groups);
	free(file.group_rows.row);
	map_free(&file.operations);
	map_free(&file.places);
	free(file.parts.row);
	map_free(&file.launches);
	free(file.calls.row);
	free(file.computes.row);
	sqlite3_close(file.db);
	return err;
}

const struct importer import_ascend_db = {
	.name = "msprof",
	.what = "an Ascend profiling database",
	.detect = detect,
	.import = import,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvprof's database (`nvprof -o x.nvvp`, also .nvprof), SQLite.
 *
 * Its tables are CUPTI's activity records, with a column for each field (cupti_activity.h): times are nanoseconds
 * since 1970, names are rows of StringTable. A runtime or driver call is identified by its number (cbid). A mark of
 * NVTX is two rows of CUPTI_ACTIVITY_KIND_MARKER with the same id: the begin has a name, the end has none; objectId
 * is the process (4 bytes) and the thread (8), as in CUpti_ActivityObjectKindId. An instantaneous mark (flags) has
 * no end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/import_rows.h"
#include "analyzer/import/nvidia/nvprof_calls.h"
#include "analyzer/import/readers/sqlite_column.h"
#include "analyzer/import/readers/sqlite_file.h"
#include "analyzer/model/step_names.h"

#define ACTIVITY "CUPTI_ACTIVITY_KIND_"
#define CLOCK PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME
#define OBJECT_THREAD 2 /* CUPTI_ACTIVITY_OBJECT_THREAD */
#define MARKERS ACTIVITY "MARKER"
#define MARK_INSTANT 1 /* CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS */

/* A mark that has begun. */
struct mark {
	int64_t start_ns;
	uint64_t tid;
	uint32_t pid;
	uint32_t name;
	bool ended; /* or it is instantaneous */
};

struct nvprof {
	struct import *import;
	struct import_rows rows;
	sqlite3 *db;
	struct map strings; /* StringTable._id_ -> string of the model */
	struct map names; /* device -> string */
	struct map launches; /* correlation -> row of calls */
	struct map open; /* id -> row of marks */
	MODEL_ARRAY(struct call) calls;
	MODEL_ARRAY(uint64_t) owners; /* per call: process, and thread in the low half */
	MODEL_ARRAY(struct mark) marks;
	const char *table; /* the current table, without ACTIVITY */
	uint8_t kind; /* kind of its tasks */
};

static bool is_known(sqlite3 *db)
{
	return sqlite_file_has(db, "StringTable", "_id_") &&
	       (sqlite_file_has(db, ACTIVITY "RUNTIME", "cbid") ||
		sqlite_file_has(db, ACTIVITY "DRIVER", "cbid") ||
		sqlite_file_has(db, ACTIVITY "CONCURRENT_KERNEL", "_id_") ||
		sqlite_file_has(db, ACTIVITY "KERNEL", "_id_"));
}

static int detect(const struct import_sample *sample)
{
	return sqlite_file_detect(sample, is_known) ? 90 : 0;
}

static int each(struct nvprof *file, const char *query, int (*row)(void *, sqlite3_stmt *))
{
	return sqlite_file_read(file->import, file->db, query, row, file);
}

static int on_string(void *context, sqlite3_stmt *row)
{
	struct nvprof *file = context;
	const char *value = (const char *)sqlite3_column_text(row, 1);
	uint32_t text = model_string(file->import->model, value ? value : "");

	return text != INDEX_NONE &&
			       map_put(&file->strings, (uint64_t)sqlite3_column_int64(row, 0), text)
		       ? 0
		       : -ENOMEM;
}

static uint32_t string_of(const struct nvprof *file, sqlite3_stmt *row, int column)
{
	uint32_t text = map_get(&file->strings, (uint64_t)sqlite3_column_int64(row, column));

	return text == MAP_NONE ? 0 : text;
}

/* Columns: id, name. */
static int on_device(void *context, sqlite3_stmt *row)
{
	struct nvprof *file = context;

	return map_put(&file->names, (uint64_t)sqlite3_column_int64(row, 0),
		       string_of(file, row, 1))
		       ? 0
		       : -ENOMEM;
}

/* Columns: start, end, cbid, processId, threadId, correlationId, returnValue. */
static int on_call(void *context, sqlite3_stmt *row)
{
	struct nvprof *file = context;
	struct model *model = file->import->model;
	bool driver = strcmp(file->table, "DRIVER") == 0;
	uint64_t correlation = (uint64_t)sqlite3_column_int64(row, 5);
	uint64_t owner = (uint64_t)sqlite3_column_int64(row, 3) << 32 |
			 (uint32_t)sqlite3_column_int64(row, 4);
	struct call call = { .args = { correlation },
			     .ret = (uint32_t)sqlite3_column_int64(row, 6),
			     .task = INDEX_NONE };
	char name[64];

	nvprof_call_name(driver, sqlite3_column_int64(row, 2), name, sizeof(name));
	if (!import_instants(sqlite_column_instant(row, 0), sqlite_column_instant(row, 1), 0,
			     &call.start_ns, &call.end_ns))
		return import_finding(file->import, "runtime calls outside of any time: they end before they "
						    "begin, or begin before the file's clock does", name);
	call.function = import_function(&file->rows, "cuda", name, call_kind_of_name(name));
	if (call.function == INDEX_NONE || !MODEL_PUSH(&file->calls, call) ||
	    !MODEL_PUSH(&file->owners, owner))
		return -ENOMEM;
	model->functions.row[call.function].error = PROFBPF__FUNCTION__ERROR__NONZERO;
	/* The driver's call is nested in the runtime's, which comes first. */
	if (!correlation || map_get(&file->launches, correlation) != MAP_NONE)
		return 0;
	return map_put(&file->launches, correlation, file->calls.count - 1) ? 0 : -ENOMEM;
}

static uint32_t device_of(struct nvprof *file, uint64_t number, uint32_t pid)
{
	uint32_t name = map_get(&file->names, number);
	struct model *model = file->import->model;

	return import_device(&file->rows, number,
			     pid ? import_process(&file->rows, pid) : INDEX_NONE,
			     name == MAP_NONE || !name ? "GPU" : model_text(model, name), "gpu",
			     "nvprof", CLOCK);
}

/* Columns: start, end, deviceId, streamId, correlationId, bytes, name. */
static int on_task(void *context, sqlite3_stmt *row)
{
	struct nvprof *file = context;
	struct model *model = file->import->model;
	struct device_task task = {
		.stream = sqlite_column_stream(row, 3),
		.correlation = (uint64_t)sqlite3_column_int64(row, 4),
		.bytes = (uint64_t)sqlite3_column_int64(row, 5),
		.thread = INDEX_NONE,
		.call = INDEX_NONE,
		.kind = file->kind,
	};
	uint32_t launch = task.correlation ? map_get(&file->launches, task.correlation) : MAP_NONE;
	uint64_t owner = launch == MAP_NONE ? 0 : file->owners.row[launch];

	if (sqlite3_column_type(row, 6) == SQLITE_TEXT)
		task.name = model_string(model, (const char *)sqlite3_column_text(row, 6));
	else
		task.name = string_of(file, row, 6);
	if (task.name == INDEX_NONE)
		return -ENOMEM;
	if (task.kind == PROFBPF__DEVICE_TASKS__KIND__KERNEL &&
	    is_communication_name(model_text(model, task.name)))
		task.kind = PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION;
	if (!import_instants(sqlite_column_instant(row, 0), sqlite_column_instant(row, 1), 0,
			     &task.start_ns, &task.end_ns))
		return import_finding(file->import, "device tasks outside of any time: they end before they "
						    "begin, or begin before the file's clock does",
				      model_text(model, task.name));
	task.device = device_of(file, (uint64_t)sqlite3_column_int64(row, 2),
				(uint32_t)(owner >> 32));
	if (task.device == INDEX_NONE)
		return -ENOMEM;
	if (launch != MAP_NONE) {
		const struct call *call = &file->calls.row[launch];

		task.enqueue_ns = import_host_time(&file->rows, CLOCK, call->start_ns);
		task.enqueue_dur_ns = call->end_ns - call->start_ns;
		task.thread = import_thread(&file->rows, (uint32_t)(owner >> 32), (uint32_t)owner,
					    task.enqueue_ns);
	}
	return import_task(&file->rows, &task);
}

/* Sets the process and thread of a mark; returns false if it is not a thread's. */
static bool owner_of(sqlite3_stmt *row, int kind, int object, struct mark *mark)
{
	const uint8_t *bytes = sqlite3_column_blob(row, object);

	if (sqlite3_column_int(row, kind) != OBJECT_THREAD || !bytes ||
	    sqlite3_column_bytes(row, object) < 12)
		return false;
	memcpy(&mark->pid, bytes, sizeof(mark->pid));
	memcpy(&mark->tid, bytes + 4, sizeof(mark->tid));
	return true;
}

static int end_mark(struct nvprof *file, const struct mark *mark, int64_t end_ns)
{
	const char *name = model_text(file->import->model, mark->name);
	uint64_t from, to;

	if (!import_instants(mark->start_ns, end_ns, 0, &from, &to))
		return import_finding(file->import, "ranges without a usable end: the recording ended in "
						    "them, or they end before they begin", name);
	return import_scope(&file->rows, import_thread(&file->rows, mark->pid, mark->tid, from),
			    name, scope_of_range(name), from, to);
}

/* Columns: timestamp, id, name, objectKind, objectId, flags. */
static int on_mark(void *context, sqlite3_stmt *row)
{
	struct nvprof *file = context;
	uint64_t id = (uint64_t)sqlite3_column_int64(row, 1);
	struct mark mark = { .start_ns = sqlite_column_instant(row, 0),
			     .name = string_of(file, row, 2),
			     .ended = sqlite3_column_int64(row, 5) & MARK_INSTANT };
	uint32_t open;

	if (sqlite3_column_int64(row, 2) != 0) {
		if (!owner_of(row, 3, 4, &mark))
			return import_finding(file->import, "ranges of no thread",
					      model_text(file->import->model, mark.name));
		return MODEL_PUSH(&file->marks, mark) &&
				       map_put(&file->open, id, file->marks.count - 1)
			       ? 0
			       : -ENOMEM;
	}
	open = map_get(&file->open, id);
	if (open == MAP_NONE)
		return 0;
	file->marks.row[open].ended = true;
	return end_mark(file, &file->marks.row[open], mark.start_ns);
}

static const char *column_or(const struct nvprof *file, const char *table, const char *column)
{
	return sqlite_file_has(file->db, table, column) ? column : "0";
}

static int read_marks(struct nvprof *file)
{
	const struct model *model = file->import->model;
	char query[256];
	int err;

	snprintf(query, sizeof(query),
		 "SELECT timestamp, id, name, objectKind, objectId, %s FROM " MARKERS
		 " ORDER BY timestamp, _id_",
		 column_or(file, MARKERS, "flags"));
	err = each(file, query, on_mark);
	for (uint32_t i = 0; i < file->marks.count && !err; i++)
		if (!file->marks.row[i].ended)
			err = import_finding(file->import, "ranges without a usable end: the recording ended "
							   "in them, or they end before they begin",
					     model_text(model, file->marks.row[i].name));
	return err;
}

static int read_calls(struct nvprof *file, const char *kind)
{
	char table[64], query[512];

	snprintf(table, sizeof(table), ACTIVITY "%s", kind);
	if (!sqlite_file_has(file->db, table, "cbid"))
		return 0;
	file->table = kind;
	snprintf(query, sizeof(query),
		 "SELECT start, end, cbid, %s, %s, %s, %s FROM %s ORDER BY start, end DESC",
		 column_or(file, table, "processId"), column_or(file, table, "threadId"),
		 column_or(file, table, "correlationId"), column_or(file, table, "returnValue"),
		 table);
	return each(file, query, on_call);
}

static int read_tasks(struct nvprof *file, const char *kind, uint8_t what, const char *name)
{
	char table[64], query[512];

	snprintf(table, sizeof(table), ACTIVITY "%s", kind);
	if (!sqlite_file_has(file->db, table, NULL))
		return 0;
	if (!sqlite_file_has(file->db, table, "deviceId") ||
	    !sqlite_file_has(file->db, table, "streamId"))
		return import_finding(file->import, "a table without devices or streams", table);
	file->kind = what;
	snprintf(query, sizeof(query), "SELECT start, end, deviceId, streamId, %s, %s, %s FROM %s",
		 column_or(file, table, "correlationId"), column_or(file, table, "bytes"), name,
		 table);
	return each(file, query, on_task);
}

/* CUpti_ActivityMemcpyKind */
#define COPY                                                                                  \
	"'[CUDA memcpy' || CASE copyKind WHEN 1 THEN ' HtoD' WHEN 2 THEN ' DtoH' WHEN 3 THEN " \
	"' HtoA' WHEN 4 THEN ' AtoH' WHEN 5 THEN ' AtoA' WHEN 6 THEN ' AtoD' WHEN 7 THEN "     \
	"' DtoA' WHEN 8 THEN ' DtoD' WHEN 9 THEN ' HtoH' WHEN 10 THEN ' PtoP' ELSE '' END || ']'"

static int read_device(struct nvprof *file)
{
	static const struct {
		const char *table;
		uint8_t kind;
		const char *name;
	} TABLES[] = {
		{ "KERNEL", PROFBPF__DEVICE_TASKS__KIND__KERNEL, "name" },
		{ "CONCURRENT_KERNEL", PROFBPF__DEVICE_TASKS__KIND__KERNEL, "name" },
		{ "MEMCPY", PROFBPF__DEVICE_TASKS__KIND__COPY, COPY },
		{ "MEMCPY2", PROFBPF__DEVICE_TASKS__KIND__COPY, COPY },
		{ "MEMSET", PROFBPF__DEVICE_TASKS__KIND__FILL, "'[CUDA memset]'" },
	};
	uint32_t before = file->import->model->tasks.count;
	int err = 0;

	for (size_t i = 0; i < sizeof(TABLES) / sizeof(TABLES[0]) && !err; i++)
		err = read_tasks(file, TABLES[i].table, TABLES[i].kind, TABLES[i].name);
	if (!err && file->import->model->tasks.count == before)
		err = import_finding(
			file->import,
			"no table of kernels or copies: nothing is known of any device (record with nvprof "
			"-o FILE PROGRAM)", NULL);
	return err;
}

static int put_calls(struct nvprof *file)
{
	for (uint32_t i = 0; i < file->calls.count; i++) {
		struct call *call = &file->calls.row[i];
		uint64_t owner = file->owners.row[i];

		call->thread = import_thread(&file->rows, (uint32_t)(owner >> 32), (uint32_t)owner,
					     call->start_ns);
		if (call->thread == INDEX_NONE ||
		    !MODEL_PUSH(&file->import->model->calls, *call))
			return -ENOMEM;
	}
	return 0;
}

static int read_all(struct nvprof *file)
{
	int err = each(file, "SELECT _id_, value FROM StringTable", on_string);

	if (!err && sqlite_file_has(file->db, ACTIVITY "DEVICE", "name") &&
	    sqlite_file_has(file->db, ACTIVITY "DEVICE", "id"))
		err = each(file, "SELECT id, name FROM " ACTIVITY "DEVICE", on_device);
	if (!err)
		err = read_calls(file, "RUNTIME");
	if (!err)
		err = read_calls(file, "DRIVER");
	if (!err)
		err = read_device(file);
	if (!err && file->import->alone)
		err = put_calls(file);
	if (!err && file->import->alone && sqlite_file_has(file->db, MARKERS, "objectId"))
		err = read_marks(file);
	return err;
}

static int import(struct import *import)
{
	struct nvprof file = { .import = import };
	int err = sqlite_file_open(import, &file.db);

	import_rows_begin(&file.rows, import);
	if (!err)
		err = read_all(&file);
	import_rows_free(&file.rows);
	map_free(&file.strings);
	map_free(&file.names);
	map_free(&file.launches);
	map_free(&file.open);
	free(file.calls.row);
	free(file.owners.row);
	free(file.marks.row);
	sqlite3_close(file.db);
	return err;
}

const struct importer import_nvprof = {
	.name = "nvprof",
	.what = "a database of nvprof (.nvvp)",
	.detect = detect,
	.import = import,
};

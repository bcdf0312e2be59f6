/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of rocprof (before rocprofv3): results.json, a Chrome trace, and results.db, the SQLite database from
 * which it is made.
 *
 * Rows belong to sections: 2 HIP's calls, 3 HSA's, 4 the driver's, 1 copies, 6 and more the GPUs, 0 the program's
 * own marks. In a Chrome trace sections are the process ids; the real process ids are args.proc-id of tasks and, if
 * there is an args.__section or it is another number, args.pid. ts and dur are whole microseconds: the nanoseconds
 * are in args.BeginNs and EndNs. A task and the HIP call that made it have the same Index in a process; in a trace
 * without Index the arrows join them (rocprof_arrows.h). Kernels may occur twice, recorded by HIP ("OPS", with a
 * dev-id) and by the profiler of counters ("A" or "KERN", with a gpu-id): the former are then imported. Layout:
 * tblextr.py of rocprofiler.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/decimal_ns.h"
#include "analyzer/import/importer.h"
#include "analyzer/import/readers/json_objects.h"
#include "analyzer/import/amd/rocm_rows.h"
#include "analyzer/import/amd/rocprof_arrows.h"
#include "analyzer/import/readers/sqlite_file.h"

enum { SECTION_MARKS, SECTION_COPY, SECTION_HIP, SECTION_HSA, SECTION_KFD, SECTION_OPS };

/* Columns of tables, and keys of "args". */
enum field {
	F_BEGIN,
	F_END,
	F_DEVICE,
	F_GPU,
	F_QUEUE,
	F_STREAM,
	F_INDEX,
	F_PROCESS,
	F_PID,
	F_TID,
	F_SECTION,
	F_DISPATCH,
	F_KERNEL,
	F_NAME,
	COLUMNS,
	/* Only events of the trace have these. */
	F_PHASE = COLUMNS,
	F_EVENT_NAME,
	F_EVENT_PID,
	F_EVENT_TID,
	F_TS,
	F_DUR,
	F_CATEGORY,
	F_ID,
	FIELDS
};

static const char *const NAMES[] = { "BeginNs",	  "EndNs",	"dev-id",     "gpu-id", "queue-id",
				     "stream-id", "Index",	"proc-id",    "pid",	"tid",
				     "__section", "DispatchNs", "KernelName", "Name" };

static const char *const KEYS[] = { "args.BeginNs",
				    "args.EndNs",
				    "args.dev-id",
				    "args.gpu-id",
				    "args.queue-id",
				    "args.stream-id",
				    "args.Index",
				    "args.proc-id",
				    "args.pid",
				    "args.tid",
				    "args.__section",
				    "args.DispatchNs",
				    "args.KernelName",
				    "args.Name",
				    "ph",
				    "name",
				    "pid",
				    "tid",
				    "ts",
				    "dur",
				    "cat",
				    "id",
				    NULL };

_Static_assert(sizeof(NAMES) / sizeof(NAMES[0]) == COLUMNS, "a name for each column");
_Static_assert(sizeof(KEYS) / sizeof(KEYS[0]) == FIELDS + 1, "a key for each field");

static const uint8_t UNITS[FIELDS] = {
	[F_BEGIN] = DECIMAL_NS, [F_END] = DECIMAL_NS, [F_DISPATCH] = DECIMAL_NS,
	[F_TS] = DECIMAL_US, [F_DUR] = DECIMAL_US,
};

/* A row; UINT64_MAX = unknown. */
struct row {
	uint64_t number[COLUMNS];
	uint64_t section;
	uint64_t lane; /* the trace's thread id: for tasks of HIP the stream */
	uint64_t ts_us, dur_us; /* events of the trace only */
	const char *name;
	size_t name_length;
};

enum origin { FROM_HIP, FROM_COUNTERS, FROM_NO_DEVICE };

struct v1 {
	struct import *import;
	struct rocm_rows rocm;
	struct rocprof_arrows arrows; /* of a Chrome trace */
	MODEL_ARRAY(uint8_t) origins; /* per task: enum origin */
	uint64_t only_device; /* UINT64_MAX = none yet */
	uint32_t only_pid; /* pid of the tasks; 0 = none yet */
	bool several_devices;
	bool several_pids;
	bool has_operations; /* there are tasks recorded by HIP */
	uint64_t section; /* section of the current table */
};

static bool is_known(sqlite3 *db)
{
	static const char *const TABLES[] = { "HIP", "HSA", "OPS", "COPY", "A", "KERN" };
	bool found = false;

	for (size_t i = 0; !found && i < sizeof(TABLES) / sizeof(TABLES[0]); i++)
		found = sqlite_file_has(db, TABLES[i], "BeginNs") &&
			sqlite_file_has(db, TABLES[i], "EndNs");
	return found;
}

static int detect(const struct import_sample *sample)
{
	if (sample->directory)
		return 0;
	if (sqlite_file_detect(sample, is_known))
		return 80;
	return strstr(sample->text, "\"traceEvents\"") && (strstr(sample->text, "CPU HIP API\"") ||
							   strstr(sample->text, "CPU HSA API\"") ||
							   (strstr(sample->text, "\"BeginNs\"") &&
							    strstr(sample->text, "\"DurationNs\"")))
		       ? 95
		       : 0;
}

/* The process id of the operating system; 0 = unknown. */
static uint32_t pid_of(const struct row *row)
{
	uint64_t pid = row->number[F_PROCESS];

	if (pid == UINT64_MAX && row->number[F_SECTION] != UINT64_MAX)
		pid = row->number[F_PID];
	return pid <= UINT32_MAX ? (uint32_t)pid : 0;
}

static uint32_t name_of(const struct v1 *file, const struct row *row)
{
	const char *name = row->name;
	size_t length = row->name_length;

	if (length >= 2 && name[0] == '"' && name[length - 1] == '"') {
		name++;
		length -= 2;
	}
	return string_table_add(file->import->model->strings, length ? name : "unnamed",
				length ? length : strlen("unnamed"));
}

static uint64_t told(uint64_t number)
{
	return number == UINT64_MAX ? 0 : number;
}

static bool is_copy(const char *name)
{
	return strcasestr(name, "memcpy") || strstr(name, "Copy") || strstr(name, "async-copy");
}

static uint8_t kind_of(const struct row *row, const char *name)
{
	if (strstr(name, "barrier packet"))
		return PROFBPF__DEVICE_TASKS__KIND__SYNC;
	if (row->section == SECTION_COPY)
		return strstr(name, "Fill") && !is_copy(name) ? PROFBPF__DEVICE_TASKS__KIND__FILL
							      : PROFBPF__DEVICE_TASKS__KIND__COPY;
	return rocm_kernel_kind(name);
}

static void note_owner(struct v1 *file, uint64_t device, uint32_t pid)
{
	if (device != UINT64_MAX) {
		file->several_devices |= file->only_device != UINT64_MAX &&
					 file->only_device != device;
		file->only_device = device;
	}
	if (pid) {
		file->several_pids |= file->only_pid && file->only_pid != pid;
		file->only_pid = pid;
	}
}

static struct arrow_place place_of(const struct row *row, uint64_t id)
{
	return (struct arrow_place){ .ts_us = row->ts_us,
				     .dur_us = row->dur_us,
				     .section = row->section,
				     .lane = row->lane,
				     .id = id };
}

static int on_task(struct v1 *file, const struct row *row)
{
	uint64_t device = row->number[F_DEVICE];
	bool counters = device == UINT64_MAX && row->number[F_GPU] != UINT64_MAX;
	uint8_t origin = counters		? FROM_COUNTERS
			 : device == UINT64_MAX ? FROM_NO_DEVICE
						: FROM_HIP;
	struct rocm_task task = {
		.start_ns = told(row->number[F_BEGIN]),
		.end_ns = told(row->number[F_END]),
		.dispatch_ns = told(row->number[F_DISPATCH]),
		/* An Index may be 0, which means "no correlation" here. */
		.correlation = origin == FROM_HIP && row->number[F_INDEX] != UINT64_MAX
				       ? row->number[F_INDEX] + 1
				       : 0,
		.agent = counters ? row->number[F_GPU] : device,
		.queue = told(row->number[F_QUEUE]),
		.stream = row->number[F_STREAM] != UINT64_MAX ? row->number[F_STREAM]
			  : origin == FROM_HIP		      ? told(row->lane)
							      : 0,
		.pid = pid_of(row),
		.name = name_of(file, row),
	};
	uint32_t before = file->rocm.tasks.count;
	int err;

	if (task.name == STRING_NONE)
		return -ENOMEM;
	task.kind = kind_of(row, model_text(file->import->model, task.name));
	/* The profiler of counters has the process id where HIP's rows have a section. */
	if (counters && !task.pid && row->number[F_PID] <= UINT32_MAX)
		task.pid = (uint32_t)row->number[F_PID];
	note_owner(file, task.agent, task.pid);
	file->has_operations |= origin == FROM_HIP && row->section != SECTION_COPY;
	err = rocm_task(&file->rocm, &task);
	if (err || file->rocm.tasks.count == before)
		return err;
	if (!MODEL_PUSH(&file->origins, origin))
		return -ENOMEM;
	return origin != FROM_HIP || task.correlation ||
			       MODEL_PUSH(&file->arrows.tasks, place_of(row, before))
		       ? 0
		       : -ENOMEM;
}

static int on_call(struct v1 *file, const struct row *row)
{
	static const char *const RUNTIMES[] = {
		[SECTION_HIP] = "hip", [SECTION_HSA] = "hsa", [SECTION_KFD] = "kfd"
	};
	struct rocm_call call = {
		.start_ns = told(row->number[F_BEGIN]),
		.end_ns = told(row->number[F_END]),
		/* Each runtime has its own Index; tasks have HIP's. */
		.correlation = row->section == SECTION_HIP && row->number[F_INDEX] != UINT64_MAX
				       ? row->number[F_INDEX] + 1
				       : 0,
		.tid = row->number[F_TID] != UINT64_MAX ? row->number[F_TID] : told(row->lane),
		.pid = pid_of(row),
		.name = name_of(file, row),
		.runtime = model_string(file->import->model, RUNTIMES[row->section]),
	};

	uint32_t before = file->rocm.calls.count;
	uint8_t kind;
	int err;

	if (call.name == STRING_NONE || call.runtime == INDEX_NONE)
		return -ENOMEM;
	err = rocm_call(&file->rocm, &call);
	if (err || file->rocm.calls.count == before || call.correlation || row->section != SECTION_HIP)
		return err;
	kind = call_kind_of_name(model_text(file->import->model, call.name));
	return (kind != PROFBPF__FUNCTION__KIND__LAUNCH && kind != PROFBPF__FUNCTION__KIND__COPY) ||
			       MODEL_PUSH(&file->arrows.calls, place_of(row, before))
		       ? 0
		       : -ENOMEM;
}

static int on_row(struct v1 *file, const struct row *row)
{
	if (row->section == SECTION_COPY || row->section >= SECTION_OPS)
		return on_task(file, row);
	if (row->section >= SECTION_HIP)
		return on_call(file, row);
	return import_finding(file->import, "marks of the program's own: not taken in", NULL);
}

static bool number_in(const struct json_value *value, uint64_t *number)
{
	return value->text && decimal_unsigned(value->text, value->length, number);
}

/* Adds an end of an arrow; incomplete ends are ignored. */
static int on_arrow(struct v1 *file, const struct json_value *values, bool begins)
{
	struct arrow_place end = { 0 };

	if (!number_in(&values[F_ID], &end.id) || !number_in(&values[F_TS], &end.ts_us) ||
	    !number_in(&values[F_EVENT_PID], &end.section) ||
	    !number_in(&values[F_EVENT_TID], &end.lane) || end.id >= UINT32_MAX)
		return 0;
	return (begins ? MODEL_PUSH(&file->arrows.starts, end) : MODEL_PUSH(&file->arrows.ends, end))
		       ? 0
		       : -ENOMEM;
}

static int on_object(void *context, const char *list, const struct json_value *values)
{
	const struct json_value *name = &values[F_KERNEL];
	const char *phase = values[F_PHASE].text, *category = values[F_CATEGORY].text;
	struct row row = { .lane = UINT64_MAX };
	int64_t ts_ns, dur_ns;

	if (strcmp(list, "traceEvents") != 0 || !phase)
		return 0;
	if (category && strcmp(category, "DataFlow") == 0 && (*phase == 's' || *phase == 't'))
		return on_arrow(context, values, *phase == 's');
	if (strcmp(phase, "X") != 0 || !number_in(&values[F_EVENT_PID], &row.section))
		return 0;
	for (int i = 0; i < COLUMNS; i++) {
		if (!number_in(&values[i], &row.number[i]))
			row.number[i] = UINT64_MAX;
	}
	if (row.number[F_PID] != row.section && row.number[F_SECTION] == UINT64_MAX)
		row.number[F_SECTION] = row.section;
	number_in(&values[F_EVENT_TID], &row.lane);
	number_in(&values[F_TS], &row.ts_us);
	number_in(&values[F_DUR], &row.dur_us);
	if (!name->text)
		name = values[F_NAME].text ? &values[F_NAME] : &values[F_EVENT_NAME];
	row.name = name->text ? name->text : "";
	row.name_length = name->length;
	if ((row.number[F_BEGIN] == UINT64_MAX || row.number[F_END] == UINT64_MAX) &&
	    values[F_TS].text && values[F_DUR].text &&
	    decimal_scaled(values[F_TS].text, values[F_TS].length, 3, &ts_ns) && ts_ns > 0 &&
	    decimal_scaled(values[F_DUR].text, values[F_DUR].length, 3, &dur_ns) && dur_ns >= 0) {
		row.number[F_BEGIN] = (uint64_t)ts_ns;
		row.number[F_END] = (uint64_t)ts_ns + (uint64_t)dur_ns;
	}
	return on_row(context, &row);
}

static int on_record(void *context, sqlite3_stmt *record)
{
	struct v1 *file = context;
	struct row row = { .section = file->section, .lane = UINT64_MAX };
	int column = sqlite3_column_type(record, F_KERNEL) == SQLITE_TEXT ? F_KERNEL : F_NAME;
	const char *name = (const char *)sqlite3_column_text(record, column);

	for (int i = 0; i < COLUMNS; i++)
		row.number[i] = sqlite3_column_type(record, i) == SQLITE_INTEGER &&
						sqlite3_column_int64(record, i) >= 0
					? (uint64_t)sqlite3_column_int64(record, i)
					: UINT64_MAX;
	row.lane = row.number[F_TID];
	row.name = name ? name : "";
	row.name_length = strlen(row.name);
	return on_row(file, &row);
}

static int read_table(struct v1 *file, sqlite3 *db, const char *table)
{
	char query[1024];
	size_t used = (size_t)snprintf(query, sizeof(query), "SELECT ");

	if (!sqlite_file_has(db, table, "BeginNs"))
		return 0;
	for (int i = 0; i < COLUMNS; i++) {
		bool has = sqlite_file_has(db, table, NAMES[i]);

		used += (size_t)snprintf(query + used, sizeof(query) - used, "%s%s%s%s",
					 i ? ", " : "", has ? "\"" : "", has ? NAMES[i] : "NULL",
					 has ? "\"" : "");
	}
	snprintf(query + used, sizeof(query) - used, " FROM \"%s\"", table);
	return sqlite_file_read(file->import, db, query, on_record, file);
}

static int read_database(struct v1 *file)
{
	static const struct {
		const char *table;
		uint64_t section;
	} TABLES[] = { { "HIP", SECTION_HIP },	{ "HSA", SECTION_HSA },	   { "KFD", SECTION_KFD },
		       { "OPS", SECTION_OPS },	{ "COPY", SECTION_COPY },  { "A", SECTION_OPS },
		       { "KERN", SECTION_OPS }, { "rocTX", SECTION_MARKS } };
	sqlite3 *db;
	int err = sqlite_file_open(file->import, &db);

	for (size_t i = 0; i < sizeof(TABLES) / sizeof(TABLES[0]) && !err; i++) {
		file->section = TABLES[i].section;
		err = read_table(file, db, TABLES[i].table);
	}
	sqlite3_close(db);
	return err;
}

static int read_trace(struct v1 *file)
{
	static const char *const LISTS[] = { "traceEvents", NULL };
	const struct json_reader reader = {
		.keys = KEYS, .lists = LISTS, .object = on_object, .context = file,
		.units = UNITS, .rounded = import_rounded, .rounded_context = file->import,
		.place = &file->import->place
	};
	char damage[256] = "";
	int err = json_objects_read(file->import->path, &reader, damage, sizeof(damage));

	return import_end_reading(file->import, err,
				  file->rocm.tasks.count + file->rocm.calls.count, damage);
}

/* Decides after reading: the owner of copies, the process of calls, and the duplicates of kernels. */
static int settle(struct v1 *file)
{
	uint32_t kept = 0;
	int err = 0;

	for (uint32_t i = 0; i < file->rocm.tasks.count && !err; i++) {
		struct rocm_task task = file->rocm.tasks.row[i];

		if (file->origins.row[i] == FROM_COUNTERS && file->has_operations) {
			err = import_finding(file->import,
					     "kernels that are there twice: left out once",
					     model_text(file->import->model, task.name));
			continue;
		}
		if (file->origins.row[i] == FROM_NO_DEVICE)
			task.agent = file->several_devices || file->only_device == UINT64_MAX
					     ? 0
					     : file->only_device;
		if (file->origins.row[i] == FROM_NO_DEVICE && file->several_devices)
			err = import_finding(file->import,
					     "copies that do not tell whose they are: of device 0",
					     model_text(file->import->model, task.name));
		file->rocm.tasks.row[kept++] = task;
	}
	file->rocm.tasks.count = kept;
	for (uint32_t i = 0; i < file->rocm.calls.count; i++) {
		struct rocm_call *call = &file->rocm.calls.row[i];

		if (!call->pid && !file->several_pids)
			call->pid = file->only_pid;
		else if (!call->pid)
			call->correlation = 0; /* Index restarts at 0 in each process */
	}
	return err;
}

static int import(struct import *import)
{
	struct v1 file = { .import = import, .only_device = UINT64_MAX };
	int err;

	rocm_rows_begin(&file.rocm, import, "rocprof", PROFBPF__DEVICE_CLOCK__CLOCK_UNDECLARED);
	err = sqlite_file_is(import->path) ? read_database(&file) : read_trace(&file);
	if (!err)
		err = rocprof_arrows_join(&file.arrows, &file.rocm);
	if (!err)
		err = settle(&file);
	if (!err)
		err = rocm_finish(&file.rocm);
	rocm_rows_free(&file.rocm);
	rocprof_arrows_free(&file.arrows);
	free(file.origins.row);
	return err;
}

const struct importer import_rocprof_v1 = {
	.name = "rocprof",
	.what = "a trace of ROCm's older profiler (rocprof results.json, results.db)",
	.detect = detect,
	.import = import,
};

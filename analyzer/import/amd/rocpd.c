/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocpd, the SQLite database that rocprofv3 writes by default (PID_results.db).
 *
 * Table names have the run's GUID as a suffix ("rocpd_kernel_dispatch_<GUID>"); a merged database has several runs.
 * The views without the suffix are not used, because a file's views are not to be trusted. pid, tid and agent_id
 * are rows of rocpd_info_*. A dispatch and the call (rocpd_region) that made it have the same rocpd_event.stack_id.
 * Until schema 3 rows have "start" and "end"; since 4, rows of rocpd_timestamp and rocpd_track. Times are
 * nanoseconds of CLOCK_BOOTTIME. Layout: rocpd_tables.sql of rocprofiler-sdk.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/importer.h"
#include "analyzer/import/amd/rocm_rows.h"
#include "analyzer/import/readers/sqlite_column.h"
#include "analyzer/import/readers/sqlite_file.h"

#define DISPATCH "rocpd_kernel_dispatch"
#define REGION "rocpd_region"

struct rocpd {
	struct import *import;
	struct rocm_rows rocm;
	sqlite3 *db;
	uint64_t run; /* number of runs read so far: agents are numbered from 1 in each */
	MODEL_ARRAY(uint32_t) suffixes; /* strings */
};

static int on_found(void *context, sqlite3_stmt *row)
{
	*(bool *)context = true;
	return 1;
}

static bool is_known(sqlite3 *db)
{
	char error[128];
	bool found = false;

	sqlite_file_each(
		db,
		"SELECT 1 FROM sqlite_master WHERE type = 'table' AND (name GLOB '" DISPATCH
		"*' OR name GLOB '" REGION "*') LIMIT 1",
		on_found, &found, error, sizeof(error));
	return found;
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

static uint64_t column_number(sqlite3_stmt *row, int column)
{
	return (uint64_t)sqlite3_column_int64(row, column);
}

static uint64_t agent_key(const struct rocpd *file, sqlite3_stmt *row, int column)
{
	return file->run << 32 | (uint32_t)column_number(row, column);
}

static int on_suffix(void *context, sqlite3_stmt *row)
{
	struct rocpd *file = context;
	uint32_t suffix = model_string(file->import->model, column_text(row, 0));

	return suffix != INDEX_NONE && MODEL_PUSH(&file->suffixes, suffix) ? 0 : -ENOMEM;
}

/* Columns: id, type, number within its type, name. */
static int on_agent(void *context, sqlite3_stmt *row)
{
	struct rocpd *file = context;
	struct rocm_agent agent = { .number = UINT64_MAX,
				    .name = model_string(file->import->model, column_text(row, 3)),
				    .gpu = strcmp(column_text(row, 1), "GPU") == 0 };

	if (agent.name == INDEX_NONE)
		return -ENOMEM;
	if (sqlite3_column_type(row, 2) == SQLITE_INTEGER && sqlite3_column_int64(row, 2) >= 0)
		agent.number = column_number(row, 2);
	return rocm_agent(&file->rocm, agent_key(file, row, 0), &agent);
}

/* Columns: start, end, name, stack id, pid, tid, agent, queue, stream, then bytes, other agent of copies. */
static int on_task(struct rocpd *file, sqlite3_stmt *row, bool copy)
{
	const char *name = column_text(row, 2);
	struct rocm_task task = {
		.start_ns = (uint64_t)sqlite_column_instant(row, 0),
		.end_ns = (uint64_t)sqlite_column_instant(row, 1),
		.name = model_string(file->import->model, *name ? name : "unnamed"),
		.correlation = column_number(row, 3),
		.pid = (uint32_t)column_number(row, 4),
		.tid = column_number(row, 5),
		.agent = agent_key(file, row, 6),
		.queue = copy ? UINT32_MAX : column_number(row, 7),
		.stream = column_number(row, 8),
		.kind = copy ? PROFBPF__DEVICE_TASKS__KIND__COPY : rocm_kernel_kind(name),
	};

	if (task.name == INDEX_NONE)
		return -ENOMEM;
	if (copy) {
		task.bytes = column_number(row, 9);
		if (rocm_is_cpu(&file->rocm, task.agent) ||
		    sqlite3_column_type(row, 6) == SQLITE_NULL)
			task.agent = agent_key(file, row, 10);
	}
	return rocm_task(&file->rocm, &task);
}

static int on_kernel(void *context, sqlite3_stmt *row)
{
	return on_task(context, row, false);
}

static int on_copy(void *context, sqlite3_stmt *row)
{
	return on_task(context, row, true);
}

/* Columns: start, end, level, stack id, pid, tid, agent, queue, type, address, size. */
static int on_memory(void *context, sqlite3_stmt *row)
{
	struct rocpd *file = context;
	const char *type = column_text(row, 8);
	struct rocm_memory memory = { .start_ns = (uint64_t)sqlite_column_instant(row, 0),
				      .end_ns = (uint64_t)sqlite_column_instant(row, 1),
				      .level = model_string(file->import->model, column_text(row, 2)),
				      .pid = (uint32_t)column_number(row, 4),
				      .agent = agent_key(file, row, 6),
				      .place = column_number(row, 9),
				      .bytes = column_number(row, 10),
				      .release = strcmp(type, "ALLOC") != 0 };

	if (memory.level == INDEX_NONE)
		return -ENOMEM;
	if (strcmp(type, "ALLOC") != 0 && strcmp(type, "FREE") != 0 && strcmp(type, "RECLAIM") != 0)
		return import_finding(file->import, "memory operations of no known sort: a newer profiler "
						    "may have written them; the others count", type);
	memory.scratch = strcmp(column_text(row, 2), "SCRATCH") == 0;
	if (memory.scratch)
		memory.place = column_number(row, 7);
	return rocm_memory(&file->rocm, &memory);
}

/* Columns: start, end, name, stack id, pid, tid. */
static int on_region(void *context, sqlite3_stmt *row)
{
	struct rocpd *file = context;
	const char *name = column_text(row, 2);
	const char *runtime = strncmp(name, "hsa_", 4) == 0 ? "hsa"
			      : is_communication_name(name) ? "rccl"
							    : "hip";
	struct rocm_call call = { .start_ns = (uint64_t)sqlite_column_instant(row, 0),
				  .end_ns = (uint64_t)sqlite_column_instant(row, 1),
				  .name = model_string(file->import->model, name),
				  .correlation = column_number(row, 3),
				  .pid = (uint32_t)column_number(row, 4),
				  .tid = column_number(row, 5),
				  .runtime = model_string(file->import->model, runtime) };

	if (call.name == INDEX_NONE || call.runtime == INDEX_NONE)
		return -ENOMEM;
	/* The program's own ranges are also regions. */
	if (strncmp(name, "hip", 3) != 0 && strcmp(runtime, "hip") == 0)
		return 0;
	return rocm_call(&file->rocm, &call);
}

static bool has(const struct rocpd *file, const char *table, const char *suffix, const char *column)
{
	char name[256];

	snprintf(name, sizeof(name), "%s%s", table, suffix);
	return sqlite_file_has(file->db, name, column);
}

/* Runs @query after replacing each @ by the run's suffix. */
static int each(struct rocpd *file, const char *query, const char *suffix,
		int (*row)(void *, sqlite3_stmt *))
{
	sqlite3_str *text = sqlite3_str_new(NULL);
	char *whole;
	int err = -ENOMEM;

	while (*query) {
		size_t plain = strcspn(query, "@");

		sqlite3_str_append(text, query, (int)plain);
		query += plain;
		if (*query) {
			sqlite3_str_appendall(text, suffix);
			query++;
		}
	}
	whole = sqlite3_str_finish(text);
	if (whole)
		err = sqlite_file_read(file->import, file->db, whole, row, file);
	sqlite3_free(whole);
	return err;
}

static int read_agents(struct rocpd *file, const char *suffix)
{
	if (!has(file, "rocpd_info_agent", suffix, "type_index"))
		return 0;
	return each(
		file,
		has(file, "rocpd_info_agent", suffix, "product_name")
			? "SELECT id, type, type_index, coalesce(nullif(product_name, ''), name)"
			  " FROM \"rocpd_info_agent@\" ORDER BY id"
			: "SELECT id, type, type_index, name FROM \"rocpd_info_agent@\" "
			  "ORDER BY id",
		suffix, on_agent);
}

/* The columns of intervals up to schema 3, and since 4. */
#define TIMES_3 "SELECT d.start, d.\"end\", "
#define TIMES_4 "SELECT s.value, f.value, "
#define JOINS_3 JOINS("d")
#define JOINS_4                                                                                \
	" JOIN " ONCE("rocpd_timestamp",                                                       \
		      "value") " s ON s.id = d.start_id"                                       \
			       " JOIN " ONCE("rocpd_timestamp",                                \
					     "value") " f ON f.id = d.end_id"                  \
						      " LEFT JOIN " ONCE(                      \
							      "rocpd_track",                   \
							      "pid, tid, agent_id, queue_id, " \
							      "stream_id") " t ON t.id = "     \
									   "d.track_id" JOINS("t")
#define JOINS(place)                                                               \
	" LEFT JOIN " ONCE("rocpd_event",                                          \
			   "stack_id") " e ON e.id = d.event_id"                   \
				       " LEFT JOIN " ONCE(                         \
					       "rocpd_info_process",               \
					       "pid") " p ON p.id = " place ".pid" \
						      " LEFT JOIN " ONCE(          \
							      "rocpd_info_thread", \
							      "tid") " h ON h.id = " place ".tid"
/* Ids are unique in valid files. In others each join would multiply the rows, to more than can be read. */
#define ONCE(table, columns) "(SELECT id, " columns " FROM \"" table "@\" GROUP BY id)"
#define WHO(place) ", e.stack_id, coalesce(p.pid, " place ".pid), coalesce(h.tid, " place ".tid)"

#define KERNELS(version, place)                                           \
	TIMES_##version "k.display_name" WHO(                             \
		place) ", " place ".agent_id, " place ".queue_id, " place \
		       ".stream_id FROM \"rocpd_kernel_dispatch@\" d"     \
		       " LEFT JOIN " ONCE(                                \
			       "rocpd_info_kernel_symbol",                \
			       "display_name") " k ON k.id = d.kernel_id" JOINS_##version
#define COPIES(version, place)                                                            \
	TIMES_##version "n.string" WHO(                                                   \
		place) ", d.dst_agent_id, " place ".queue_id, " place                     \
		       ".stream_id, d.size, d.src_agent_id FROM \"rocpd_memory_copy@\" d" \
		       " LEFT JOIN " ONCE("rocpd_string",                                 \
					  "string") " n ON n.id = d.name_id" JOINS_##version
#define ALLOCATIONS(version, place) \
	TIMES_##version "d.level" WHO( \
		place) ", " place ".agent_id, " place ".queue_id, d.type, d.address, d.size" \
		       " FROM \"rocpd_memory_allocate@\" d" JOINS_##version
#define REGIONS(version, place)                           \
	TIMES_##version "n.string" WHO(                   \
		place) " FROM \"rocpd_region@\" d"        \
		       " LEFT JOIN " ONCE("rocpd_string", \
					  "string") " n ON n.id = d.name_id" JOINS_##version

static int read_run(struct rocpd *file, const char *suffix)
{
	static const struct {
		const char *table;
		const char *query_3;
		const char *query_4;
		int (*row)(void *, sqlite3_stmt *);
	} TABLES[] = {
		{ DISPATCH, KERNELS(3, "d"), KERNELS(4, "t"), on_kernel },
		{ "rocpd_memory_copy", COPIES(3, "d"), COPIES(4, "t"), on_copy },
		{ "rocpd_memory_allocate", ALLOCATIONS(3, "d"), ALLOCATIONS(4, "t"), on_memory },
		{ REGION, REGIONS(3, "d"), REGIONS(4, "t"), on_region },
	};
	int err = read_agents(file, suffix);

	for (size_t i = 0; i < sizeof(TABLES) / sizeof(TABLES[0]) && !err; i++) {
		if (!has(file, TABLES[i].table, suffix, "event_id"))
			continue;
		err = each(file,
			   has(file, TABLES[i].table, suffix, "start_id") ? TABLES[i].query_4
									  : TABLES[i].query_3,
			   suffix, TABLES[i].row);
	}
	return err;
}

/* Checks the suffix, which becomes part of queries. */
static bool is_plain(const char *suffix)
{
	return !suffix[strspn(suffix, "0123456789abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-")];
}

static int read_runs(struct rocpd *file)
{
	struct model *model = file->import->model;
	int err = each(
		file,
		"SELECT substr(name, length('" REGION "') + 1) FROM sqlite_master WHERE type"
		" = 'table' AND name GLOB '" REGION "*' UNION SELECT substr(name, length('" DISPATCH
		"') + 1) FROM sqlite_master WHERE type = 'table' AND name GLOB '" DISPATCH "*'",
		"", on_suffix);

	for (uint32_t i = 0; i < file->suffixes.count && !err; i++) {
		const char *suffix = model_text(model, file->suffixes.row[i]);

		file->run = i;
		err = is_plain(suffix) ? read_run(file, suffix)
				       : import_finding(file->import,
							"tables of a name that no run has", suffix);
	}
	return err;
}

static int import(struct import *import)
{
	struct rocpd file = { .import = import };
	int err = sqlite_file_open(import, &file.db);

	rocm_rows_begin(&file.rocm, import, "rocpd", PROFBPF__DEVICE_CLOCK__CLOCK_BOOTTIME);
	if (!err)
		err = read_runs(&file);
	if (!err)
		err = rocm_finish(&file.rocm);
	rocm_rows_free(&file.rocm);
	free(file.suffixes.row);
	sqlite3_close(file.db);
	return err;
}

const struct importer import_rocpd = {
	.name = "rocpd",
	.what = "a rocpd database (rocprofv3)",
	.detect = detect,
	.import = import,
};

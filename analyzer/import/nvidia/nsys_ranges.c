/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/nvidia/nsys_ranges.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/import/readers/sqlite_column.h"
#include "analyzer/import/readers/sqlite_file.h"
#include "analyzer/model/step_names.h"

#define CLOCK PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME
#define NVTX "NVTX_EVENTS"

/* ENUM_NSYS_EVENT_TYPE of NVTX_EVENTS */
enum { NVTX_PUSH_POP = 59, NVTX_START_END = 60, NVTX_DOMAIN = 75 };

struct reading {
	const struct nsys_file *file;
	struct map domains; /* number (with process) -> string */
	const char *runtime; /* runtime of the current calls */
};

static int each(const struct reading *reading, const char *query,
		int (*row)(void *, sqlite3_stmt *))
{
	return sqlite_file_read(reading->file->rows->import, reading->file->db, query, row,
				(void *)reading);
}

static const char *column_or(const struct reading *reading, const char *table, const char *column,
			     const char *absent)
{
	return sqlite_file_has(reading->file->db, table, column) ? column : absent;
}

static bool instants(const struct nsys_file *file, sqlite3_stmt *row, uint64_t *from, uint64_t *to)
{
	return import_instants(sqlite_column_instant(row, 0), sqlite_column_instant(row, 1),
			       file->epoch_ns, from, to);
}

/* The text in a column, or the string whose number is in the next column. */
static const char *text_at(const struct nsys_file *file, sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);
	uint32_t string;

	if (text && *text)
		return text;
	if (sqlite3_column_type(row, column + 1) == SQLITE_NULL)
		return "";
	string = map_get(file->strings, (uint64_t)sqlite3_column_int64(row, column + 1));
	return string == MAP_NONE ? "" : model_text(file->rows->import->model, string);
}

static uint32_t pid_of(uint64_t global)
{
	return (uint32_t)(global >> 24 & 0xffffff);
}

static uint64_t domain_key(uint64_t domain, uint64_t global)
{
	return domain << 32 | pid_of(global);
}

/* Columns: start, end, globalTid, text, textId, domainId. */
static int on_domain(void *context, sqlite3_stmt *row)
{
	struct reading *reading = context;
	const struct nsys_file *file = reading->file;
	uint64_t key = domain_key((uint64_t)sqlite3_column_int64(row, 5),
				  (uint64_t)sqlite3_column_int64(row, 2));
	uint32_t name = model_string(file->rows->import->model, text_at(file, row, 3));

	return name != INDEX_NONE && map_put(&reading->domains, key, name) ? 0 : -ENOMEM;
}

/* Columns: as those of on_domain(). */
static int on_range(void *context, sqlite3_stmt *row)
{
	struct reading *reading = context;
	const struct nsys_file *file = reading->file;
	struct model *model = file->rows->import->model;
	uint64_t global = (uint64_t)sqlite3_column_int64(row, 2), start_ns, end_ns, number;
	uint32_t domain = map_get(&reading->domains,
				  domain_key((uint64_t)sqlite3_column_int64(row, 5), global));
	const char *text = text_at(file, row, 3);
	char name[1024];

	if (sqlite3_column_type(row, 1) == SQLITE_NULL || !instants(file, row, &start_ns, &end_ns))
		return import_finding(file->rows->import, "ranges without a usable end: the recording ended "
							  "in them, or they end before they begin", text);
	/* A step's name marks a step in any domain. */
	if (domain == MAP_NONE || !*model_text(model, domain) || step_name_of(text, &number))
		snprintf(name, sizeof(name), "%s", text);
	else
		snprintf(name, sizeof(name), "%.256s:%s", model_text(model, domain), text);
	return import_scope(file->rows,
			    import_thread(file->rows, pid_of(global), global & 0xffffff, start_ns),
			    name, scope_of_range(text), start_ns, end_ns);
}

static int read_nvtx(struct reading *reading)
{
	const struct nsys_file *file = reading->file;
	char query[512];
	const char *text = column_or(reading, NVTX, "text", "NULL");
	const char *id = column_or(reading, NVTX, "textId", "NULL");
	const char *domain = column_or(reading, NVTX, "domainId", "0");
	bool typed = sqlite_file_has(file->db, NVTX, "eventType");
	int err = 0;

	if (!sqlite_file_has(file->db, NVTX, "globalTid"))
		return 0;
	if (typed) {
		snprintf(query, sizeof(query),
			 "SELECT start, end, globalTid, %s, %s, %s FROM " NVTX
			 " WHERE eventType = %d",
			 text, id, domain, NVTX_DOMAIN);
		err = each(reading, query, on_domain);
	}
	snprintf(query, sizeof(query),
		 "SELECT start, end, globalTid, %s, %s, %s FROM " NVTX " WHERE %s IN (%d, %d)"
		 " ORDER BY start, end DESC",
		 text, id, domain, typed ? "eventType" : "59", NVTX_PUSH_POP, NVTX_START_END);
	return err ? err : each(reading, query, on_range);
}

/* Columns: start, end, globalTid, NULL, nameId. */
static int on_call(void *context, sqlite3_stmt *row)
{
	struct reading *reading = context;
	const struct nsys_file *file = reading->file;
	uint64_t global = (uint64_t)sqlite3_column_int64(row, 2);
	const char *name = text_at(file, row, 3);
	struct call call = { .task = INDEX_NONE };

	if (!instants(file, row, &call.start_ns, &call.end_ns))
		return import_finding(file->rows->import, "library calls outside of any time: they end "
							  "before they begin, or begin before the file's "
							  "clock does",
				      name);
	call.function = import_function(file->rows, reading->runtime, *name ? name : "unnamed",
					PROFBPF__FUNCTION__KIND__OTHER);
	call.thread = import_thread(file->rows, pid_of(global), global & 0xffffff, call.start_ns);
	if (call.function == INDEX_NONE || call.thread == INDEX_NONE ||
	    !MODEL_PUSH(&file->rows->import->model->calls, call))
		return -ENOMEM;
	return 0;
}

static const struct {
	const char *table;
	const char *runtime;
} LIBRARIES[] = {
	{ "MPI_COLLECTIVES_EVENTS", "mpi" },
	{ "MPI_P2P_EVENTS", "mpi" },
	{ "MPI_START_WAIT_EVENTS", "mpi" },
	{ "MPI_OTHER_EVENTS", "mpi" },
	{ "UCP_EVENTS", "ucx" },
	{ "CUBLAS_EVENTS", "cublas" },
	{ "CUDNN_EVENTS", "cudnn" },
	{ "CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH", "openacc" },
	{ "CUPTI_ACTIVITY_KIND_OPENACC_DATA", "openacc" },
	{ "CUPTI_ACTIVITY_KIND_OPENACC_OTHER", "openacc" },
	{ "OPENMP_EVENT_KIND_TASK", "openmp" },
	{ "OPENMP_EVENT_KIND_SYNC_WAIT", "openmp" },
};

int nsys_ranges_read(const struct nsys_file *file)
{
	struct reading reading = { .file = file };
	char query[256];
	int err = read_nvtx(&reading);

	for (size_t i = 0; i < sizeof(LIBRARIES) / sizeof(*LIBRARIES) && !err; i++) {
		const char *table = LIBRARIES[i].table, *name = "nameId";

		if (!sqlite_file_has(file->db, table, "globalTid") ||
		    !sqlite_file_has(file->db, table, "end"))
			continue;
		if (!sqlite_file_has(file->db, table, name))
			name = column_or(&reading, table, "textId", "NULL");
		snprintf(query, sizeof(query),
			 "SELECT start, end, globalTid, NULL, %s FROM %s ORDER BY start, end DESC",
			 name, table);
		reading.runtime = LIBRARIES[i].runtime;
		err = each(&reading, query, on_call);
	}
	map_free(&reading.domains);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/import/device_facts.h"
#include "analyzer/import/nvidia/nsys_ranges.h"
#include "analyzer/import/readers/sqlite_file.h"

#define DIAGNOSTICS "DIAGNOSTIC_EVENT"
#define METRICS "GPU_METRICS"
#define METRIC_NAMES "TARGET_INFO_GPU_METRICS"
#define CPU_FAULTS "CUDA_UM_CPU_PAGE_FAULT_EVENTS"
#define GPU_FAULTS "CUDA_UM_GPU_PAGE_FAULT_EVENTS"

static int each(const struct nsys_file *file, const char *query,
		int (*row)(void *, sqlite3_stmt *))
{
	return sqlite_file_read(file->rows->import, file->db, query, row, (void *)file);
}

static const char *column_text(sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text ? text : "";
}

/* "SMs Active [Throughput %]": the name contains the unit. */
static const char *unit_of(const char *name)
{
	const char *percent = strchr(name, '%');

	return percent && strchr(name, '[') && percent > strchr(name, '[') ? "%" : "";
}

/* Columns: GPU, name, mean, maximum. GPU numbers are the machine's, as are those of devices. */
static int on_metric(void *context, sqlite3_stmt *row)
{
	const struct nsys_file *file = context;
	struct import *import = file->rows->import;
	uint32_t device = nsys_gpu_row(file->gpus, (uint64_t)sqlite3_column_int64(row, 0), 0);
	const char *metric = column_text(row, 1);
	char name[512];
	int err;

	if (device == INDEX_NONE)
		return -ENOMEM;
	snprintf(name, sizeof(name), "%.480s, mean", metric);
	err = device_fact_number(import, device, "metrics", name, unit_of(metric),
				 sqlite3_column_double(row, 2));
	snprintf(name, sizeof(name), "%.480s, maximum", metric);
	return err ? err
		   : device_fact_number(import, device, "metrics", name, unit_of(metric),
					sqlite3_column_double(row, 3));
}

/* Columns: device, process, groups of faults, faults, nanoseconds. */
static int on_gpu_faults(void *context, sqlite3_stmt *row)
{
	static const struct {
		const char *name;
		const char *unit;
	} FACTS[] = { { "fault groups", "" }, { "page faults", "" }, { "time in fault groups", "ns" } };
	const struct nsys_file *file = context;
	uint64_t global = (uint64_t)sqlite3_column_int64(row, 1);
	uint32_t device = nsys_gpu_row(file->gpus, (uint64_t)sqlite3_column_int64(row, 0),
				       (uint32_t)(global >> 24 & 0xffffff));
	int err = device == INDEX_NONE ? -ENOMEM : 0;

	for (int i = 0; i < 3 && !err; i++)
		err = device_fact_number(file->rows->import, device, "unified memory",
					 FACTS[i].name, FACTS[i].unit,
					 sqlite3_column_double(row, 2 + i));
	return err;
}

/* Column: faults. */
static int on_cpu_faults(void *context, sqlite3_stmt *row)
{
	const struct nsys_file *file = context;

	return device_fact_number(file->rows->import, INDEX_NONE, "unified memory",
				  "page faults of CPUs", "", sqlite3_column_double(row, 0));
}

/* Is the table read by an importer, or of no use: names, settings, data that other tables have? */
static bool is_read(const char *table)
{
	static const char *const STARTS[] = {
		"ENUM_",   "TARGET_INFO_",     "META_DATA_",	"ANALYSIS_",
		"sqlite_", "EXPORT_",	       "PROFILER_OVERHEAD", "OSRT_CALLCHAINS",
		"CUDA_CALLCHAINS", "PROCESSES", "ThreadNames",	"StringIds",
		"MPI_RANKS", "MPI_COMMUNICATORS", "ProcessStreams", DIAGNOSTICS, "NVTX_", "SCHED_EVENTS", "OSRT_API",
		"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
		"CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_RUNTIME",
		"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_OPENACC",
		"CUDA_GPU_MEMORY_USAGE_EVENTS", METRICS, CPU_FAULTS, GPU_FAULTS,
		"MPI_COLLECTIVES_EVENTS", "MPI_P2P_EVENTS", "MPI_START_WAIT_EVENTS",
		"MPI_OTHER_EVENTS", "UCP_EVENTS", "CUBLAS_EVENTS", "CUDNN_EVENTS",
		"OPENMP_EVENT_KIND_TASK", "OPENMP_EVENT_KIND_SYNC_WAIT", "CUDA_GRAPH_NODE_EVENTS",
	};

	for (size_t i = 0; i < sizeof(STARTS) / sizeof(*STARTS); i++)
		if (strncmp(table, STARTS[i], strlen(STARTS[i])) == 0)
			return true;
	return false;
}

/* Column: name. */
static int on_table(void *context, sqlite3_stmt *row)
{
	const struct nsys_file *file = context;
	const char *table = column_text(row, 0);
	char query[256];
	sqlite3_stmt *any;
	bool filled = false;

	if (is_read(table) || strlen(table) > 128 || strchr(table, '"'))
		return 0;
	snprintf(query, sizeof(query), "SELECT 1 FROM \"%s\" LIMIT 1", table);
	if (sqlite3_prepare_v2(file->db, query, -1, &any, NULL) == SQLITE_OK) {
		filled = sqlite3_step(any) == SQLITE_ROW;
		sqlite3_finalize(any);
	}
	snprintf(query, sizeof(query), "not taken: the table %s", table);
	return filled ? import_finding(file->rows->import, query, NULL) : 0;
}

/* Column: text. */
static int on_warning(void *context, sqlite3_stmt *row)
{
	const struct nsys_file *file = context;
	char words[512];

	snprintf(words, sizeof(words), "Nsight Systems: %s", column_text(row, 0));
	for (char *at = words; *at; at++)
		*at = (unsigned char)*at < ' ' ? ' ' : *at;
	return import_finding(file->rows->import, words, NULL);
}

/*
 * Reports the profiler's own warnings about missing data: ENUM_DIAGNOSTIC_SEVERITY_LEVEL 2 is a warning, 3 an
 * error.
 */
static int tell_warnings(const struct nsys_file *file)
{
	if (!sqlite_file_has(file->db, DIAGNOSTICS, "severity") ||
	    !sqlite_file_has(file->db, DIAGNOSTICS, "text"))
		return 0;
	return each(file,
		    "SELECT text FROM " DIAGNOSTICS " WHERE severity IN (2, 3)"
		    " AND text NOT LIKE 'No % events collected%'"
		    " GROUP BY text ORDER BY severity DESC, min(rowid) LIMIT 20",
		    on_warning);
}

int nsys_facts_read(const struct nsys_file *file)
{
	int err = tell_warnings(file);

	if (!err && sqlite_file_has(file->db, METRICS, "metricId") &&
	    sqlite_file_has(file->db, METRIC_NAMES, "metricName"))
		err = each(file,
			   "SELECT m.typeId & 255, n.metricName, avg(m.value), max(m.value)"
			   " FROM " METRICS " m JOIN (SELECT DISTINCT typeId, metricId, metricName"
			   " FROM " METRIC_NAMES ") n USING (typeId, metricId)"
			   " GROUP BY m.typeId & 255, n.metricId ORDER BY 1, n.metricId",
			   on_metric);
	if (!err && sqlite_file_has(file->db, GPU_FAULTS, "numberOfPageFaults") &&
	    sqlite_file_has(file->db, GPU_FAULTS, "globalPid"))
		err = each(file,
			   "SELECT deviceId, globalPid, count(*), sum(numberOfPageFaults),"
			   " sum(end - start) FROM " GPU_FAULTS
			   " GROUP BY deviceId, globalPid ORDER BY deviceId, globalPid",
			   on_gpu_faults);
	if (!err && sqlite_file_has(file->db, CPU_FAULTS, NULL))
		err = each(file, "SELECT count(*) FROM " CPU_FAULTS " HAVING count(*) > 0",
			   on_cpu_faults);
	if (!err)
		err = each(file, "SELECT name FROM sqlite_master WHERE type = 'table'", on_table);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that torch_npu adds to msprof's database: its steps, and the memory of its allocators. */
#include <errno.h>
#include <string.h>

#include "analyzer/import/ascend/ascend_db.h"
#include "analyzer/import/pipeline_stage.h"
#include "analyzer/import/readers/json_file.h"
#include "analyzer/import/readers/sqlite_column.h"

/* The instant in CLOCK_MONOTONIC, or in the file's own clock; 0 = unknown. */
static uint64_t instant_of(const struct database *file, sqlite3_stmt *row, int column)
{
	uint64_t ns = ascend_db_instant(file, row, column);

	return ns ? import_host_time(&file->rows, ascend_db_clock(file), ns) : 0;
}

/* Columns: startNs, endNs, id. */
int ascend_db_step(void *context, sqlite3_stmt *row)
{
	struct database *file = context;
	struct step_mark mark = { .start_ns = instant_of(file, row, 0),
				  .end_ns = instant_of(file, row, 1),
				  .process = INDEX_NONE,
				  .device = INDEX_NONE };
	int64_t number = sqlite_column_instant(row, 2);

	if (!mark.start_ns || mark.end_ns < mark.start_ns)
		return import_finding(file->import, "steps without usable times: an end is missing or before "
						    "the start, as in steps that a recording cuts", NULL);
	if (number < 0)
		return import_finding(file->import, "steps without a number", NULL);
	mark.number = (uint64_t)number;
	return MODEL_PUSH(&file->import->model->step_marks, mark) ? 0 : -ENOMEM;
}

static bool bytes_of(sqlite3_stmt *row, int column, uint64_t *bytes)
{
	int64_t value = sqlite3_column_int64(row, column);

	if (sqlite3_column_type(row, column) == SQLITE_NULL || value < 0)
		return false;
	*bytes = (uint64_t)value;
	return true;
}

/* Columns: timestamp, component, totalAllocated, totalReserved, deviceId. Sizes are bytes. */
int ascend_db_memory(void *context, sqlite3_stmt *row)
{
	struct database *file = context;
	int64_t device = sqlite3_column_int64(row, 4);
	struct memory_record record = { .ts_ns = instant_of(file, row, 0),
					.component = ascend_db_text(file, row, 1),
					.device = device > 0 && device < INDEX_NONE
							  ? (uint32_t)device
							  : 0,
					.process = INDEX_NONE,
					.file = file->import->file };

	if (record.component == INDEX_NONE)
		return -ENOMEM;
	if (bytes_of(row, 2, &record.allocated))
		record.flags |= MODEL_MEMORY_ALLOCATED;
	if (bytes_of(row, 3, &record.reserved))
		record.flags |= MODEL_MEMORY_RESERVED;
	if (!record.ts_ns)
		return import_finding(file->import, "memory records outside of any time: they end before "
						    "they begin, or begin before the file's clock does", NULL);
	return MODEL_PUSH(&file->import->model->memory_records, record) ? 0 : -ENOMEM;
}

/* Columns: name, value. Tables of ranks and devices are read before. */
int ascend_db_meta(void *context, sqlite3_stmt *row)
{
	struct database *file = context;
	const char *name = (const char *)sqlite3_column_text(row, 0);
	const char *value = (const char *)sqlite3_column_text(row, 1);
	char ignored[256];
	yajl_val tree;

	if (!name || !value || strcmp(name, "parallel_group_info") != 0)
		return 0;
	tree = json_text_tree(value, ignored, sizeof(ignored));
	pipeline_stages_of_groups(file->import->model, tree, file->first_device);
	yajl_tree_free(tree);
	return 0;
}

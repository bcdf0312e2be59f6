/* SPDX-License-Identifier: Apache-2.0 */
/* Every table as a Parquet file. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "analyzer/export/tables/parquet_file.h"
#include "analyzer/export/tables/table_files.h"

static int write_table(const struct data_table *table, const struct table_data *data,
		       const char *folder)
{
	struct cell cells[TABLE_COLUMNS_MAX];
	struct parquet_file *file = NULL;
	struct table_cursor at;
	char path[PATH_MAX];
	int err, closed;

	if (snprintf(path, sizeof(path), "%s/%s.parquet", folder, table->name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	err = parquet_open(&file, path, table, NULL);
	for (table_begin(&at, data); !err && table->next(&at);) {
		table->cells(&at, UINT64_MAX, cells);
		err = parquet_row(file, cells);
	}
	closed = file ? parquet_close(file) : 0;
	return err ? err : closed;
}

static int write_parquet(const struct model *model, const struct results *results, const char *path,
			 const struct export_options *options, char *error, size_t error_size)
{
	return write_table_files(write_table, model, results, path, options, error, error_size);
}

const struct exporter export_parquet = { .folder = true, .write = write_parquet };

/* SPDX-License-Identifier: Apache-2.0 */
/* Every table as a Parquet file. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "analyzer/store/schema.h"
#include "analyzer/write/export_error.h"
#include "analyzer/write/tables/parquet_file.h"
#include "analyzer/write/tables/tables.h"

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
	err = parquet_open(&file, path, table);
	for (table_begin(&at, data); !err && table->next(&at);) {
		table->cells(&at, UINT64_MAX, cells);
		err = parquet_row(file, cells);
	}
	closed = file ? parquet_close(file) : 0;
	return err ? err : closed;
}

int write_parquet(const struct model *model, const struct results *results, const char *path,
		  const struct export_options *options, char *error, size_t error_size)
{
	struct table_data data;
	size_t count;
	const struct data_table *const *tables = tables_all(&count);
	int err = table_data_init(&data, model, results, options);

	for (size_t i = 0; i < count && !err; i++)
		err = write_table(tables[i], &data, path);
	table_data_free(&data);
	if (err)
		export_explain(err, path, error, error_size);
	return err;
}

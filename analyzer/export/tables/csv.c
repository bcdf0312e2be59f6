/* SPDX-License-Identifier: Apache-2.0 */
/* Every table as a CSV file. */
#include <inttypes.h>

#include "analyzer/view/render/csv_file.h"
#include "analyzer/export/tables/table_files.h"

static void write_header(struct csv_file *file, const struct data_table *table)
{
	for (unsigned int i = 0; i < table->column_count; i++)
		csv_text(file, table->columns[i].name);
	csv_end_row(file);
}

static void write_cell(struct csv_file *file, const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_UNSIGNED: csv_format(file, "%" PRIu64, cell->number); break;
	case CELL_SIGNED: csv_format(file, "%" PRId64, cell->negative); break;
	case CELL_REAL: csv_format(file, "%.6g", cell->real); break;
	case CELL_TEXT: csv_text(file, cell->text); break;
	default: csv_text(file, NULL);
	}
}

static int write_table(const struct data_table *table, const struct table_data *data,
		       const char *folder)
{
	struct cell cells[TABLE_COLUMNS_MAX];
	struct table_cursor at;
	struct csv_file file;
	char name[64];
	int err;

	snprintf(name, sizeof(name), "%s.csv", table->name);
	err = csv_open(&file, folder, name, NULL);
	if (err)
		return err;
	write_header(&file, table);
	for (table_begin(&at, data); !file.err && table->next(&at);) {
		table->cells(&at, UINT64_MAX, cells);
		for (unsigned int i = 0; i < table->column_count; i++)
			write_cell(&file, &cells[i]);
		csv_end_row(&file);
	}
	return csv_close(&file);
}

static int write_csv(const struct model *model, const struct results *results, const char *path,
		     const struct export_options *options, char *error, size_t error_size)
{
	return write_table_files(write_table, model, results, path, options, error, error_size);
}

const struct exporter export_csv = { .folder = true, .write = write_csv };

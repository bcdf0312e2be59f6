/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every table as a CSV file. If a row names a device, the device's rank is added at the end ("rank", "straggler_rank"),
 * because device numbers are valid only within this export, and spreadsheets do not join.
 */
#include <inttypes.h>
#include <string.h>

#include "analyzer/view/render/csv_file.h"
#include "analyzer/export/tables/table_files.h"
#include "analyzer/store/all_tables.h"

/* Columns that name a device whose rank is in no other column. */
struct rank_columns {
	unsigned int of[TABLE_COLUMNS_MAX];
	unsigned int count;
};

static const char *rank_name(const struct column *column, char *into, size_t size)
{
	if (strcmp(column->name, "device") == 0)
		return "rank";
	snprintf(into, size, "%s_rank", column->name);
	return into;
}

static struct rank_columns rank_columns_of(const struct data_table *table)
{
	struct rank_columns ranks = { .count = 0 };
	char name[64];

	for (unsigned int i = 0; i < table->column_count; i++) {
		const struct data_table *to = column_refers_to(&table->columns[i]);
		bool there = !to || strcmp(to->name, "devices") != 0;

		for (unsigned int k = 0; k < table->column_count && !there; k++)
			there = strcmp(table->columns[k].name,
				       rank_name(&table->columns[i], name, sizeof(name))) == 0;
		if (!there)
			ranks.of[ranks.count++] = i;
	}
	return ranks;
}

static void write_header(struct csv_file *file, const struct data_table *table,
			 const struct rank_columns *ranks)
{
	char name[64];

	for (unsigned int i = 0; i < table->column_count; i++)
		csv_text(file, table->columns[i].name);
	for (unsigned int i = 0; i < ranks->count; i++)
		csv_text(file, rank_name(&table->columns[ranks->of[i]], name, sizeof(name)));
	csv_end_row(file);
}

static struct cell rank_of(const struct model *model, const struct cell *device)
{
	struct cell rank = { .kind = CELL_NULL };

	if (device->kind == CELL_UNSIGNED && device->number < model->devices.count &&
	    model->devices.row[device->number].has_rank)
		rank = (struct cell){ .kind = CELL_UNSIGNED,
				      .number = model->devices.row[device->number].rank };
	return rank;
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
	const struct rank_columns ranks = rank_columns_of(table);
	struct cell cells[TABLE_COLUMNS_MAX];
	struct table_cursor at;
	struct csv_file file;
	char name[64];
	int err;

	snprintf(name, sizeof(name), "%s.csv", table->name);
	err = csv_open(&file, folder, name, NULL);
	if (err)
		return err;
	write_header(&file, table, &ranks);
	for (table_begin(&at, data); !file.err && table->next(&at);) {
		table->cells(&at, UINT64_MAX, cells);
		for (unsigned int i = 0; i < table->column_count; i++)
			write_cell(&file, &cells[i]);
		for (unsigned int i = 0; i < ranks.count; i++) {
			struct cell rank = rank_of(data->model, &cells[ranks.of[i]]);

			write_cell(&file, &rank);
		}
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Every table as a CSV file. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyzer/write/csv_file.h"
#include "analyzer/write/export_error.h"
#include "analyzer/write/tables/tables.h"

struct csv_rows {
	struct rows rows; /* first: the functions below get it */
	const char *folder;
	struct csv_file file;
};

/* "name TEXT, count INTEGER" to name,count */
static void write_header(struct csv_file *file, const char *columns)
{
	while (*columns) {
		size_t length = strcspn(columns, " ");

		csv_format(file, "%.*s", (int)length, columns);
		columns += strcspn(columns, ",");
		columns += strspn(columns, ", ");
	}
	csv_end_row(file);
}

static int begin_table(struct rows *rows, const char *name, const char *columns)
{
	struct csv_rows *csv = (struct csv_rows *)rows;
	char file[64];
	int err;

	snprintf(file, sizeof(file), "%s.csv", name);
	err = csv_open(&csv->file, csv->folder, file, NULL);
	if (!err)
		write_header(&csv->file, columns);
	return err;
}

static int end_row(struct rows *rows)
{
	struct csv_rows *csv = (struct csv_rows *)rows;

	for (unsigned int i = 0; i < rows->cell_count; i++) {
		const struct cell *cell = &rows->cells[i];

		switch (cell->kind) {
		case CELL_UNSIGNED: csv_format(&csv->file, "%" PRIu64, cell->number); break;
		case CELL_SIGNED: csv_format(&csv->file, "%" PRId64, cell->negative); break;
		case CELL_REAL: csv_format(&csv->file, "%.6g", cell->real); break;
		case CELL_TEXT: csv_text(&csv->file, cell->text); break;
		default: csv_text(&csv->file, NULL);
		}
	}
	csv_end_row(&csv->file);
	return csv->file.err;
}

static int end_table(struct rows *rows)
{
	return csv_close(&((struct csv_rows *)rows)->file);
}

int write_csv(const struct model *model, const struct results *results, const char *path,
	      const struct export_options *options, char *error, size_t error_size)
{
	struct csv_rows csv = {
		.rows = { .begin_table = begin_table, .end_row = end_row, .end_table = end_table },
		.folder = path,
	};
	int err = write_tables(&csv.rows, model, results, options);

	/* An error inside of a table leaves its file open. */
	if (csv.file.out)
		csv_close(&csv.file);
	if (err)
		export_explain(err, path, error, error_size);
	return err;
}

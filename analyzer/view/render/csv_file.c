/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/render/csv_file.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

#define CELL_SIZE 256 /* for formatted cells, which are short */

static void put(struct csv_file *csv, const char *text, size_t length)
{
	if (!csv->err && length && fwrite(text, 1, length, csv->out) != length)
		csv->err = errno ? -errno : -EIO;
}

int csv_open(struct csv_file *csv, const char *folder, const char *name, const char *header)
{
	char path[PATH_MAX];

	*csv = (struct csv_file){ 0 };
	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	csv->out = fopen(path, "we");
	if (!csv->out)
		return -errno;
	if (header) {
		put(csv, header, strlen(header));
		put(csv, "\n", 1);
	}
	return 0;
}

int csv_close(struct csv_file *csv)
{
	if (fclose(csv->out) != 0 && !csv->err)
		csv->err = -errno;
	csv->out = NULL;
	return csv->err;
}

static void begin_cell(struct csv_file *csv)
{
	if (csv->inside)
		put(csv, ",", 1);
	csv->inside = true;
}

void csv_text(struct csv_file *csv, const char *text)
{
	begin_cell(csv);
	if (!text)
		return;
	if (!strpbrk(text, "\",\r\n") && *text != ' ') {
		put(csv, text, strlen(text));
		return;
	}
	put(csv, "\"", 1);
	for (const char *quote; (quote = strchr(text, '"')); text = quote + 1) {
		put(csv, text, (size_t)(quote - text) + 1);
		put(csv, "\"", 1);
	}
	put(csv, text, strlen(text));
	put(csv, "\"", 1);
}

void csv_format(struct csv_file *csv, const char *format, ...)
{
	char cell[CELL_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(cell, sizeof(cell), format, arguments);
	va_end(arguments);
	csv_text(csv, cell);
}

void csv_us(struct csv_file *csv, uint64_t ns)
{
	csv_format(csv, "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
}

void csv_end_row(struct csv_file *csv)
{
	put(csv, "\n", 1);
	csv->inside = false;
}

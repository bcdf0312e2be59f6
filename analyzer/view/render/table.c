/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/render/table.h"

#include <errno.h>
#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/model/translate.h"
#include "analyzer/view/render/shorten.h"
#include "analyzer/view/render/wrap.h"

#define CELL_MAX 512
#define COLUMNS_MAX 64 /* columns that can be left out; more than any table has */
#define COLUMNS_KEPT 2 /* first columns that are always kept */
#define SHRUNK 16 /* least width of a column that may be cut */

struct table {
	struct libscols_table *columns;
	struct libscols_line *line;
	size_t column; /* index of the next cell */
	unsigned int width; /* of the terminal; 0 = no limit */
	unsigned int widest[COLUMNS_MAX]; /* by column: width of its widest cell, or of its heading */
	unsigned int heading[COLUMNS_MAX]; /* by column: width of the heading, which is not cut */
	bool shrinks[COLUMNS_MAX];
	bool filled[COLUMNS_MAX]; /* by column: a cell is not empty */
	int error;
};

struct table *table_new(const struct report_options *options)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->columns = scols_new_table();
	if (!table->columns) {
		free(table);
		return NULL;
	}
	scols_table_enable_colors(table->columns, 0);
	table->width = options->width;
	/* The output is not a terminal: never cut, never query the terminal's width. */
	scols_table_set_termforce(table->columns,
				  options->width ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
	if (options->width)
		scols_table_set_termwidth(table->columns, options->width);
	return table;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	scols_unref_table(table->columns);
	free(table);
}

/* Updates a column's width with a cell or the heading. */
static void measure(struct table *table, size_t column, const char *text)
{
	unsigned int width = wrap_columns(text, strlen(text));

	if (column < COLUMNS_MAX && width > table->widest[column])
		table->widest[column] = width;
}

void table_column(struct table *table, const char *heading, int how)
{
	size_t column = scols_table_get_ncols(table->columns);
	int flags = 0;

	measure(table, column, heading);
	if (column < COLUMNS_MAX) {
		table->heading[column] = table->widest[column];
		table->shrinks[column] = how & TABLE_SHRINK;
	}

	if (how & TABLE_RIGHT)
		flags |= SCOLS_FL_RIGHT;
	if (how & TABLE_SHRINK)
		flags |= SCOLS_FL_TRUNC;
	if (!scols_table_new_column(table->columns, heading, 0, flags))
		table->error = -ENOMEM;
}

void table_row(struct table *table)
{
	table->column = 0;
	table->line = scols_table_new_line(table->columns, NULL);
	if (!table->line)
		table->error = -ENOMEM;
}

void table_text(struct table *table, const char *text)
{
	char clean[CELL_MAX];

	printable(text, clean, sizeof(clean));
	measure(table, table->column, clean);
	if (table->column < COLUMNS_MAX)
		table->filled[table->column] |= *clean != '\0';
	if (table->line && scols_line_set_data(table->line, table->column, clean) != 0)
		table->error = -ENOMEM;
	table->column++;
}

void table_format(struct table *table, const char *format, ...)
{
	char text[CELL_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	table_text(table, text);
}

void table_count(struct table *table, uint64_t count)
{
	table_format(table, "%" PRIu64, count);
}

void table_ms(struct table *table, uint64_t ns)
{
	table_ms_after(table, 0, ns);
}

void table_ms_after(struct table *table, uint64_t start_ns, uint64_t ns)
{
	uint64_t apart = ns < start_ns ? start_ns - ns : ns - start_ns;
	uint64_t us = apart / 1000 + (apart % 1000 >= 500);

	table_format(table, "%s%" PRIu64 ".%03" PRIu64, ns < start_ns && us ? "-" : "", us / 1000,
		     us % 1000);
}

void table_us(struct table *table, uint64_t ns)
{
	if (ns < 1000000)
		table_format(table, "%" PRIu64 ".%" PRIu64, ns / 1000, ns % 1000 / 100);
	else
		table_format(table, "%" PRIu64, ns / 1000);
}

void table_percent(struct table *table, double percent)
{
	table_format(table, "%.1f", percent);
}

void table_unknown(struct table *table)
{
	table_text(table, "unknown");
}

void table_count_if(struct table *table, bool is_known, uint64_t count)
{
	if (is_known)
		table_count(table, count);
	else
		table_unknown(table);
}

void table_ms_if(struct table *table, bool is_known, uint64_t ns)
{
	if (is_known)
		table_ms(table, ns);
	else
		table_unknown(table);
}

void table_us_if(struct table *table, bool is_known, uint64_t ns)
{
	if (is_known)
		table_us(table, ns);
	else
		table_unknown(table);
}

void table_empty(struct table *table)
{
	table_text(table, "");
}

static unsigned int least(const struct table *table, size_t column)
{
	unsigned int width = table->widest[column];
	unsigned int wanted = table->heading[column] > SHRUNK ? table->heading[column] : SHRUNK;

	return table->shrinks[column] && width > wanted ? wanted : width;
}

/* Returns the columns that are kept if there is not room for all, as bits. */
static uint64_t fit(const struct table *table, size_t count)
{
	uint64_t kept = 0;
	size_t width = 0;

	for (size_t i = 0; i < count; i++) {
		kept |= UINT64_C(1) << i;
		width += least(table, i) + (i > 0);
	}
	/* First removes empty columns, then the last ones: tables begin with the most important columns. */
	for (int empty = 1; empty >= 0; empty--) {
		for (size_t i = count; i-- > COLUMNS_KEPT && width > table->width;) {
			if (!(kept >> i & 1) || (empty && table->filled[i]))
				continue;
			kept &= ~(UINT64_C(1) << i);
			width -= least(table, i) + 1;
		}
	}
	return kept;
}

/* Removes columns without room and collects their names. */
static void leave_out(struct table *table, char *names, size_t size)
{
	size_t count = scols_table_get_ncols(table->columns), used = 0;
	uint64_t kept = table->width && count <= COLUMNS_MAX ? fit(table, count) : UINT64_MAX;

	names[0] = '\0';
	for (size_t i = 0; i < count && i < COLUMNS_MAX; i++) {
		struct libscols_column *column = scols_table_get_column(table->columns, i);

		if (kept >> i & 1)
			continue;
		scols_column_set_flags(column, scols_column_get_flags(column) | SCOLS_FL_HIDDEN);
		if (table->filled[i])
			used += (size_t)snprintf(names + used, used < size ? size - used : 0,
						 "%s%s", used ? ", " : "",
						 scols_cell_get_data(scols_column_get_header(column)));
		used = used < size ? used : size;
	}
}

/* Narrows the columns that may be cut, widest first, until all columns fit. Returns false if they do not. */
static bool share_room(const struct table *table, size_t count, uint64_t kept, unsigned int *widths)
{
	size_t width = 0;

	for (size_t i = 0; i < count; i++) {
		widths[i] = table->widest[i];
		width += kept >> i & 1 ? widths[i] + (width > 0) : 0;
	}
	while (width > table->width) {
		size_t widest = count;

		for (size_t i = 0; i < count; i++)
			if (kept >> i & 1 && widths[i] > least(table, i) &&
			    (widest == count || widths[i] > widths[widest]))
				widest = i;
		if (widest == count)
			return false;
		widths[widest]--;
		width--;
	}
	return true;
}

/* The library would cut the end of names, which distinguishes them. */
static void shorten_cells(struct table *table)
{
	const char *mark = MB_CUR_MAX > 1 ? "…" : "...";
	size_t count = scols_table_get_ncols(table->columns);
	unsigned int widths[COLUMNS_MAX];
	char text[CELL_MAX];

	if (!table->width || count > COLUMNS_MAX || !share_room(table, count, fit(table, count), widths))
		return;
	for (size_t line = 0; line < scols_table_get_nlines(table->columns); line++) {
		struct libscols_line *of = scols_table_get_line(table->columns, line);

		for (size_t i = 0; i < count; i++) {
			const char *whole = scols_cell_get_data(scols_line_get_cell(of, i));

			if (widths[i] < table->widest[i] && whole &&
			    scols_line_set_data(of, i, shorten(whole, widths[i], mark, text, sizeof(text))))
				table->error = -ENOMEM;
		}
	}
	/* The table fits now. */
	scols_table_set_termforce(table->columns, SCOLS_TERMFORCE_NEVER);
}

int table_print(struct table *table, FILE *out)
{
	char *text = NULL, left_out[CELL_MAX];
	const char *label = tr("    no room for");
	int err;

	if (table->error)
		return table->error;
	leave_out(table, left_out, sizeof(left_out));
	shorten_cells(table);
	if (table->error)
		return table->error;
	/* A table without lines would not even show its headings. */
	err = scols_print_table_to_string(table->columns, &text);
	if (err)
		return err < 0 ? err : -ENOMEM;
	errno = 0;
	err = text && fputs(text, out) < 0 ? (errno ? -errno : -EIO) : 0;
	/* Only some versions of the library end the last line. */
	if (!err && text && *text && text[strlen(text) - 1] != '\n' && fputc('\n', out) == EOF)
		err = errno ? -errno : -EIO;
	if (!err && *left_out && text && *text)
		wrap_line(out, label, wrap_columns(label, strlen(label)) + 1, left_out, table->width);
	free(text);
	return err;
}

void print_heading(FILE *out, const struct report_options *options, const char *title)
{
	fprintf(out, "\n%s%s%s\n", options->colour ? "\033[1m" : "", title,
		options->colour ? "\033[0m" : "");
	for (size_t i = 0; i < strlen(title) && (!options->width || i < options->width); i++)
		fputc('-', out);
	fputc('\n', out);
}

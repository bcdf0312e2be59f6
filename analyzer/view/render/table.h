/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - tables of the text report.
 *
 * A thin wrapper around libsmartcols. Cells are passed from left to right, row
 * by row. Errors are sticky and returned by table_print(). Control characters
 * in cells are replaced, because names come from traced programs.
 */
#ifndef PROFBPF_ANALYZER_VIEW_RENDER_TABLE_H
#define PROFBPF_ANALYZER_VIEW_RENDER_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/view/report.h"
#include "analyzer/view/render/utf8.h"

struct table;

/* Properties of a column; or-ed. */
#define TABLE_LEFT 0
#define TABLE_RIGHT 1 /* numbers */
#define TABLE_SHRINK 2 /* may be cut (shorten.h) when the terminal is too narrow */

/* Makes a table that is at most options->width wide. Returns NULL without memory. */
struct table *table_new(const struct report_options *options);
void table_free(struct table *table);

/* Adds a column; @heading contains the unit: "total ms". All columns must be added before the first row. */
void table_column(struct table *table, const char *heading, int how);

/* Starts a row. */
void table_row(struct table *table);

/* Write the next cell of the row. */
void table_text(struct table *table, const char *text);
void table_format(struct table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void table_count(struct table *table, uint64_t count);
void table_ms(struct table *table, uint64_t ns); /* 3 decimals: microseconds */
/* The same for an instant after @start_ns; negative if it is before: a device's work may have begun earlier. */
void table_ms_after(struct table *table, uint64_t start_ns, uint64_t ns);
void table_us(struct table *table, uint64_t ns); /* 1 decimal up to 1 ms, else none */
void table_percent(struct table *table, double percent); /* 1 decimal */
/* The same if @is_known, or else "unknown". */
void table_count_if(struct table *table, bool is_known, uint64_t count);
void table_ms_if(struct table *table, bool is_known, uint64_t ns);
void table_us_if(struct table *table, bool is_known, uint64_t ns);
void table_unknown(struct table *table); /* "unknown" */
void table_empty(struct table *table); /* nothing: the column does not apply */

/*
 * table_print - writes the table
 *
 * If the terminal is too narrow for all columns, the last columns are left out and a line below the table says so.
 * Returns 0, -ENOMEM or the errno of writing.
 */
int table_print(struct table *table, FILE *out);

/*
 * print_heading - writes a section's title with an empty line before it and a
 * rule below
 *
 * Bold if options->colour.
 */
void print_heading(FILE *out, const struct report_options *options, const char *title);

#endif /* PROFBPF_ANALYZER_VIEW_RENDER_TABLE_H */

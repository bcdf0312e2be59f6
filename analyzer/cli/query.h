/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h - SQL over the tables of a trace, and the list of these tables.
 */
#ifndef PROFBPF_ANALYZER_CLI_QUERY_H
#define PROFBPF_ANALYZER_CLI_QUERY_H

#include <stddef.h>
#include <stdio.h>

#include "analyzer/store/schema.h"
#include "analyzer/store/sql_tables.h"

enum query_format {
	QUERY_TABLE, /* for people */
	QUERY_CSV, /* with a line of names first; unknown is empty */
	QUERY_JSON, /* an array of objects; unknown is null */
	QUERY_MARKDOWN, /* of the list of tables only */
};

/*
 * query_run - the rows of one SELECT, as they come
 *
 * Nothing but reading is allowed. @report: how wide tables may be. Returns 0 or a negative errno; then @error says
 * what is wrong and what to do. -EPIPE: the reader has gone.
 */
int query_run(FILE *out, const struct table_data *data, const char *sql, enum query_format format,
	      const struct report_options *report, char *error, size_t error_size);

/* What the rows of a statement are made of. */
struct query_needs {
	uint32_t sections; /* enum report_section: whose analyses find them */
	uint32_t rows; /* enum load_rows: that they are themselves */
	struct sql_part part; /* of these none begins outside of it */
};

/*
 * query_needs_of - which tables a statement reads, before any of them is filled
 *
 * Returns 0, or as query_run() for a statement that is wrong or not allowed.
 */
int query_needs_of(const char *sql, struct query_needs *needs, char *error, size_t error_size);

/*
 * query_schema - every table with its columns, units and meanings; @name: of that table alone, or NULL
 *
 * Returns 0 or a negative errno; -ENOENT if there is no such table.
 */
int query_schema(FILE *out, const char *name, enum query_format format);

/* lake_schema - the same of the tables of a lake (export/lake/lake.h) */
int lake_schema(FILE *out, const char *name, enum query_format format);

#endif /* PROFBPF_ANALYZER_CLI_QUERY_H */

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
	QUERY_TABLE, /* aligned columns */
	QUERY_CSV, /* with a header line; unknown is empty */
	QUERY_JSON, /* an array of objects; unknown is null */
	QUERY_MARKDOWN, /* for the list of tables only */
};

/*
 * query_run - write the rows of one SELECT as they are computed
 *
 * Statements that do not only read are rejected. @report: the maximal width of tables. Returns 0 or a negative errno;
 * then @error contains the error and its remedy. -EPIPE: the reader has closed the pipe.
 */
int query_run(FILE *out, const struct table_data *data, const char *sql, enum query_format format,
	      const struct report_options *report, char *error, size_t error_size);

/* The parts of the model that a statement reads. */
struct query_needs {
	uint32_t sections; /* enum report_section: whose analyses compute its tables */
	uint32_t rows; /* enum load_rows: whose rows are in its tables */
	struct sql_part part; /* no row that it reads from these tables begins outside of this part */
};

/*
 * query_needs_of - find the tables that a statement reads, before any of them is filled
 *
 * Returns 0, or an error of query_run() for a statement that is invalid or not allowed.
 */
int query_needs_of(const char *sql, struct query_needs *needs, char *error, size_t error_size);

/*
 * query_schema - print every table with its columns, units and meanings; @name: only this table, or NULL
 */
int query_schema(FILE *out, const char *name, enum query_format format);

/* lake_schema - the same for the tables of a lake (export/lake/lake.h) */
int lake_schema(FILE *out, const char *name, enum query_format format);

#endif /* PROFBPF_ANALYZER_CLI_QUERY_H */

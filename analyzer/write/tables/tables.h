/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - every table of the model and of the report, for CSV and SQLite.
 *
 * Instants (*_ns of starts and ends) are CLOCK_MONOTONIC, as in the JSON report; what is unknown is NULL.
 * Columns that are called like a table ("thread") hold the id of a row of it.
 */
#ifndef PROFBPF_ANALYZER_WRITE_TABLES_TABLES_H
#define PROFBPF_ANALYZER_WRITE_TABLES_TABLES_H

#include <stddef.h>

#include "analyzer/write/export.h"
#include "analyzer/write/report/report.h"
#include "analyzer/write/tables/rows.h"

struct tables {
	const struct model *model;
	const struct results *results;
	const struct export_options *options;
	const bool *threads; /* wanted ones; export_threads() */
};

/* Each writes some tables; errors are @rows's. */
void tables_model(struct rows *rows, const struct tables *of);
void tables_model_devices(struct rows *rows, const struct tables *of);
void tables_host(struct rows *rows, const struct tables *of);
void tables_devices(struct rows *rows, const struct tables *of);
void tables_steps(struct rows *rows, const struct tables *of);
void tables_memory(struct rows *rows, const struct tables *of);
void tables_more(struct rows *rows, const struct tables *of);
void tables_told(struct rows *rows, const struct tables *of);

/* write_tables - all of them. Returns 0 or a negative errno. */
int write_tables(struct rows *rows, const struct model *model, const struct results *results,
		 const struct export_options *options);

/*
 * write_csv - a file NAME.csv for each table into the folder @path
 * write_sqlite - a database at @path, which is an empty file
 *
 * Return 0 or a negative errno; then @error says what failed and what to do.
 */
int write_csv(const struct model *model, const struct results *results, const char *path,
	      const struct export_options *options, char *error, size_t error_size);
int write_sqlite(const struct model *model, const struct results *results, const char *path,
		 const struct export_options *options, char *error, size_t error_size);

#endif /* PROFBPF_ANALYZER_WRITE_TABLES_TABLES_H */

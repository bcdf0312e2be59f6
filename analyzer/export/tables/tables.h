/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - every table that the analyzer knows (store/schema.h), written to files.
 *
 * Instants (*_ns of starts and ends) are CLOCK_MONOTONIC, as in the JSON report; what is unknown is empty, or
 * NULL. Columns that are called like a table ("thread") hold the number of a row of it.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TABLES_TABLES_H
#define PROFBPF_ANALYZER_EXPORT_TABLES_TABLES_H

#include <stddef.h>

#include "analyzer/export/export.h"
#include "analyzer/view/report.h"

/*
 * write_csv - a file NAME.csv for each table into the folder @path
 * write_sqlite - a database at @path, which is an empty file
 * write_parquet - a file NAME.parquet for each table into the folder @path
 *
 * Return 0 or a negative errno; then @error says what failed and what to do.
 */
int write_csv(const struct model *model, const struct results *results, const char *path,
	      const struct export_options *options, char *error, size_t error_size);
int write_sqlite(const struct model *model, const struct results *results, const char *path,
		 const struct export_options *options, char *error, size_t error_size);
int write_parquet(const struct model *model, const struct results *results, const char *path,
		  const struct export_options *options, char *error, size_t error_size);

#endif /* PROFBPF_ANALYZER_EXPORT_TABLES_TABLES_H */

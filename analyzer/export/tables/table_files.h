/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_files.h - writes each table into its own file.
 *
 * Instants (*_ns of starts and ends) are CLOCK_MONOTONIC, as in the JSON report; an unknown value is empty, or
 * NULL. A column with the name of a table ("thread") is the number of a row of that table.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TABLES_TABLE_FILES_H
#define PROFBPF_ANALYZER_EXPORT_TABLES_TABLE_FILES_H

#include "analyzer/store/schema.h"

/* Writes one table into a file of @folder. Returns 0 or a negative errno. */
typedef int write_table_fn(const struct data_table *table, const struct table_data *data,
			   const char *folder);

/* Call @write for each table. Returns 0 or a negative errno, with @error in words. */
int write_table_files(write_table_fn *write, const struct model *model,
		      const struct results *results, const char *folder,
		      const struct export_options *options, char *error, size_t error_size);

#endif /* PROFBPF_ANALYZER_EXPORT_TABLES_TABLE_FILES_H */

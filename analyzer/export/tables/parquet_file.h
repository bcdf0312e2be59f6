/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet_file.h - one table as a Parquet file: optional columns, compressed with zstd.
 *
 * Integers are INT64 in DELTA_BINARY_PACKED (INT32 for one column, if the caller asks for it), numbers with decimals DOUBLE,
 * texts dictionary-encoded per row group. Row groups have the number of nulls and the minimum and maximum, so that
 * readers can skip them.
 * https://parquet.apache.org/docs/file-format/
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TABLES_PARQUET_FILE_H
#define PROFBPF_ANALYZER_EXPORT_TABLES_PARQUET_FILE_H

#include "analyzer/store/schema.h"

struct parquet_file;

/*
 * Create @path for @table. @narrow: the column of integers from 0 that is INT32, NULL = none. Returns 0 or a negative
 * errno; *@file is to be closed if it is not NULL.
 */
int parquet_open(struct parquet_file **file, const char *path, const struct data_table *table,
		 const char *narrow);

/* Add a row: a cell for each column. Returns 0 or a negative errno. */
int parquet_row(struct parquet_file *file, const struct cell *cells);

/* Writes the rest, and the file's footer unless an error occurred before. Returns 0 or the first error. */
int parquet_close(struct parquet_file *file);

#endif /* PROFBPF_ANALYZER_EXPORT_TABLES_PARQUET_FILE_H */

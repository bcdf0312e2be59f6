/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet_encode.h - Parquet's encodings of a page's values.
 *
 * https://parquet.apache.org/docs/file-format/data-pages/encodings/
 */
#ifndef PROFBPF_ANALYZER_EXPORT_TABLES_PARQUET_ENCODE_H
#define PROFBPF_ANALYZER_EXPORT_TABLES_PARQUET_ENCODE_H

#include "analyzer/export/tables/thrift_compact.h"

/* Numbers of the encodings in page headers. */
enum parquet_encoding {
	PARQUET_PLAIN = 0,
	PARQUET_RLE = 3,
	PARQUET_DELTA_BINARY_PACKED = 5,
	PARQUET_RLE_DICTIONARY = 8,
};

/* DELTA_BINARY_PACKED: differences, in blocks of as few bits as they need. */
void parquet_deltas(struct bytes *bytes, const int64_t *value, size_t count);

/* RLE_DICTIONARY: numbers of entries of a dictionary that has @entries of them. */
void parquet_indices(struct bytes *bytes, const uint32_t *index, size_t count, uint32_t entries);

/* Definition levels of an optional column, with their length: is each of @count values there? */
void parquet_levels(struct bytes *bytes, const bool *there, size_t count);

#endif /* PROFBPF_ANALYZER_EXPORT_TABLES_PARQUET_ENCODE_H */

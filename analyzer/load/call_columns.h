/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_columns.h - converts a batch of calls from the file's encoding to plain columns in place.
 */
#ifndef PROFBPF_ANALYZER_LOAD_CALL_COLUMNS_H
#define PROFBPF_ANALYZER_LOAD_CALL_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/trace.pb-c.h"

/*
 * shapes_resolve - replace the codes of column "shape" by indices of entries of the columns by shape
 *
 * @entries is the number of entries. Returns false if a code has no entry: the batch is damaged.
 */
bool shapes_resolve(uint32_t *shape, size_t rows, size_t entries);

/*
 * call_columns_resolve - check the columns of a batch; decode differences and codes
 *
 * Afterwards end_ns, tid, tgid and, without shapes, arg0 to arg2 are values; entries of columns by shape are at
 * shape[row], or at the row if there are no shapes. Sets *@rows. Returns false if the batch is damaged; its columns
 * are then invalid.
 */
bool call_columns_resolve(Profbpf__Calls *calls, size_t *rows);

/* call_columns_values - fill @args of row @i, after call_columns_resolve(); returns what the call returned */
uint32_t call_columns_values(const Profbpf__Calls *calls, size_t i, uint64_t args[3]);

#endif /* PROFBPF_ANALYZER_LOAD_CALL_COLUMNS_H */

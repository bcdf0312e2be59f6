/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_columns.h - a batch of calls as it is in the file, turned into plain columns in place.
 */
#ifndef PROFBPF_ANALYZER_LOAD_CALL_COLUMNS_H
#define PROFBPF_ANALYZER_LOAD_CALL_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/trace.pb-c.h"

/*
 * shapes_resolve - replace the codes of column "shape" by entries of the columns by shape
 *
 * @entries is how many these have. Returns false if a code stands for none: the batch is damaged.
 */
bool shapes_resolve(uint32_t *shape, size_t rows, size_t entries);

/*
 * call_columns_resolve - check the columns of a batch; turn differences and codes into what they stand for
 *
 * Afterwards end_ns, tid, tgid and, without shapes, arg0 to arg2 are values; entries of columns by shape are
 * those at shape[row], or at the row if there are no shapes. Sets *@rows. Returns false if the
 * batch is damaged; its columns are then worth nothing.
 */
bool call_columns_resolve(Profbpf__Calls *calls, size_t *rows);

/* call_columns_values - arguments and what was returned of row @i, after call_columns_resolve() */
uint32_t call_columns_values(const Profbpf__Calls *calls, size_t i, uint64_t args[3]);

#endif /* PROFBPF_ANALYZER_LOAD_CALL_COLUMNS_H */

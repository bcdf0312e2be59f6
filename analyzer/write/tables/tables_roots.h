/* SPDX-License-Identifier: Apache-2.0 */
/* tables_roots.h - the tables idle_roots and idle_hops, for CSV and SQLite. */
#ifndef PROFBPF_ANALYZER_WRITE_TABLES_TABLES_ROOTS_H
#define PROFBPF_ANALYZER_WRITE_TABLES_TABLES_ROOTS_H

#include "analyzer/analyse/idle_roots.h"
#include "analyzer/write/tables/rows.h"

/* Errors are @rows's. */
void tables_roots(struct rows *rows, const struct model *model, const struct idle_roots *roots);

#endif /* PROFBPF_ANALYZER_WRITE_TABLES_TABLES_ROOTS_H */

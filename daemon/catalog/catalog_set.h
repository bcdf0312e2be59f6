/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog_set.h - the catalogs that come with profbpf, then the catalogs of further
 * directories; each overrides the earlier ones.
 *
 * The daemon reads them again for each session, so a new or changed file takes
 * effect without a restart; then it adds the catalogs that the client sent.
 */
#ifndef PROFBPF_DAEMON_CATALOG_CATALOG_SET_H
#define PROFBPF_DAEMON_CATALOG_CATALOG_SET_H

#include <stddef.h>

#include "daemon/catalog/catalog.h"
#include "daemon/common/words.h"

/*
 * catalog_set_load - reads them all
 *
 * @directories: further ones, the administrator's or the user's. Errors in them or in their files are
 * appended to @problems; the other catalogs are usable. Returns NULL only without
 * memory. Free the result with catalogs_free().
 */
struct catalogs *catalog_set_load(const char *const *directories, size_t directory_count,
				  struct words *problems);

/* catalog_set_functions - how many functions or patterns of them a catalog names */
size_t catalog_set_functions(const struct catalog *catalog);

/* catalog_set_describe - a line for each: "FILE: runtime NAME, N functions"; 0 or -ENOMEM */
int catalog_set_describe(const struct catalogs *catalogs, struct words *lines);

#endif /* PROFBPF_DAEMON_CATALOG_CATALOG_SET_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog_set.h - the catalogs that come with profbpf, then those of further
 * directories; each overrides the ones before.
 *
 * The daemon reads them anew for each session, so a file that is added or changed
 * takes effect without a restart, and adds those that the client sent.
 */
#ifndef PROFBPF_DAEMON_CATALOG_CATALOG_SET_H
#define PROFBPF_DAEMON_CATALOG_CATALOG_SET_H

#include <stddef.h>

#include "daemon/catalog/catalog.h"
#include "daemon/common/words.h"

/*
 * catalog_set_load - read them all
 *
 * @directories: further ones, the administrator's or the user's. What is wrong with them or with a file in
 * them is appended to @problems; the rest is usable. Returns NULL only without
 * memory. Free it with catalogs_free().
 */
struct catalogs *catalog_set_load(const char *const *directories, size_t directory_count,
				  struct words *problems);

/* catalog_set_functions - how many functions or patterns of them a catalog names */
size_t catalog_set_functions(const struct catalog *catalog);

/* catalog_set_describe - a line for each: "FILE: runtime NAME, N functions"; 0 or -ENOMEM */
int catalog_set_describe(const struct catalogs *catalogs, struct words *lines);

#endif /* PROFBPF_DAEMON_CATALOG_CATALOG_SET_H */

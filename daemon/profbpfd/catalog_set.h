/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog_set.h - the catalogs of one session: those that come with profbpf,
 * those of the administrator's directories, those the client sent; each
 * overrides the ones before.
 *
 * They are read anew for each session, so a file that is added or changed takes
 * effect without a restart.
 */
#ifndef PROFBPF_DAEMON_CATALOG_SET_H
#define PROFBPF_DAEMON_CATALOG_SET_H

#include <stddef.h>

#include "daemon/common/catalog.h"
#include "daemon/common/words.h"

/*
 * catalog_set_load - read the daemon's own catalogs
 *
 * @directories: the administrator's. What is wrong with them or with a file in
 * them is appended to @problems; the rest is usable. Returns NULL only without
 * memory. Free it with catalogs_free().
 */
struct catalogs *catalog_set_load(const char *const *directories, size_t directory_count,
				  struct words *problems);

/* catalog_set_describe - a line for each: "FILE: runtime NAME, N functions"; 0 or -ENOMEM */
int catalog_set_describe(const struct catalogs *catalogs, struct words *lines);

#endif /* PROFBPF_DAEMON_CATALOG_SET_H */

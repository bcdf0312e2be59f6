/* SPDX-License-Identifier: Apache-2.0 */
/* catalog_match.h - which functions of a process or a file catalogs name. */
#ifndef PROFBPF_DAEMON_PROFCTL_CATALOG_MATCH_H
#define PROFBPF_DAEMON_PROFCTL_CATALOG_MATCH_H

#include <sys/types.h>

#include "daemon/common/catalog.h"

/*
 * catalog_match_process - print a line for each mapped file and runtime
 * catalog_match_file - print a line for each function
 *
 * On standard output. Return 0, or a negative errno after saying why; that
 * nothing matches is no error and is said.
 */
int catalog_match_process(const struct catalogs *catalogs, pid_t pid);
int catalog_match_file(const struct catalogs *catalogs, const char *path);

#endif /* PROFBPF_DAEMON_PROFCTL_CATALOG_MATCH_H */

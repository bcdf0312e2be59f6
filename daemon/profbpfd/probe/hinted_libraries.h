/* SPDX-License-Identifier: Apache-2.0 */
/* hinted_libraries.h - libraries that a process may load later, by the hints of catalogs. */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_HINTED_LIBRARIES_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_HINTED_LIBRARIES_H

#include <sys/types.h>

#include "daemon/catalog/catalog.h"

/*
 * hinted_libraries_each - the files that a process would get from a dlopen by name
 *
 * Looks for the `library` patterns of @catalogs below the process's own root, in the
 * LD_LIBRARY_PATH that it was started with and where its loader looks (library_search.h).
 * @each gets a descriptor of each file, which is closed after it returns. Files that cannot be
 * found or read are left out: hints are not needed for correct results.
 */
void hinted_libraries_each(const struct catalogs *catalogs, pid_t pid,
			   void (*each)(void *context, int fd), void *context);

/*
 * hinted_libraries_path - LD_LIBRARY_PATH in the initial environment of a process
 *
 * Allocated; NULL if it has none in the first MiB of its environment, or without memory.
 */
char *hinted_libraries_path(pid_t pid);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_HINTED_LIBRARIES_H */

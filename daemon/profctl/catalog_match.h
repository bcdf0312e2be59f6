/* SPDX-License-Identifier: Apache-2.0 */
/* catalog_match.h - which functions of processes and files catalogs name, and how they would be probed. */
#ifndef PROFBPF_DAEMON_PROFCTL_CATALOG_MATCH_H
#define PROFBPF_DAEMON_PROFCTL_CATALOG_MATCH_H

#include <sys/types.h>

#include "daemon/catalog/catalog.h"
#include "daemon/profctl/match_print.h"

/*
 * match_kernel_ask - the features of this kernel for probes
 *
 * Asks the daemon at @socket (NULL = the default), else a private daemon, which needs no
 * privilege for this. Without an answer the method is empty, and the other features are
 * those of every kernel.
 */
void match_kernel_ask(struct match_kernel *kernel, const char *socket);

/*
 * catalog_match_process, catalog_match_file - print the functions that would be probed
 *
 * Return 0, or a negative errno after printing the reason; it is no error if nothing
 * matches, which is printed.
 */
int catalog_match_process(struct match_printer *printer, const struct catalogs *catalogs,
			  pid_t pid);
int catalog_match_file(struct match_printer *printer, const struct catalogs *catalogs,
		       const char *path);

#endif /* PROFBPF_DAEMON_PROFCTL_CATALOG_MATCH_H */

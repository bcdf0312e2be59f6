/* SPDX-License-Identifier: Apache-2.0 */
/* catalog_match.h - which functions of processes and files catalogs name, and how they would be probed. */
#ifndef PROFBPF_DAEMON_PROFCTL_CATALOG_MATCH_H
#define PROFBPF_DAEMON_PROFCTL_CATALOG_MATCH_H

#include <sys/types.h>

#include "daemon/catalog/catalog.h"
#include "daemon/profctl/match_print.h"

/*
 * match_kernel_ask - what this kernel does with probes
 *
 * Asks the daemon at @socket (NULL = the usual place), else one of our own for
 * the time of a question, which needs no privilege. If nobody answers that is
 * said by an empty method, and all else is what every kernel does.
 */
void match_kernel_ask(struct match_kernel *kernel, const char *socket);

/*
 * catalog_match_process, catalog_match_file - what would be probed
 *
 * Return 0, or a negative errno after saying why; that nothing matches is no
 * error and is said.
 */
int catalog_match_process(struct match_printer *printer, const struct catalogs *catalogs,
			  pid_t pid);
int catalog_match_file(struct match_printer *printer, const struct catalogs *catalogs,
		       const char *path);

#endif /* PROFBPF_DAEMON_PROFCTL_CATALOG_MATCH_H */

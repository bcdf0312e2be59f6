/* SPDX-License-Identifier: Apache-2.0 */
/* catalog_directory.h - where the catalogs that come with profbpf are. */
#ifndef PROFBPF_DAEMON_CATALOG_CATALOG_DIRECTORY_H
#define PROFBPF_DAEMON_CATALOG_CATALOG_DIRECTORY_H

#include <stddef.h>

#define CATALOG_DIRECTORY_ENV "PROFBPF_CATALOG_DIR"

/*
 * catalog_directory - find the directory
 *
 * The first existing one of: the environment's PROFBPF_CATALOG_DIR; relative to
 * the directory of the running program, ../catalog and ../../catalog (a build
 * in its source tree), ../share/profbpf/catalog (installed). Returns 0, or
 * -ENOENT with the searched places in @error.
 */
int catalog_directory(char *path, size_t path_size, char *error, size_t error_size);

/*
 * program_directory - the directory of the running program, without a slash at the end
 *
 * Returns 0 or a negative errno.
 */
int program_directory(char *path, size_t path_size);

#endif /* PROFBPF_DAEMON_CATALOG_CATALOG_DIRECTORY_H */

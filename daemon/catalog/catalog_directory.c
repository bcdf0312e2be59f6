/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/catalog/catalog_directory.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int program_directory(char *path, size_t path_size)
{
	ssize_t n = readlink("/proc/self/exe", path, path_size);
	char *slash;

	if (n < 0)
		return -errno;
	if ((size_t)n >= path_size)
		return -ENAMETOOLONG;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

int catalog_directory(char *path, size_t path_size, char *error, size_t error_size)
{
	static const char *const places[] = { "../catalog", "../../catalog",
					      "../share/profbpf/catalog" };
	const char *env = getenv(CATALOG_DIRECTORY_ENV);
	char program[PATH_MAX];
	int n, err;

	if (env && *env) {
		n = snprintf(path, path_size, "%s", env);
		if (n > 0 && (size_t)n < path_size && is_directory(path))
			return 0;
		snprintf(error, error_size, "%s=%s is not a directory", CATALOG_DIRECTORY_ENV, env);
		return -ENOENT;
	}
	err = program_directory(program, sizeof(program));
	if (err) {
		snprintf(error, error_size, "cannot determine the path of this program: %s",
			 strerror(-err));
		return err;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		n = snprintf(path, path_size, "%s/%s", program, places[i]);
		if (n > 0 && (size_t)n < path_size && is_directory(path))
			return 0;
	}
	snprintf(error, error_size,
		 "no catalogs: neither %s/../catalog nor %s/../share/profbpf/catalog exists; set %s",
		 program, program, CATALOG_DIRECTORY_ENV);
	return -ENOENT;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/catalog/catalog_set.h"

#include <limits.h>
#include <stdlib.h>

#include "daemon/catalog/catalog_directory.h"

/* An invalid file does not prevent the use of the others. */
static void add_directory(struct catalogs *catalogs, const char *path, struct words *problems)
{
	char *error = NULL;

	if (!catalogs_add_directory(catalogs, path, &error))
		return;
	if (error)
		words_add_lines(problems, error);
	else
		words_addf(problems, "%s: cannot read the catalogs: out of memory", path);
	free(error);
}

struct catalogs *catalog_set_load(const char *const *directories, size_t directory_count,
				  struct words *problems)
{
	struct catalogs *catalogs = catalogs_new();
	char path[PATH_MAX], error[3 * PATH_MAX];

	if (!catalogs)
		return NULL;
	if (!catalog_directory(path, sizeof(path), error, sizeof(error)))
		add_directory(catalogs, path, problems);
	else if (!directory_count)
		words_add(problems, error);
	for (size_t i = 0; i < directory_count; i++)
		add_directory(catalogs, directories[i], problems);
	return catalogs;
}

size_t catalog_set_functions(const struct catalog *catalog)
{
	size_t count = 0;

	for (size_t i = 0; i < catalog->function_count; i++)
		count += !catalog->functions[i].exclude;
	return count;
}

int catalog_set_describe(const struct catalogs *catalogs, struct words *lines)
{
	int err = 0;

	for (size_t i = 0; i < catalogs_count(catalogs) && !err; i++) {
		const struct catalog *catalog = catalogs_get(catalogs, i);
		size_t functions = catalog_set_functions(catalog);

		err = words_addf(lines, "%s: runtime %s, %zu function%s%s", catalog->name,
				 catalog->runtime, functions, functions == 1 ? "" : "s",
				 catalog->driver_count ? ", commands of drivers" : "");
	}
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/kept_names.h"

static bool changes_names(const struct catalog_function *entry, const struct catalog *catalog)
{
	return entry->catalog == catalog && entry->names == NAMES_CHANGED;
}

bool kept_names_hold(const struct probed_file *file, const struct catalog_function *entry)
{
	bool any = false;

	for (size_t i = 0; i < file->refused_count; i++)
		if (changes_names(file->refused[i].entry, entry->catalog))
			return false;
	for (size_t i = 0; i < file->count; i++) {
		if (!changes_names(file->functions[i].entry, entry->catalog))
			continue;
		if (file->functions[i].weak)
			return false;
		any = true;
	}
	return any;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_export.h - recognises files of `analyzer export`, which repeat the data of their source.
 *
 * `analyzer export` puts a file named OWN_EXPORT_MARK into folders; msprof's layout also has a mark in its names.
 * Timelines carry a mark at their beginning: Chrome's in the first event, Perfetto's in the first packet.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_OWN_EXPORT_H
#define PROFBPF_ANALYZER_IMPORT_OWN_EXPORT_H

#include <limits.h>
#include <stdbool.h>

#include "analyzer/import/importer.h"

#define OWN_EXPORT_MARK ".profbpf-export"

/* Exports that were skipped in a directory: they are imported if there is nothing else in it. */
struct own_exports {
	unsigned int count;
	char first[PATH_MAX];
};

/* own_export_folder, own_export_file - is the path an export of profbpf? Returns false if it cannot be read. */
bool own_export_folder(const char *path);
bool own_export_file(const char *path);

/* own_export_leave - notes that @path was skipped */
void own_export_leave(struct own_exports *left, const char *path);

/*
 * own_export_tell - adds a finding for each skipped export; called if other files were imported. Returns 0 or
 * -ENOMEM.
 */
int own_export_tell(const struct own_exports *left, struct import *import);

#endif /* PROFBPF_ANALYZER_IMPORT_OWN_EXPORT_H */

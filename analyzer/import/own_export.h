/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_export.h - what `analyzer export` wrote: it tells once more what its source tells.
 *
 * Folders have a file of the name OWN_EXPORT_MARK, which `analyzer export` puts there; msprof's layout has it in its names,
 * too. Timelines say it of themselves at their beginning: Chrome's in its first event, Perfetto's in its first packet.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_OWN_EXPORT_H
#define PROFBPF_ANALYZER_IMPORT_OWN_EXPORT_H

#include <limits.h>
#include <stdbool.h>

#include "analyzer/import/importer.h"

#define OWN_EXPORT_MARK ".profbpf-export"

/* Exports that were left out of a directory: they count if there is nothing else in it. */
struct own_exports {
	unsigned int count;
	char first[PATH_MAX];
};

/* own_export_folder, own_export_file - is it one? What cannot be read is none. */
bool own_export_folder(const char *path);
bool own_export_file(const char *path);

/* own_export_leave - @path is left out */
void own_export_leave(struct own_exports *left, const char *path);

/* own_export_tell - a finding for each, as other files count. 0 or -ENOMEM. */
int own_export_tell(const struct own_exports *left, struct import *import);

#endif /* PROFBPF_ANALYZER_IMPORT_OWN_EXPORT_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_content.h - imports files of a directory by their content, where their names do not show the format.
 *
 * Several files beside each other often contain the same work. Of each folder only files of one format are
 * therefore imported, the most informative format, and of files with the same name up to the first dot only the
 * first. Each of the other files, and each file of unknown format, is a finding. Exports of profbpf (own_export.h)
 * are imported only if there is nothing else.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_DIRECTORY_CONTENT_H
#define PROFBPF_ANALYZER_IMPORT_DIRECTORY_CONTENT_H

#include "analyzer/import/directory_walk.h"

/*
 * directory_take_content - import everything below import->path that @walk has not seen
 *
 * If files of a folder were imported by their names, only files of the same format are imported beside them; in a
 * folder that holds one result (walk->is_result), or in a walk whose names are certain, nothing is imported beside
 * work of the result. Reads at most 1,000 folders, nested up to 6 deep, and 4,096 files. Returns 0, -ENOMEM, -ENODATA
 * if there are only exports, or -EBADMSG with import->error if there is no device file at all.
 */
int directory_take_content(struct import *import, const struct directory_walk *walk);

#endif /* PROFBPF_ANALYZER_IMPORT_DIRECTORY_CONTENT_H */

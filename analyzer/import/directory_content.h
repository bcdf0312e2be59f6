/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directory_content.h - files of a directory by what is in them, where their names say nothing.
 *
 * The same work often stands in several files beside each other. So of each folder only files of one format are
 * taken, the one that says most, and of those with the same name but for what follows its first dot the
 * first. Each of the others, and each file of no known format, is a finding. Exports of profbpf (own_export.h) count only if there
 * is nothing else.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_DIRECTORY_CONTENT_H
#define PROFBPF_ANALYZER_IMPORT_DIRECTORY_CONTENT_H

#include "analyzer/import/own_export.h"

/*
 * directory_take_content - all below import->path
 *
 * At most 1,000 folders, 6 below each other, and 4,096 files are looked into. Returns 0, -ENOMEM,
 * -ENODATA if there are only exports, or -EBADMSG with import->error if there is no device file at all.
 */
int directory_take_content(struct import *import);

#endif /* PROFBPF_ANALYZER_IMPORT_DIRECTORY_CONTENT_H */

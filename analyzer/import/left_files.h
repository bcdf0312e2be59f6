/* SPDX-License-Identifier: Apache-2.0 */
/* left_files.h - findings for files of a directory that are not imported: each has a line with the reason. */
#ifndef PROFBPF_ANALYZER_IMPORT_LEFT_FILES_H
#define PROFBPF_ANALYZER_IMPORT_LEFT_FILES_H

#include <stdbool.h>

#include "analyzer/import/importer.h"

/* The findings of one search. */
struct left_files {
	struct import *import; /* of the directory */
	unsigned int said; /* files with a finding of their own; after 100 of them files are counted */
	bool told; /* a finding says that the directory has more files than are examined */
};

/* left_file - adds a finding for the file at @path; @why is the reason. Returns 0 or -ENOMEM. */
int left_file(struct left_files *left, const char *path, const char *why);

/* left_unknown - left_file() for a file that no importer reads, with the reason, if it is known */
int left_unknown(struct left_files *left, const char *path);

/* left_damaged - adds a finding of damage for a file without which work is missing. Returns 0 or -ENOMEM. */
int left_damaged(struct left_files *left, const char *path);

/* left_is_helper - is it the name of a file with settings, clocks, names or marks, which are read beside other files? */
bool left_is_helper(const char *name);

/* left_too_many - adds a finding, once, that files from @path on are not examined. Returns 0 or -ENOMEM. */
int left_too_many(struct left_files *left, const char *path);

#endif /* PROFBPF_ANALYZER_IMPORT_LEFT_FILES_H */

/* SPDX-License-Identifier: Apache-2.0 */
/* unknown_file.h - why a file is no device file, and a remedy */
#ifndef PROFBPF_ANALYZER_IMPORT_UNKNOWN_FILE_H
#define PROFBPF_ANALYZER_IMPORT_UNKNOWN_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * unknown_file_why - says why no importer takes the file at @path, for files that are, contain or were device files,
 * or might be by their look
 *
 * Returns false if nothing is known about it.
 */
bool unknown_file_why(const char *path, char *why, size_t why_size);

/* unknown_file_is_torn - is the file empty, or a JSON text that ends before its last bracket? */
bool unknown_file_is_torn(const char *path);

#endif /* PROFBPF_ANALYZER_IMPORT_UNKNOWN_FILE_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_file.h - small JSON files as trees; json_objects.h streams through large ones.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_JSON_FILE_H
#define PROFBPF_ANALYZER_IMPORT_JSON_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <yajl/yajl_tree.h>

#define JSON_FILE_MAX (256u << 20) /* bytes */

/*
 * json_file_read - the whole of a file of less than JSON_FILE_MAX bytes, packed with gzip or not
 *
 * Returns NULL with @err, a negative errno, and @error, which names the path; free with
 * yajl_tree_free().
 */
yajl_val json_file_read(const char *path, int *err, char *error, size_t error_size);

/* Members of an object; without such a one, or of another type: @otherwise, NULL. */
int64_t json_file_integer(yajl_val object, const char *key, int64_t otherwise);
const char *json_file_string(yajl_val object, const char *key);
yajl_val json_file_list(yajl_val object, const char *key);
yajl_val json_file_member(yajl_val object, const char *key);

/* The text of a number as the file writes it; NULL if it is none. */
const char *json_file_number(yajl_val value);

#endif /* PROFBPF_ANALYZER_IMPORT_JSON_FILE_H */

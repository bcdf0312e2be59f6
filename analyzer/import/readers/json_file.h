/* SPDX-License-Identifier: Apache-2.0 */
/* json_file.h - reads small JSON files as trees; json_objects.h streams through large ones. */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_JSON_FILE_H
#define PROFBPF_ANALYZER_IMPORT_READERS_JSON_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yajl/yajl_tree.h>

#define JSON_FILE_MAX (256u << 20) /* bytes */
#define JSON_DEPTH_MAX 1000
#define JSON_VALUES_MAX 4000000 /* a tree of this many values takes half a gigabyte */

/*
 * json_file_read - reads a whole file of less than JSON_FILE_MAX bytes, gzip-compressed or not
 *
 * Returns NULL with @err, a negative errno, and @error, which does not name the path. The caller frees the tree
 * with yajl_tree_free().
 */
yajl_val json_file_read(const char *path, int *err, char *error, size_t error_size);

/*
 * json_text_tree - parses a text into a tree
 *
 * yajl frees trees by recursion: nesting deeper than JSON_DEPTH_MAX is refused. Returns NULL with @reason.
 */
yajl_val json_text_tree(const char *text, char *reason, size_t reason_size);

/* Members of an object; @otherwise or NULL if there is none, or it has another type. */
int64_t json_file_integer(yajl_val object, const char *key, int64_t otherwise);
const char *json_file_string(yajl_val object, const char *key);
yajl_val json_file_list(yajl_val object, const char *key);
yajl_val json_file_member(yajl_val object, const char *key);

/* The text of a number as in the file; NULL if @value is not a number. */
const char *json_file_number(yajl_val value);

/* The value of a number; returns false if it is not a number, or too large for a double. */
bool json_file_real(yajl_val value, double *number);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_JSON_FILE_H */

/* SPDX-License-Identifier: Apache-2.0 */
/* json_path.h - looks up values of a JSON text by path: "processes.0.threads.1.run_ns". */
#ifndef PROFBPF_TESTS_UNIT_JSON_PATH_H
#define PROFBPF_TESTS_UNIT_JSON_PATH_H

#include <stdbool.h>
#include <stdint.h>
#include <yajl/yajl_tree.h>

/* Parses a text; fails the test if it is not valid JSON. The caller frees the result with yajl_tree_free(). */
yajl_val json_parse(const char *text);

/* Returns the value, or NULL if there is none. */
yajl_val json_at(yajl_val root, const char *path);

/* These functions fail the test if the value is absent or has another type. */
int64_t json_int(yajl_val root, const char *path);
double json_double(yajl_val root, const char *path);
const char *json_string(yajl_val root, const char *path);
bool json_true(yajl_val root, const char *path);
size_t json_length(yajl_val root, const char *path);

#endif /* PROFBPF_TESTS_UNIT_JSON_PATH_H */

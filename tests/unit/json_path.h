/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_path.h - looking values of a JSON text up by path: "processes.0.threads.1.run_ns".
 */
#ifndef PROFBPF_TESTS_UNIT_JSON_PATH_H
#define PROFBPF_TESTS_UNIT_JSON_PATH_H

#include <stdbool.h>
#include <stdint.h>
#include <yajl/yajl_tree.h>

/* Parse; fails the test if the text is no JSON. Free with yajl_tree_free(). */
yajl_val json_parse(const char *text);

/* The value, or NULL if there is none. */
yajl_val json_at(yajl_val root, const char *path);

/* These fail the test if there is no such value or it has another type. */
int64_t json_int(yajl_val root, const char *path);
double json_double(yajl_val root, const char *path);
const char *json_string(yajl_val root, const char *path);
bool json_true(yajl_val root, const char *path);
size_t json_length(yajl_val root, const char *path);

#endif /* PROFBPF_TESTS_UNIT_JSON_PATH_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - writing JSON to a stream as it is made.
 *
 * Thin cover of yajl's generator. Errors are sticky and reported by json_end()
 * alone, so that callers need not check every value. A key is NULL for elements
 * of an array and for the outermost value.
 */
#ifndef PROFBPF_ANALYZER_VIEW_RENDER_JSON_H
#define PROFBPF_ANALYZER_VIEW_RENDER_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json;

/* Start writing to @out, which stays the caller's. Returns NULL without memory. */
struct json *json_new(FILE *out, bool beautify);

/*
 * json_end - write what is still here, flush @out and free @json
 *
 * Returns 0, -ENOMEM, -EIO or the errno of writing; -EINVAL when something is left open.
 */
int json_end(struct json *json);

/* What was to be written could not be made for lack of memory: json_end() says so. */
void json_fail(struct json *json);

/* Begin and end an object or an array. */
void json_map(struct json *json, const char *key);
void json_map_close(struct json *json);
void json_array(struct json *json, const char *key);
void json_array_close(struct json *json);

void json_u64(struct json *json, const char *key, uint64_t value);
void json_i64(struct json *json, const char *key, int64_t value);
/* Written with three decimals; nothing at all is written for NaN and infinities. */
void json_decimal(struct json *json, const char *key, double value);
/* The same with nine. */
void json_fine_decimal(struct json *json, const char *key, double value);
/* As it is written in @text, which is a number of JSON. */
void json_number(struct json *json, const char *key, const char *text);
/* For elements of an array that are not known; in a map leave the key out instead. */
void json_null(struct json *json, const char *key);
void json_bool(struct json *json, const char *key, bool value);
/* Bytes that are no UTF-8 become U+FFFD. */
void json_text(struct json *json, const char *key, const char *value);

#endif /* PROFBPF_ANALYZER_VIEW_RENDER_JSON_H */

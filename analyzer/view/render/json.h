/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - writes JSON to a stream incrementally.
 *
 * A thin wrapper around yajl's generator. Errors are sticky and only json_end()
 * returns them, so that callers need not check every value. A key is NULL for
 * elements of an array and for the outermost value.
 */
#ifndef PROFBPF_ANALYZER_VIEW_RENDER_JSON_H
#define PROFBPF_ANALYZER_VIEW_RENDER_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json;

/* Starts writing to @out; the caller still owns @out. Returns NULL without memory. */
struct json *json_new(FILE *out, bool beautify);

/*
 * json_end - writes buffered output, flushes @out and frees @json
 *
 * Returns 0, -ENOMEM, -EIO or the errno of writing; -EINVAL if a map or array is still open.
 */
int json_end(struct json *json);

/* Records that the caller had no memory to make a value: json_end() then returns an error. */
void json_fail(struct json *json);

/* Begin and end an object or an array. */
void json_map(struct json *json, const char *key);
void json_map_close(struct json *json);
void json_array(struct json *json, const char *key);
void json_array_close(struct json *json);

void json_u64(struct json *json, const char *key, uint64_t value);
void json_i64(struct json *json, const char *key, int64_t value);
/* Writes three decimals; writes nothing for NaN and infinities. */
void json_decimal(struct json *json, const char *key, double value);
/* The same with nine decimals. */
void json_fine_decimal(struct json *json, const char *key, double value);
/* Writes @text unchanged; it must be a JSON number. */
void json_number(struct json *json, const char *key, const char *text);
/* For unknown elements of an array; in a map leave the key out instead. */
void json_null(struct json *json, const char *key);
void json_bool(struct json *json, const char *key, bool value);
/* Bytes that are not UTF-8 become U+FFFD. */
void json_text(struct json *json, const char *key, const char *value);

#endif /* PROFBPF_ANALYZER_VIEW_RENDER_JSON_H */

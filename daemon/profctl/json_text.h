/* SPDX-License-Identifier: Apache-2.0 */
/* json_text.h - JSON on standard output, by yajl. */
#ifndef PROFBPF_DAEMON_PROFCTL_JSON_TEXT_H
#define PROFBPF_DAEMON_PROFCTL_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/control.pb-c.h"

struct json {
	void *generator; /* yajl_gen */
	bool failed; /* out of memory, or text that is no UTF-8 */
};

/* json_begin - prepare; json_end - print all to standard output: 0, or -EIO after saying why */
int json_begin(struct json *json);
int json_end(struct json *json);

/* Values; @key is NULL inside an array. Bytes that are no UTF-8 are replaced by "?". */
void json_object(struct json *json, const char *key);
void json_array(struct json *json, const char *key);
void json_close_object(struct json *json);
void json_close_array(struct json *json);
void json_text(struct json *json, const char *key, const char *value);
void json_number(struct json *json, const char *key, uint64_t value);
void json_bool(struct json *json, const char *key, bool value);
void json_texts(struct json *json, const char *key, char *const *texts, size_t count);

#endif /* PROFBPF_DAEMON_PROFCTL_JSON_TEXT_H */

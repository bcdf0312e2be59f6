/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/render/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>

#include "analyzer/view/render/written.h"
#include "analyzer/view/render/utf8.h"

#define FLUSH_AT (64 << 10) /* bytes that yajl collects before they are written */

struct json {
	yajl_gen generator;
	FILE *out;
	int error;
	unsigned int depth;
};

struct json *json_new(FILE *out, bool beautify)
{
	struct json *json = calloc(1, sizeof(*json));

	if (!json)
		return NULL;
	json->out = out;
	json->generator = yajl_gen_alloc(NULL);
	if (!json->generator) {
		free(json);
		return NULL;
	}
	yajl_gen_config(json->generator, yajl_gen_beautify, beautify ? 1 : 0);
	yajl_gen_config(json->generator, yajl_gen_indent_string, "  ");
	return json;
}

static void flush(struct json *json, size_t at_least)
{
	const unsigned char *text;
	size_t size;

	if (yajl_gen_get_buf(json->generator, &text, &size) != yajl_gen_status_ok ||
	    size < at_least)
		return;
	if (!json->error && fwrite(text, 1, size, json->out) != size)
		json->error = errno ? -errno : -EIO;
	yajl_gen_clear(json->generator);
}

static void check(struct json *json, yajl_gen_status status)
{
	if (status != yajl_gen_status_ok && status != yajl_gen_generation_complete && !json->error)
		json->error = -EIO;
	flush(json, FLUSH_AT);
}

int json_end(struct json *json)
{
	int err;

	flush(json, 0);
	err = json->error;
	if (!err && json->depth)
		err = -EINVAL;
	if (!err)
		err = stream_flush(json->out);
	yajl_gen_free(json->generator);
	free(json);
	return err;
}

void json_fail(struct json *json)
{
	json->error = -ENOMEM;
}

/* Writes any bytes as a JSON string; bytes that are not UTF-8 are replaced. */
static void string(struct json *json, const char *text)
{
	char *clean = NULL;

	if (!utf8_valid(text)) {
		clean = utf8_repair(text);
		if (!clean) {
			json->error = -ENOMEM;
			return;
		}
		text = clean;
	}
	check(json, yajl_gen_string(json->generator, (const unsigned char *)text, strlen(text)));
	free(clean);
}

static void write_key(struct json *json, const char *key)
{
	if (key)
		string(json, key);
}

void json_map(struct json *json, const char *key)
{
	write_key(json, key);
	check(json, yajl_gen_map_open(json->generator));
	json->depth++;
}

void json_map_close(struct json *json)
{
	check(json, yajl_gen_map_close(json->generator));
	json->depth--;
}

void json_array(struct json *json, const char *key)
{
	write_key(json, key);
	check(json, yajl_gen_array_open(json->generator));
	json->depth++;
}

void json_array_close(struct json *json)
{
	check(json, yajl_gen_array_close(json->generator));
	json->depth--;
}

/* yajl's own integers are limited to 2^63 - 1. */
void json_u64(struct json *json, const char *key, uint64_t value)
{
	char text[24];
	int size = snprintf(text, sizeof(text), "%" PRIu64, value);

	write_key(json, key);
	check(json, yajl_gen_number(json->generator, text, (size_t)size));
}

void json_i64(struct json *json, const char *key, int64_t value)
{
	write_key(json, key);
	check(json, yajl_gen_integer(json->generator, value));
}

void json_number(struct json *json, const char *key, const char *text)
{
	write_key(json, key);
	check(json, yajl_gen_number(json->generator, text, strlen(text)));
}

static void write_decimal(struct json *json, const char *key, double value, int decimals)
{
	char text[352];
	int size;

	if (!isfinite(value))
		return;
	size = snprintf(text, sizeof(text), "%.*f", decimals, value);
	write_key(json, key);
	check(json, yajl_gen_number(json->generator, text, (size_t)size));
}

void json_decimal(struct json *json, const char *key, double value)
{
	write_decimal(json, key, value, 3);
}

void json_fine_decimal(struct json *json, const char *key, double value)
{
	write_decimal(json, key, value, 9);
}

void json_null(struct json *json, const char *key)
{
	write_key(json, key);
	check(json, yajl_gen_null(json->generator));
}

void json_bool(struct json *json, const char *key, bool value)
{
	write_key(json, key);
	check(json, yajl_gen_bool(json->generator, value));
}

void json_text(struct json *json, const char *key, const char *value)
{
	write_key(json, key);
	string(json, value);
}

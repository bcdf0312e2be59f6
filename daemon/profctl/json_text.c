/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/json_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_gen.h>

#include "daemon/profctl/message.h"

int json_begin(struct json *json)
{
	json->failed = false;
	json->generator = yajl_gen_alloc(NULL);
	if (!json->generator) {
		message("out of memory");
		return -ENOMEM;
	}
	yajl_gen_config(json->generator, yajl_gen_beautify, 1);
	yajl_gen_config(json->generator, yajl_gen_indent_string, "  ");
	return 0;
}

int json_end(struct json *json)
{
	const unsigned char *text;
	size_t size;

	json->failed |= yajl_gen_get_buf(json->generator, &text, &size) != yajl_gen_status_ok;
	if (!json->failed)
		json->failed = fwrite(text, 1, size, stdout) != size || fflush(stdout);
	yajl_gen_free(json->generator);
	json->generator = NULL;
	if (json->failed)
		message("cannot write the JSON text");
	return json->failed ? -EIO : 0;
}

static void check(struct json *json, yajl_gen_status status)
{
	json->failed |= status != yajl_gen_status_ok && status != yajl_gen_generation_complete;
}

static void string(struct json *json, const char *text)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t length = strlen(text);
	char *plain;

	yajl_gen_config(json->generator, yajl_gen_validate_utf8, 1);
	if (yajl_gen_string(json->generator, bytes, length) != yajl_gen_invalid_string)
		return;
	plain = strdup(text);
	if (!plain) {
		json->failed = true;
		return;
	}
	for (char *p = plain; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	check(json, yajl_gen_string(json->generator, (unsigned char *)plain, length));
	free(plain);
}

static void key_of(struct json *json, const char *key)
{
	if (key)
		string(json, key);
}

void json_object(struct json *json, const char *key)
{
	key_of(json, key);
	check(json, yajl_gen_map_open(json->generator));
}

void json_array(struct json *json, const char *key)
{
	key_of(json, key);
	check(json, yajl_gen_array_open(json->generator));
}

void json_close_object(struct json *json)
{
	check(json, yajl_gen_map_close(json->generator));
}

void json_close_array(struct json *json)
{
	check(json, yajl_gen_array_close(json->generator));
}

void json_text(struct json *json, const char *key, const char *value)
{
	key_of(json, key);
	string(json, value);
}

void json_number(struct json *json, const char *key, uint64_t value)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, value);

	key_of(json, key);
	check(json, yajl_gen_number(json->generator, digits, (size_t)length));
}

void json_bool(struct json *json, const char *key, bool value)
{
	key_of(json, key);
	check(json, yajl_gen_bool(json->generator, value));
}

void json_texts(struct json *json, const char *key, char *const *texts, size_t count)
{
	json_array(json, key);
	for (size_t i = 0; i < count; i++)
		json_text(json, NULL, texts[i]);
	json_close_array(json);
}

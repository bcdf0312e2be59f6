/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scanner of plain JSON compared with yajl: yajl accepts whatever the scanner accepts, with the same callbacks,
 * wherever a part ends.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/import/readers/json_scan.h"

#define TEXT_MAX 4096

/* The callbacks as a text: one letter for each, and its value. */
struct events {
	char text[4 * TEXT_MAX];
	size_t used;
	unsigned int left; /* callbacks until one returns "stop"; 0 = none does */
};

static int note(struct events *events, char what, const void *text, size_t length)
{
	assert_true(events->used + length + 2 < sizeof(events->text));
	events->text[events->used++] = what;
	memcpy(events->text + events->used, text, length);
	events->used += length;
	events->text[events->used++] = '\n';
	return !events->left || --events->left;
}

static int on_null(void *context)
{
	return note(context, '0', "", 0);
}

static int on_boolean(void *context, int value)
{
	return note(context, value ? 't' : 'f', "", 0);
}

static int on_number(void *context, const char *text, size_t length)
{
	return note(context, '#', text, length);
}

static int on_string(void *context, const unsigned char *text, size_t length)
{
	return note(context, '"', text, length);
}

static int on_key(void *context, const unsigned char *text, size_t length)
{
	return note(context, ':', text, length);
}

static int on_start_map(void *context)
{
	return note(context, '{', "", 0);
}

static int on_end_map(void *context)
{
	return note(context, '}', "", 0);
}

static int on_start_array(void *context)
{
	return note(context, '[', "", 0);
}

static int on_end_array(void *context)
{
	return note(context, ']', "", 0);
}

static const yajl_callbacks CALLBACKS = {
	.yajl_null = on_null,	   .yajl_boolean = on_boolean,	   .yajl_number = on_number,
	.yajl_string = on_string,  .yajl_start_map = on_start_map, .yajl_map_key = on_key,
	.yajl_end_map = on_end_map, .yajl_start_array = on_start_array,
	.yajl_end_array = on_end_array,
};

static bool by_yajl(const char *text, size_t size, struct events *events)
{
	yajl_handle handle = yajl_alloc(&CALLBACKS, NULL, events);
	bool ok;

	assert_non_null(handle);
	yajl_config(handle, yajl_dont_validate_strings, 1);
	ok = yajl_parse(handle, (const unsigned char *)text, size) == yajl_status_ok &&
	     yajl_complete_parse(handle) == yajl_status_ok;
	yajl_free(handle);
	return ok;
}

/* Scans in two parts, the first one of @cut bytes; its unread rest is passed again. */
static int by_scan(const char *text, size_t size, size_t cut, struct events *events)
{
	unsigned char bytes[TEXT_MAX];
	struct json_scan scan;
	size_t left = 0;
	int err;

	json_scan_begin(&scan, &CALLBACKS, events);
	memcpy(bytes, text, cut);
	err = json_scan_part(&scan, bytes, cut, &left);
	if (err)
		return err;
	assert_true(left <= cut);
	memcpy(bytes, text + cut - left, left + size - cut);
	err = json_scan_part(&scan, bytes, left + size - cut, &left);
	if (!err && left)
		return -EAGAIN;
	return err ? err : json_scan_end(&scan);
}

static const char *const PLAIN[] = {
	"{}",
	" [ ] ",
	"[1,-0,0.5,-12.25e+3,1E-2,7e0,1234567890123456789012]",
	"{\"a\":true,\"b\":[false,null,{\"c\":\"\"}],\"\":[[],{}]}\n",
	"[\"plain\",\"q\\\"b\\\\s\\/\\b\\f\\n\\r\\t\",\"\\u0041\\u00e9\\u4e2dx\\\\\",\"\xff\xc3\"]",
	("{\"traceEvents\": [\n  {\n    \"ph\": \"X\", \"ts\": 1020.125, \"args\": {\"stream\": 7, "
	 "\"grid\": [1, 2, 3]}\n  },\n  {\"ph\":\"M\"}\n], \"base\": 17}"),
	"\"alone\"",
	"true ",
};

static void check_plain(const char *text)
{
	static struct events expected, seen;
	size_t size = strlen(text);

	memset(&expected, 0, sizeof(expected));
	assert_true(by_yajl(text, size, &expected));
	for (size_t cut = 0; cut <= size; cut++) {
		memset(&seen, 0, sizeof(seen));
		assert_int_equal(by_scan(text, size, cut, &seen), 0);
		assert_int_equal(seen.used, expected.used);
		assert_memory_equal(seen.text, expected.text, seen.used);
	}
}

static void plain(void **state)
{
	for (size_t i = 0; i < sizeof(PLAIN) / sizeof(*PLAIN); i++)
		check_plain(PLAIN[i]);
}

/* Any byte at any place of a text of several words: eight bytes are looked at together. */
static void any_byte(void **state)
{
	static struct events expected, seen;
	char text[] = "[\"0123456789abcdefghij\",1]";
	const size_t size = strlen(text), last = size - 5;

	for (size_t at = 2; at <= last; at++) {
		const char was = text[at];

		for (int c = 0; c <= 0xff; c++) {
			int err;

			memset(&expected, 0, sizeof(expected));
			memset(&seen, 0, sizeof(seen));
			text[at] = (char)c;
			err = by_scan(text, size, size / 2, &seen);
			assert_int_equal(err, c < 0x20 || c == '"' || (c == '\\' && !strchr("bf", text[at + 1])) ? -EAGAIN : 0);
			if (err)
				continue;
			assert_true(by_yajl(text, size, &expected));
			assert_int_equal(seen.used, expected.used);
			assert_memory_equal(seen.text, expected.text, seen.used);
		}
		text[at] = was;
	}
}

/* Texts that yajl refuses or treats specially: from the first byte or the last. */
static void strange(void **state)
{
	static const char *const TEXTS[] = {
		"", " ", "[", "{", "]", "}", "[1", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}",
		"{\"a\":1,}", "{,}", "{1:2}", "[}", "{]", "[1]]", "[1],", "[] []", "[01]", "[-]",
		"[1.]", "[.5]", "[1e]", "[1e+]", "[+1]", "[tru]", "[nul", "[truex]", "[NaN]",
		"[\"a]", "[\"\\x\"]", "[\"\\u12g4\"]", "[\"\\u00\"]", "[\"\t\"]", "[\"\\\t\"]",
		"[\"\\ud83d\\ude00\"]", "[\"\\udc00\"]", "[\"\\u0000\"]", "[/**/1]", "{\"a\" 1}",
		"{\"a\":1 \"b\":2}", "[\"a\\",
	};
	static struct events seen;

	for (size_t i = 0; i < sizeof(TEXTS) / sizeof(*TEXTS); i++)
		for (size_t cut = 0; cut <= strlen(TEXTS[i]); cut++) {
			seen = (struct events){ 0 };
			assert_int_equal(by_scan(TEXTS[i], strlen(TEXTS[i]), cut, &seen), -EAGAIN);
		}
	seen = (struct events){ 0 };
	assert_int_equal(by_scan("[\"\0\"]", 5, 2, &seen), -EAGAIN);
	assert_int_equal(by_scan("[1\0]", 4, 4, &seen), -EAGAIN);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Texts with bytes changed, removed, inserted: every accepted text is read by yajl in the same way. */
static void damaged(void **state)
{
	static const char BYTES[] = "\"\\{}[]:,0159.eE+-tfnu a\n\x01\xc3";
	static struct events expected, seen;
	unsigned int accepted = 0;
	uint32_t seed = 18;

	for (unsigned int round = 0; round < 60000; round++) {
		const char *from = PLAIN[round % (sizeof(PLAIN) / sizeof(*PLAIN))];
		char text[TEXT_MAX];
		size_t size = strlen(from), cut;

		memcpy(text, from, size);
		for (uint32_t times = 1 + next_random(&seed) % 3; times--;) {
			size_t at = next_random(&seed) % size, rest = size - at;

			switch (next_random(&seed) % 3) {
			case 0: memmove(text + at + 1, text + at, rest); size++; /* fallthrough */
			case 1: text[at] = BYTES[next_random(&seed) % (sizeof(BYTES) - 1)]; break;
			default: memmove(text + at, text + at + 1, rest - 1); size -= size > 1;
			}
		}
		cut = next_random(&seed) % (size + 1);
		expected.used = seen.used = 0;
		if (by_scan(text, size, cut, &seen))
			continue;
		accepted++;
		assert_true(by_yajl(text, size, &expected));
		assert_int_equal(seen.used, expected.used);
		assert_memory_equal(seen.text, expected.text, seen.used);
	}
	assert_true(accepted > 1000);
}

static void stopped(void **state)
{
	static struct events seen;

	for (unsigned int left = 1; left <= 9; left++) {
		seen = (struct events){ .left = left };
		assert_int_equal(by_scan("{\"a\":[1,\"x\",true,null]}", 23, 23, &seen), -ECANCELED);
		assert_int_equal(seen.left, 0);
	}
}

static void deep(void **state)
{
	char text[2 * JSON_SCAN_DEPTH + 3];
	static struct events seen;

	for (size_t depth = JSON_SCAN_DEPTH; depth <= JSON_SCAN_DEPTH + 1; depth++) {
		memset(text, '[', depth);
		memset(text + depth, ']', depth);
		seen = (struct events){ 0 };
		assert_int_equal(by_scan(text, 2 * depth, depth, &seen),
				 depth > JSON_SCAN_DEPTH ? -EAGAIN : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),   cmocka_unit_test(strange), cmocka_unit_test(damaged),
		cmocka_unit_test(stopped), cmocka_unit_test(deep),    cmocka_unit_test(any_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/readers/json_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The state: the tokens that are allowed next. */
enum {
	VALUE,
	FIRST_VALUE, /* or the end of the array */
	KEY,
	FIRST_KEY, /* or the end of the object */
	COLON,
	AFTER_VALUE,
	DONE, /* the root value is complete: nothing but blanks */
};

/* Results of scanning a token. */
enum { STRANGE = -EAGAIN, STOPPED = -ECANCELED, FINE = 0, CUT = 1 };

/* Bytes that end a run of plain ones in a text: the quote, escapes, and bytes that JSON does not allow there. */
static bool ends_run(unsigned char c)
{
	return c == '"' || c == '\\' || c < 0x20;
}

/* Are eight bytes all plain? Compared at once: most bytes of a file are in texts, and most texts are a few words long. */
static bool eight_plain(const unsigned char *at)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = UINT64_C(0x8080808080808080);
	uint64_t word, quotes, escapes;

	memcpy(&word, at, sizeof(word));
	quotes = word ^ ones * '"';
	escapes = word ^ ones * '\\';
	/* The top bit of a byte is set where it is 0, or below 0x20, and maybe of bytes above such a one. */
	return !((((quotes - ones) & ~quotes) | ((escapes - ones) & ~escapes) | ((word - ones * 0x20) & ~word)) & tops);
}

static bool is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(unsigned char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* The value of a hexadecimal digit; -1 if it is none. */
static int hex_digit(unsigned char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Converts \uXXXX to UTF-8. Returns the number of bytes, 0 for cases left to yajl: surrogates, NUL, invalid digits.
 */
static size_t unescape_code(const unsigned char *digits, unsigned char *to)
{
	uint32_t code = 0;

	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(digits[i]);

		if (digit < 0)
			return 0;
		code = code << 4 | (uint32_t)digit;
	}
	if (!code || (code >= 0xd800 && code < 0xe000))
		return 0;
	if (code < 0x80) {
		to[0] = (unsigned char)code;
		return 1;
	}
	if (code < 0x800) {
		to[0] = (unsigned char)(0xc0 | code >> 6);
		to[1] = (unsigned char)(0x80 | (code & 0x3f));
		return 2;
	}
	to[0] = (unsigned char)(0xe0 | code >> 12);
	to[1] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
	to[2] = (unsigned char)(0x80 | (code & 0x3f));
	return 3;
}

/* The character of an escape; 0 = invalid. */
static unsigned char unescape_letter(unsigned char c)
{
	switch (c) {
	case '"':
	case '\\':
	case '/': return c;
	case 'b': return '\b';
	case 'f': return '\f';
	case 'n': return '\n';
	case 'r': return '\r';
	case 't': return '\t';
	default: return 0;
	}
}

/*
 * Unescapes a text in place, from its first escape at @at to its quote. Returns the new end, or NULL if it is
 * strange.
 */
static unsigned char *unescape(unsigned char *at, const unsigned char *quote)
{
	unsigned char *to = at;

	while (at < quote) {
		size_t made = 1;

		if (*at != '\\') {
			*to++ = *at++;
			continue;
		}
		/* The quote is not part of an escape, so each backslash has a byte after it. */
		if (at[1] == 'u') {
			made = quote - at >= 6 ? unescape_code(at + 2, to) : 0;
			at += 6;
		} else {
			*to = unescape_letter(at[1]);
			made = *to != 0;
			at += 2;
		}
		if (!made)
			return NULL;
		to += made;
	}
	return to;
}

/* Scans a text after its first quote. @at: moved behind the closing quote; @length: of the unescaped text. */
static int scan_text(unsigned char **at, const unsigned char *end, size_t *length)
{
	unsigned char *begin = *at, *to = begin, *escape = NULL;

	/* The byte at @end is 0. */
	for (;; to++) {
		while (end - to >= 8 && eight_plain(to))
			to += 8;
		while (!ends_run(*to))
			to++;
		if (*to == '"')
			break;
		if (to == end)
			return CUT;
		if (*to != '\\')
			return STRANGE;
		if (to + 1 == end)
			return CUT;
		escape = escape ? escape : to;
		to++;
		if (*to < 0x20)
			return STRANGE;
	}
	*at = to + 1;
	if (escape)
		to = unescape(escape, to);
	if (!to)
		return STRANGE;
	*length = (size_t)(to - begin);
	return FINE;
}

/* Skips digits; returns false if there is none. */
static bool pass_digits(unsigned char **at)
{
	unsigned char *from = *at;

	while (is_digit(**at))
		(*at)++;
	return *at > from;
}

/* Scans a number, which may continue beyond @end, where a 0 byte is. @at: moved to its end. */
static int scan_number(unsigned char **at, const unsigned char *end)
{
	bool ok;

	*at += **at == '-';
	ok = **at == '0' || pass_digits(at);
	*at += **at == '0';
	if (ok && **at == '.') {
		++*at;
		ok = pass_digits(at);
	}
	if (ok && (**at | 0x20) == 'e') {
		++*at;
		*at += **at == '+' || **at == '-';
		ok = pass_digits(at);
	}
	if (*at == end)
		return CUT;
	return ok ? FINE : STRANGE;
}

static int scan_word(unsigned char **at, const unsigned char *end, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(end - *at) < length)
		return CUT;
	if (memcmp(*at, word, length) != 0)
		return STRANGE;
	*at += length;
	return FINE;
}

static void value_is_over(struct json_scan *scan)
{
	scan->state = scan->depth ? AFTER_VALUE : DONE;
}

static int open_inner(struct json_scan *scan, unsigned char **at)
{
	bool object = **at == '{';

	if (scan->depth == JSON_SCAN_DEPTH)
		return STRANGE;
	scan->object[++scan->depth] = object;
	scan->state = object ? FIRST_KEY : FIRST_VALUE;
	++*at;
	return (object ? scan->on->yajl_start_map : scan->on->yajl_start_array)(scan->context)
		       ? FINE
		       : STOPPED;
}

static int close_inner(struct json_scan *scan, unsigned char **at)
{
	bool object = **at == '}';

	if (!scan->depth || scan->object[scan->depth] != object)
		return STRANGE;
	scan->depth--;
	value_is_over(scan);
	++*at;
	return (object ? scan->on->yajl_end_map : scan->on->yajl_end_array)(scan->context) ? FINE
											   : STOPPED;
}

static int quoted_value(struct json_scan *scan, unsigned char **at, const unsigned char *end)
{
	unsigned char *text = ++*at;
	size_t length;
	int err = scan_text(at, end, &length);

	if (err)
		return err;
	value_is_over(scan);
	return scan->on->yajl_string(scan->context, text, length) ? FINE : STOPPED;
}

static int number_value(struct json_scan *scan, unsigned char **at, const unsigned char *end)
{
	const unsigned char *text = *at;
	int err = scan_number(at, end);

	if (err)
		return err;
	value_is_over(scan);
	return scan->on->yajl_number(scan->context, (const char *)text, (size_t)(*at - text))
		       ? FINE
		       : STOPPED;
}

static int word_value(struct json_scan *scan, unsigned char **at, const unsigned char *end)
{
	bool truth = **at == 't';
	bool null = **at == 'n';
	int err = scan_word(at, end, truth ? "true" : null ? "null" : "false");

	if (err)
		return err;
	value_is_over(scan);
	return (null ? scan->on->yajl_null(scan->context)
		     : scan->on->yajl_boolean(scan->context, truth))
		       ? FINE
		       : STOPPED;
}

static int scan_value(struct json_scan *scan, unsigned char **at, const unsigned char *end)
{
	switch (**at) {
	case '"': return quoted_value(scan, at, end);
	case '{':
	case '[': return open_inner(scan, at);
	case ']': return scan->state == FIRST_VALUE ? close_inner(scan, at) : STRANGE;
	case 't':
	case 'f':
	case 'n': return word_value(scan, at, end);
	default:
		return **at == '-' || is_digit(**at) ? number_value(scan, at, end) : STRANGE;
	}
}

static int scan_key(struct json_scan *scan, unsigned char **at, const unsigned char *end)
{
	unsigned char *text = *at + 1;
	size_t length;
	int err;

	if (**at == '}' && scan->state == FIRST_KEY)
		return close_inner(scan, at);
	if (**at != '"')
		return STRANGE;
	++*at;
	err = scan_text(at, end, &length);
	if (err)
		return err;
	scan->state = COLON;
	return scan->on->yajl_map_key(scan->context, text, length) ? FINE : STOPPED;
}

static int scan_colon(struct json_scan *scan, unsigned char **at)
{
	if (**at != ':')
		return STRANGE;
	++*at;
	scan->state = VALUE;
	return FINE;
}

static int after_value(struct json_scan *scan, unsigned char **at)
{
	if (**at != ',')
		return **at == '}' || **at == ']' ? close_inner(scan, at) : STRANGE;
	++*at;
	scan->state = scan->object[scan->depth] ? KEY : VALUE;
	return FINE;
}

static int scan_next(struct json_scan *scan, unsigned char **at, const unsigned char *end)
{
	switch (scan->state) {
	case AFTER_VALUE: return after_value(scan, at);
	case COLON: return scan_colon(scan, at);
	case KEY:
	case FIRST_KEY: return scan_key(scan, at, end);
	case DONE: return STRANGE;
	default: return scan_value(scan, at, end);
	}
}

void json_scan_begin(struct json_scan *scan, const yajl_callbacks *on, void *context)
{
	scan->on = on;
	scan->context = context;
	scan->state = VALUE;
	scan->depth = 0;
}

int json_scan_part(struct json_scan *scan, unsigned char *bytes, size_t size, size_t *left)
{
	unsigned char *at = bytes, *end = bytes + size, *token;
	int got;

	/* A 0 byte ends any token. */
	*end = 0;
	while (1) {
		while (is_blank(*at))
			at++;
		*left = 0;
		if (at == end)
			return 0;
		token = at;
		got = scan_next(scan, &at, end);
		if (got == FINE)
			continue;
		*left = (size_t)(end - token);
		return got == CUT ? 0 : got;
	}
}

int json_scan_end(const struct json_scan *scan)
{
	return scan->state == DONE ? 0 : STRANGE;
}

static int scan_all(struct input_file *file, struct json_scan *scan, unsigned char *bytes,
		    size_t part)
{
	size_t left = 0, size;
	char words[256];
	int got, err;

	do {
		got = input_file_read(file, bytes + left, part - left, words, sizeof(words));
		if (got <= 0)
			return got < 0 || left ? STRANGE : json_scan_end(scan);
		size = left + (size_t)got;
		err = json_scan_part(scan, bytes, size, &left);
		memmove(bytes, bytes + size - left, left);
	} while (!err && left < part);
	return err ? err : STRANGE;
}

int json_scan_file(struct input_file *file, const yajl_callbacks *on, void *context)
{
	size_t part = input_file_part(file);
	unsigned char *bytes = malloc(part + 1);
	struct json_scan scan;
	int err;

	if (!bytes)
		return -ENOMEM;
	json_scan_begin(&scan, on, context);
	err = scan_all(file, &scan, bytes, part);
	free(bytes);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_literals.h - null in place of the numbers that JSON does not know: NaN, Infinity, -Infinity,
 * nan, inf.
 *
 * Python's json module and C++ streams write them. Texts in quotes stay as they are.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_JSON_LITERALS_H
#define PROFBPF_ANALYZER_IMPORT_READERS_JSON_LITERALS_H

#include <stdbool.h>
#include <stddef.h>

#define JSON_LITERAL_MAX 16 /* a longer word is none */

/* What one chunk leaves for the next; zeroed at the file's begin. */
struct json_literals {
	bool in_text;
	bool escaped;
	unsigned char word[JSON_LITERAL_MAX]; /* begun, not yet handed on */
	size_t length;
};

/* Most bytes that become of @size. */
#define JSON_LITERALS_ROOM(size) ((size)*2 + JSON_LITERAL_MAX)

/*
 * json_literals_replace - the next @size bytes of a file, to @out
 *
 * @size 0: the file ends; what was left comes. Returns how many bytes are in @out.
 */
size_t json_literals_replace(struct json_literals *literals, const unsigned char *bytes,
			     size_t size, unsigned char *out);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_JSON_LITERALS_H */

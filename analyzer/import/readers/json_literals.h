/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_literals.h - replaces numbers that are not valid JSON by null: NaN, Infinity, -Infinity, nan, inf.
 *
 * Python's json module and C++ streams write them. Quoted texts are not changed.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_JSON_LITERALS_H
#define PROFBPF_ANALYZER_IMPORT_READERS_JSON_LITERALS_H

#include <stdbool.h>
#include <stddef.h>

#define JSON_LITERAL_MAX 16 /* a longer word is not such a number */

/* State between two chunks; zeroed at the file's begin. */
struct json_literals {
	bool in_text;
	bool escaped;
	unsigned char word[JSON_LITERAL_MAX]; /* incomplete word, not yet written */
	size_t length;
};

/* Maximum size of the output for @size bytes of input. */
#define JSON_LITERALS_ROOM(size) ((size)*2 + JSON_LITERAL_MAX)

/*
 * json_literals_replace - converts the next @size bytes of a file into @out
 *
 * @size 0: end of the file; the remaining bytes are written. Returns the number of bytes in @out.
 */
size_t json_literals_replace(struct json_literals *literals, const unsigned char *bytes,
			     size_t size, unsigned char *out);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_JSON_LITERALS_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf16_text.h - converts text in UTF-16 to UTF-8
 *
 * PowerShell's ">" and spreadsheets on Windows write tables in UTF-16, with a byte order mark.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_UTF16_TEXT_H
#define PROFBPF_ANALYZER_IMPORT_READERS_UTF16_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of UTF-8 that @size bytes of UTF-16 make at most, with those that utf16_text_convert() kept before. */
#define UTF16_TEXT_ROOM(size) (((size) / 2 + 2) * 3)

/* Zeroed, then with the order of bytes, before the first part. */
struct utf16_text {
	bool big_endian;
	bool halved; /* a part ended inside a unit */
	unsigned char half; /* ... whose first byte this is */
	unsigned int high; /* a high surrogate whose other half follows; 0 = none */
};

/*
 * utf16_text_convert - converts the next part of a text
 *
 * @to: UTF16_TEXT_ROOM(@size) bytes. Surrogates without their other half become U+FFFD. Returns the number of bytes.
 */
size_t utf16_text_convert(struct utf16_text *text, const unsigned char *from, size_t size, char *to);

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_UTF16_TEXT_H */

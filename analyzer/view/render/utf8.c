/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/render/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool continues(const unsigned char *byte)
{
	return (*byte & 0xc0) == 0x80;
}

size_t utf8_next(const char *text)
{
	const unsigned char *byte = (const unsigned char *)text;
	uint32_t code;

	if (byte[0] < 0x80)
		return byte[0] ? 1 : 0;
	if (byte[0] >= 0xc2 && byte[0] <= 0xdf)
		return continues(byte + 1) ? 2 : 0;
	if ((byte[0] & 0xf0) == 0xe0) {
		if (!continues(byte + 1) || !continues(byte + 2))
			return 0;
		code = (byte[0] & 0x0fu) << 12 | (byte[1] & 0x3fu) << 6 | (byte[2] & 0x3fu);
		return code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 0 : 3;
	}
	if ((byte[0] & 0xf8) == 0xf0) {
		if (!continues(byte + 1) || !continues(byte + 2) || !continues(byte + 3))
			return 0;
		code = (byte[0] & 0x07u) << 18 | (byte[1] & 0x3fu) << 12 | (byte[2] & 0x3fu) << 6 |
		       (byte[3] & 0x3fu);
		return code < 0x10000 || code > 0x10ffff ? 0 : 4;
	}
	return 0;
}

bool utf8_valid(const char *text)
{
	size_t length;

	while ((length = utf8_next(text)) > 0)
		text += length;
	return *text == '\0';
}

char *utf8_repair(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char *copy = malloc(strlen(text) * 3 + 1), *to = copy;

	if (!copy)
		return NULL;
	while (*text) {
		size_t length = utf8_next(text);

		if (length) {
			memcpy(to, text, length);
			to += length;
			text += length;
		} else {
			memcpy(to, replacement, 3);
			to += 3;
			text++;
		}
	}
	*to = '\0';
	return copy;
}

/* C0, DEL and C1, which is U+0080 to U+009F; terminals obey C1, too. */
static bool is_control(const char *text, size_t length)
{
	const unsigned char *byte = (const unsigned char *)text;

	if (length == 1)
		return byte[0] < 0x20 || byte[0] == 0x7f;
	return length == 2 && byte[0] == 0xc2 && byte[1] < 0xa0;
}

char *printable(const char *text, char *into, size_t size)
{
	size_t used = 0;

	while (*text) {
		size_t length = utf8_next(text);
		bool bad = length == 0 || is_control(text, length);
		size_t need = bad ? 1 : length;

		if (used + need >= size)
			break;
		if (bad)
			into[used] = '?';
		else
			memcpy(into + used, text, length);
		used += need;
		text += length ? length : 1;
	}
	if (size)
		into[used] = '\0';
	return into;
}

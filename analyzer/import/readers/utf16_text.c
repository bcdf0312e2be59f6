/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/readers/utf16_text.h"

#define REPLACEMENT 0xfffdu

static size_t put(char *to, unsigned int code)
{
	if (code < 0x80) {
		to[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		to[0] = (char)(0xc0 | code >> 6);
		to[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		to[0] = (char)(0xe0 | code >> 12);
		to[1] = (char)(0x80 | (code >> 6 & 0x3f));
		to[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | code >> 18);
	to[1] = (char)(0x80 | (code >> 12 & 0x3f));
	to[2] = (char)(0x80 | (code >> 6 & 0x3f));
	to[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

static bool is_high(unsigned int unit)
{
	return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low(unsigned int unit)
{
	return unit >= 0xdc00 && unit < 0xe000;
}

static size_t convert_unit(struct utf16_text *text, unsigned int unit, char *to)
{
	unsigned int high = text->high;
	size_t used = 0;

	text->high = 0;
	if (high && is_low(unit))
		return put(to, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
	if (high)
		used = put(to, REPLACEMENT);
	if (is_high(unit)) {
		text->high = unit;
		return used;
	}
	return used + put(to + used, is_low(unit) ? REPLACEMENT : unit);
}

size_t utf16_text_convert(struct utf16_text *text, const unsigned char *from, size_t size, char *to)
{
	size_t used = 0;

	for (size_t i = 0; i < size; i++) {
		unsigned int first = text->half, second = from[i];

		text->halved = !text->halved;
		if (text->halved) {
			text->half = from[i];
			continue;
		}
		used += convert_unit(text, text->big_endian ? first << 8 | second : second << 8 | first,
				     to + used);
	}
	return used;
}

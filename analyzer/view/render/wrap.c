/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/render/wrap.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analyzer/view/render/utf8.h"

#define TEXT_SIZE 4096

/* Characters of Chinese, Japanese and Korean, with their punctuation and full-width forms, take two columns. */
static const struct range {
	uint32_t first, last;
} WIDE[] = {
	{ 0x1100, 0x115f }, { 0x2e80, 0x303e }, { 0x3041, 0xa4cf }, { 0xac00, 0xd7a3 },	  { 0xf900, 0xfaff },
	{ 0xfe30, 0xfe6f }, { 0xff01, 0xff60 }, { 0xffe0, 0xffe6 }, { 0x20000, 0x3fffd },
};

/* Wide characters that must not begin a line. */
static const char *const CLOSING[] = { "、", "。", "，", "；", "：", "！", "？", "）", "」", "》", "”" };

/* Returns the code point of a valid UTF-8 character; for other bytes, that of any character of one column. */
static uint32_t code_of(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	if (c[0] >= 0xf0 && c[1] && c[2] && c[3])
		return (c[0] & 7u) << 18 | (c[1] & 63u) << 12 | (c[2] & 63u) << 6 | (c[3] & 63u);
	if (c[0] >= 0xe0 && c[1] && c[2])
		return (c[0] & 15u) << 12 | (c[1] & 63u) << 6 | (c[2] & 63u);
	return c[0];
}

static bool is_wide(const char *text)
{
	uint32_t code = (unsigned char)*text >= 0xe0 ? code_of(text) : 0;

	for (size_t i = 0; code && i < sizeof(WIDE) / sizeof(WIDE[0]); i++)
		if (code >= WIDE[i].first && code <= WIDE[i].last)
			return true;
	return false;
}

/* Returns the length of the closing mark at @text; 0 if there is none. */
static size_t closing(const char *text)
{
	for (size_t i = 0; i < sizeof(CLOSING) / sizeof(CLOSING[0]); i++)
		if (!strncmp(text, CLOSING[i], strlen(CLOSING[i])))
			return strlen(CLOSING[i]);
	return 0;
}

/* Returns the number of bytes that stay on one line: up to a blank, or a position between wide characters. */
static size_t piece(const char *text)
{
	size_t bytes = 0, mark;

	if (is_wide(text) && !closing(text))
		bytes = utf8_next(text);
	else
		while (text[bytes] && text[bytes] != ' ' && !is_wide(text + bytes))
			bytes++;
	while ((mark = closing(text + bytes)))
		bytes += mark;
	return bytes ? bytes : utf8_next(text) ? utf8_next(text) : 1;
}

unsigned int wrap_columns(const char *text, size_t bytes)
{
	unsigned int columns = 0;

	for (size_t i = 0; i < bytes; i++) {
		/* An escape sequence that switches bold on or off: "\033[1m". */
		if (text[i] == '\033') {
			while (i < bytes && text[i] != 'm')
				i++;
			continue;
		}
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
		columns += i + 3 <= bytes && is_wide(text + i);
	}
	return columns;
}

/* printf() would count bytes instead of columns. Returns the column at which the text begins. */
static unsigned int print_label(FILE *out, const char *label, unsigned int indent)
{
	unsigned int columns = wrap_columns(label, strlen(label));
	bool apart = !*label || label[strlen(label) - 1] == ' ';
	unsigned int blanks = columns < indent ? indent - columns : !apart;

	fprintf(out, "%s%*s", label, (int)blanks, "");
	return columns + blanks;
}

void wrap_line(FILE *out, const char *label, unsigned int indent, const char *text,
	       unsigned int width)
{
	char clean[TEXT_SIZE];
	const char *word = printable(text, clean, sizeof(clean));
	unsigned int at;

	if (width < 2 * indent)
		width = 0;
	at = print_label(out, label, indent);
	while (*word) {
		size_t blanks = strspn(word, " "), bytes;
		bool blank = blanks && at > indent;
		unsigned int columns;

		word += blanks;
		if (!*word)
			break;
		bytes = piece(word);
		columns = wrap_columns(word, bytes);
		if (at > indent && width && at + blank + columns > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
			blank = false;
		}
		fprintf(out, "%s%.*s", blank ? " " : "", (int)bytes, word);
		at += columns + blank;
		word += bytes;
	}
	fputc('\n', out);
}

/* Wraps one line, without its line end. */
static void wrap_one(FILE *out, const char *line, size_t length, unsigned int width)
{
	size_t indent = strspn(line, " "), at;

	if (indent >= length || wrap_columns(line, length) <= width) {
		fwrite(line, 1, length, out);
		return;
	}
	fwrite(line, 1, indent, out);
	at = indent;
	for (size_t i = indent, word; i < length; i += word) {
		size_t blanks = strspn(line + i, " ");
		unsigned int columns;

		if (blanks > length - i)
			break;
		word = blanks + strcspn(line + i + blanks, " \n");
		columns = wrap_columns(line + i + blanks, word - blanks);
		if (i > indent && at + blanks + columns > width && indent + 2 < width) {
			fprintf(out, "\n%*s", (int)indent + 2, "");
			at = indent + 2 + columns;
			fwrite(line + i + blanks, 1, word - blanks, out);
		} else {
			at += blanks + columns;
			fwrite(line + i, 1, word, out);
		}
	}
}

int wrap_text(FILE *out, const char *text, unsigned int width)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		if (width)
			wrap_one(out, text, length, width);
		else
			fwrite(text, 1, length, out);
		text += length;
		if (*text == '\n') {
			fputc('\n', out);
			text++;
		}
	}
	return ferror(out) ? -EIO : 0;
}

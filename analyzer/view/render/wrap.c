/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/render/wrap.h"

#include <errno.h>
#include <string.h>

#include "analyzer/view/render/utf8.h"

#define TEXT_SIZE 4096

unsigned int wrap_columns(const char *text, size_t bytes)
{
	unsigned int columns = 0;

	for (size_t i = 0; i < bytes; i++) {
		/* A sequence that switches bold on or off: "\033[1m". */
		if (text[i] == '\033') {
			while (i < bytes && text[i] != 'm')
				i++;
			continue;
		}
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	}
	return columns;
}

void wrap_line(FILE *out, const char *label, unsigned int indent, const char *text,
	       unsigned int width)
{
	char clean[TEXT_SIZE];
	const char *word = printable(text, clean, sizeof(clean));
	unsigned int at = indent;

	if (width < 2 * indent)
		width = 0;
	fprintf(out, "%-*s", (int)indent, label);
	while (*(word += strspn(word, " "))) {
		size_t bytes = strcspn(word, " ");
		unsigned int columns = wrap_columns(word, bytes);

		if (at > indent && width && at + 1 + columns > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
		}
		fprintf(out, "%s%.*s", at > indent ? " " : "", (int)bytes, word);
		at += columns + (at > indent);
		word += bytes;
	}
	fputc('\n', out);
}

/* One line without its end. */
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

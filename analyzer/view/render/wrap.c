/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/render/wrap.h"

#include <string.h>

#include "analyzer/view/render/utf8.h"

#define TEXT_SIZE 4096

/* Columns of @bytes of valid UTF-8: as many as characters; wide ones are counted as one. */
static unsigned int columns_of(const char *text, size_t bytes)
{
	unsigned int columns = 0;

	for (size_t i = 0; i < bytes; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
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
		unsigned int columns = columns_of(word, bytes);

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

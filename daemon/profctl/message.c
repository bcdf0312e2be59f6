/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void message(const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0) {
		fputs("profctl: out of memory\n", stderr);
		return;
	}
	while (length > 0 && text[length - 1] == '\n')
		text[--length] = '\0';
	for (char *p = text; *p; p++)
		if (((unsigned char)*p < ' ' && *p != '\n') || *p == 0x7f)
			*p = '?';
	fprintf(stderr, "profctl: %s\n", text);
	free(text);
}

const char *printable(const char *text, char *safe, size_t size)
{
	size_t i;

	for (i = 0; i + 1 < size && text[i]; i++)
		safe[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
	safe[i] = '\0';
	return safe;
}

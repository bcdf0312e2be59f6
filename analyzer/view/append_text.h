/* SPDX-License-Identifier: Apache-2.0 */
/* append_text.h - appends formatted text to a string in a buffer. */
#ifndef PROFBPF_ANALYZER_VIEW_APPEND_TEXT_H
#define PROFBPF_ANALYZER_VIEW_APPEND_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Appends to the string @text, in a buffer of @size bytes; what does not fit is cut off. */
static inline void append(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static inline void append(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list list;

	va_start(list, format);
	vsnprintf(text + used, size - used, format, list);
	va_end(list);
}

#endif /* PROFBPF_ANALYZER_VIEW_APPEND_TEXT_H */

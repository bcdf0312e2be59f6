/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - makes text of unknown origin safe to print.
 *
 * Names of threads, files and kernels come from traced programs and may contain
 * any bytes.
 */
#ifndef PROFBPF_ANALYZER_VIEW_RENDER_UTF8_H
#define PROFBPF_ANALYZER_VIEW_RENDER_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/*
 * utf8_next - returns the length in bytes of the character at @text
 *
 * Returns 0 at the end of the text and for bytes that begin no valid character
 * (overlong forms, surrogates and values beyond U+10FFFF are not valid).
 */
size_t utf8_next(const char *text);

bool utf8_valid(const char *text);

/* Returns a copy in which every invalid byte is U+FFFD; the caller frees it. NULL without memory. */
char *utf8_repair(const char *text);

/*
 * printable - makes @text safe for a terminal
 *
 * Control characters and invalid bytes become '?'; the rest is cut, at the end of a
 * character, to fit @size bytes with its NUL. Returns @into.
 */
char *printable(const char *text, char *into, size_t size);

#endif /* PROFBPF_ANALYZER_VIEW_RENDER_UTF8_H */

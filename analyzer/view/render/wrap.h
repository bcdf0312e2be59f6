/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.h - prose of the text report that is no wider than the terminal.
 */
#ifndef PROFBPF_ANALYZER_VIEW_RENDER_WRAP_H
#define PROFBPF_ANALYZER_VIEW_RENDER_WRAP_H

#include <stddef.h>
#include <stdio.h>

/*
 * wrap_line - a label and its text, broken between words
 *
 * "verdict  Starved for data: the device is idle for" and below it, as far to the right, the rest. The label takes
 * @indent columns, one of them blank at least. @width: columns of the terminal; 0, or less than twice the indent: one
 * line. A word that is too long has a line of its own and is not cut: it may be a path that somebody copies. Control
 * characters come out harmless.
 */
void wrap_line(FILE *out, const char *label, unsigned int indent, const char *text,
	       unsigned int width);

/* wrap_columns - how many columns @bytes of valid UTF-8 take, wide characters counted as one */
unsigned int wrap_columns(const char *text, size_t bytes);

/*
 * wrap_text - @text, in which each line that is wider than @width is broken between words
 *
 * What follows is two columns further to the right than the line itself. Lines that fit, and all if @width is 0, stay as
 * they are; escape sequences take no room. Returns 0 or -EIO.
 */
int wrap_text(FILE *out, const char *text, unsigned int width);

#endif /* PROFBPF_ANALYZER_VIEW_RENDER_WRAP_H */

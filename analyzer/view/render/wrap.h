/* SPDX-License-Identifier: Apache-2.0 */
/* wrap.h - wraps prose of the text report to the width of the terminal. */
#ifndef PROFBPF_ANALYZER_VIEW_RENDER_WRAP_H
#define PROFBPF_ANALYZER_VIEW_RENDER_WRAP_H

#include <stddef.h>
#include <stdio.h>

/*
 * wrap_line - writes a label and its text, broken between words
 *
 * "verdict Starved for data: the device is idle for" and the rest in lines below it, indented to the same column. The
 * label takes @indent columns, or more if it is longer; the last of them is blank. @width: columns of the terminal; if
 * it is 0, or less than twice the indent, the text is one line. A word that is too long has its own line and is not cut,
 * because it may be a path that the user copies. Control characters are replaced.
 */
void wrap_line(FILE *out, const char *label, unsigned int indent, const char *text,
	       unsigned int width);

/* wrap_columns - returns the number of columns that @bytes of valid UTF-8 take; wide characters count as one */
unsigned int wrap_columns(const char *text, size_t bytes);

/*
 * wrap_text - writes @text with each line that is wider than @width broken between words
 *
 * Continuation lines are indented two columns more than their line. Lines that fit, and all lines if @width is 0, are
 * unchanged; escape sequences have no width. Returns 0 or -EIO.
 */
int wrap_text(FILE *out, const char *text, unsigned int width);

#endif /* PROFBPF_ANALYZER_VIEW_RENDER_WRAP_H */

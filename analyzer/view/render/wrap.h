/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.h - prose of the text report that is no wider than the terminal.
 */
#ifndef PROFBPF_ANALYZER_VIEW_RENDER_WRAP_H
#define PROFBPF_ANALYZER_VIEW_RENDER_WRAP_H

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

#endif /* PROFBPF_ANALYZER_VIEW_RENDER_WRAP_H */

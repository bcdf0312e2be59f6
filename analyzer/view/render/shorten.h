/* SPDX-License-Identifier: Apache-2.0 */
/* shorten.h - shortens names that are too long for their column, least distinctive parts first. */
#ifndef PROFBPF_ANALYZER_VIEW_RENDER_SHORTEN_H
#define PROFBPF_ANALYZER_VIEW_RENDER_SHORTEN_H

#include <stddef.h>

/*
 * shorten - shortens @text to at most @columns, into @into of @size bytes
 *
 * The actual name of a C++ function is at the end of its full name. Therefore template arguments and parameters are
 * cut first, as far as necessary, then namespaces from the left, and only then the middle of the rest: in paths and in
 * "python3 of process 4242" both ends matter. @mark replaces the removed text: "…". Text is valid UTF-8 without
 * control characters. Returns @into.
 */
char *shorten(const char *text, unsigned int columns, const char *mark, char *into, size_t size);

#endif /* PROFBPF_ANALYZER_VIEW_RENDER_SHORTEN_H */

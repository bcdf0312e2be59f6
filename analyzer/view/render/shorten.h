/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shorten.h - names that are too long for their column, without what tells them from each other least.
 */
#ifndef PROFBPF_ANALYZER_VIEW_RENDER_SHORTEN_H
#define PROFBPF_ANALYZER_VIEW_RENDER_SHORTEN_H

#include <stddef.h>

/*
 * shorten - @text in no more than @columns, into @into of @size bytes
 *
 * What a C++ function is called is at the end of its name. So template arguments and parameters are cut first, as far as they
 * must be, then namespaces from the left, and only then the middle of what is left: of paths and of "python3 of process
 * 4242" both ends count. @mark stands for what is not there: "…". Text is valid UTF-8 without control characters.
 * Returns @into.
 */
char *shorten(const char *text, unsigned int columns, const char *mark, char *into, size_t size);

#endif /* PROFBPF_ANALYZER_VIEW_RENDER_SHORTEN_H */

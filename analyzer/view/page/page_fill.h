/* SPDX-License-Identifier: Apache-2.0 */
/* page_fill.h - makes a page from its template, an embedded file of the source tree, by replacing its marks. */
#ifndef PROFBPF_ANALYZER_VIEW_PAGE_PAGE_FILL_H
#define PROFBPF_ANALYZER_VIEW_PAGE_PAGE_FILL_H

#include <stddef.h>
#include <stdio.h>

/* EMBED - embeds @file, a path relative to make's working directory, as the array @name that ends with a NUL */
#define EMBED(name, file)                                              \
	__asm__(".section .rodata\n" #name ":\n.incbin \"" file "\"\n" \
		".byte 0\n"                                            \
		".previous\n");                                        \
	extern const char name[] __attribute__((visibility("hidden")));

/* The text that replaces a mark. @put returns 0 or a negative errno. */
struct page_part {
	const char *mark;
	int (*put)(FILE *out, const void *page);
};

/*
 * page_fill - writes @text with each mark replaced by its part
 *
 * The marks stand in @text in the order of @parts, each once. Returns 0 or a negative errno.
 */
int page_fill(FILE *out, const char *text, const struct page_part *parts, size_t count,
	      const void *page);

#endif /* PROFBPF_ANALYZER_VIEW_PAGE_PAGE_FILL_H */

/* SPDX-License-Identifier: Apache-2.0 */
/* page_fill.h - a page from its template, a file of the tree that is embedded: what stands between its marks is made. */
#ifndef PROFBPF_ANALYZER_VIEW_PAGE_PAGE_FILL_H
#define PROFBPF_ANALYZER_VIEW_PAGE_PAGE_FILL_H

#include <stddef.h>
#include <stdio.h>

/* EMBED - the text of @file, from the folder in which make runs, as the array @name that ends with a NUL */
#define EMBED(name, file)                                              \
	__asm__(".section .rodata\n" #name ":\n.incbin \"" file "\"\n" \
		".byte 0\n"                                            \
		".previous\n");                                        \
	extern const char name[] __attribute__((visibility("hidden")));

/* What is written in place of a mark. @put returns 0 or a negative errno. */
struct page_part {
	const char *mark;
	int (*put)(FILE *out, const void *page);
};

/*
 * page_fill - @text with each part in place of its mark
 *
 * The marks stand in @text in the order of @parts, each once. Returns 0 or a negative errno.
 */
int page_fill(FILE *out, const char *text, const struct page_part *parts, size_t count,
	      const void *page);

#endif /* PROFBPF_ANALYZER_VIEW_PAGE_PAGE_FILL_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_pack.h - what the page carries: gzip, then base64, as DecompressionStream("gzip") reads it back.
 */
#ifndef PROFBPF_ANALYZER_VIEW_PAGE_PAGE_PACK_H
#define PROFBPF_ANALYZER_VIEW_PAGE_PAGE_PACK_H

#include <stdio.h>

/*
 * page_pack - @size bytes of @text into @out, packed; no character of it means anything in HTML
 *
 * Returns 0, -ENOMEM or -EIO. What is written is the same for the same bytes.
 */
int page_pack(FILE *out, const char *text, size_t size);

#endif /* PROFBPF_ANALYZER_VIEW_PAGE_PAGE_PACK_H */

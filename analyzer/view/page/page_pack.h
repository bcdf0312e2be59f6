/* SPDX-License-Identifier: Apache-2.0 */
/* page_pack.h - packs the page's data: gzip, then base64, the format that DecompressionStream("gzip") reads. */
#ifndef PROFBPF_ANALYZER_VIEW_PAGE_PAGE_PACK_H
#define PROFBPF_ANALYZER_VIEW_PAGE_PAGE_PACK_H

#include <stdio.h>

/*
 * page_pack - writes @size bytes of @text to @out, packed; the result has no characters that are special in HTML
 *
 * Returns 0, -ENOMEM or -EIO. The output is the same for the same bytes.
 */
int page_pack(FILE *out, const char *text, size_t size);

#endif /* PROFBPF_ANALYZER_VIEW_PAGE_PAGE_PACK_H */

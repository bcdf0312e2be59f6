/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_first.h - the part of the page that is visible before, or without, its scripts: the verdict, the headline
 * figures, the main tables.
 */
#ifndef PROFBPF_ANALYZER_VIEW_PAGE_PAGE_FIRST_H
#define PROFBPF_ANALYZER_VIEW_PAGE_PAGE_FIRST_H

#include <stdio.h>
#include <yajl/yajl_tree.h>

/* page_first - writes that part from a parsed JSON report. Returns 0 or -EIO. */
int page_first(FILE *out, yajl_val report);

#endif /* PROFBPF_ANALYZER_VIEW_PAGE_PAGE_FIRST_H */

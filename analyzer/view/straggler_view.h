/* SPDX-License-Identifier: Apache-2.0 */
/*
 * straggler_view.h - which rank holds the others up and why (analyse/cluster/straggler.h), in words and as a view.
 */
#ifndef PROFBPF_ANALYZER_VIEW_STRAGGLER_VIEW_H
#define PROFBPF_ANALYZER_VIEW_STRAGGLER_VIEW_H

#include <stddef.h>

#include "analyzer/analyse/cluster/straggler.h"
#include "analyzer/view/view.h"

/* " (54.0 % of its time), on which gemm takes ...": what follows its name; cut to @size. */
void straggler_text(const struct model *model, const struct straggler *straggler, char *text,
		    size_t size);

/* The one of the outer row, which is the verdict, as "straggler". */
extern const struct view straggler_view;

#endif /* PROFBPF_ANALYZER_VIEW_STRAGGLER_VIEW_H */

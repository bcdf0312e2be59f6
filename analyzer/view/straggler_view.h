/* SPDX-License-Identifier: Apache-2.0 */
/*
 * straggler_view.h - the rank that delays the others and the reason (analyse/cluster/straggler.h), as text and as a
 * view.
 */
#ifndef PROFBPF_ANALYZER_VIEW_STRAGGLER_VIEW_H
#define PROFBPF_ANALYZER_VIEW_STRAGGLER_VIEW_H

#include <stddef.h>

#include "analyzer/analyse/cluster/straggler.h"
#include "analyzer/view/view.h"

/* Writes the text after the rank's name, " (54.0 % of its time), on which gemm takes ..."; cut to @size. */
void straggler_text(const struct model *model, const struct straggler *straggler, char *text,
		    size_t size);

/* The straggler of the verdict, which is the outer row, as "straggler". */
extern const struct view straggler_view;

#endif /* PROFBPF_ANALYZER_VIEW_STRAGGLER_VIEW_H */

/* SPDX-License-Identifier: Apache-2.0 */
/* stage_words.h - what the verdict says of a data pipeline whose framework nobody knows (analyse/stage_waits.h). */
#ifndef PROFBPF_ANALYZER_VIEW_STAGE_WORDS_H
#define PROFBPF_ANALYZER_VIEW_STAGE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/view/report.h"

/* Append " It waits for work (train.py) (2 threads) for 62.0 %: train.py:30 decode." if there is such an operator. */
void stage_text(const struct model *model, const struct results *results, char *text,
		size_t size);

/* Its name, or nothing. */
void stage_name(const struct model *model, const struct results *results, char *text,
		size_t size);

/* What helps, if it is one whose workers sleep and the verdict is about that; false: nothing was written. */
bool stage_remedy(const struct results *results, char *text, size_t size);

#endif /* PROFBPF_ANALYZER_VIEW_STAGE_WORDS_H */

/* SPDX-License-Identifier: Apache-2.0 */
/* stage_words.h - the verdict's text about a data pipeline of an unknown framework (analyse/stage_waits.h). */
#ifndef PROFBPF_ANALYZER_VIEW_STAGE_WORDS_H
#define PROFBPF_ANALYZER_VIEW_STAGE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/view/report.h"

/* Append " It waits for work (train.py) (2 threads) for 62.0 %: train.py:30 decode." if there is such an operator. */
void stage_text(const struct model *model, const struct results *results, char *text,
		size_t size);

/* Writes the operator's name, or "". */
void stage_name(const struct model *model, const struct results *results, char *text,
		size_t size);

/* Writes a remedy if the operator's workers sleep and the verdict is about that; returns false if it wrote nothing. */
bool stage_remedy(const struct model *model, const struct results *results, char *text, size_t size);

#endif /* PROFBPF_ANALYZER_VIEW_STAGE_WORDS_H */

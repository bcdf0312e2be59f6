/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict_words.h - the verdict (analyse/idle/verdict.h) as text: the beginning of the report.
 *
 * The results contain one verdict. Texts are cut to @size and always terminated; "" where there is nothing to report.
 */
#ifndef PROFBPF_ANALYZER_VIEW_VERDICT_WORDS_H
#define PROFBPF_ANALYZER_VIEW_VERDICT_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/analyse/idle/verdict.h"
#include "analyzer/store/schema.h"

/*
 * The state with its number, in one sentence; for a pipeline of an unknown framework, another sentence names the
 * operator that is waited for. If it is about the devices of several jobs, it begins with that.
 */
void verdict_sentence(const struct model *model, const struct results *results, char *text,
		      size_t size);

/* The remedy; "" for a healthy job. */
void verdict_remedy(const struct model *model, const struct results *results, char *text,
		    size_t size);

/* What is needed for a verdict: the remedy if it is unknown; with the pids of processes to record, if they are known. */
void verdict_needs(const struct model *model, const struct verdict *verdict, char *text, size_t size);

/* The operator of a data pipeline that the verdict is about: "MindData's Map". */
void verdict_stage_name(const struct model *model, const struct results *results, char *text,
			size_t size);

/* A caveat if the verdict's data may be incomplete: records were lost, or launches may not have been seen. */
void verdict_but(const struct model *model, const struct results *results, char *text, size_t size);

/*
 * If several jobs were recorded, the verdict of each in a few words: "python 17: starved for data, 41.2 % of step time
 * (the one above); python 18: healthy. ...".
 */
void verdict_each(const struct model *model, const struct results *results, char *text,
		  size_t size);

/* "reader 17: read: /data/train.bin on vda <- main 10; io, 31.2 % of device time" */
void verdict_root_text(const struct table_data *of, char *text, size_t size);

/* The steps of the pipeline that the verdict is about, or NULL. */
const struct pipeline_steps *verdict_steps(const struct results *results);

/* The bottleneck found in the pipeline, if the verdict is about that operator, or NULL. */
const struct bottleneck *verdict_bottleneck(const struct results *results);

/* The whole of which a percentage is a share: "device time". Static text. */
const char *verdict_of_text(uint8_t of);

#endif /* PROFBPF_ANALYZER_VIEW_VERDICT_WORDS_H */

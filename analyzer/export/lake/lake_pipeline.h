/* SPDX-License-Identifier: Apache-2.0 */
/* lake_pipeline.h - what the operators of ranks' data pipelines did in each of their steps. */
#ifndef PROFBPF_ANALYZER_EXPORT_LAKE_LAKE_PIPELINE_H
#define PROFBPF_ANALYZER_EXPORT_LAKE_LAKE_PIPELINE_H

#include "analyzer/export/lake/lake_rows.h"

/*
 * lake_pipeline_make - rows->pipeline, of rows->ranks, rank by rank and operator by operator
 *
 * Of an operator that did nothing in a step, as far as is known, there is no row. Needs timelines. Returns 0 or -ENOMEM.
 */
int lake_pipeline_make(const struct model *model, const struct results *results, struct lake_rows *rows);

#endif /* PROFBPF_ANALYZER_EXPORT_LAKE_LAKE_PIPELINE_H */

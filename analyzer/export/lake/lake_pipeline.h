/* SPDX-License-Identifier: Apache-2.0 */
/* lake_pipeline.h - the work of data pipelines' operators in each step of their rank. */
#ifndef PROFBPF_ANALYZER_EXPORT_LAKE_LAKE_PIPELINE_H
#define PROFBPF_ANALYZER_EXPORT_LAKE_LAKE_PIPELINE_H

#include "analyzer/export/lake/lake_rows.h"

/*
 * lake_pipeline_make - makes rows->pipeline for rows->ranks, rank by rank and operator by operator
 *
 * An operator without known work in a step has no row for it. Needs timelines. Returns 0 or -ENOMEM.
 */
int lake_pipeline_make(const struct model *model, const struct results *results, struct lake_rows *rows);

#endif /* PROFBPF_ANALYZER_EXPORT_LAKE_LAKE_PIPELINE_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_operators_view.h - the operators of one data pipeline, for the section that shows pipelines.
 */
#ifndef PROFBPF_ANALYZER_VIEW_PIPELINE_OPERATORS_VIEW_H
#define PROFBPF_ANALYZER_VIEW_PIPELINE_OPERATORS_VIEW_H

#include "analyzer/analyse/idle/stage_waits.h"
#include "analyzer/view/view.h"

/* The operators of a pipeline; the outer row is a row of pipeline_results. */
extern const struct view pipeline_operators_view;

/*
 * Writes the place where the threads of an operator were while the job waited for them; "" if unknown. Returns @text.
 */
const char *pipeline_stage_place(const struct table_data *of, const struct stage_wait *wait, char *text,
				 size_t size);

#endif /* PROFBPF_ANALYZER_VIEW_PIPELINE_OPERATORS_VIEW_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_data.h - data that the page draws and the JSON report does not contain: the timeline, roots over time, flame
 * graphs.
 */
#ifndef PROFBPF_ANALYZER_VIEW_PAGE_PAGE_DATA_H
#define PROFBPF_ANALYZER_VIEW_PAGE_PAGE_DATA_H

#include "analyzer/view/render/json.h"
#include "analyzer/view/report.h"

/* The source and the destination of the data. */
struct page_data {
	struct json *json; /* with an open map */
	const struct model *model;
	const struct results *results;
	const struct report_options *options;
	uint64_t origin_ns; /* begin of the timeline */
};

/* Each writes its keys, or nothing where the data is unknown. Return 0 or -ENOMEM. */
int page_timeline(struct page_data *data);
int page_roots(struct page_data *data);
int page_flames(struct page_data *data);

/* page_data_write - writes all of the data as one map. Returns 0 or a negative errno. */
int page_data_write(FILE *out, const struct model *model, const struct results *results,
		    const struct report_options *options);

#endif /* PROFBPF_ANALYZER_VIEW_PAGE_PAGE_DATA_H */

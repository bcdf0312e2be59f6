/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_parts.h - the sections of the text and JSON report, for report_text.c,
 * report_json.c and the `info` command. Text sections return 0 or a negative errno.
 */
#ifndef PROFBPF_ANALYZER_VIEW_REPORT_PARTS_H
#define PROFBPF_ANALYZER_VIEW_REPORT_PARTS_H

#include "analyzer/analyse/calls/api.h"
#include "analyzer/analyse/host/block_io.h"
#include "analyzer/analyse/losses.h"
#include "analyzer/analyse/host/cgroup_limits.h"
#include "analyzer/analyse/host/faults.h"
#include "analyzer/analyse/host/host.h"
#include "analyzer/analyse/calls/ioctl.h"
#include "analyzer/analyse/calls/launched.h"
#include "analyzer/analyse/pipeline/bottleneck.h"
#include "analyzer/analyse/pipeline/pipelines.h"
#include "analyzer/analyse/calls/probe_cost.h"
#include "analyzer/analyse/host/process_series.h"
#include "analyzer/analyse/host/processes.h"
#include "analyzer/analyse/host/python.h"
#include "analyzer/analyse/host/stacks.h"
#include "analyzer/analyse/pipeline/steps.h"
#include "analyzer/view/render/json.h"
#include "analyzer/view/report.h"
#include "analyzer/view/render/table.h"

/*
 * text_damage - the unreadable parts of the file in a sentence; "" if the file
 * was read completely
 *
 * "byte 40960: checksum mismatch; 3 packets skipped, ...". Returns @into.
 */
char *text_damage(const struct model *model, char *into, size_t size);

/*
 * text_no_launches - "no launch was seen, though opencl is mapped", a caveat for statements that assume no launches;
 * "" if launches were seen, or nothing that could make launches was found. Returns @into.
 */
char *text_no_launches(const struct model *model, const struct capture_results *capture, char *into,
		       size_t size);

/* text_losses - "complete: nothing was lost", or the missing records, in a sentence. Returns @into. */
char *text_losses(const struct model *model, const struct capture_results *capture, char *into,
		  size_t size);

/*
 * text_nothing_recorded - if there are only device files, writes that completeness does not apply; returns whether
 * there are only device files
 */
bool text_nothing_recorded(FILE *out, const struct model *model);

/* Returns what a noun gets that is said of @count. */
static inline const char *plural_s(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Returns a name of rows in the plural, "functions", as it is said of @count; the singular is written to @into. */
const char *text_one_of(const char *what, uint64_t count, char *into, size_t size);
/* Writes "... and 12 more functions (--top 0 shows all)" if there are more rows than shown. */
void text_more(FILE *out, const char *what, uint32_t count, uint32_t shown);

/*
 * text_window - "2.345 s", and a part of time of less than a millisecond, of which three decimals of a second would
 * show 0, as "9.2 us"
 *
 * Returns @into, of at least WINDOW_SIZE bytes.
 */
#define WINDOW_SIZE 48
char *text_window(uint64_t ns, char *into, size_t size);

/* Returns how many of @count rows a table shows. */
uint32_t rows_shown(const struct report_options *options, uint32_t count);

#endif /* PROFBPF_ANALYZER_VIEW_REPORT_PARTS_H */

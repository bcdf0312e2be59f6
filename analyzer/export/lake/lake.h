/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lake.h - the figures by which many ranks' recordings are compared, as Parquet files in a shared directory.
 *
 * LAKE/<table>/<host>-<number>.parquet: one file per table for each run that is added, written under another name and
 * renamed into place, so that readers see complete files only; adding the same run again replaces its files. The tables
 * are in lake_tables.c; docs/lake.md is made from them. Instants are nanoseconds of the host's own CLOCK_REALTIME; the
 * comparison of ranks finds out by how much the clocks differ.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_LAKE_LAKE_H
#define PROFBPF_ANALYZER_EXPORT_LAKE_LAKE_H

#include <stddef.h>

#include "analyzer/export/lake/lake_rows.h"
#include "analyzer/model/model.h"
#include "analyzer/view/report.h"

/*
 * write_lake - adds a run to the lake at @path, which is made if it is missing
 *
 * Devices and steps must have been analysed, timelines built. Texts are added to the model. Returns 0 or a negative errno
 * with @error: -ENODATA if a rank is unknown, or if there are no figures of any rank.
 */
int write_lake(struct model *model, const struct results *results, const char *path,
	       const struct lake_options *options, char *error, size_t error_size);

#endif /* PROFBPF_ANALYZER_EXPORT_LAKE_LAKE_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lake.h - what many ranks' recordings are compared by, as Parquet files in a directory that they share.
 *
 * LAKE/<table>/<host>-<number>.parquet, one file of a table for each run that adds to it, written beside and renamed
 * into place: readers see whole files only, and the same run added again replaces its own. The tables are those of
 * lake_tables.c; docs/lake.md is made from them. Instants are nanoseconds of the host's own CLOCK_REALTIME: whose
 * clocks differ by how much is found out where ranks are compared.
 */
#ifndef PROFBPF_ANALYZER_EXPORT_LAKE_LAKE_H
#define PROFBPF_ANALYZER_EXPORT_LAKE_LAKE_H

#include <stddef.h>

#include "analyzer/export/lake/lake_rows.h"
#include "analyzer/model/model.h"
#include "analyzer/view/report.h"

/*
 * write_lake - add a run to the lake at @path, which is made if it is not there
 *
 * Devices and steps must have been analysed, timelines built. Texts are added to the model. Returns 0 or a negative errno with @error: -ENODATA
 * if a rank is not known, or nothing can be said of any.
 */
int write_lake(struct model *model, const struct results *results, const char *path,
	       const struct lake_options *options, char *error, size_t error_size);

#endif /* PROFBPF_ANALYZER_EXPORT_LAKE_LAKE_H */

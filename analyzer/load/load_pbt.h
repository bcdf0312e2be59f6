/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_pbt.h - reads .pbt files into a model.
 *
 * Damage never stops loading: readable parts are loaded, the rest is counted in model->damage and
 * model->bad_rows. Several files may be read into one model; they must come from one boot of one
 * host, since they share CLOCK_MONOTONIC.
 */
#ifndef PROFBPF_ANALYZER_LOAD_LOAD_PBT_H
#define PROFBPF_ANALYZER_LOAD_LOAD_PBT_H

#include <stddef.h>

#include "analyzer/model/far_counts.h"
#include "analyzer/load/kept_rows.h"
#include "analyzer/model/model.h"

struct loader;
struct progress;

/* Returns a loader that fills @model, which the caller still owns; NULL without memory. */
struct loader *loader_new(struct model *model);

/*
 * loader_choose - before the first file: keep only these rows, enum load_rows
 *
 * Calls that give threads their names are kept in any case, unless no rows are kept at all.
 */
void loader_choose(struct loader *loader, uint32_t rows);

/*
 * loader_choose_part - before the first file: keep only the rows needed for a part of the time
 *
 * The part is from @from_ns to @to_ns after the session's start (UINT64_MAX: to its end), and @margin_ns before and
 * after it; rows that determine the states of threads there are kept as well: see window.h. Device tasks far from the
 * part are counted: near_tasks.h.
 */
void loader_choose_part(struct loader *loader, uint64_t from_ns, uint64_t to_ns,
			uint64_t margin_ns);

/*
 * loader_digest - before the first file: with loader_choose_part(), sum up calls that are not kept
 *
 * Sums up calls that submit work to devices or wait for it in model->counted_calls, and counts the device tasks that
 * they launched (far_launches.h). Where these counts are not certain, or with @loops the part has no whole steps,
 * load_pbt() or load_finish() returns -EAGAIN.
 */
void loader_digest(struct loader *loader, bool loops);

/* loader_take_far - after load_finish(): the counts of device tasks outside of the part; the caller frees their rows */
struct far_counts loader_take_far(struct loader *loader);

/* loader_keep_calls - before the first file: with loader_choose_part(), keep calls of the whole recording */
void loader_keep_calls(struct loader *loader);

/* loader_watch - before the first file: report the read part of each file to @progress */
void loader_watch(struct loader *loader, struct progress *progress);

/*
 * loader_part_moved - after load_finish(): was the choice of rows of a part wrong?
 *
 * True if the session began earlier than was known during loading, or if device tasks were left out that other tasks
 * depend on (near_tasks.h).
 */
bool loader_part_moved(const struct loader *loader);
void loader_free(struct loader *loader);

/*
 * load_pbt - read one file, "-" for standard input
 *
 * Returns 0, -EAGAIN (see loader_digest()), or another negative errno if no part of the file could be used; then
 * @error (of @error_size bytes) contains the reason. After an error the model must not be used.
 */
int load_pbt(struct loader *loader, const char *path, char *error, size_t error_size);

/*
 * load_finish - after the last file
 *
 * Finds the thread of every row, sets the flags of calls (errors, calls inside calls), sums up the
 * counters of the sources, determines the window, sorts and indexes. Returns 0 or a negative errno
 * with @error.
 */
int load_finish(struct loader *loader, char *error, size_t error_size);

#endif /* PROFBPF_ANALYZER_LOAD_LOAD_PBT_H */

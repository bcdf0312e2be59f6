/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_pbt.h - reads .pbt files into a model.
 *
 * Damage never stops loading: what can be read is loaded, the rest is counted in
 * model->damage and model->bad_rows. Several files may be read into one model;
 * they must come from one boot of one host, since CLOCK_MONOTONIC is theirs.
 */
#ifndef PROFBPF_ANALYZER_LOAD_LOAD_PBT_H
#define PROFBPF_ANALYZER_LOAD_LOAD_PBT_H

#include <stddef.h>

#include "analyzer/load/kept_rows.h"
#include "analyzer/model/model.h"

struct loader;
struct progress;

/* A loader that fills @model; NULL without memory. The model stays the caller's. */
struct loader *loader_new(struct model *model);

/*
 * loader_choose - before the first file: keep only these rows, enum load_rows
 *
 * Calls that give threads their names are kept in any case, unless nothing is.
 */
void loader_choose(struct loader *loader, uint32_t rows);

/*
 * loader_choose_part - before the first file: of these keep only those that tell of a part of the time
 *
 * From @from_ns to @to_ns after the session's start (UINT64_MAX: to its end), @margin_ns before it and after
 * it, and what tells the states of threads there: see window.h. Device tasks that lie far from it are counted: near_tasks.h.
 */
void loader_choose_part(struct loader *loader, uint64_t from_ns, uint64_t to_ns,
			uint64_t margin_ns);

/*
 * loader_digest - before the first file: with loader_choose_part(), tell of calls that are not kept, too
 *
 * Of those that submit work to devices or wait for it: model->counted_calls. Which of them launched which device task
 * these do not tell: where there are any, load_pbt() returns -EAGAIN.
 */
void loader_digest(struct loader *loader);

/* loader_keep_calls - before the first file: with loader_choose_part(), keep calls whenever they were */
void loader_keep_calls(struct loader *loader);

/* loader_watch - before the first file: show there how much of each file has been read */
void loader_watch(struct loader *loader, struct progress *progress);

/*
 * loader_part_moved - after load_finish(): was the choice of rows of a part wrong?
 *
 * The session began earlier than was known then, or device tasks were left out that tell of others (near_tasks.h).
 */
bool loader_part_moved(const struct loader *loader);
void loader_free(struct loader *loader);

/*
 * load_pbt - read one file, "-" for standard input
 *
 * Returns 0, -EAGAIN as said above, or another negative errno when nothing of the file could be used; then
 * @error (of @error_size bytes) says why. After an error the model must not be used.
 */
int load_pbt(struct loader *loader, const char *path, char *error, size_t error_size);

/*
 * load_finish - after the last file
 *
 * Finds the thread of every row, judges calls (errors, calls inside calls), sums up
 * what the sources counted, determines the window, sorts and indexes. Returns 0 or a
 * negative errno with @error.
 */
int load_finish(struct loader *loader, char *error, size_t error_size);

#endif /* PROFBPF_ANALYZER_LOAD_LOAD_PBT_H */

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

#include "analyzer/model/model.h"

struct loader;

/* A loader that fills @model; NULL without memory. The model stays the caller's. */
struct loader *loader_new(struct model *model);

/* loader_survey - before the first file: count rows, keep none (model.survey); for what needs no more */
void loader_survey(struct loader *loader);
void loader_free(struct loader *loader);

/*
 * load_pbt - read one file, "-" for standard input
 *
 * Returns 0, or a negative errno when nothing of the file could be used; then
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

/* SPDX-License-Identifier: Apache-2.0 */
/* thread_entry.h - the function that a Python thread was started with: what it is there for, where its name does not say it. */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_THREAD_ENTRY_H
#define PROFBPF_ANALYZER_FRAMEWORKS_THREAD_ENTRY_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/model.h"

/*
 * thread_entries_find - of each thread, by the first look at its Python frames
 *
 * The outermost function that is not of the libraries that start threads. Returns an array of indices into
 * model->code_frames, INDEX_NONE where nobody looked, to be freed; NULL without memory.
 */
uint32_t *thread_entries_find(const struct model *model);

/* "work (train.py)"; "" for INDEX_NONE */
void thread_entry_text(const struct model *model, uint32_t frame, char *text, size_t size);

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_THREAD_ENTRY_H */

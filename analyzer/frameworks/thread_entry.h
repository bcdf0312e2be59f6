/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_entry.h - the function that a Python thread was started with: shows the thread's purpose where its name does
 * not.
 */
#ifndef PROFBPF_ANALYZER_FRAMEWORKS_THREAD_ENTRY_H
#define PROFBPF_ANALYZER_FRAMEWORKS_THREAD_ENTRY_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/model/model.h"

/*
 * thread_entries_find - the start function of each thread, from the first sample of its Python frames
 *
 * It is the outermost function that does not belong to a library that starts threads. Returns an array of indices into
 * model->code_frames, INDEX_NONE for threads without a sample; the caller frees it. NULL without memory.
 */
uint32_t *thread_entries_find(const struct model *model);

/* Writes "work (train.py)"; "" for INDEX_NONE. */
void thread_entry_text(const struct model *model, uint32_t frame, char *text, size_t size);

#endif /* PROFBPF_ANALYZER_FRAMEWORKS_THREAD_ENTRY_H */

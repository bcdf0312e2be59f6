/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocm_samples.h - counts samples of GPUs' program counters (`rocprofv3 --pc-sampling-beta-enabled`) as they are
 * read.
 *
 * A sample belongs to a dispatch and an instruction and, if its wave did not issue the instruction, has the reason.
 * Kernels get the counts as counters ("pc_samples", "pc_samples_stalled.WAITCNT"); the most sampled instructions of
 * each kernel become facts of its device. Files have samples and kernels in any order.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_AMD_ROCM_SAMPLES_H
#define PROFBPF_ANALYZER_IMPORT_AMD_ROCM_SAMPLES_H

#include "analyzer/import/amd/rocm_rows.h"

#define ROCM_SAMPLES_LISTED 10 /* number of instructions listed per kernel */

/* The number of samples of a dispatch with one instruction or reason. */
struct rocm_sample_count {
	uint64_t dispatch;
	uint64_t count;
	uint32_t word; /* instruction, as passed to rocm_sample(); a string if it is a reason */
	uint8_t of; /* private */
};

/* Zeroed is empty. */
struct rocm_samples {
	struct map rows; /* number of the dispatch, and the counted word -> row of counts */
	struct map numbers; /* dispatch -> its number */
	MODEL_ARRAY(struct rocm_sample_count) counts;
	struct map kernels; /* dispatch -> row of rocm_rows.tasks */
};

/* Notes a kernel, which is row @task of rocm_rows.tasks. Returns 0 or -ENOMEM. */
int rocm_samples_kernel(struct rocm_samples *samples, uint64_t dispatch, uint32_t task);

/*
 * rocm_sample - counts a sample
 *
 * @dispatch: unique in the file. @instruction: a string of the model, or an index into @words of
 * rocm_samples_put(). @stall: why the instruction was not issued, in the SDK's words; NULL or "" = it was issued,
 * or unknown. Returns 0 or -ENOMEM.
 */
int rocm_sample(struct rocm_samples *samples, struct model *model, uint64_t dispatch,
		uint32_t instruction, const char *stall);

/* Adds counters to kernels; to be called before rocm_finish(). Returns 0 or -ENOMEM. */
int rocm_samples_count(const struct rocm_samples *samples, struct rocm_rows *rocm);

/*
 * rocm_samples_put - adds facts of devices; to be called after rocm_finish(), which added its tasks to the model
 * from row @first_task on
 *
 * @words: strings of instructions by their numbers, @word_count of them; NULL: instructions are strings themselves.
 * Returns 0 or -ENOMEM.
 */
int rocm_samples_put(const struct rocm_samples *samples, struct import *import, uint32_t first_task,
		     const uint32_t *words, uint32_t word_count);

void rocm_samples_free(struct rocm_samples *samples);

#endif /* PROFBPF_ANALYZER_IMPORT_AMD_ROCM_SAMPLES_H */

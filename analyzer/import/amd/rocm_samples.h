/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocm_samples.h - samples of GPUs' program counters (`rocprofv3 --pc-sampling-beta-enabled`), counted as they are read.
 *
 * A sample is of a dispatch and an instruction and, if its wave did not issue that, has the reason. Kernels get their
 * numbers as counters ("pc_samples", "pc_samples_stalled.WAITCNT"); of each kernel those instructions that have most
 * are figures of its device. Files have samples and kernels in any order.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_AMD_ROCM_SAMPLES_H
#define PROFBPF_ANALYZER_IMPORT_AMD_ROCM_SAMPLES_H

#include "analyzer/import/amd/rocm_rows.h"

#define ROCM_SAMPLES_LISTED 10 /* instructions of a kernel that are told */

/* So many samples of a dispatch have it. */
struct rocm_sample_count {
	uint64_t dispatch;
	uint64_t count;
	uint32_t word; /* instruction, as given; of a reason a string */
	uint8_t of; /* private */
};

/* Zeroed has none. */
struct rocm_samples {
	struct map rows; /* number of the dispatch, and what is counted -> row of counts */
	struct map numbers; /* of dispatches */
	MODEL_ARRAY(struct rocm_sample_count) counts;
	struct map kernels; /* dispatch -> row of rocm_rows.tasks */
};

/* A kernel, which is row @task of rocm_rows.tasks. 0 or -ENOMEM. */
int rocm_samples_kernel(struct rocm_samples *samples, uint64_t dispatch, uint32_t task);

/*
 * rocm_sample - one more
 *
 * @dispatch: unique in the file. @instruction: a string of the model, or what @words of rocm_samples_put() has at that
 * place. @stall: why it was not issued, in the SDK's words; NULL or "" = it was, or is not told. 0 or -ENOMEM.
 */
int rocm_sample(struct rocm_samples *samples, struct model *model, uint64_t dispatch,
		uint32_t instruction, const char *stall);

/* Counters of kernels: before rocm_finish(). 0 or -ENOMEM. */
int rocm_samples_count(const struct rocm_samples *samples, struct rocm_rows *rocm);

/*
 * rocm_samples_put - figures of devices: after rocm_finish(), which put its tasks into the model from row @first_task on
 *
 * @words: strings of instructions by their numbers, @word_count of them; NULL: they are strings themselves. 0 or -ENOMEM.
 */
int rocm_samples_put(const struct rocm_samples *samples, struct import *import, uint32_t first_task,
		     const uint32_t *words, uint32_t word_count);

void rocm_samples_free(struct rocm_samples *samples);

#endif /* PROFBPF_ANALYZER_IMPORT_AMD_ROCM_SAMPLES_H */

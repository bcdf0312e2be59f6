/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_gpus.h - the GPUs of an Nsight Systems database, and their memory allocations.
 *
 * A deviceId is CUDA's: CUDA numbers the GPUs that a process may use, so that device 0 of two processes can be two
 * GPUs. TARGET_INFO_CUDA_DEVICE maps it to a row of TARGET_INFO_GPU, whose memoryBandwidth is bytes per second;
 * where these tables are absent the numbers are assumed to be the GPUs' own.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_NVIDIA_NSYS_GPUS_H
#define PROFBPF_ANALYZER_IMPORT_NVIDIA_NSYS_GPUS_H

#include <sqlite3.h>
#include <stdint.h>

#include "analyzer/import/import_rows.h"

struct nsys_gpu {
	uint32_t name; /* string */
	double bandwidth; /* bytes per second; 0 = unknown */
};

/* Zeroed is empty. */
struct nsys_gpus {
	struct import_rows *rows;
	struct map known; /* GPU -> row of gpus */
	struct map of_cuda; /* CUDA's number (with process) -> GPU */
	MODEL_ARRAY(struct nsys_gpu) gpus;
};

/* nsys_gpus_read - reads both tables, as far as they exist; returns 0 or a negative errno */
int nsys_gpus_read(struct nsys_gpus *gpus, sqlite3 *db, struct import_rows *rows);
void nsys_gpus_free(struct nsys_gpus *gpus);

/* nsys_gpu_row - row of model->devices; @pid: 0 = unknown. Returns INDEX_NONE if out of memory. */
uint32_t nsys_gpu_row(struct nsys_gpus *gpus, uint64_t device, uint32_t pid);

/*
 * nsys_memory_read - CUDA_GPU_MEMORY_USAGE_EVENTS to memory records
 *
 * One allocator for each kind of memory ("Device", "Pinned", ...), with Nsight's labels. @epoch_ns is added to all
 * times. Returns 0 or a negative errno.
 */
int nsys_memory_read(struct nsys_gpus *gpus, sqlite3 *db, int64_t epoch_ns);

#endif /* PROFBPF_ANALYZER_IMPORT_NVIDIA_NSYS_GPUS_H */

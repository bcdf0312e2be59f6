/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nsys_ranges.h - reads further tables of an Nsight Systems database: host ranges and calls other than CUDA's,
 * figures of devices.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_NVIDIA_NSYS_RANGES_H
#define PROFBPF_ANALYZER_IMPORT_NVIDIA_NSYS_RANGES_H

#include <sqlite3.h>
#include <stdint.h>

#include "analyzer/import/import_rows.h"
#include "analyzer/import/nvidia/nsys_gpus.h"

/* The open database; nothing is owned. */
struct nsys_file {
	sqlite3 *db;
	struct import_rows *rows;
	struct nsys_gpus *gpus;
	const struct map *strings; /* StringIds.id -> string of the model */
	int64_t epoch_ns; /* added to all times */
};

/*
 * nsys_ranges_read - reads the host's timeline of a file without a trace
 *
 * NVTX_EVENTS: ranges of threads (push and pop, start and end) to scopes, named "domain:text" outside of the
 * default domain, unless they are steps. Calls of MPI, cuBLAS, cuDNN, OpenACC and OpenMP to calls. Returns 0 or a
 * negative errno.
 */
int nsys_ranges_read(const struct nsys_file *file);

/*
 * nsys_facts_read - reads figures of GPUs: means and maxima of sampled metrics, page faults of unified memory
 *
 * Each table with rows that no importer reads is a finding. Returns 0 or a negative errno.
 */
int nsys_facts_read(const struct nsys_file *file);

#endif /* PROFBPF_ANALYZER_IMPORT_NVIDIA_NSYS_RANGES_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_io.h - requests to block devices, by disk, operation and process.
 *
 * What belongs to the window are requests that were made in it. The latency is from the
 * issue to the device to the completion, or for what was never issued by itself (a flush)
 * from when it was made.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_BLOCK_IO_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_BLOCK_IO_H

#include <stdint.h>

#include "analyzer/analyse/durations.h"
#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

struct block_usage {
	uint32_t driver; /* index into model->drivers: the disk */
	uint32_t process; /* index into model->processes */
	uint8_t operation; /* BlockRequests.Operation of proto/trace.proto */
	uint64_t bytes;
	uint64_t failed;
	uint64_t wait_ns; /* from when they were made to their issue */
	uint64_t slept_ns; /* sleeps of threads that ended with one of them */
	uint64_t sleeps;
	struct durations latency; /* its count is that of the requests */
};

struct block_results {
	struct block_usage *rows; /* largest sum of latencies first */
	uint32_t row_count;
};

/*
 * block_analyse - fill @results
 *
 * Returns 0 or -ENOMEM; in both cases block_free() is to be called.
 */
int block_analyse(const struct model *model, const struct analysis_options *options,
		  struct block_results *results);
void block_free(struct block_results *results);

/* "read", "write", "flush", "discard", "request" */
const char *block_operation_name(uint8_t operation);

/* From issue to completion. */
uint64_t block_latency_ns(const struct block_request *request);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_BLOCK_IO_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_io.h - requests to block devices, by disk, operation and process.
 *
 * A request belongs to the window if it was created in it. Its latency runs from its issue to the
 * device to its completion; for a request that is never issued itself (a flush), from its creation.
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
	uint64_t wait_ns; /* from creation to issue */
	uint64_t slept_ns; /* time of the thread sleeps that one of these requests ended */
	uint64_t sleeps;
	struct durations latency; /* its count is the number of requests */
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

/* The time from issue (from creation, if the request was not issued) to completion. */
uint64_t block_latency_ns(const struct block_request *request);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_BLOCK_IO_H */

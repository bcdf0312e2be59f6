/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - memory that a job allocated from its runtimes, and memory records of other profilers.
 *
 * The ledger: calls that allocate (aclrtMalloc, cudaMalloc, ...) return an address of a number of bytes, and calls
 * that free take it. Outermost calls that returned no error are counted; an allocation lasts from the return of its
 * call to the start of the call that frees it. Reserving addresses, mapping and registering allocate nothing.
 * Allocations made before the recording are unknown; their frees are counted apart.
 *
 * A curve has all changes, or, if there are more than MEMORY_CURVE_POINTS, the highest value in each of
 * MEMORY_CURVE_POINTS equal parts of the time.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_MEMORY_MEMORY_H
#define PROFBPF_ANALYZER_ANALYSE_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

#define MEMORY_CURVE_POINTS 1000

struct memory_point {
	uint64_t ts_ns;
	uint64_t bytes;
};

struct memory_curve {
	struct memory_point *points; /* by time */
	uint32_t count;
	uint64_t peak_bytes;
	uint64_t peak_ns; /* when it was first reached */
	uint64_t last_bytes; /* at the end */
};

/* Allocations of one function and size that were not freed. */
struct memory_live {
	uint32_t function; /* index into model->functions */
	uint64_t bytes; /* of each allocation */
	uint64_t count;
	uint64_t first_ns; /* when the oldest was allocated */
	uint32_t thread; /* of the oldest allocation */
};

struct memory_ledger {
	uint32_t process; /* index into model->processes */
	uint32_t family; /* string: runtimes whose layers belong together */
	bool host; /* of the host's memory: aclrtMallocHost, cudaHostAlloc */
	bool exited; /* the process ended without freeing its live allocations */
	uint64_t allocations;
	uint64_t allocated_bytes;
	uint64_t frees;
	uint64_t failed; /* allocating calls that returned an error */
	uint64_t unknown_frees; /* frees of memory that was allocated before the recording */
	uint64_t live_count;
	struct memory_curve curve;
	struct memory_live *live; /* most bytes first */
	uint32_t live_rows;
};

/* Records of one allocator in one file. */
struct memory_series {
	uint32_t file; /* index into model->imports */
	uint32_t device; /* the file's number of the device */
	uint32_t component; /* string; 0 = unknown */
	bool host;
	bool has_reserved;
	uint64_t records;
	uint64_t allocations; /* records of changes */
	uint64_t releases;
	uint64_t peak_reserved;
	struct memory_curve curve; /* bytes in use; empty if no record has them */
};

struct memory_results {
	struct memory_ledger *ledgers; /* highest peak first */
	uint32_t ledger_count;
	struct memory_series *series; /* highest peak first */
	uint32_t series_count;
};

/*
 * memory_analyse - fill @results
 *
 * The ledger covers the recording from its beginning, whatever the window; its curve, peak and live allocations are
 * those of the window. Returns 0 or -ENOMEM; in both cases memory_free() is to be called.
 */
int memory_analyse(const struct model *model, const struct analysis_options *options,
		   struct memory_results *results);
void memory_free(struct memory_results *results);

/* The two parts of memory_analyse(): ledgers, and records of files. Return 0 or -ENOMEM. */
int memory_keep_ledgers(const struct model *model, const struct analysis_options *options,
			struct memory_results *results);
int memory_read_records(const struct model *model, const struct analysis_options *options,
			struct memory_results *results);

/*
 * memory_curve_make - make a curve of @count points by time; takes over @points and thins them
 *
 * Points before @from_ns only determine its first value.
 */
void memory_curve_make(struct memory_curve *curve, struct memory_point *points, uint32_t count,
		       uint64_t from_ns, uint64_t to_ns);

#endif /* PROFBPF_ANALYZER_ANALYSE_MEMORY_MEMORY_H */

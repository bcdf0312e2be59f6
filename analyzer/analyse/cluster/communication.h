/* SPDX-License-Identifier: Apache-2.0 */
/*
 * communication.h - collectives: the data that they moved, the links, and the rank that was late.
 *
 * Operations are grouped by communication group, if the file has it, and by kind of name: "hcom_allReduce_" for
 * "hcom_allReduce__971_4_1". If a file has the parts of an operation, transit is the time of its transfers and wait
 * the time of its waits for other ranks; synchronization is the part of wait before the first transfer.
 *
 * Devices of several ranks: the n-th collective of a name (and group, if the file has it) on one
 * rank is the same as the n-th on the others of its job (rank_jobs.h), if all ranks of that job with that name have it
 * equally often. Its skew is the time from the first rank's start to the last one's; the last rank is the straggler, for which the others wait. Before
 * that, clocks that differ are aligned by the ends of common collectives (rank_clocks.h); on one host
 * differences below about 20 us mean nothing. Sends and receives are left out: they involve only two ranks.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CLUSTER_COMMUNICATION_H
#define PROFBPF_ANALYZER_ANALYSE_CLUSTER_COMMUNICATION_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/analyse/cluster/rank_clocks.h"
#include "analyzer/model/model.h"

struct communication_usage {
	uint32_t device; /* index into model->devices */
	uint32_t name; /* string: name of one of its tasks; communication_name() cuts it */
	uint32_t group; /* string: communication group, as in the file; 0 = unknown */
	uint32_t members; /* number of ranks in the group; 0 = unknown */
	uint32_t collective; /* string: the framework's name for it; 0 = unknown */
	uint32_t types; /* string: data types; 0 = unknown, or several */
	uint64_t count;
	uint64_t sized; /* number of operations with a known size; the next two are their sums */
	uint64_t bytes; /* the larger of a rank's input and output */
	uint64_t sized_ns;
	double bus_bytes; /* bytes × bus factor where that is known (collective_rate.h); 0 = for none */
	uint64_t bus_ns; /* time of these operations */
	uint64_t total_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t
		timed; /* number of operations whose parts a file has; the following are their sums */
	uint64_t transit_ns;
	uint64_t wait_ns;
	uint64_t synchronization_ns;
	uint64_t idle_ns;
};

struct link_usage {
	uint32_t device;
	uint32_t source; /* ranks; INDEX_NONE = unknown */
	uint32_t destination;
	uint32_t transport; /* string */
	uint64_t transfers;
	uint64_t bytes;
	uint64_t transit_ns;
	uint64_t waits;
	uint64_t wait_ns;
};

/* A device among several that work together. */
struct rank_usage {
	uint32_t device;
	uint32_t job; /* the first device of its job (rank_jobs.h) */
	uint64_t collectives; /* number of matched collectives */
	uint64_t last; /* number of these in which it came last, by more than the clocks' error */
	uint64_t late_ns; /* sum of the skews of those: how long others waited for it */
	uint64_t wait_ns; /* sum over all collectives: how long it waited for the last rank */
	struct rank_clock clock;
};

struct collective_skew {
	uint32_t name; /* string */
	uint32_t straggler; /* device that came last */
	uint32_t ranks; /* number of ranks that took part */
	uint64_t start_ns; /* of the first rank */
	uint64_t skew_ns;
	uint64_t duration_ns; /* to the end of the last rank */
};

struct communication_results {
	struct communication_usage *operations; /* largest total first */
	uint32_t operation_count;
	struct link_usage *links; /* longest first */
	uint32_t link_count;
	struct rank_usage *ranks; /* by device; none if there is only one */
	uint32_t rank_count;
	struct collective_skew *skews; /* largest first */
	uint32_t skew_count;
	bool clocks_moved; /* the clock of a rank was corrected */
	uint64_t clock_error_ns; /* the largest error of the ranks' clocks */
	uint64_t unmatched; /* tasks of collectives that some ranks have more often than others */
};

/*
 * communication_analyse - fills @results; needs converted, sorted tasks
 *
 * Tasks that start in the window count, with their whole duration; links and parts are those of
 * the files. Returns 0 or -ENOMEM; in both cases the caller calls communication_free().
 */
int communication_analyse(const struct model *model, const struct analysis_options *options,
			  struct communication_results *results);
void communication_free(struct communication_results *results);

/* Copies an operation's name without its numbers, cut to @size, to @into. Returns @into. */
const char *communication_name(const char *name, char *into, size_t size);

/* The part of communication_analyse() that compares ranks. Returns 0 or -ENOMEM. */
int communication_ranks(const struct model *model, const struct analysis_options *options,
			struct communication_results *results);

#endif /* PROFBPF_ANALYZER_ANALYSE_CLUSTER_COMMUNICATION_H */

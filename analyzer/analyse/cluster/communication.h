/* SPDX-License-Identifier: Apache-2.0 */
/*
 * communication.h - collectives: what they moved, over which links, and who was late.
 *
 * Operations go by group, where the file tells it, and by what they do, "hcom_allReduce_" of "hcom_allReduce__971_4_1". Where a file tells
 * the parts of an operation, transit is the time of its transfers and wait that of its waits
 * for other ranks; synchronization is the part of wait before the first transfer.
 *
 * Devices of several ranks: the n-th collective of a name, and of a group where the file tells it, on one
 * rank is the same as the n-th on the others, if all that have the name have it equally often. Its skew is the time
 * from the first rank's start to the last one's, who is the straggler: the others wait for it. Before
 * that, clocks that differ are set by the ends of what they have in common (rank_clocks.h); on one host
 * differences below about 20 us mean nothing. Sends and receives are left out: they are of two ranks.
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
	uint32_t name; /* string: of one of its tasks; communication_name() cuts it */
	uint32_t group; /* string: who takes part, as the file has it; 0 = unknown */
	uint32_t members; /* how many of them; 0 = unknown */
	uint32_t collective; /* string: what the framework calls it; 0 = unknown */
	uint32_t types; /* string: of data; 0 = unknown, or several */
	uint64_t count;
	uint64_t sized; /* of these, whose size is told, with the next two */
	uint64_t bytes; /* of the larger of what a rank gives and gets */
	uint64_t sized_ns;
	double bus_bytes; /* of those whose part of it is known (collective_rate.h); 0 = of none */
	uint64_t bus_ns; /* the time of these */
	uint64_t total_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t
		timed; /* operations of which a file tells the parts; the following are their sums */
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

/* One device among several that work together. */
struct rank_usage {
	uint32_t device;
	uint64_t collectives; /* that were matched */
	uint64_t last; /* of these, it came last, and not at the same time as all others */
	uint64_t late_ns; /* sum of the skews of those: how long others waited for it */
	uint64_t wait_ns; /* sum over the others: how long it waited for the last rank */
	struct rank_clock clock;
};

struct collective_skew {
	uint32_t name; /* string */
	uint32_t straggler; /* device that came last */
	uint32_t ranks; /* that took part */
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
	bool clocks_moved; /* some rank's clock was corrected */
	uint64_t clock_error_ns; /* the worst of theirs */
	uint64_t unmatched; /* tasks of collectives that some ranks have more often than others */
};

/*
 * communication_analyse - fill @results; needs converted, sorted tasks
 *
 * Tasks that start in the window count, with their whole duration; links and parts are those of
 * the files. Returns 0 or -ENOMEM; in both cases communication_free() is to be called.
 */
int communication_analyse(const struct model *model, const struct analysis_options *options,
			  struct communication_results *results);
void communication_free(struct communication_results *results);

/* What an operation is called without the numbers of its kind of name; cut to @size. Returns @into. */
const char *communication_name(const char *name, char *into, size_t size);

/* The part of communication_analyse() that is about several ranks. 0 or -ENOMEM. */
int communication_ranks(const struct model *model, const struct analysis_options *options,
			struct communication_results *results);

#endif /* PROFBPF_ANALYZER_ANALYSE_CLUSTER_COMMUNICATION_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_clocks.h - the offsets between the clocks of ranks, from their common collectives.
 *
 * All ranks of a collective end it together, whenever each began. So the offset of two clocks is the
 * median of the differences of those ends, and the drift is a line through them. This does not hold for collectives
 * with a root (broadcast, gather, reduce): they are left out. One rank's clock is the reference for all ranks that
 * have collectives with it, directly or through other ranks.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CLUSTER_RANK_CLOCKS_H
#define PROFBPF_ANALYZER_ANALYSE_CLUSTER_RANK_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#define RANK_CLOCK_NOISE_NS 20000 /* clocks of one host agree that well: a smaller offset is not corrected */
#define RANK_CLOCK_SAMPLES 3 /* minimum number of collectives with others */

/* The end of one collective on one device. */
struct rank_end {
	uint64_t end_ns;
	uint32_t device;
	uint32_t collective; /* number; ends of one collective follow each other */
	bool rooted; /* its ranks do not end it together */
};

struct rank_clock {
	bool known; /* there were enough collectives */
	bool moved; /* it differs from the reference by more than noise and error: times are corrected */
	int64_t offset_ns; /* to be added to its times, at base_ns */
	double drift; /* growth of the offset per ns after base_ns */
	uint64_t base_ns;
	uint64_t error_ns; /* nine of ten corrected ends differ less from the reference */
};

/*
 * rank_clocks_find - fills @clocks: one per device, @devices in all, zeroed by the caller
 *
 * Returns 0 or -ENOMEM.
 */
int rank_clocks_find(const struct rank_end *ends, uint32_t count, uint32_t devices,
		     struct rank_clock *clocks);

/* Converts a time of a device's clock to the reference clock. */
int64_t rank_clock_time(const struct rank_clock *clock, uint64_t ns);

/* Do the ranks of a collective of this name not end together? */
bool rank_clocks_is_rooted(const char *name);

#endif /* PROFBPF_ANALYZER_ANALYSE_CLUSTER_RANK_CLOCKS_H */

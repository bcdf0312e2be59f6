/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_clocks.h - how far the clocks of ranks are apart, by the collectives that they take part in together.
 *
 * All ranks of a collective end it together, whenever each began. So the difference of two clocks is the
 * median of the differences of those ends, and drift a line through them. Of collectives with a root
 * (broadcast, gather, reduce) that is not true: they are left out. One rank's clock counts for all that
 * have collectives with it, directly or by others.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CLUSTER_RANK_CLOCKS_H
#define PROFBPF_ANALYZER_ANALYSE_CLUSTER_RANK_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#define RANK_CLOCK_NOISE_NS 20000 /* clocks of one host agree that well: less is no difference */
#define RANK_CLOCK_SAMPLES 3 /* collectives with others that it takes at least */

/* The end of one collective on one device. */
struct rank_end {
	uint64_t end_ns;
	uint32_t device;
	uint32_t collective; /* ends of the same one follow each other */
	bool rooted; /* its ranks do not end it together */
};

struct rank_clock {
	bool known; /* there were enough collectives */
	bool moved; /* it differs from the others' by more than noise and error: times are corrected */
	int64_t offset_ns; /* what is to be added to its times, at base_ns */
	double drift; /* more of it for each ns since then */
	uint64_t base_ns;
	uint64_t error_ns; /* nine ends of ten are nearer to the others' then */
};

/*
 * rank_clocks_find - fill @clocks, one for each of @devices, zeroed
 *
 * Returns 0 or -ENOMEM.
 */
int rank_clocks_find(const struct rank_end *ends, uint32_t count, uint32_t devices,
		     struct rank_clock *clocks);

/* An instant of a device as one of the others'. */
int64_t rank_clock_time(const struct rank_clock *clock, uint64_t ns);

/* Do the ranks of a collective of this name not end together? */
bool rank_clocks_is_rooted(const char *name);

#endif /* PROFBPF_ANALYZER_ANALYSE_CLUSTER_RANK_CLOCKS_H */

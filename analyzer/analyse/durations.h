/* SPDX-License-Identifier: Apache-2.0 */
/*
 * durations.h - exact figures of a set of durations, grouped.
 *
 * Two passes: the caller counts the members of each group, then passes them; percentiles are values
 * of the set, not estimates.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_DURATIONS_H
#define PROFBPF_ANALYZER_ANALYSE_DURATIONS_H

#include <stdbool.h>
#include <stdint.h>

struct durations {
	uint64_t count; /* including @shorter */
	uint64_t total_ns;
	uint64_t mean_ns; /* 0 if there are none */
	bool has_min;
	bool has_p50; /* false if the percentile is among the unrecorded short durations, whose values are unknown */
	bool has_p99;
	bool has_max;
	uint64_t min_ns;
	uint64_t p50_ns; /* the smallest duration that half of them do not exceed */
	uint64_t p99_ns;
	uint64_t max_ns;
};

/*
 * durations_of - figures of @count durations, whose order may change
 *
 * @shorter further durations, with a sum of @shorter_ns, are known to be shorter than all of @ns.
 */
struct durations durations_of(uint64_t *ns, uint32_t count, uint64_t shorter, uint64_t shorter_ns);

#endif /* PROFBPF_ANALYZER_ANALYSE_DURATIONS_H */

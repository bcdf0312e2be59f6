/* SPDX-License-Identifier: Apache-2.0 */
/* sleeps.h - a thread's sleeps, summed up by reason and waker. */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_SLEEPS_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_SLEEPS_H

#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

/* Sleeps with the same values of the members below the sums. */
struct sleep_sum {
	uint64_t count; /* number of sleeps that end in the window */
	uint64_t ns; /* in the window */
	uint64_t max_ns;
	uint32_t object; /* index into model->sleep_objects or INDEX_NONE */
	uint32_t waker; /* thread, INDEX_NONE = none */
	uint32_t interrupt; /* string: interrupt that woke it, 0 = none or unknown */
	uint32_t disk; /* index into drivers: the disk whose requests the thread waited for, INDEX_NONE = none */
	uint64_t disk_ns; /* with disk: latencies of those requests, from issue to completion */
	int16_t syscall; /* -1 = none */
	uint8_t state; /* enum thread_state */
	uint8_t flags; /* of its spans: SPAN_TIMEOUT, SPAN_WOKEN_*, SPAN_NO_WAKE, SPAN_IOWAIT, SPAN_FAULT,
			* SPAN_MAJOR_FAULT */
};

struct sleep_sums {
	struct sleep_sum *row; /* longest ns first */
	uint32_t count;
	uint32_t capacity;
};

/*
 * sleeps_sum - sum up the sleeps of one thread
 *
 * Replaces the contents of @sums, which is zeroed before its first use; the caller frees row.
 * Returns false without memory.
 */
bool sleeps_sum(const struct model *model, const struct analysis_window *window, uint32_t thread,
		struct sleep_sums *sums);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_SLEEPS_H */

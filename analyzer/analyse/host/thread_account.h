/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_account.h - how a thread spent a time, by activity.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_THREAD_ACCOUNT_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_THREAD_ACCOUNT_H

#include <stdint.h>

#include "analyzer/analyse/host/thread_walk.h"
#include "analyzer/model/model.h"

enum activity {
	ACTIVITY_UNKNOWN = 0,
	ACTIVITY_OWN_CODE, /* on CPU, outside any runtime */
	ACTIVITY_RUNTIME, /* on CPU in a runtime call */
	ACTIVITY_DRIVER, /* in an ioctl, on CPU or asleep */
	ACTIVITY_RUNNABLE,
	ACTIVITY_ASLEEP,
	ACTIVITIES
};

struct thread_account {
	uint64_t total_ns; /* = to - from */
	uint64_t ns[ACTIVITIES]; /* add up to total_ns */
	enum activity top; /* the longest */
	uint64_t top_ns;
	uint32_t call; /* the call of the longest runtime step, or INDEX_NONE */
	uint32_t span; /* the longest sleep, or INDEX_NONE */
	uint32_t runner; /* the thread that had the CPU during the longest wait for a CPU, or INDEX_NONE */
};

/* thread_account - the account of @thread from @from_ns to @to_ns (exclusive), by the steps of @walker */
struct thread_account thread_account(const struct model *model, const struct walker *walker,
				     uint32_t thread, uint64_t from_ns, uint64_t to_ns);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_THREAD_ACCOUNT_H */

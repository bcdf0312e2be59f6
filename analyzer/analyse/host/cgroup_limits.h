/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_limits.h - groups of processes with targets in them, and the groups around
 * those: CPU quota, throttling, use of the CPUs.
 *
 * From the kernel's own cumulative figures (cpu.stat and its kin), read at the
 * session's start and end, each interval, and when a target exits; at the borders of
 * a window that is a part of the session they are interpolated.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_HOST_CGROUP_LIMITS_H
#define PROFBPF_ANALYZER_ANALYSE_HOST_CGROUP_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/analyse/selection.h"
#include "analyzer/model/model.h"

/* Growth between two readings, or over the window. */
struct cgroup_growth {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t periods;
	uint64_t throttled_periods;
	uint64_t throttled_ns; /* summed over CPUs: can be more than the time that went by */
	uint64_t usage_ns;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t quota_ns; /* at its end */
	uint64_t period_ns;
};

struct cgroup_usage {
	uint32_t cgroup; /* index into model->cgroups */
	uint32_t flags; /* MODEL_CGROUP_* known throughout */
	struct cgroup_growth all;
	struct cgroup_growth *intervals; /* part of results->intervals */
	uint32_t interval_count;
	uint32_t processes; /* of the trace, in this very group */
};

struct cgroup_results {
	struct cgroup_usage *row; /* in order of their paths */
	uint32_t count;
	struct cgroup_growth *intervals;
};

/* cgroups_analyse - returns 0 or -ENOMEM; in both cases cgroups_free_results() is to be called */
int cgroups_analyse(const struct model *model, const struct analysis_options *options,
		    struct cgroup_results *results);
void cgroups_free_results(struct cgroup_results *results);

/*
 * cgroup_last - the group that a process was in last; INDEX_NONE if that is not known
 *
 * @process is an index into model->processes. O(log n).
 */
uint32_t cgroup_last(const struct model *model, uint32_t process);

/*
 * cgroup_quota - what a group may use of CPUs, as last read: its quota and in which period
 *
 * False if it has none, or that is not known. O(log n).
 */
bool cgroup_quota(const struct model *model, uint32_t cgroup, uint64_t *quota_ns,
		  uint64_t *period_ns);

/* cgroup_limit - the group with the smallest quota of @cgroup and those around it; @cgroup if none has one */
uint32_t cgroup_limit(const struct model *model, uint32_t cgroup);

/* Rows of model->process_stats of a process: how many, and the first. O(log n). */
uint32_t process_stats_of(const struct model *model, uint32_t process, uint32_t *first);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_CGROUP_LIMITS_H */

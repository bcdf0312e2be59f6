/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_limits.h - cgroups of targets and the cgroups around them: CPU quota, throttling, use of
 * the CPUs.
 *
 * The figures are the kernel's own cumulative ones (cpu.stat and similar files), read at the
 * session's start and end, each interval, and when a target exits; they are interpolated at the
 * borders of a window that is a part of the session.
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
	uint64_t throttled_ns; /* summed over CPUs: can exceed the elapsed time */
	uint64_t usage_ns;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t quota_ns; /* at the end of this time */
	uint64_t period_ns;
};

struct cgroup_usage {
	uint32_t cgroup; /* index into model->cgroups */
	uint32_t flags; /* MODEL_CGROUP_*: the figures that are known throughout */
	struct cgroup_growth all;
	struct cgroup_growth *intervals; /* part of results->intervals */
	uint32_t interval_count;
	uint32_t processes; /* processes of the trace directly in this cgroup */
};

struct cgroup_results {
	struct cgroup_usage *row; /* by path */
	uint32_t count;
	struct cgroup_growth *intervals;
};

/* cgroups_analyse - returns 0 or -ENOMEM; in both cases cgroups_free_results() is to be called */
int cgroups_analyse(const struct model *model, const struct analysis_options *options,
		    struct cgroup_results *results);
void cgroups_free_results(struct cgroup_results *results);

/*
 * cgroup_last - the last known cgroup of a process; INDEX_NONE if unknown
 *
 * @process is an index into model->processes. O(log n).
 */
uint32_t cgroup_last(const struct model *model, uint32_t process);

/*
 * cgroup_quota - the last known CPU quota of a cgroup, and its period
 *
 * Returns false if the cgroup has no quota, or its quota is unknown. O(log n).
 */
bool cgroup_quota(const struct model *model, uint32_t cgroup, uint64_t *quota_ns,
		  uint64_t *period_ns);

/* cgroup_limit - the cgroup with the smallest quota among @cgroup and its ancestors; @cgroup if none has a quota */
uint32_t cgroup_limit(const struct model *model, uint32_t cgroup);

/* Returns the number of rows of model->process_stats of a process, and sets *@first to the first of them. O(log n). */
uint32_t process_stats_of(const struct model *model, uint32_t process, uint32_t *first);

#endif /* PROFBPF_ANALYZER_ANALYSE_HOST_CGROUP_LIMITS_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_jobs.h - which devices of a recording are ranks of the same job, by the times of their collectives.
 *
 * All ranks of a collective end it together, except if it has a root (rank_clocks.h). Two devices of different traced
 * processes are compared by each name and group of collectives that both have RANK_JOBS_MIN times or more: half or
 * more of the ends on the device with fewer of them must be near ends on the other one, by RANK_JOBS_NEAR of the mean
 * distance between these, at least RANK_JOBS_NEAR_NS. If the clock of one of them is not the host's own, ends may differ
 * by any constant.
 *
 * Devices belong to one job if that holds for one name, or if they cannot be compared, but have a name in common: because
 * these collectives are few or have a root, or because the devices are one process's, or of processes that were not traced
 * (as in device files of other hosts). The latter does not join jobs of which two devices were found to be apart. With
 * more than 128 devices all are one job.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_CLUSTER_RANK_JOBS_H
#define PROFBPF_ANALYZER_ANALYSE_CLUSTER_RANK_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"

#define RANK_JOBS_MIN 8
#define RANK_JOBS_NEAR 0.1
#define RANK_JOBS_NEAR_NS 100000

/* A collective on one device. */
struct rank_part {
	uint64_t end_ns;
	uint32_t device;
	uint32_t kind; /* number of its name and group */
	bool rooted; /* its ranks do not end it together */
};

/*
 * rank_jobs_find - finds the job of each device: jobs[device] is the first device of its job
 *
 * @parts are sorted by kind, device and time. @jobs has an entry for each device of the
 * model. Returns 0 or -ENOMEM.
 */
int rank_jobs_find(const struct model *model, const struct rank_part *parts, uint32_t count,
		   uint32_t *jobs);

/* Is the device one of a traced process of a recording? */
bool rank_jobs_is_recorded(const struct model *model, uint32_t device);

#endif /* PROFBPF_ANALYZER_ANALYSE_CLUSTER_RANK_JOBS_H */

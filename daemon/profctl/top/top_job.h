/* SPDX-License-Identifier: Apache-2.0 */
/* top_job.h - the figures of one job, a process with devices or a data pipeline, in a frame. */
#ifndef PROFBPF_DAEMON_PROFCTL_TOP_TOP_JOB_H
#define PROFBPF_DAEMON_PROFCTL_TOP_TOP_JOB_H

#include "daemon/profctl/top/top_figures.h"

struct top_job {
	unsigned int devices;
	uint64_t busy_ns; /* of all of them */
	bool has_wait; /* the trainer's wait is known */
	uint64_t wait_ns;
};

struct top_job top_job_of(const struct top_frame *frame, uint32_t pid);

#endif /* PROFBPF_DAEMON_PROFCTL_TOP_TOP_JOB_H */

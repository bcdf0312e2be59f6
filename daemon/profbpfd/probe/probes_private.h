/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probes_private.h - shared by the files of the table of probes: probes.c puts probes into files and processes,
 * probes_follow.c looks after processes that begin and end meanwhile, probes_exits.c removes and adds probes on exits,
 * by the budget.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_PROBES_PRIVATE_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_PROBES_PRIVATE_H

#include <time.h>

#include "daemon/profbpfd/probe/exit_budget.h"
#include "daemon/profbpfd/probe/file_entry.h"
#include "daemon/profbpfd/probe/link_closer.h"
#include "daemon/profbpfd/probe/probed_process.h"
#include "daemon/profbpfd/probe/probes.h"
#include "daemon/profbpfd/probe/sharing.h"

struct probes {
	const struct catalogs *catalogs;
	struct file_setting setting;
	struct file_entry **files;
	size_t file_count;
	struct probed_processes processes;
	struct sharing *sharing; /* NULL: not needed, or not available */
	struct exit_budget *budget; /* NULL: there is none */
	struct link_closer *closer; /* NULL when all is detached */
	uint32_t probed_files;
	uint32_t probed_functions;
	bool by_process; /* some file is probed in the targets only */
};

static inline uint64_t probes_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_PROBES_PRIVATE_H */

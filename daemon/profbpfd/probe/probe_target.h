/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_target.h - the process that probes are made for, although the kernel takes only its id, which is reused.
 *
 * Probes that reached another process, or one that the user may not look into any more, would slow it down and show
 * itself in its code. So the process is held while they are made, and they are removed if it has exited meanwhile.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_PROBE_TARGET_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_PROBE_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/control/right.h"

struct probe_target {
	pid_t pid; /* 0: every process that maps the file, now and later */
	uint64_t started; /* process_facts.started; 0 = unknown, not checked */
	const struct right *right; /* must hold for the process; NULL: no limit */
};

/*
 * probe_target_hold - begins to make probes for @target
 *
 * Sets *@held for probe_target_kept(), which must follow. Returns 0, or -ESRCH, without a hold: the process has exited,
 * its id is another process's, or the right to it is lost.
 */
int probe_target_hold(const struct probe_target *target, int *held);

/* probe_target_kept - has the process run, and has the right held, since then? Else the probes must be removed. Closes @held. */
bool probe_target_kept(const struct probe_target *target, int held);

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_PROBE_TARGET_H */

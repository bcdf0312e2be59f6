/* SPDX-License-Identifier: Apache-2.0 */
/* host_counters.h - pressure, CPU frequencies and idle states, as the kernel tells them. */
#ifndef PROFBPF_DAEMON_PROFBPFD_HOST_HOST_COUNTERS_H
#define PROFBPF_DAEMON_PROFBPFD_HOST_HOST_COUNTERS_H

#include "daemon/profbpfd/session/item.h"

/*
 * host_counters - one reading of all there are, for the writer
 *
 * /proc/pressure, cpufreq and cpuidle of each CPU; what this machine does not
 * have is not in it. NULL if there is nothing, or no memory.
 */
struct item *host_counters(void);

#endif /* PROFBPF_DAEMON_PROFBPFD_HOST_HOST_COUNTERS_H */

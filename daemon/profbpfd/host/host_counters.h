/* SPDX-License-Identifier: Apache-2.0 */
/* host_counters.h - reads pressure, CPU frequencies and idle states from the kernel. */
#ifndef PROFBPF_DAEMON_PROFBPFD_HOST_HOST_COUNTERS_H
#define PROFBPF_DAEMON_PROFBPFD_HOST_HOST_COUNTERS_H

#include "daemon/profbpfd/session/item.h"

/*
 * host_counters - one reading of all counters, for the writer
 *
 * /proc/pressure, cpufreq and cpuidle of each CPU; counters that this machine lacks
 * are left out. NULL if there are none, or without memory.
 */
struct item *host_counters(void);

#endif /* PROFBPF_DAEMON_PROFBPFD_HOST_HOST_COUNTERS_H */

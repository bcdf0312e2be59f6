/* SPDX-License-Identifier: Apache-2.0 */
/* host_stats.h - makes items of values that the daemon itself reads: CPU time, clocks. */
#ifndef PROFBPF_DAEMON_PROFBPFD_HOST_HOST_STATS_H
#define PROFBPF_DAEMON_PROFBPFD_HOST_HOST_STATS_H

#include "daemon/profbpfd/session/item.h"

/* host_stats_cpus - /proc/stat as a CPU_STATS item, NULL if it cannot be read */
struct item *host_stats_cpus(void);

/* host_stats_clocks - a clock snapshot as a CLOCKS item; NULL if that fails */
struct item *host_stats_clocks(void);

#endif /* PROFBPF_DAEMON_PROFBPFD_HOST_HOST_STATS_H */

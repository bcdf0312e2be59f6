/* SPDX-License-Identifier: Apache-2.0 */
/* end_prices.h - what it costs to see the ends of calls, by the way in which they are seen. */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_END_PRICES_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_END_PRICES_H

#include <stdint.h>

/* What it costs to see a call from its entry to its end, in nanoseconds; 0 = not known, such functions are not hot. */
struct end_prices {
	uint32_t exit_ns; /* at its own exits */
	uint32_t early_ns; /* at instructions before them that the kernel emulates (early_exit.h) */
	uint32_t return_ns; /* by a return probe; 0 also where their calls are not filtered */
};

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_END_PRICES_H */

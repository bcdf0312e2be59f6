/* SPDX-License-Identifier: Apache-2.0 */
/* end_prices.h - the cost of seeing the ends of calls, by the way in which they are seen. */
#ifndef PROFBPF_DAEMON_PROFBPFD_PROBE_END_PRICES_H
#define PROFBPF_DAEMON_PROFBPFD_PROBE_END_PRICES_H

#include <stdint.h>

/* The cost of seeing a call from its entry to its end, in nanoseconds; 0 = unknown: such functions never become hot. */
struct end_prices {
	uint32_t exit_ns; /* at the function's exits */
	uint32_t early_ns; /* at instructions before them that the kernel emulates (early_exit.h) */
	uint32_t return_ns; /* by a return probe; also 0 if calls are not filtered by duration */
};

#endif /* PROFBPF_DAEMON_PROFBPFD_PROBE_END_PRICES_H */

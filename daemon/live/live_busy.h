/* SPDX-License-Identifier: Apache-2.0 */
/* live_busy.h - how long a device was busy, from its tasks as they are reported. */
#ifndef PROFBPF_DAEMON_LIVE_LIVE_BUSY_H
#define PROFBPF_DAEMON_LIVE_LIVE_BUSY_H

#include <stdint.h>

/* All zeros: no task of the device was reported. */
struct live_busy {
	uint64_t tasks;
	uint64_t busy_ns; /* overlaps count once */
	uint64_t last_end_ns; /* by the device's clock */
};

/* live_busy_add - a task ran so; @start_ns 0: when is not known */
static inline void live_busy_add(struct live_busy *busy, uint64_t start_ns, uint64_t end_ns)
{
	busy->tasks++;
	if (!start_ns || end_ns < start_ns || end_ns <= busy->last_end_ns)
		return;
	busy->busy_ns += end_ns - (start_ns > busy->last_end_ns ? start_ns : busy->last_end_ns);
	busy->last_end_ns = end_ns;
}

#endif /* PROFBPF_DAEMON_LIVE_LIVE_BUSY_H */

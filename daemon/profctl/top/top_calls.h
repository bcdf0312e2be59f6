/* SPDX-License-Identifier: Apache-2.0 */
/* top_calls.h - iterates over the calls in a packet of a stream. */
#ifndef PROFBPF_DAEMON_PROFCTL_TOP_TOP_CALLS_H
#define PROFBPF_DAEMON_PROFCTL_TOP_TOP_CALLS_H

#include "daemon/live/live_pipeline.h"
#include "lib/trace/pbt.h"

/* The callback for each call; @text is the string id of its string argument, 0 = none. */
struct top_counting {
	void (*count)(void *context, const struct live_called *call, uint32_t text);
	void *context;
};

/* top_calls_read - reads the returned calls in a packet of kind CALLS; of a damaged packet those before the damage */
void top_calls_read(const struct pbt_packet *packet, const struct top_counting *counting);

#endif /* PROFBPF_DAEMON_PROFCTL_TOP_TOP_CALLS_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_state.h - from the packets of a live session to what was used in each second.
 *
 * The daemon reads the figures of the host and of all threads that ran, sends them,
 * and then its own statistics: with these a frame is complete. A frame is what the
 * figures grew by since the last one, so nothing is sampled, and threads that came
 * and went in between are in it.
 */
#ifndef PROFBPF_DAEMON_PROFCTL_TOP_TOP_STATE_H
#define PROFBPF_DAEMON_PROFCTL_TOP_TOP_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/profctl/top/top_figures.h"
#include "lib/trace/pbt.h"

struct top_state;

/* top_state_new - nothing seen yet, or NULL without memory; top_state_free() accepts NULL */
struct top_state *top_state_new(void);
void top_state_free(struct top_state *state);

/*
 * top_state_take - one packet of the stream
 *
 * Returns true when it completes a frame, which the caller then has to take with
 * top_state_frame(). Packets that make no sense are passed over.
 */
bool top_state_take(struct top_state *state, const struct pbt_packet *packet);

/* top_state_frame - the frame; false without memory. Free with top_frame_free(). */
bool top_state_frame(struct top_state *state, struct top_frame *frame);
void top_frame_free(struct top_frame *frame);

#endif /* PROFBPF_DAEMON_PROFCTL_TOP_TOP_STATE_H */

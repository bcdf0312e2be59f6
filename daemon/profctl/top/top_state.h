/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_state.h - converts the packets of a live session to the resource usage in each second.
 *
 * The daemon reads the figures of the host and of all threads that ran, sends them,
 * and then its own statistics, which complete a frame. A frame has the growth of the
 * figures since the last one, so nothing is sampled, and threads that started and ended
 * in between are included.
 */
#ifndef PROFBPF_DAEMON_PROFCTL_TOP_TOP_STATE_H
#define PROFBPF_DAEMON_PROFCTL_TOP_TOP_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/profctl/top/top_figures.h"
#include "lib/trace/pbt.h"

struct top_state;

/* top_state_new - empty; NULL without memory. top_state_free() accepts NULL. */
struct top_state *top_state_new(void);
void top_state_free(struct top_state *state);

/*
 * top_state_take - takes one packet of the stream
 *
 * Returns true when it completes a frame, which the caller must then take with
 * top_state_frame(). Invalid packets are ignored.
 */
bool top_state_take(struct top_state *state, const struct pbt_packet *packet);

/* top_state_frame - the frame; false without memory. Free with top_frame_free(). */
bool top_state_frame(struct top_state *state, struct top_frame *frame);
void top_frame_free(struct top_frame *frame);

#endif /* PROFBPF_DAEMON_PROFCTL_TOP_TOP_STATE_H */

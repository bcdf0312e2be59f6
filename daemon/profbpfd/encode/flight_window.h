/* SPDX-License-Identifier: Apache-2.0 */
/* flight_window.h - the last seconds of a flight (flight_store.h) as a trace that can be read alone. */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_FLIGHT_WINDOW_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_FLIGHT_WINDOW_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/encode/flight_store.h"
#include "daemon/profbpfd/encode/trace_output.h"

struct flight_window_facts {
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
	/*
	 * Between them: produced is delivered and lost. Of the records delivered before, since the session began: dropped
	 * as too old, for the recorder or for who asked, and for want of room.
	 */
	struct session_books books;
	struct session_books before; /* the session's at from_ns */
	uint64_t from_realtime_ns;
	uint64_t recorded_ns; /* how long it has been recording */
	uint32_t processes; /* that it records now */
};

const struct flight_window_facts *flight_window_facts(const struct flight_window *window);

/*
 * flight_window_write - write it: segments with their headers, then the final statistics
 *
 * @reason is what the file says it ended by. Returns 0, or a negative errno as output_write(): a regular file then ends with
 * the last segment that was written whole.
 */
int flight_window_write(const struct flight_window *window, struct output *output, const char *reason);

/*
 * flight_window_begin - write it as the beginning of a session that goes on
 *
 * @header is that of its segments but for their index, and of those that follow it. @written is told, atomically and as it
 * grows, how much is in the output: a slow one is not given up for it. Returns as flight_window_write().
 */
int flight_window_begin(const struct flight_window *window, struct output *output, const Profbpf__Segment *header,
			uint64_t *written);

/* flight_window_segments - how many that writes */
size_t flight_window_segments(const struct flight_window *window);

/* flight_window_free - NULL is fine */
void flight_window_free(struct flight_window *window);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_FLIGHT_WINDOW_H */

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
	 * Counts of the window: produced = delivered + lost. And of the records delivered before it, since the start of the
	 * session: dropped as too old, by the recorder's window or the request's, and dropped for lack of room.
	 */
	struct session_books books;
	struct session_books before; /* the session's counts at from_ns */
	uint64_t from_realtime_ns;
	uint64_t recorded_ns; /* time since recording began */
	uint32_t processes; /* number of recorded processes now */
};

const struct flight_window_facts *flight_window_facts(const struct flight_window *window);

/*
 * flight_window_write - writes the window: segments with their headers, then the final statistics
 *
 * @reason is the reason of the end in the file. Returns 0, or a negative errno like output_write(): a regular file then ends with
 * the last complete segment.
 */
int flight_window_write(const struct flight_window *window, struct output *output, const char *reason);

/*
 * flight_window_begin - writes the window as the start of a session that continues
 *
 * @header is the header of its segments and the following ones, except the index. *@written is updated atomically with the
 * number of bytes in the output, so that a slow output is not given up. Returns like flight_window_write().
 */
int flight_window_begin(const struct flight_window *window, struct output *output, const Profbpf__Segment *header,
			uint64_t *written);

/* flight_window_segments - the number of segments that it writes */
size_t flight_window_segments(const struct flight_window *window);

/* flight_window_free - accepts NULL */
void flight_window_free(struct flight_window *window);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_FLIGHT_WINDOW_H */

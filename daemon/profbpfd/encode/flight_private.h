/* SPDX-License-Identifier: Apache-2.0 */
/* flight_private.h - shared by flight_store.c and flight_window.c: segments in memory. */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_FLIGHT_PRIVATE_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_FLIGHT_PRIVATE_H

#include "daemon/profbpfd/encode/flight_window.h"

#define FLIGHT_CHUNK (32u << 10)

struct flight_chunk {
	struct flight_chunk *next;
	size_t size;
	uint8_t data[FLIGHT_CHUNK];
};

struct flight_segment {
	struct flight_segment *next; /* the next younger one of the flight */
	uint32_t holders; /* number of holders: the flight, windows; protected by the store's lock */
	uint64_t from_ns, to_ns;
	uint64_t realtime_ns; /* CLOCK_REALTIME at from_ns */
	struct session_books begin, end; /* the session's counts at begin and end */
	struct flight_chunk *first, *last;
	size_t bytes; /* its part of the budget */
};

/* The header of a flight, packed; shared with windows, which copy it. */
struct flight_header {
	uint8_t *data;
	size_t size;
};

struct flight_window {
	struct flight_store *store;
	struct flight_header header;
	struct flight_segment **segments; /* oldest first; each is held */
	size_t count;
	uint32_t *targets;
	size_t target_count;
	struct flight_window_facts facts;
};

/* flight_segment_release - for windows; the store's lock is not held */
void flight_segment_release(struct flight_store *store, struct flight_segment *segment);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_FLIGHT_PRIVATE_H */

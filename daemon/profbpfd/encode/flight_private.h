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
	struct flight_segment *next; /* of its flight, younger */
	uint32_t holders; /* the flight, windows; under the store's lock */
	uint64_t from_ns, to_ns;
	uint64_t realtime_ns; /* at from_ns */
	struct session_books begin, end; /* the session's then */
	struct flight_chunk *first, *last;
	size_t bytes; /* of the budget */
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

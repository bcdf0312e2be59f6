/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight_store.h - the memory of the flight recorder: the last seconds of its sessions, as compressed segments.
 *
 * All sessions share one store with a budget in bytes, which is exceeded at most by one packet and the bookkeeping.
 * A session's part is a flight: its packets, as in a file, divided into segments that can be read alone. Segments
 * older than the window are dropped; if room is needed, also the oldest segment of the largest flight. Dropped
 * records are counted.
 *
 * A snapshot takes a window of a flight (flight_window.h). Every function may be called from any thread, but only one
 * thread, the writer, cuts and appends to a flight.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_FLIGHT_STORE_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_FLIGHT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/encode/statistics_message.h"
#include "proto/trace.pb-c.h"

#define FLIGHT_PARTS 16 /* minimum number of segments in a window, and in the budget */

struct flight_store;
struct flight;
struct flight_window;

/* flight_store_new - keeps @window_ns, in at most @budget bytes; NULL without memory */
struct flight_store *flight_store_new(uint64_t budget, uint64_t window_ns);

/* flight_store_limit - changes the limits; segments beyond them are dropped at once */
void flight_store_limit(struct flight_store *store, uint64_t budget, uint64_t window_ns);

/* flight_store_free - to be called after all flights and windows were released; accepts NULL */
void flight_store_free(struct flight_store *store);

/* flight_store_bytes - the present size of all segments */
uint64_t flight_store_bytes(struct flight_store *store);

/* flight_new - the part of one session; NULL without memory. The caller holds it until flight_let_go(). */
struct flight *flight_new(struct flight_store *store);

/* flight_let_go - releases the flight; its segments stay available until they are too old. Accepts NULL */
void flight_let_go(struct flight *flight);

/* flight_describe - sets the header of each segment of a snapshot, except time, index and targets; 0 or -ENOMEM */
int flight_describe(struct flight *flight, const Profbpf__Segment *segment);

/* The instant at which one segment ends and the next begins. */
struct flight_cut {
	uint64_t ts_ns; /* CLOCK_MONOTONIC */
	uint64_t realtime_ns;
	const struct session_books *books; /* from the session's start until then */
};

/* flight_cut - ends the current segment, if there is one, drops old segments, and begins a new one; 0 or -ENOMEM */
int flight_cut(struct flight *flight, const struct flight_cut *cut);

/* flight_end - ends the segment at the end of the session */
void flight_end(struct flight *flight, const struct flight_cut *cut);

/*
 * flight_append - appends a packet to the current segment
 *
 * Makes room for it. Returns 0, -ENOMEM, or -ENOSPC: only this segment is left to be dropped, and must be
 * ended first.
 */
int flight_append(struct flight *flight, const void *packet, size_t size);

/* flight_window_ns - the time for which its segments are kept */
uint64_t flight_window_ns(const struct flight *flight);

/* flight_wants_cut - has the segment its intended size or duration? */
bool flight_wants_cut(struct flight *flight, uint64_t now_ns);

/* flight_is_full - has the segment twice its intended size? */
bool flight_is_full(struct flight *flight);

/* flight_stack_bytes - the limit on the uncompressed stacks that each segment repeats */
uint64_t flight_stack_bytes(const struct flight *flight);

/* flight_is_heavy - would the repeated data, @bytes at the start of each segment, take half of the memory? */
bool flight_is_heavy(const struct flight *flight, uint64_t bytes);

/*
 * flight_take - a window with the ended segments that reach beyond @from_ns; they stay in memory with the window
 *
 * @targets, which are copied, become the targets in the headers. NULL if there is no such segment, or without
 * memory. Free with flight_window_free().
 */
struct flight_window *flight_take(struct flight *flight, uint64_t from_ns, const pid_t *targets, size_t count);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_FLIGHT_STORE_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight_store.h - the memory of the flight recorder: the last seconds of its sessions, as compressed segments.
 *
 * One store for all of them, within a budget of bytes that is never exceeded but by one packet and the bookkeeping.
 * A session's part is a flight: its packets, as a file would have them, cut into segments that can be read
 * alone. Segments that are older than the window are dropped, then, where room is wanted, the oldest of
 * the flight that takes most. What is dropped is counted, by record.
 *
 * A snapshot takes a window of a flight (flight_window.h). Every function here may be called from any thread; of a
 * flight one at a time cuts and appends: its writer.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_FLIGHT_STORE_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_FLIGHT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/profbpfd/encode/statistics_message.h"
#include "proto/trace.pb-c.h"

#define FLIGHT_PARTS 16 /* segments that a window and the budget are cut into, at least */

struct flight_store;
struct flight;
struct flight_window;

/* flight_store_new - keep @window_ns, in at most @budget bytes; NULL without memory */
struct flight_store *flight_store_new(uint64_t budget, uint64_t window_ns);

/* flight_store_limit - from now on; what takes too much room then goes at once */
void flight_store_limit(struct flight_store *store, uint64_t budget, uint64_t window_ns);

/* flight_store_free - after all flights and windows were let go; NULL is fine */
void flight_store_free(struct flight_store *store);

/* flight_store_bytes - what all segments take now */
uint64_t flight_store_bytes(struct flight_store *store);

/* flight_new - the part of one session; NULL without memory. The caller holds it until flight_let_go(). */
struct flight *flight_new(struct flight_store *store);

/* flight_let_go - what it has stays there to be taken until it is too old; NULL is fine */
void flight_let_go(struct flight *flight);

/* flight_describe - the header that each segment of a snapshot begins with, but for time, index and targets; 0 or -ENOMEM */
int flight_describe(struct flight *flight, const Profbpf__Segment *segment);

/* An instant at which one segment ends and the next begins. */
struct flight_cut {
	uint64_t ts_ns; /* CLOCK_MONOTONIC */
	uint64_t realtime_ns;
	const struct session_books *books; /* from the session's start until then */
};

/* flight_cut - end the segment, if there is one, drop what is too old, and begin another; 0 or -ENOMEM */
int flight_cut(struct flight *flight, const struct flight_cut *cut);

/* flight_end - end the segment: the session has ended */
void flight_end(struct flight *flight, const struct flight_cut *cut);

/*
 * flight_append - a packet of the segment that was begun last
 *
 * Makes room for it. Returns 0, -ENOMEM, or -ENOSPC: nothing is left to be dropped but what this segment has, which
 * has to be ended first.
 */
int flight_append(struct flight *flight, const void *packet, size_t size);

/* flight_window_ns - how long its segments are kept */
uint64_t flight_window_ns(const struct flight *flight);

/* flight_wants_cut - has the segment as much as it should have, or begun so long ago? */
bool flight_wants_cut(struct flight *flight, uint64_t now_ns);

/* flight_is_full - has the segment twice as much as it should have? */
bool flight_is_full(struct flight *flight);

/* flight_stack_bytes - what the stacks that each segment repeats may take, before they are compressed */
uint64_t flight_stack_bytes(const struct flight *flight);

/* flight_is_heavy - would segments that each begin with @bytes which are repeated take half of the memory for that alone? */
bool flight_is_heavy(const struct flight *flight, uint64_t bytes);

/*
 * flight_take - the segments that have ended and reach beyond @from_ns, which stay in memory with the window
 *
 * @targets, which are copied, are said to be what was traced. NULL if there is no such segment, or without
 * memory. Free with flight_window_free().
 */
struct flight_window *flight_take(struct flight *flight, uint64_t from_ns, const pid_t *targets, size_t count);

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_FLIGHT_STORE_H */

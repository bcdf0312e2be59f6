/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight_recorder.h - the daemon's own sessions, which keep the last seconds of whoever uses an accelerator in memory.
 *
 * One session for root's processes and one for each ordinary user who has some, with that user's rights: what
 * is in it is theirs to have. They share one memory (encode/flight_store.h).
 *
 * All functions are for the control loop's thread.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_FLIGHT_RECORDER_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_FLIGHT_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/profbpfd/control/access.h"
#include "daemon/profbpfd/control/accelerator_users.h"
#include "daemon/profbpfd/encode/flight_window.h"
#include "daemon/profbpfd/session/item.h"

#define RECORDER_MEMORY_DEFAULT (64ull << 20)
#define RECORDER_MEMORY_MIN (4ull << 20)
#define RECORDER_WINDOW_MIN_NS 1000000000ull
#define RECORDER_WINDOW_MAX_NS 86400000000000ull
#define RECORDER_USERS_MAX 8 /* whose processes are recorded, root's counted as one */

struct services;
struct flight_recorder;

struct flight_recorder_options {
	uint64_t window_ns; /* 0: no recorder */
	uint64_t memory_bytes;
	struct user_rules rules;
};

/* flight_recorder_new - begin to look for processes; @services and @options outlive it. NULL after saying why. */
struct flight_recorder *flight_recorder_new(struct services *services, const struct flight_recorder_options *options);

/* flight_recorder_fd - readable when there is something for flight_recorder_read() */
int flight_recorder_fd(const struct flight_recorder *recorder);

/* flight_recorder_read - record the processes that were found */
void flight_recorder_read(struct flight_recorder *recorder);

/* flight_recorder_check - a session has ended: if it was one of the recorder's another one is begun, after a while */
void flight_recorder_check(struct flight_recorder *recorder);

/* flight_recorder_window - how long records are kept */
uint64_t flight_recorder_window(const struct flight_recorder *recorder);

/*
 * flight_recorder_parts - how many sessions a peer may have a snapshot of: all, or the user's own
 * flight_recorder_ask - have the last seconds of each of them taken; as many answers come as there are parts
 *
 * @asks has as many. Some answers come before it returns.
 */
size_t flight_recorder_parts(const struct flight_recorder *recorder, const struct peer *peer);
void flight_recorder_ask(struct flight_recorder *recorder, const struct peer *peer, const struct flight_ask *asks);

/* flight_recorder_free - when its sessions have ended; NULL is fine */
void flight_recorder_free(struct flight_recorder *recorder);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_FLIGHT_RECORDER_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight_recorder.h - the daemon's own sessions, which keep the last seconds of accelerator users in memory.
 *
 * There is one session for root's processes and one for each ordinary user with such processes, which has that user's
 * rights, so the user may have its content. All share one memory (encode/flight_store.h).
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
#include "daemon/profbpfd/session/triggers.h"

#define RECORDER_MEMORY_DEFAULT (64ull << 20)
#define RECORDER_MEMORY_MIN (4ull << 20)
#define RECORDER_WINDOW_MIN_NS 1000000000ull
#define RECORDER_WINDOW_MAX_NS 86400000000000ull
#define RECORDER_USERS_MAX 8 /* the most users whose processes are recorded, including root */

/* The message if the recorder cannot start for lack of memory, descriptors or threads. */
#define RECORDER_NO_ROOM \
	"out of memory, threads or file descriptors: raise the limits (LimitNOFILE=, MemoryMax= and TasksMax= in the service), " \
	"then restart profbpfd"

struct services;
struct flight_recorder;

struct flight_recorder_options {
	uint64_t window_ns; /* 0: no recorder */
	uint64_t memory_bytes;
	struct user_rules rules;
	struct trigger *triggers; /* initial triggers */
	size_t trigger_count;
	const char *directory; /* directory of the files that triggers write */
	uint64_t space_bytes; /* limit of their size */
};

/*
 * flight_recorder_new - starts the search for processes; @services and @options must outlive it
 *
 * Returns 0 with *@recorder, or sets that to NULL and @error to the reason: -ENOTSUP if nothing can be recorded here,
 * or -ENOMEM, also for lack of descriptors or threads.
 */
int flight_recorder_new(struct services *services, const struct flight_recorder_options *options,
			struct flight_recorder **recorder, char *error, size_t error_size);

/* flight_recorder_fd - readable when flight_recorder_read() must be called */
int flight_recorder_fd(const struct flight_recorder *recorder);

/* flight_recorder_read - begins to record newly found processes */
void flight_recorder_read(struct flight_recorder *recorder);

/* flight_recorder_check - to be called when a session has ended: one of the recorder's is started again after a while */
void flight_recorder_check(struct flight_recorder *recorder);

/* flight_recorder_reload - applies changed @options, which outlive it: time, memory and rules for processes */
void flight_recorder_reload(struct flight_recorder *recorder, const struct flight_recorder_options *options);

/* flight_recorder_window, flight_recorder_memory - the time for which records are kept, and their largest size */
uint64_t flight_recorder_window(const struct flight_recorder *recorder);
uint64_t flight_recorder_memory(const struct flight_recorder *recorder);

/* Selects sessions of the recorder: all, or the one for this owner's processes. */
struct flight_choice {
	bool all;
	uid_t owner;
	gid_t group;
};

/* flight_recorder_session - the owner whose processes a session records; false if it is not the recorder's */
bool flight_recorder_session(const struct flight_recorder *recorder, uint32_t session, struct flight_choice *choice);

/* flight_choice_of - the sessions that a peer may have a snapshot of */
struct flight_choice flight_choice_of(const struct peer *peer);

/*
 * flight_recorder_parts - the number of chosen sessions
 * flight_recorder_ask - requests the last seconds of each of them; each gives one answer
 *
 * @asks has one element for each. Some answers come before it returns.
 */
size_t flight_recorder_parts(const struct flight_recorder *recorder, const struct flight_choice *choice);
void flight_recorder_ask(struct flight_recorder *recorder, const struct flight_choice *choice,
			 const struct flight_ask *asks);

/* flight_recorder_free - its sessions must have ended; accepts NULL */
void flight_recorder_free(struct flight_recorder *recorder);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_FLIGHT_RECORDER_H */

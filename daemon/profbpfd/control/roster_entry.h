/* SPDX-License-Identifier: Apache-2.0 */
/* roster_entry.h - the sessions that the daemon keeps on its roster (roster.h). */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_ROSTER_ENTRY_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_ROSTER_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/common/words.h"
#include "daemon/profbpfd/control/connection.h"
#include "daemon/profbpfd/control/held.h"
#include "daemon/profbpfd/control/quotas.h"
#include "daemon/profbpfd/session/session.h"

#define ROSTER_SESSIONS_MAX 64
#define ROSTER_SESSIONS_RESERVED 16 /* the part of them reserved for users who may do everything */
#define ROSTER_WAITERS_MAX 64 /* per session */

/* A client that asked for a session to end and is notified when it has. */
struct roster_waiter {
	struct client *client;
	uint32_t request;
};

struct roster_entry {
	uint32_t id;
	struct session *session;
	struct catalogs *catalogs; /* for the session */
	uid_t owner;
	bool system_wide;
	bool of_recorder; /* the daemon's own session: no client started it, none can stop it */
	uint32_t *pids; /* as requested */
	struct held *held; /* holds on these processes, until the session takes them */
	size_t pid_count;
	uint64_t duration_ns; /* as requested; 0 = until stopped */
	uint64_t memory_bytes; /* session_memory() */
	char *output_name; /* the client's name of its output; "" if it gave none */
	struct words warnings; /* the daemon's own; the session has more */
	struct client *starter; /* NULL once it is gone */
	uint32_t start_request;
	bool ended; /* all waiters were notified of its end */
	bool announced; /* the starter knows that it is live */
	size_t warnings_told; /* number of the session's warnings that were sent */
	struct roster_waiter waiters[ROSTER_WAITERS_MAX];
	size_t waiter_count;
	struct roster_entry *next;
};

struct roster {
	struct roster_entry *first;
	uint32_t last_id;
	int event_fd; /* every session reports its changes here */
	struct probe_costs probe_costs; /* from the last session */
	bool quiet; /* does not log users and targets */
};

/*
 * roster_count - all entries, including those of ended sessions that are being unloaded
 * roster_count_running - sessions that have not ended
 * roster_use - the resources of one user's sessions that have not ended
 */
size_t roster_count(const struct roster *roster);
size_t roster_count_running(const struct roster *roster);
struct quota_use roster_use(const struct roster *roster, uid_t owner);

/* roster_find - NULL if there is no such session, or if it has ended */
struct roster_entry *roster_find(struct roster *roster, uint32_t id);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_ROSTER_ENTRY_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roster.h - the daemon's sessions: their starters, the clients that wait for them, and the
 * messages already sent to these.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_ROSTER_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/profbpfd/control/roster_entry.h"

/* roster_init - returns 0 or a negative errno */
int roster_init(struct roster *roster, bool quiet);

/* roster_free - frees the remaining sessions, after waiting for their threads */
void roster_free(struct roster *roster);

/* roster_add - adds an entry, which the roster owns then, and logs it; roster_new_id - an id for it */
uint32_t roster_new_id(struct roster *roster);
void roster_add(struct roster *roster, struct roster_entry *entry);

/* roster_entry_free - frees an entry that was not added; accepts NULL */
void roster_entry_free(struct roster_entry *entry);

/* roster_wait - notifies @client when the session has ended; false if too many clients wait already */
bool roster_wait(struct roster_entry *entry, struct client *client, uint32_t request);

/*
 * roster_update - notifies starters and waiters of changes, and drops ended sessions
 *
 * To be called when event_fd is readable; clears it.
 */
void roster_update(struct roster *roster);

/*
 * roster_forget - the client is gone
 *
 * Its live sessions continue; sessions that are not live yet are stopped, because nobody would read their output.
 */
void roster_forget(struct roster *roster, const struct client *client);

/* roster_stop_all - requests the end of all sessions, or of those that @starter has started if it is not NULL */
size_t roster_stop_all(struct roster *roster, const struct client *starter, const char *reason);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_ROSTER_H */

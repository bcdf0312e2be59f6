/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roster.h - the daemon's sessions: who started them, who waits for them, and
 * what they have been told.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_ROSTER_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/profbpfd/control/roster_entry.h"

/* roster_init - returns 0 or a negative errno */
int roster_init(struct roster *roster, bool quiet);

/* roster_free - frees what is left; waits for its sessions' threads */
void roster_free(struct roster *roster);

/* roster_add - take an entry over and log it; roster_new_id - an id for it */
uint32_t roster_new_id(struct roster *roster);
void roster_add(struct roster *roster, struct roster_entry *entry);

/* roster_entry_free - free an entry that was not added; NULL is fine */
void roster_entry_free(struct roster_entry *entry);

/* roster_wait - have @client told when it has ended; false if too many wait already */
bool roster_wait(struct roster_entry *entry, struct client *client, uint32_t request);

/*
 * roster_update - something changed: tell starters and waiters, drop what has ended
 *
 * To be called when event_fd is readable, which it is not afterwards.
 */
void roster_update(struct roster *roster);

/*
 * roster_forget - this client is gone
 *
 * Its sessions go on, unless they are not live yet: their output would be nobody's.
 */
void roster_forget(struct roster *roster, const struct client *client);

/* roster_stop_all - ask all sessions to end, or all that @starter started if it is not NULL */
size_t roster_stop_all(struct roster *roster, const struct client *starter, const char *reason);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_ROSTER_H */

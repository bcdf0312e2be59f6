/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trigger_watch.h - examines the records of a flight recorder's session for the events of triggers.
 *
 * For the session's writing thread, which gets all records at most a second after the event. Costs nothing
 * as long as there is no trigger.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_SESSION_TRIGGER_WATCH_H
#define PROFBPF_DAEMON_PROFBPFD_SESSION_TRIGGER_WATCH_H

#include <sys/types.h>

#include "daemon/profbpfd/metrics/live_figures.h"
#include "daemon/profbpfd/session/item.h"
#include "daemon/profbpfd/session/triggers.h"

#define STEPS_KNOWN 8 /* steps that are needed before one can count as slow */
#define STEPS_KEPT 64 /* a step is compared with the median of so many */

struct trigger_watch;

/*
 * trigger_watch_new - @owner, @group: the session's user and group; (uid_t)-1: root. NULL without memory
 *
 * @triggers and @live must outlive it. @live gets each item first and has the waits that trainers mark (NULL: unknown).
 */
struct trigger_watch *trigger_watch_new(struct triggers *triggers, const struct live_figures *live, uid_t owner, gid_t group);

/* trigger_watch_item - examines the item; at statistics, each second, also checks for events that failed to happen */
void trigger_watch_item(struct trigger_watch *watch, const struct item *item);

/* trigger_watch_free - accepts NULL */
void trigger_watch_free(struct trigger_watch *watch);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_TRIGGER_WATCH_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trigger_watch.h - a session of the flight recorder looks through what it records for what triggers wait for.
 *
 * For the session's writing thread, which has all that is recorded a second after it happened at most. Costs nothing
 * as long as there is no trigger.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_SESSION_TRIGGER_WATCH_H
#define PROFBPF_DAEMON_PROFBPFD_SESSION_TRIGGER_WATCH_H

#include <sys/types.h>

#include "daemon/profbpfd/metrics/live_figures.h"
#include "daemon/profbpfd/session/item.h"
#include "daemon/profbpfd/session/triggers.h"

#define STEPS_KNOWN 8 /* before a step can be slow */
#define STEPS_KEPT 64 /* whose median it is compared with */

struct trigger_watch;

/*
 * trigger_watch_new - @owner, @group: of the session; (uid_t)-1: of root. NULL without memory
 *
 * @triggers outlive it, and so does @live, which is shown each item before: how long trainers wait that mark it (NULL: not known).
 */
struct trigger_watch *trigger_watch_new(struct triggers *triggers, const struct live_figures *live, uid_t owner, gid_t group);

/* trigger_watch_item - look through it; with statistics, each second, at what has not happened, too */
void trigger_watch_item(struct trigger_watch *watch, const struct item *item);

/* trigger_watch_free - NULL is fine */
void trigger_watch_free(struct trigger_watch *watch);

#endif /* PROFBPF_DAEMON_PROFBPFD_SESSION_TRIGGER_WATCH_H */

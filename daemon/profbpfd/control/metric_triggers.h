/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_triggers.h - triggers by metrics: while there is one, the metrics are checked each METRIC_TRIGGERS_NS.
 *
 * All functions are for the control loop's thread.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_METRIC_TRIGGERS_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_METRIC_TRIGGERS_H

#include "daemon/profbpfd/control/services.h"

#define METRIC_TRIGGERS_NS 2000000000ull

struct metric_triggers;

/* metric_triggers_new - NULL without memory or descriptors; @services must outlive it; _free() accepts NULL */
struct metric_triggers *metric_triggers_new(const struct services *services);
void metric_triggers_free(struct metric_triggers *triggers);

/* metric_triggers_fd - readable when metric_triggers_look() must be called */
int metric_triggers_fd(const struct metric_triggers *triggers);
void metric_triggers_look(struct metric_triggers *triggers);

/* metric_triggers_follow - to be called when the list of triggers may have changed */
void metric_triggers_follow(struct metric_triggers *triggers);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_METRIC_TRIGGERS_H */

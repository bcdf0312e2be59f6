/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload.h - the daemon's settings are read again: what can change while it runs does, what cannot is told by name.
 *
 * Sessions go on as they were begun; limits of users count for the next ones. All functions are for the control loop's
 * thread.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_RELOAD_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_RELOAD_H

#include "daemon/common/words.h"
#include "daemon/profbpfd/control/connection.h"
#include "daemon/profbpfd/control/server_options.h"
#include "daemon/profbpfd/control/services.h"
#include "proto/control.pb-c.h"

/* Names of options. */
struct reload_report {
	struct words changed; /* their new values count now */
	struct words kept; /* theirs do from the next start on */
};

/* Which settings count now. What is pointed to outlives the daemon's services. */
struct settings_in_force {
	const struct server_options *first; /* of the daemon's start: what cannot change is theirs */
	const struct server_options *last; /* as they were read last */
	const struct server_options *recorder; /* whose recorder it is: one that is to be turned off goes on as it was */
};

/*
 * reload_apply - to @fresh, which outlives @services
 *
 * A recorder that is to be turned on is left to the caller, before. Returns 0, or -ENOMEM and nothing has changed. Where memory
 * lacks for the report alone, that is not whole.
 */
int reload_apply(struct services *services, struct settings_in_force *settings, const struct server_options *fresh,
		 struct reload_report *report);

/* reload_report_print - on standard error */
void reload_report_print(const struct reload_report *report);
void reload_report_free(struct reload_report *report);

/* reload_request - answer it. Only for those who may do everything. */
void reload_request(struct services *services, struct client *client, uint32_t id);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_RELOAD_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload.h - reads the daemon's settings again: applies those that can change while it runs, and names the others.
 *
 * Running sessions are not affected; users' limits hold for new sessions. All functions are for the control loop's
 * thread.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_RELOAD_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_RELOAD_H

#include "daemon/common/words.h"
#include "daemon/profbpfd/control/connection.h"
#include "daemon/profbpfd/control/server_options.h"
#include "daemon/profbpfd/control/services.h"
#include "proto/control.pb-c.h"

/* Names of changed options. */
struct reload_report {
	struct words changed; /* the new values are in force now */
	struct words kept; /* the new values take effect at the next start */
};

/* The settings in force. The pointers outlive the daemon's services. */
struct settings_in_force {
	const struct server_options *first; /* of the daemon's start: the source of settings that cannot change */
	const struct server_options *last; /* the settings read last */
	const struct server_options *recorder; /* settings of the running recorder, which a reload does not turn off */
};

/*
 * reload_apply - changes the settings to @fresh, which must outlive @services
 *
 * If the recorder is turned on, the caller starts it before. Returns 0, or -ENOMEM and changes nothing. If memory lacks
 * only for the report, it is incomplete.
 */
int reload_apply(struct services *services, struct settings_in_force *settings, const struct server_options *fresh,
		 struct reload_report *report);

/* reload_report_print - prints the report on standard error */
void reload_report_print(const struct reload_report *report);
void reload_report_free(struct reload_report *report);

/* reload_request - answers the request. Only for users who may do everything. */
void reload_request(struct services *services, struct client *client, uint32_t id);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_RELOAD_H */

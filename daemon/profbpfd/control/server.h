/* SPDX-License-Identifier: Apache-2.0 */
/* server.h - the daemon's one event loop: connections, signals, sessions, watchdog. */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_SERVER_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_SERVER_H

#include <stddef.h>

#include "daemon/profbpfd/control/flight_recorder.h"
#include "daemon/profbpfd/control/quotas.h"

#define SERVER_CLIENTS_MAX 256
#define SERVER_CLIENTS_RESERVED 64 /* of these, for those who may do everything */
#define SERVER_CLIENTS_PER_USER 32 /* of an ordinary user */

struct server_options {
	const char *socket; /* path to listen on; unused by a private daemon */
	int private_fd; /* connected socket of the only client; -1 = listen */
	const char *const *catalog_directories;
	size_t catalog_directory_count;
	const char *const *metrics; /* where to serve them (metrics/endpoint.h); unused by a private daemon */
	size_t metrics_count;
	struct quotas quotas; /* of an ordinary user */
	struct flight_recorder_options recorder; /* unused by a private daemon */
};

/*
 * server_run - serve until SIGTERM, SIGINT or SIGHUP
 *
 * A private daemon also ends when its client is gone. Either way sessions are
 * stopped and their files completed first; a second signal gives that up. The
 * signals must be blocked in all threads, before any is made. Tells systemd
 * (READY, STOPPING, WATCHDOG) where that started it. Returns the exit status:
 * 0, or 1 with a message printed.
 */
int server_run(const struct server_options *options);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_SERVER_H */

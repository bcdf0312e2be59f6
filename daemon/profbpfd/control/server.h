/* SPDX-License-Identifier: Apache-2.0 */
/* server.h - the daemon's one event loop: connections, signals, sessions, watchdog. */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_SERVER_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_SERVER_H

#include "daemon/profbpfd/control/server_options.h"

#define SERVER_CLIENTS_MAX 256
#define SERVER_CLIENTS_RESERVED 64 /* the part of them reserved for users who may do everything */
#define SERVER_CLIENTS_PER_USER 32 /* limit for an ordinary user */

/*
 * server_run - serve until SIGTERM or SIGINT
 *
 * A private daemon also ends at SIGHUP, at which another one reads its settings again, and when its client is gone. In each
 * case sessions are stopped and their files completed first; a second signal skips that. The caller blocks the signals
 * before it creates any thread. Notifies systemd (READY, RELOADING, STOPPING, WATCHDOG) if systemd started it. Returns the
 * exit status: 0, or 1 with a message printed.
 */
int server_run(const struct server_options *options);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_SERVER_H */

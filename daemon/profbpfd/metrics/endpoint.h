/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint.h - serves metrics: GET /metrics over HTTP, on Unix sockets and TCP addresses.
 *
 * The kernel identifies the peer on a Unix socket, which sees as much as over the control socket. Every peer that can
 * connect to a TCP address sees everything. Served by the control loop. Needs libmicrohttpd; a daemon that
 * was built without it refuses the option with a message.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_METRICS_ENDPOINT_H
#define PROFBPF_DAEMON_PROFBPFD_METRICS_ENDPOINT_H

#include <stddef.h>

#include "daemon/profbpfd/control/services.h"

#define METRICS_ADDRESSES_MAX 4

struct metrics;

/*
 * metrics_open - listens at @addresses, up to METRICS_ADDRESSES_MAX
 *
 * Each is a path, or ADDRESS:PORT, both numeric, [ADDRESS]:PORT for IPv6. @services and *@group
 * (NULL: there is no trusted group) outlive it. NULL with a message in @error.
 */
struct metrics *metrics_open(const char *const *addresses, size_t count, const struct services *services,
			     const gid_t *group, char *error, size_t error_size);
void metrics_close(struct metrics *metrics);

/* metrics_fd - readable when metrics_serve() must be called */
int metrics_fd(const struct metrics *metrics);
void metrics_serve(struct metrics *metrics);

#endif /* PROFBPF_DAEMON_PROFBPFD_METRICS_ENDPOINT_H */

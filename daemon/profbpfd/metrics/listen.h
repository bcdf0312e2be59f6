/* SPDX-License-Identifier: Apache-2.0 */
/* listen.h - a listening socket at a path or a TCP address. */
#ifndef PROFBPF_DAEMON_PROFBPFD_METRICS_LISTEN_H
#define PROFBPF_DAEMON_PROFBPFD_METRICS_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

/* listen_is_path - is @address a path, not ADDRESS:PORT? */
bool listen_is_path(const char *address);

/* listen_check - 0 if @address has the form that listen_at() accepts, else -EINVAL with a message in @error; opens nothing */
int listen_check(const char *address, char *error, size_t error_size);

/*
 * listen_at - opens a non-blocking stream socket
 *
 * @address: see metrics_open(). A stale socket at the path is replaced, any other file is not; the mode is 0666.
 * Returns the socket, or -1 with a message in @error.
 */
int listen_at(const char *address, char *error, size_t error_size);

#endif /* PROFBPF_DAEMON_PROFBPFD_METRICS_LISTEN_H */

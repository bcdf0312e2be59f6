/* SPDX-License-Identifier: Apache-2.0 */
/* daemon_client.h - profctl's connection to a daemon: the running one, or a private one. */
#ifndef PROFBPF_DAEMON_PROFCTL_DAEMON_CLIENT_H
#define PROFBPF_DAEMON_PROFCTL_DAEMON_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/common/control.h"
#include "proto/control.pb-c.h"

struct client {
	int socket; /* -1 = not connected */
	pid_t private_pid; /* of our own daemon; 0 = it is not ours */
	bool head_start; /* it has a higher priority until client_started() (head_start.h) */
	uint32_t last_request;
};

/*
 * client_connect - connects to the running daemon
 *
 * @path: the user's socket, NULL for the default. Returns 0, or a negative
 * errno, -ENOENT or -ECONNREFUSED if there is no daemon; prints nothing.
 */
int client_connect(struct client *client, const char *path);

/*
 * client_spawn - start a daemon of our own, profbpfd beside this program or in PATH
 *
 * It ends when we disconnect or die. Returns 0, or a negative errno after saying why.
 */
int client_spawn(struct client *client);

/* client_started - the session is live: our own daemon gets the priority of others; may be called again, or for any daemon */
void client_started(struct client *client);

/*
 * client_open - connects for tracing: to the running daemon, or to a private one
 *
 * Prints one line on standard error if it is a private one (always with
 * @standalone), or why neither is possible. Returns 0 or a negative errno.
 */
int client_open(struct client *client, const char *path, bool standalone);

/* client_explain - say why client_connect() failed with @err */
void client_explain(const char *path, int err);

/*
 * client_request - send a request
 *
 * Sets its id. Returns 0, or a negative errno after saying why.
 */
int client_request(struct client *client, Profbpf__Control__Request *request, const int *fds,
		   size_t fd_count);

/*
 * client_receive - wait for the next response
 *
 * Free it with profbpf__control__response__free_unpacked(). Returns NULL, after
 * saying why, if the daemon is gone or does not make sense.
 */
Profbpf__Control__Response *client_receive(struct client *client);

/*
 * client_ask - send a request and wait for its answer, of kind @expected
 * client_ask_with - the same with descriptors, which stay the caller's
 *
 * Return NULL after saying why, also if the answer is an error.
 */
Profbpf__Control__Response *client_ask_with(struct client *client, Profbpf__Control__Request *request, const int *fds,
					    size_t fd_count, Profbpf__Control__Response__WhatCase expected);
Profbpf__Control__Response *client_ask(struct client *client, Profbpf__Control__Request *request,
				       Profbpf__Control__Response__WhatCase expected);

/* client_close - disconnect; waits up to 30 s for our own daemon to clean up and end */
void client_close(struct client *client);

/* client_leave - disconnect without waiting */
void client_leave(struct client *client);

#endif /* PROFBPF_DAEMON_PROFCTL_DAEMON_CLIENT_H */

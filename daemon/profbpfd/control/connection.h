/* SPDX-License-Identifier: Apache-2.0 */
/* connection.h - one connection to the control socket. */
#ifndef PROFBPF_DAEMON_PROFBPFD_CONTROL_CONNECTION_H
#define PROFBPF_DAEMON_PROFBPFD_CONTROL_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

#include "daemon/common/control.h"
#include "daemon/profbpfd/control/access.h"

struct request_job;

struct client {
	int socket; /* does not block */
	struct peer peer;
	struct request_job *
		job; /* a request of it that is worked on: it is not listened to until it is done */
	bool gone; /* closed, broken or not reading: to be freed by the server */
	struct client *next;
};

/* client_send - send a response; a client that does not take it is marked as gone */
void client_send(struct client *client, const ProtobufCMessage *response);

/* client_refuse - send an error with this text as the answer to request @id */
void client_refuse(struct client *client, uint32_t id, const char *message);

/*
 * descriptors_check - is the first of them open for writing, are the others for reading?
 *
 * Returns 0, or -EBADF with a message for the user in @error.
 */
int descriptors_check(const struct control_fds *fds, char *error, size_t error_size);

/*
 * descriptors_drop - close descriptors that a client passed
 *
 * Closing a file may wait for whoever serves its file system, and that may be an
 * ordinary user's program: what an untrusted peer passed is closed by a thread
 * of its own.
 */
void descriptors_drop(struct control_fds *fds, const struct peer *peer);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_CONNECTION_H */

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
		job; /* its request that is being processed; until it is done no other request is read */
	bool gone; /* closed, broken or not reading: the server will free it */
	struct client *next;
};

/* client_send - sends a response; marks a client that does not accept it as gone */
void client_send(struct client *client, const ProtobufCMessage *response);

/* client_refuse - send an error with this text as the answer to request @id */
void client_refuse(struct client *client, uint32_t id, const char *message);

/*
 * descriptors_check - is the first descriptor open for writing, and are the others open for reading?
 *
 * Returns 0, or -EBADF with a message for the user in @error.
 */
int descriptors_check(const struct control_fds *fds, char *error, size_t error_size);

/*
 * descriptors_drop - close descriptors that a client passed
 *
 * Closing a file may block on the server of its file system, which may be an
 * ordinary user's program: descriptors of an untrusted peer are closed by a
 * separate thread.
 */
void descriptors_drop(struct control_fds *fds, const struct peer *peer);

#endif /* PROFBPF_DAEMON_PROFBPFD_CONTROL_CONNECTION_H */

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/control.pb-c.h"

void client_send(struct client *client, const ProtobufCMessage *response)
{
	int err;

	if (client->gone)
		return;
	err = control_send(client->socket, response, NULL, 0);
	if (!err)
		return;
	client->gone = true;
	if (err != -EPIPE && err != -ECONNRESET)
		fprintf(stderr, "profbpfd: disconnecting process %d of user %u: %s\n",
			(int)client->peer.pid, (unsigned int)client->peer.uid,
			err == -EAGAIN ? "it does not read the responses" : strerror(-err));
}

void client_refuse(struct client *client, uint32_t id, const char *message)
{
	Profbpf__Control__Response response = PROFBPF__CONTROL__RESPONSE__INIT;
	Profbpf__Control__Error error = PROFBPF__CONTROL__ERROR__INIT;

	error.message = (char *)message;
	response.id = id;
	response.what_case = PROFBPF__CONTROL__RESPONSE__WHAT_ERROR;
	response.error = &error;
	client_send(client, &response.base);
}

static void *close_all(void *argument)
{
	struct control_fds *fds = argument;

	control_fds_close(fds);
	free(fds);
	return NULL;
}

void descriptors_drop(struct control_fds *fds, const struct peer *peer)
{
	struct control_fds *copy = NULL;
	pthread_attr_t attributes;
	pthread_t thread;

	if (fds->count && !peer->trusted && !pthread_attr_init(&attributes)) {
		copy = malloc(sizeof(*copy));
		if (copy) {
			*copy = *fds;
			pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
			if (pthread_create(&thread, &attributes, close_all, copy)) {
				free(copy);
				copy = NULL;
			}
		}
		pthread_attr_destroy(&attributes);
	}
	if (!copy)
		control_fds_close(fds);
	fds->count = 0;
}

/*
 * Checks only the flags of the descriptor: fstat() could block on an ordinary
 * user's file system.
 */
static bool opened_for(int fd, int mode)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !(flags & O_PATH) &&
	       ((flags & O_ACCMODE) == mode || (flags & O_ACCMODE) == O_RDWR);
}

int descriptors_check(const struct control_fds *fds, char *error, size_t error_size)
{
	if (!fds->count || !opened_for(fds->fd[0], O_WRONLY)) {
		snprintf(error, error_size, "the request has no output descriptor");
		return -EBADF;
	}
	for (size_t i = 1; i < fds->count; i++) {
		if (opened_for(fds->fd[i], O_RDONLY))
			continue;
		snprintf(error, error_size, "descriptor %zu of the request is not readable", i);
		return -EBADF;
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/daemon_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/common/privilege.h"
#include "daemon/profctl/message.h"

int client_connect(struct client *client, const char *path)
{
	memset(client, 0, sizeof(*client));
	client->socket = control_connect(control_socket_path(path));
	return client->socket < 0 ? client->socket : 0;
}

static bool is_absent(int err)
{
	return err == -ENOENT || err == -ECONNREFUSED;
}

void client_explain(const char *path, int err)
{
	const char *socket = control_socket_path(path);

	if (is_absent(err))
		message("no profbpfd is listening on %s: start it (systemctl start profbpfd), or "
			"give its socket with --socket",
			socket);
	else if (err == -EPROTOTYPE || err == -ENOTSOCK)
		message("%s is not the socket of profbpfd: give the right path with --socket", socket);
	else
		message("cannot connect to %s: %s", socket, strerror(-err));
}

int client_open(struct client *client, const char *path, bool standalone)
{
	const char *socket = control_socket_path(path);
	char missing[64];
	int err;

	if (!standalone) {
		err = client_connect(client, path);
		if (!err)
			return 0;
		if (!is_absent(err)) {
			client_explain(path, err);
			return err;
		}
	}
	privilege_missing(privilege_effective(), missing, sizeof(missing));
	if (missing[0]) {
		message("%s%s, and tracing without a daemon needs root (or CAP_BPF, CAP_PERFMON "
			"and CAP_SYS_PTRACE; missing here: %s): use sudo, or start the daemon "
			"(systemctl start profbpfd)%s",
			standalone ? "--standalone was given" : "no profbpfd is listening on ",
			standalone ? "" : socket, missing,
			geteuid() ? "" : "; in a container, add them (--cap-add) or use --privileged");
		client->socket = -1;
		return -EPERM;
	}
	if (standalone)
		message("using a private daemon (--standalone)");
	else
		message("no profbpfd is listening on %s; using a private one for this command",
			socket);
	return client_spawn(client);
}

int client_request(struct client *client, Profbpf__Control__Request *request, const int *fds,
		   size_t fd_count)
{
	int err;

	request->id = ++client->last_request;
	err = control_send(client->socket, &request->base, fds, fd_count);
	if (err == -EMSGSIZE)
		message("the request is too large for the control socket (%zu bytes): give fewer "
			"or "
			"smaller catalogs",
			protobuf_c_message_get_packed_size(&request->base));
	else if (err == -EPIPE || err == -ECONNRESET)
		message("the daemon closed the connection (it was stopped, or crashed)");
	else if (err)
		message("cannot send to the daemon: %s", strerror(-err));
	return err;
}

Profbpf__Control__Response *client_receive(struct client *client)
{
	ProtobufCMessage *response;
	struct control_fds fds;
	int err = control_receive(client->socket, &profbpf__control__response__descriptor,
				  &response, &fds);

	control_fds_close(&fds);
	if (err == -EPIPE)
		message("the daemon closed the connection (it was stopped, or crashed)");
	else if (err == -EPROTO || err == -EMSGSIZE)
		message("the daemon's answer is not valid: check that profctl and profbpfd have the same version");
	else if (err)
		message("cannot receive from the daemon: %s", strerror(-err));
	return err ? NULL : (Profbpf__Control__Response *)response;
}

Profbpf__Control__Response *client_ask(struct client *client, Profbpf__Control__Request *request,
				       Profbpf__Control__Response__WhatCase expected)
{
	return client_ask_with(client, request, NULL, 0, expected);
}

Profbpf__Control__Response *client_ask_with(struct client *client, Profbpf__Control__Request *request, const int *fds,
					    size_t fd_count, Profbpf__Control__Response__WhatCase expected)
{
	Profbpf__Control__Response *response = NULL;

	if (client_request(client, request, fds, fd_count))
		return NULL;
	do {
		profbpf__control__response__free_unpacked(response, NULL);
		response = client_receive(client);
	} while (response && response->id && response->id != request->id);
	if (!response || response->what_case == expected)
		return response;
	if (response->what_case == PROFBPF__CONTROL__RESPONSE__WHAT_ERROR)
		message("%s", response->error->message);
	else
		message("the daemon's answer is not valid: check that profctl and profbpfd have the same version");
	profbpf__control__response__free_unpacked(response, NULL);
	return NULL;
}

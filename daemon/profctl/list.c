/* SPDX-License-Identifier: Apache-2.0 */
/* list.c - profctl list: sessions of the daemon. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>

#include "daemon/profctl/daemon_client.h"
#include "daemon/profctl/commands.h"
#include "daemon/profctl/message.h"
#include "daemon/profctl/command_options.h"
#include "daemon/profctl/sessions.h"

static int print(const struct query_arguments *arguments, Profbpf__Control__SessionInfo *const *sessions,
		 size_t count)
{
	struct json json;

	if (!arguments->json) {
		if (!count)
			puts("no sessions");
		return count && sessions_print(stdout, sessions, count) ? 1 : 0;
	}
	if (json_begin(&json))
		return 1;
	json_object(&json, NULL);
	json_text(&json, "schema", "profbpf.sessions/1");
	sessions_json(&json, sessions, count);
	json_close_object(&json);
	return json_end(&json) ? 1 : 0;
}

int command_list(int argc, char **argv)
{
	static const struct argp argp = {
		query_options, query_parse, NULL,
		"List the daemon's sessions: root and members of the group profbpf see all, other users their own."
	};
	Profbpf__Control__Request request = PROFBPF__CONTROL__REQUEST__INIT;
	Profbpf__Control__List list = PROFBPF__CONTROL__LIST__INIT;
	Profbpf__Control__Response *response;
	struct query_arguments arguments = { 0 };
	struct client client;
	int err, status = 1;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	err = client_connect(&client, arguments.socket);
	if (err) {
		client_explain(arguments.socket, err);
		/* No daemon, no sessions: that is an answer. */
		return err == -ENOENT || err == -ECONNREFUSED ? print(&arguments, NULL, 0) : 1;
	}
	request.what_case = PROFBPF__CONTROL__REQUEST__WHAT_LIST;
	request.list = &list;
	response = client_ask(&client, &request, PROFBPF__CONTROL__RESPONSE__WHAT_SESSIONS);
	if (response)
		status = print(&arguments, response->sessions->session,
			       response->sessions->n_session);
	profbpf__control__response__free_unpacked(response, NULL);
	client_close(&client);
	return status;
}

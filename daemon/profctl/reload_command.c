/* SPDX-License-Identifier: Apache-2.0 */
/* reload_command.c - profctl reload: the daemon reads its configuration again. */
#include <argp.h>
#include <stdio.h>

#include "daemon/profctl/command_options.h"
#include "daemon/profctl/commands.h"
#include "daemon/profctl/daemon_client.h"
#include "daemon/profctl/message.h"

static const struct argp_option options[] = { SOCKET_OPTION, { 0 } };

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	const char **socket = state->input;

	switch (key) {
	case OPTION_SOCKET: *socket = text; return 0;
	case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", text); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static void print_names(const char *what, char **names, size_t count)
{
	char safe[256];

	if (!count)
		return;
	printf("%s:", what);
	for (size_t i = 0; i < count; i++)
		printf(" %s", printable(names[i], safe, sizeof(safe)));
	putchar('\n');
}

static int ask(struct client *client)
{
	Profbpf__Control__Request request = PROFBPF__CONTROL__REQUEST__INIT;
	Profbpf__Control__Reload reload = PROFBPF__CONTROL__RELOAD__INIT;
	Profbpf__Control__Response *response;

	request.what_case = PROFBPF__CONTROL__REQUEST__WHAT_RELOAD;
	request.reload = &reload;
	response = client_ask(client, &request, PROFBPF__CONTROL__RESPONSE__WHAT_RELOADED);
	if (!response)
		return 1;
	if (!response->reloaded->n_changed && !response->reloaded->n_kept)
		puts("no setting has changed");
	print_names("changed", response->reloaded->changed, response->reloaded->n_changed);
	print_names("needs a restart", response->reloaded->kept, response->reloaded->n_kept);
	profbpf__control__response__free_unpacked(response, NULL);
	return 0;
}

int command_reload(int argc, char **argv)
{
	static const struct argp argp = { options, parse_option, NULL,
					  "Make the daemon read its configuration again, as SIGHUP "
					  "does, and print which settings have changed and which "
					  "need a restart. If the configuration has an error, all "
					  "settings stay as they are." };
	const char *socket = NULL;
	struct client client;
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &socket);
	err = client_connect(&client, socket);
	if (err) {
		client_explain(socket, err);
		return 1;
	}
	err = ask(&client);
	client_close(&client);
	return err;
}

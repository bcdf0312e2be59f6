/* SPDX-License-Identifier: Apache-2.0 */
/* stop.c - profctl stop: end a session and wait for its complete file. */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "daemon/profctl/daemon_client.h"
#include "daemon/profctl/commands.h"
#include "daemon/profctl/message.h"
#include "daemon/profctl/command_options.h"
#include "daemon/profctl/summary.h"

struct arguments {
	const char *socket;
	uint32_t session; /* 0 = not given */
};

static const struct argp_option options[] = { SOCKET_OPTION, { 0 } };

static uint32_t parse_session(const char *text, struct argp_state *state)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || !number || number > UINT32_MAX)
		argp_error(state, "'%s' is not a session number; profctl list shows the numbers", text);
	return (uint32_t)number;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPTION_SOCKET: arguments->socket = text; return 0;
	case ARGP_KEY_ARG:
		if (arguments->session)
			argp_error(state, "only one session can be given");
		arguments->session = parse_session(text, state);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no session is given; profctl list shows the numbers");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int command_stop(int argc, char **argv)
{
	static const struct argp argp = { options, parse_option, "SESSION",
					  "End a session and wait until its file is complete. The "
					  "profctl that started it prints the summary, too." };
	Profbpf__Control__Request request = PROFBPF__CONTROL__REQUEST__INIT;
	Profbpf__Control__StopSession stop = PROFBPF__CONTROL__STOP_SESSION__INIT;
	Profbpf__Control__Response *response;
	struct arguments arguments = { 0 };
	struct client client;
	int err, status = 1;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	err = client_connect(&client, arguments.socket);
	if (err) {
		client_explain(arguments.socket, err);
		return 1;
	}
	stop.session = arguments.session;
	request.what_case = PROFBPF__CONTROL__REQUEST__WHAT_STOP;
	request.stop = &stop;
	response = client_ask(&client, &request, PROFBPF__CONTROL__RESPONSE__WHAT_ENDED);
	if (response) {
		summary_print(stderr, response->ended, "");
		if (response->ended->failed)
			message("%s", response->ended->reason);
		status = response->ended->failed ? 1 : 0;
	}
	profbpf__control__response__free_unpacked(response, NULL);
	client_close(&client);
	return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - profctl snapshot: the flight recorder's last seconds, as a file. */
#include <argp.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/profctl/command_options.h"
#include "daemon/profctl/commands.h"
#include "daemon/profctl/daemon_client.h"
#include "daemon/profctl/message.h"
#include "daemon/profctl/summary.h"
#include "daemon/profctl/trace_file.h"
#include "lib/base/duration.h"
#include "lib/base/size.h"

#define NEAR_NS 1000000000ull /* a window that is shorter than requested by more than this is reported */

#define OPTION_STACKS 0x100 /* has no letter */

struct arguments {
	const char *socket;
	const char *output;
	uint64_t last_ns; /* 0 = all that is kept */
	bool stacks; /* of threads that sleep */
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0,
	  "Write to FILE, - is standard output (default: profbpf-<host>-<time>.pbt)", 0 },
	{ "last", 'l', "DURATION", 0, "Write at least the last DURATION (default: all that is kept)", 0 },
	{ "stacks", OPTION_STACKS, NULL, 0,
	  "Add the current stacks of all sleeping threads, for a job that hangs", 0 },
	SOCKET_OPTION,
	{ 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	char error[256];

	switch (key) {
	case OPTION_SOCKET: arguments->socket = text; return 0;
	case 'o': arguments->output = text; return 0;
	case OPTION_STACKS: arguments->stacks = true; return 0;
	case 'l':
		if (duration_parse(text, &arguments->last_ns, error, sizeof(error)))
			argp_error(state, "--last: %s", error);
		if (!arguments->last_ns)
			argp_error(state, "--last must be more than 0");
		return 0;
	case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'; use -o for the file", text); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static void print(FILE *to, const Profbpf__Control__Snapshot *snapshot, const struct arguments *arguments,
		  const char *output)
{
	uint64_t asked_ns = arguments->last_ns ? arguments->last_ns : snapshot->kept_ns;
	char duration[32], asked[32], bytes[32];

	for (size_t i = 0; i < snapshot->n_warnings; i++)
		message("warning: %s", snapshot->warnings[i]);
	duration_format(snapshot->duration_ns, duration, sizeof(duration));
	fprintf(to, "the last %s of %" PRIu32 " processes\n", duration, snapshot->processes);
	if (snapshot->duration_ns + NEAR_NS < asked_ns)
		fprintf(to, "  shorter than %s: %s\n", duration_format(asked_ns, asked, sizeof(asked)),
			snapshot->dropped_room ?
				"the recorder's memory is full (profbpfd --recorder-memory)" :
			asked_ns > snapshot->kept_ns ?
				"the recorder keeps no more (profbpfd --recorder)" :
				"the recorder began later");
	summary_print_sources(to, snapshot->sources, snapshot->n_sources);
	if (snapshot->dropped_old + snapshot->dropped_room)
		fprintf(to, "  dropped before: %" PRIu64 " records because of their age, %" PRIu64 " "
			    "because memory was full\n",
			snapshot->dropped_old, snapshot->dropped_room);
	fprintf(to, "  %s written\n", size_format(snapshot->bytes, bytes, sizeof(bytes)));
	summary_print_next(to, output);
}

static int take(struct client *client, const struct arguments *arguments, const struct output *output)
{
	Profbpf__Control__Request request = PROFBPF__CONTROL__REQUEST__INIT;
	Profbpf__Control__TakeSnapshot snapshot = PROFBPF__CONTROL__TAKE_SNAPSHOT__INIT;
	Profbpf__Control__Response *response;

	snapshot.last_ns = arguments->last_ns;
	snapshot.sleepers = arguments->stacks;
	request.what_case = PROFBPF__CONTROL__REQUEST__WHAT_SNAPSHOT;
	request.snapshot = &snapshot;
	response = client_ask_with(client, &request, &output->fd, 1, PROFBPF__CONTROL__RESPONSE__WHAT_SNAPSHOT);
	if (!response)
		return -1;
	print(stderr, response->snapshot, arguments, output->name);
	profbpf__control__response__free_unpacked(response, NULL);
	return 0;
}

int command_snapshot(int argc, char **argv)
{
	static const struct argp argp = { options, parse_option, NULL,
					  "Write the flight recorder's last seconds to a file. "
					  "Root and members of the group profbpf get all recorded "
					  "processes, other users their own. profbpfd --recorder "
					  "turns the recorder on." };
	struct arguments arguments = { 0 };
	struct client client;
	struct output output;
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	err = client_connect(&client, arguments.socket);
	if (err) {
		client_explain(arguments.socket, err);
		return 1;
	}
	if (output_open(&output, arguments.output)) {
		client_close(&client);
		return 1;
	}
	err = take(&client, &arguments, &output);
	if (err)
		output_discard(&output);
	else
		output_close(&output);
	client_close(&client);
	return err ? 1 : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* attach.c - profctl attach: trace processes that already run. */
#include "daemon/profctl/attach.h"

#include <argp.h>
#include <limits.h>
#include <stdlib.h>

#include "daemon/common/topics.h"
#include "daemon/profctl/commands.h"
#include "daemon/profctl/groups.h"
#include "daemon/profctl/live.h"
#include "daemon/profctl/pids.h"
#include "daemon/profctl/start_message.h"

struct arguments {
	struct trace_options trace;
	struct pids pids;
	struct pids grouped; /* of groups */
	size_t own; /* number of pids at the start of the list that the user named individually */
};

enum {
	OPTION_CGROUP = 0x200, /* in the order of enum group_by */
	OPTION_UNIT,
	OPTION_CONTAINER,
};

static const struct argp_option options[] = {
	{ "pid", 'p', "PID[,PID...]|@FILE", 0,
	  "Trace these processes, with all their threads; @FILE reads the ids from FILE, @- from "
	  "standard input (repeatable)",
	  -1 },
	{ "cgroup", OPTION_CGROUP, "PATH", 0,
	  "Trace the processes that are now in this control group or in one below it, for example "
	  "/system.slice/job.service (repeatable)",
	  -1 },
	{ "unit", OPTION_UNIT, "NAME", 0, "Trace the processes of this systemd unit (repeatable)", -1 },
	{ "container", OPTION_CONTAINER, "ID", 0,
	  "Trace the processes of the container whose id begins with ID, of Docker, Podman, "
	  "containerd or CRI-O (repeatable)",
	  -1 },
	{ 0 },
};

/* Determines the requested processes, once all options are parsed. */
static void settle(struct arguments *arguments, struct argp_state *state)
{
	if (!arguments->pids.count && !arguments->grouped.count)
		argp_error(state, "no process is given: use --pid PID, --unit, --container or "
				  "--cgroup; profctl record --system traces the whole machine");
	arguments->own = arguments->pids.count;
	if (groups_settle(&arguments->grouped, !arguments->trace.no_follow, &arguments->pids))
		argp_failure(state, 1, 0, "out of memory");
	if (!arguments->pids.count)
		argp_failure(state, 1, 0, "all processes of the group have ended");
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	char error[PATH_MAX + 512];

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->trace; return 0;
	case 'p':
		if (pids_add(&arguments->pids, text, error, sizeof(error)))
			argp_error(state, "--pid: %s", error);
		return 0;
	case OPTION_CGROUP:
	case OPTION_UNIT:
	case OPTION_CONTAINER:
		if (groups_add(&arguments->grouped, key - OPTION_CGROUP + GROUP_BY_PATH, text, NULL, error,
			       sizeof(error)))
			argp_failure(state, 1, 0, "%s", error);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'; use --pid for processes", text);
		return 0;
	case ARGP_KEY_END: settle(arguments, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int attach_run(const struct live_request *request)
{
	enum live_result result;
	struct client client;
	struct output output;
	sigset_t before;
	int exec_error;

	if (start_check(request))
		return 1;
	if (client_open(&client, request->options->socket, request->options->standalone))
		return 1;
	if (start_ask(request, &client)) {
		client_close(&client);
		return 1;
	}
	live_block_signals(&before);
	if (output_open(&output, request->options->output)) {
		client_close(&client);
		return 1;
	}
	result = live_run(request, &client, &output, &exec_error);
	if (result == LIVE_NOT_STARTED || result == LIVE_NOTHING)
		output_discard(&output);
	output_close(&output);
	if (result == LIVE_LEFT)
		client_leave(&client);
	else
		client_close(&client);
	return result == LIVE_DONE ? 0 : 1;
}

int command_attach(int argc, char **argv)
{
	static const struct argp_child children[] = { { &trace_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options, parse_option, NULL,
		"Trace a running job, until Ctrl-C, the end of --duration or its own end.", children
	};
	struct arguments arguments = { .trace.topics = TOPICS_DEFAULT };
	struct live_request request = { .options = &arguments.trace };
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	request.pids = arguments.pids.pid;
	request.pid_count = arguments.pids.count;
	request.grouped = arguments.pids.count - arguments.own;
	status = attach_run(&request);
	pids_free(&arguments.pids);
	pids_free(&arguments.grouped);
	trace_options_free(&arguments.trace);
	return status;
}

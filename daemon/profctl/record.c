/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - profctl record: start a job under trace, or trace the whole machine. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/catalog/catalog_set.h"
#include "daemon/common/topics.h"
#include "daemon/profctl/command_files.h"
#include "daemon/profctl/commands.h"
#include "daemon/profctl/live.h"
#include "daemon/profctl/message.h"
#include "daemon/profctl/start_message.h"

#define OPTION_SYSTEM 0x200

struct arguments {
	struct trace_options trace;
	bool system_wide;
	char **command; /* NULL = none */
};

static const struct argp_option options[] = {
	{ "system", OPTION_SYSTEM, NULL, 0, "Trace everything on this machine", -1 },
	{ 0 },
};

static void check(struct argp_state *state, const struct arguments *arguments)
{
	if (!arguments->command && !arguments->system_wide)
		argp_error(state,
			   "no command is given: write it after --, or use --system for the whole machine");
	if (arguments->command && arguments->trace.output && !strcmp(arguments->trace.output, "-"))
		argp_error(state,
			   "-o -: the command also writes to standard output; give a file with -o");
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->trace; return 0;
	case OPTION_SYSTEM: arguments->system_wide = true; return 0;
	case ARGP_KEY_ARGS: arguments->command = state->argv + state->next; return 0;
	case ARGP_KEY_END: check(state, arguments); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static int shell_status(int err)
{
	return err == -ENOENT ? 127 : 126;
}

/* Keeps or removes the file, and determines the exit status, after the session and the command have ended. */
static int conclude(enum live_result result, const struct child *child, struct output *output,
		    int exec_error)
{
	int status = child && child->ended ? child_status(child) : 0;

	if (result == LIVE_NOT_STARTED || result == LIVE_NOTHING || result == LIVE_NO_EXEC)
		output_discard(output);
	output_close(output);
	switch (result) {
	case LIVE_DONE: return status;
	case LIVE_NO_EXEC: return shell_status(exec_error);
	default: return status ? status : 1;
	}
}

static int record(struct live_request *request, struct client *client, struct output *output,
		  char **command, const sigset_t *mask)
{
	enum live_result result;
	struct child child;
	int exec_error = 0, status;
	uint32_t pid;

	if (command) {
		if (child_start(&child, command, mask)) {
			output_discard(output);
			client_close(client);
			return 1;
		}
		pid = (uint32_t)child.pid;
		request->child = &child;
		request->pids = &pid;
		request->pid_count = request->system_wide ? 0 : 1;
	}
	result = live_run(request, client, output, &exec_error);
	/* A child that still waits holds our socket open: the daemon would not see us leave. */
	if (command)
		child_discard(&child);
	if (result == LIVE_LEFT)
		client_leave(client);
	else
		client_close(client);
	status = conclude(result, command ? &child : NULL, output, exec_error);
	return status;
}

/* Errors in catalogs are reported by the daemon. */
static int open_files(const struct arguments *arguments, struct control_fds *files)
{
	const struct words *directories = &arguments->trace.catalogs;
	struct words problems = { 0 };
	struct catalogs *catalogs = catalog_set_load((const char *const *)directories->word,
						     directories->count, &problems);
	int err = command_files_open(arguments->command[0], catalogs, files);

	catalogs_free(catalogs);
	words_free(&problems);
	return err;
}

/* Everything that can go wrong before the command's process is made. */
static int prepare_and_record(const struct arguments *arguments, struct live_request *request)
{
	struct control_fds files = { .count = 0 };
	uint32_t self = (uint32_t)getpid();
	struct client client;
	struct output output;
	sigset_t mask;
	int err, status = 1;

	if (arguments->command) {
		err = open_files(arguments, &files);
		if (err) {
			message("cannot run '%s': %s", arguments->command[0],
				err == -ENOENT ? "command not found" : strerror(-err));
			return shell_status(err);
		}
		request->files = &files;
		request->command = strrchr(arguments->command[0], '/');
		request->command = request->command ? request->command + 1 : arguments->command[0];
	}
	if (start_check(request) ||
	    client_open(&client, arguments->trace.socket, arguments->trace.standalone))
		goto cleanup;
	/* There is no process yet; ours belongs to the same user. */
	if (!request->system_wide) {
		request->pids = &self;
		request->pid_count = 1;
	}
	if (start_ask(request, &client)) {
		client_close(&client);
		goto cleanup;
	}
	live_block_signals(&mask);
	if (output_open(&output, arguments->trace.output)) {
		client_close(&client);
		goto cleanup;
	}
	status = record(request, &client, &output, arguments->command, &mask);
cleanup:
	control_fds_close(&files);
	return status;
}

int command_record(int argc, char **argv)
{
	static const struct argp_child children[] = { { &trace_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options, parse_option, "-- COMMAND [ARG...]\n--system",
		"Start a job under trace, from its first instruction, and exit with its status; or "
		"trace everything on this machine until Ctrl-C or the end of --duration.",
		children
	};
	struct arguments arguments = { .trace.topics = TOPICS_DEFAULT };
	struct live_request request = { .options = &arguments.trace };
	int status;

	/* All words after the command's name belong to the command, including options. */
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
	request.system_wide = arguments.system_wide;
	status = prepare_and_record(&arguments, &request);
	trace_options_free(&arguments.trace);
	return status;
}

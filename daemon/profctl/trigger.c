/* SPDX-License-Identifier: Apache-2.0 */
/* trigger.c - profctl trigger: the events at which the flight recorder writes snapshots by itself. */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/profctl/command_options.h"
#include "daemon/profctl/commands.h"
#include "daemon/profctl/daemon_client.h"
#include "daemon/profctl/message.h"
#include "lib/base/duration.h"
#include "lib/base/size.h"

enum { OPTION_FIRST_STEP = 256, OPTION_STEPS };

struct arguments {
	const char *socket;
	uint64_t every_ns, last_ns; /* 0 = default */
	uint32_t first_step, steps; /* steps 0: not asked for */
	bool by_step;
	char **words; /* add, list or remove, and its arguments */
	size_t word_count;
};

static const struct argp_option options[] = {
	{ "every", 'e', "DURATION", 0, "add: minimal time between two files (default: 10m)", 0 },
	{ "last", 'l', "DURATION", 0, "add: write at least the last DURATION (default: all that is kept)", 0 },
	{ "launch-from-step", OPTION_FIRST_STEP, "N", 0,
	  "add: write the steps from step N on; WHAT is the function that begins a step", 0 },
	{ "start-step", 0, NULL, OPTION_ALIAS, NULL, 0 },
	{ "steps", OPTION_STEPS, "M", 0, "add: number of steps (default: 1)", 0 },
	{ "iterations", 0, NULL, OPTION_ALIAS, NULL, 0 },
	SOCKET_OPTION,
	{ 0 },
};

static void parse_duration(const char *name, const char *text, uint64_t *ns, struct argp_state *state)
{
	char error[256];

	if (duration_parse(text, ns, error, sizeof(error)))
		argp_error(state, "%s: %s", name, error);
	if (!*ns)
		argp_error(state, "%s must be more than 0", name);
}

static uint32_t parse_count(const char *name, const char *text, struct argp_state *state)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || number > UINT32_MAX)
		argp_error(state, "%s: '%s' is not a valid number of steps", name, text);
	return (uint32_t)number;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPTION_SOCKET: arguments->socket = text; return 0;
	case 'e': parse_duration("--every", text, &arguments->every_ns, state); return 0;
	case 'l': parse_duration("--last", text, &arguments->last_ns, state); return 0;
	case OPTION_FIRST_STEP:
		arguments->first_step = parse_count("--launch-from-step", text, state);
		arguments->by_step = true;
		return 0;
	case OPTION_STEPS:
		arguments->steps = parse_count("--steps", text, state);
		if (!arguments->steps)
			argp_error(state, "--steps must be more than 0");
		return 0;
	case ARGP_KEY_ARGS:
		arguments->words = state->argv + state->next;
		arguments->word_count = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_NO_ARGS: argp_error(state, "no command is given: use add, list or remove"); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static void print_list(const Profbpf__Control__Triggers *triggers)
{
	char every[32], space[32], safe[256];

	if (triggers->n_trigger)
		printf("%7s %8s %8s %12s %s\n", "TRIGGER", "HAPPENED", "WRITTEN", "EVERY", "WHAT");
	else
		puts("no triggers");
	for (size_t i = 0; i < triggers->n_trigger; i++) {
		const Profbpf__Control__Trigger *t = triggers->trigger[i];

		printf("%7" PRIu32 " %8" PRIu64 " %8" PRIu64 " %12s %s\n", t->trigger, t->happened, t->written,
		       duration_format(t->every_ns, every, sizeof(every)), printable(t->what, safe, sizeof(safe)));
	}
	printf("files: %s, %s at most\n", printable(triggers->directory, safe, sizeof(safe)),
	       size_format(triggers->space_bytes, space, sizeof(space)));
}

static int ask(struct client *client, Profbpf__Control__Request *request)
{
	Profbpf__Control__Response *response =
		client_ask(client, request, PROFBPF__CONTROL__RESPONSE__WHAT_TRIGGERS);
	const Profbpf__Control__Triggers *triggers = response ? response->triggers : NULL;
	char safe[256];

	if (!triggers)
		return 1;
	if (request->what_case == PROFBPF__CONTROL__REQUEST__WHAT_LIST_TRIGGERS)
		print_list(triggers);
	else if (request->what_case == PROFBPF__CONTROL__REQUEST__WHAT_ADD_TRIGGER && triggers->n_trigger)
		printf("trigger %" PRIu32 ": snapshots go to %s\n", triggers->trigger[0]->trigger,
		       printable(triggers->directory, safe, sizeof(safe)));
	profbpf__control__response__free_unpacked(response, NULL);
	return 0;
}

static uint32_t parse_number(const char *text)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	return !isdigit((unsigned char)*text) || *end || errno || number > UINT32_MAX ? 0 : (uint32_t)number;
}

/* The trigger in the daemon's syntax, to be freed; NULL: --steps without a first step. */
static char *what_of(const struct arguments *arguments)
{
	const char *word = arguments->word_count > 1 ? arguments->words[1] : "";
	char *what;

	if (arguments->steps && !arguments->by_step)
		return NULL;
	if (!arguments->by_step)
		return strdup(word);
	return asprintf(&what, "steps=%" PRIu32 "+%" PRIu32 ":%s", arguments->first_step,
			arguments->steps ? arguments->steps : 1, word) < 0 ?
		       NULL :
		       what;
}

/* Fills the request; returns false if the words are invalid. */
static bool make_request(const struct arguments *arguments, char *what, Profbpf__Control__Request *request,
			 Profbpf__Control__AddTrigger *add, Profbpf__Control__RemoveTrigger *remove,
			 Profbpf__Control__ListTriggers *list)
{
	const char *command = arguments->words[0];

	if (!what || (arguments->by_step && strcmp(command, "add")))
		return false;
	if (!strcmp(command, "list") && arguments->word_count == 1) {
		request->what_case = PROFBPF__CONTROL__REQUEST__WHAT_LIST_TRIGGERS;
		request->list_triggers = list;
		return true;
	}
	if (!strcmp(command, "add") && arguments->word_count == 2) {
		add->what = what;
		add->every_ns = arguments->every_ns;
		add->last_ns = arguments->last_ns;
		request->what_case = PROFBPF__CONTROL__REQUEST__WHAT_ADD_TRIGGER;
		request->add_trigger = add;
		return true;
	}
	if (strcmp(command, "remove") || arguments->word_count != 2)
		return false;
	remove->trigger = parse_number(arguments->words[1]);
	request->what_case = PROFBPF__CONTROL__REQUEST__WHAT_REMOVE_TRIGGER;
	request->remove_trigger = remove;
	return remove->trigger;
}

int command_trigger(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse_option, "add WHAT\nlist\nremove NUMBER",
		"Make the flight recorder write a snapshot when an event occurs.\vWHAT is one of\n"
		"  signal            a process is ended by a signal other than HUP, INT, PIPE, TERM\n"
		"  signal=N          a process is ended by signal N\n"
		"  no-launch=TIME    a process that launches work is alive but has launched nothing for TIME\n"
		"  slow-step=K:NAME  a step takes more than K times the median; each step calls NAME once\n"
		"  steps=N+M:NAME    M steps from step N on have ended; step 0 begins with the first call of NAME\n"
		"  data-wait=X%      more than X % of 10 s are spent fetching data (MindSpore, TensorFlow, PyTorch, MegEngine)\n"
		"  data-wait=X%:NAME the same, in calls of NAME\n"
		"  metric=NAME>X     a metric of /metrics is above X (a counter: grows by more than X a second); or <X\n"
		"With --launch-from-step WHAT is NAME: this stands for steps=N+M:NAME."
	};
	Profbpf__Control__Request request = PROFBPF__CONTROL__REQUEST__INIT;
	Profbpf__Control__AddTrigger add = PROFBPF__CONTROL__ADD_TRIGGER__INIT;
	Profbpf__Control__RemoveTrigger remove = PROFBPF__CONTROL__REMOVE_TRIGGER__INIT;
	Profbpf__Control__ListTriggers list = PROFBPF__CONTROL__LIST_TRIGGERS__INIT;
	struct arguments arguments = { 0 };
	struct client client;
	char *what;
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	what = what_of(&arguments);
	if (!make_request(&arguments, what, &request, &add, &remove, &list)) {
		free(what);
		message("use trigger add WHAT, trigger list or trigger remove NUMBER; see profctl trigger --help");
		return 2;
	}
	err = client_connect(&client, arguments.socket);
	if (err) {
		client_explain(arguments.socket, err);
		free(what);
		return 1;
	}
	err = ask(&client, &request);
	client_close(&client);
	free(what);
	return err;
}

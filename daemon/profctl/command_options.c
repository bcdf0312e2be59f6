/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/command_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/duration.h"
#include "lib/base/size.h"
#include "daemon/common/topics.h"

#define ERROR_MAX 256

enum {
	OPTION_MIN_DURATION = 0x100,
	OPTION_INTERVAL,
	OPTION_FOLLOW,
	OPTION_NO_FOLLOW,
	OPTION_STANDALONE,
	OPTION_STACK_BLOCK,
	OPTION_STACK_RATE,
	OPTION_BUDGET,
	OPTION_FIRST_STEP,
	OPTION_STEPS,
	OPTION_STEP_CALL,
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0,
	  "Write the trace to FILE, - is standard output (default: profbpf-<host>-<time>.pbt)" },
	{ "duration", 'd', "T", 0, "End after T, for example 10s, 500ms or 2m" },
	{ "topics", 't', "LIST", 0,
	  "Topics to record: api, ioctl, sched, device, account, irq, stack, fault, io, sample, "
	  "default, all (default: those that cost little); +io adds a topic to the default, -irq "
	  "removes one" },
	{ "interval", OPTION_INTERVAL, "T", 0,
	  "Interval at which figures of threads, CPUs and memory are read, from 10ms to 1h (default: 1s)" },
	{ "follow", OPTION_FOLLOW, NULL, 0,
	  "Also trace existing and future child processes (default)" },
	{ "no-follow", OPTION_NO_FOLLOW, NULL, 0, "Trace only the given processes, not their children" },
	{ "catalog", 'c', "DIR", 0,
	  "Also read the catalogs in DIR; they override those of profbpf (repeatable)" },
	{ "min-duration", OPTION_MIN_DURATION, "T", 0,
	  "Keep only calls that last at least T; all are still counted" },
	{ "budget", OPTION_BUDGET, "PERCENT", 0,
	  "Limit of the CPU time that recording takes, of one CPU (default: 3%; off: no limit). "
	  "While it would take more, samples, wake-ups and the ends of the most frequent calls are "
	  "not recorded" },
	{ "buffer", 'b', "SIZE", 0, "Memory for records that are not yet written, for example 64M" },
	{ "stack-block", OPTION_STACK_BLOCK, "T", 0,
	  "Topic stack: record the stacks of sleeps of at least T (default: 1ms)" },
	{ "stack-rate", OPTION_STACK_RATE, "HZ", 0,
	  "Topic stack: samples per second and CPU (default: 99)" },
	{ "launch-from-step", OPTION_FIRST_STEP, "N", 0,
	  "Start recording with step N, counted from 0 since attaching. A step begins with the "
	  "fetch of a batch (MindSpore, TensorFlow, PyTorch's DataLoader), or with the call given "
	  "by --step-call" },
	{ "start-step", 0, NULL, OPTION_ALIAS, NULL },
	{ "steps", OPTION_STEPS, "M", 0, "With --launch-from-step: record M steps (default: 1)" },
	{ "iterations", 0, NULL, OPTION_ALIAS, NULL },
	{ "step-call", OPTION_STEP_CALL, "FUNCTION", 0,
	  "With --launch-from-step: each call of a function with this name (a symbol or a pattern) begins a step" },
	{ "standalone", OPTION_STANDALONE, NULL, 0,
	  "Use a private daemon for this command, even if one is running" },
	SOCKET_OPTION,
	{ 0 },
};

static uint64_t parse_duration(const char *option, const char *text, struct argp_state *state)
{
	char error[ERROR_MAX];
	uint64_t ns = 0;

	if (duration_parse(text, &ns, error, sizeof(error)))
		argp_error(state, "%s: %s", option, error);
	return ns;
}

static uint32_t parse_rate(const char *text, struct argp_state *state)
{
	unsigned long rate;
	char *end;

	errno = 0;
	rate = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || !rate || rate > STACK_RATE_MAX)
		argp_error(state, "--stack-rate: '%s' is not a number from 1 to %u", text,
			   STACK_RATE_MAX);
	return (uint32_t)rate;
}

static void parse_budget(struct trace_options *o, const char *text, struct argp_state *state)
{
	double percent;
	char *end;

	o->no_budget = !strcmp(text, "off");
	if (o->no_budget)
		return;
	errno = 0;
	percent = strtod(text, &end);
	if (*end == '%')
		end++;
	if (errno || *text < '0' || *text > '9' || *end || !(percent >= 0.1) ||
	    percent > BUDGET_MAX)
		argp_error(state,
			   "--budget: '%s' is neither a percentage from 0.1%% to %d%% nor 'off'",
			   text, BUDGET_MAX);
	o->budget_permille = (uint32_t)(percent * 10 + 0.5);
}

static uint64_t parse_steps(const char *option, const char *text, struct argp_state *state)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || number > UINT32_MAX)
		argp_error(state, "%s: '%s' is not a valid number of steps", option, text);
	return number;
}

/* Once all options are known. */
static void check_steps(const struct trace_options *o, struct argp_state *state)
{
	if (!o->by_steps && (o->steps || o->step_call))
		argp_error(state, "%s needs --launch-from-step N, the first step to record",
			   o->steps ? "--steps" : "--step-call");
	if (o->by_steps && !(o->topics & TOPIC_API))
		argp_error(state, "--launch-from-step needs topic api: steps are counted by calls");
	if (o->by_steps && o->min_duration_ns)
		argp_error(state, "--launch-from-step cannot be used with --min-duration, which "
				  "leaves out calls that begin steps");
}

static error_t parse_step_option(int key, char *text, struct argp_state *state)
{
	struct trace_options *o = state->input;

	switch (key) {
	case OPTION_FIRST_STEP:
		o->first_step = parse_steps("--launch-from-step", text, state);
		o->by_steps = true;
		return 0;
	case OPTION_STEPS:
		o->steps = parse_steps("--steps", text, state);
		if (!o->steps)
			argp_error(state, "--steps: must be more than 0");
		return 0;
	case OPTION_STEP_CALL:
		if (!*text)
			argp_error(state, "--step-call: the name is empty");
		o->step_call = text;
		return 0;
	case ARGP_KEY_END: check_steps(o, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct trace_options *o = state->input;
	char error[ERROR_MAX];

	switch (key) {
	case 'o':
		if (!*text)
			argp_error(state, "--output: the name is empty");
		o->output = text;
		return 0;
	case 'd':
		o->duration_ns = parse_duration("--duration", text, state);
		if (!o->duration_ns)
			argp_error(state, "--duration: must be more than 0");
		return 0;
	case 't':
		if (topics_parse(text, &o->topics, error, sizeof(error)))
			argp_error(state, "--topics: %s", error);
		o->topics_named = true;
		return 0;
	case 'c':
		if (words_add(&o->catalogs, text))
			argp_failure(state, 1, 0, "out of memory");
		return 0;
	case 'b':
		if (size_parse(text, &o->buffer_bytes, error, sizeof(error)))
			argp_error(state, "--buffer: %s", error);
		if (!o->buffer_bytes)
			argp_error(state, "--buffer: must be more than 0");
		return 0;
	case OPTION_INTERVAL:
		o->interval_ns = parse_duration("--interval", text, state);
		if (o->interval_ns < INTERVAL_MIN_NS || o->interval_ns > INTERVAL_MAX_NS)
			argp_error(state, "--interval: must be from 10ms to 1h");
		return 0;
	case OPTION_MIN_DURATION:
		o->min_duration_ns = parse_duration("--min-duration", text, state);
		return 0;
	case OPTION_STACK_BLOCK:
		o->stack_block_ns = parse_duration("--stack-block", text, state);
		if (!o->stack_block_ns)
			argp_error(state, "--stack-block: must be more than 0");
		return 0;
	case OPTION_BUDGET: parse_budget(o, text, state); return 0;
	case OPTION_STACK_RATE: o->stack_rate = parse_rate(text, state); return 0;
	case OPTION_FOLLOW: o->no_follow = false; return 0;
	case OPTION_NO_FOLLOW: o->no_follow = true; return 0;
	case OPTION_STANDALONE: o->standalone = true; return 0;
	case OPTION_SOCKET: o->socket = text; return 0;
	default: return parse_step_option(key, text, state);
	}
}

const struct argp trace_argp = { options, parse_option, NULL, NULL };

void trace_options_free(struct trace_options *o)
{
	words_free(&o->catalogs);
}

bool parse_format(const char *text, struct argp_state *state)
{
	if (strcmp(text, "json") && strcmp(text, "text"))
		argp_error(state, "--format: '%s' is neither text nor json", text);
	return !strcmp(text, "json");
}

const struct argp_option query_options[] = {
	{ "format", 'f', "FORMAT", 0, "Output format: text (default) or json" },
	SOCKET_OPTION,
	{ 0 },
};

error_t query_parse(int key, char *text, struct argp_state *state)
{
	struct query_arguments *arguments = state->input;

	switch (key) {
	case 'f': arguments->json = parse_format(text, state); return 0;
	case OPTION_SOCKET: arguments->socket = text; return 0;
	case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", text); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

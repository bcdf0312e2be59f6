/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profctl/options.h"

#include <string.h>

#include "daemon/common/duration.h"
#include "daemon/common/size.h"
#include "daemon/common/topics.h"

#define ERROR_MAX 256

enum {
	OPTION_MIN_DURATION = 0x100,
	OPTION_FOLLOW,
	OPTION_NO_FOLLOW,
	OPTION_STANDALONE,
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0,
	  "Write the trace to FILE, - for standard output (default: profbpf-<host>-<time>.pbt)" },
	{ "duration", 'd', "T", 0, "End after T, for example 10s, 500ms or 2m" },
	{ "topics", 't', "LIST", 0,
	  "What to record, of api, ioctl, sched, device (default: all that cost little)" },
	{ "follow", OPTION_FOLLOW, NULL, 0,
	  "Trace children too, those that exist and those to come (default)" },
	{ "no-follow", OPTION_NO_FOLLOW, NULL, 0, "Trace only the given processes" },
	{ "catalog", 'c', "DIR", 0,
	  "Read the catalogs of DIR too; they override those that come with profbpf (repeatable)" },
	{ "min-duration", OPTION_MIN_DURATION, "T", 0,
	  "Keep only calls that last at least T; all are still counted" },
	{ "buffer", 'b', "SIZE", 0, "Memory for records not yet written, for example 64M" },
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
	case OPTION_MIN_DURATION:
		o->min_duration_ns = parse_duration("--min-duration", text, state);
		return 0;
	case OPTION_FOLLOW: o->no_follow = false; return 0;
	case OPTION_NO_FOLLOW: o->no_follow = true; return 0;
	case OPTION_STANDALONE: o->standalone = true; return 0;
	case OPTION_SOCKET: o->socket = text; return 0;
	default: return ARGP_ERR_UNKNOWN;
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/write/report.h"

#define SECTION_NAMES "trace, capture, host, processes, api, ioctl, devices, join, operators, idle"

enum key {
	KEY_FORMAT = 0x100,
	KEY_SECTION,
	KEY_TOP,
	KEY_FROM,
	KEY_TO,
	KEY_PID,
	KEY_STRICT,
	KEY_AS
};

#define OPTION_OUTPUT                                                                   \
	{                                                                               \
		"output", 'o', "FILE", 0, "write to FILE instead of standard output", 0 \
	}
#define OPTION_FORMAT                                                              \
	{                                                                          \
		"format", KEY_FORMAT, "FORMAT", 0, "text (the default) or json", 0 \
	}
#define OPTION_STRICT                                                                      \
	{                                                                                  \
		"strict", KEY_STRICT, NULL, 0, "fail if any part of a trace is damaged", 0 \
	}
#define OPTION_FROM                                                                         \
	{                                                                                   \
		"from", KEY_FROM, "T", 0,                                                   \
			"leave out what came before T after the start: 1.5s, 200ms, 3us", 0 \
	}
#define OPTION_TO                                                            \
	{                                                                    \
		"to", KEY_TO, "T", 0, "leave out what came at or after T", 0 \
	}
#define OPTION_PID                                                           \
	{                                                                    \
		"pid", KEY_PID, "PID[,PID...]", 0, "only these processes", 0 \
	}

static const struct argp_option REPORT_OPTIONS[] = {
	OPTION_FORMAT,
	OPTION_OUTPUT,
	{ "section", KEY_SECTION, "LIST", 0, "only these sections: " SECTION_NAMES, 0 },
	{ "top", KEY_TOP, "N", 0, "rows of each table, 0 for all (text: 10)", 0 },
	OPTION_FROM,
	OPTION_TO,
	OPTION_PID,
	OPTION_STRICT,
	{ 0 },
};

static const struct argp_option EXPORT_OPTIONS[] = {
	/* argp tells "--to" of a time from "--to" of a format by the command. */
	{ "to", KEY_AS, "FORMAT", 0, "perfetto or chrome", 0 },
	{ "output", 'o', "PATH", 0, "where to write", 0 },
	OPTION_PID,
	OPTION_STRICT,
	{ 0 },
};

static const struct argp_option INFO_OPTIONS[] = {
	OPTION_FORMAT,
	OPTION_OUTPUT,
	OPTION_STRICT,
	{ 0 },
};

static error_t parse_format(const char *arg, struct options *options, struct argp_state *state)
{
	if (strcmp(arg, "text") == 0)
		options->format = FORMAT_TEXT;
	else if (strcmp(arg, "json") == 0)
		options->format = FORMAT_JSON;
	else
		argp_error(state, "unknown format '%s'; known are text and json", arg);
	return 0;
}

static error_t parse_export(const char *arg, struct options *options, struct argp_state *state)
{
	if (strcmp(arg, "perfetto") == 0)
		options->export_to = EXPORT_PERFETTO;
	else if (strcmp(arg, "chrome") == 0)
		options->export_to = EXPORT_CHROME;
	else
		argp_error(state, "cannot export to '%s'; known are perfetto and chrome", arg);
	return 0;
}

static void parse_top(const char *arg, struct options *options, struct argp_state *state)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(arg, &end, 10);
	if (errno || *arg < '0' || *arg > '9' || *end || value > UINT32_MAX)
		argp_error(state, "--top wants a number, not '%s'", arg);
	options->has_top = true;
	options->top = (uint32_t)value;
}

static void parse_time(const char *name, const char *arg, bool *given, uint64_t *ns,
		       struct argp_state *state)
{
	if (!parse_duration(arg, ns))
		argp_error(state, "%s wants a time since the start such as 1.5s or 200ms, not '%s'",
			   name, arg);
	*given = true;
}

static void check_usage(struct options *options, struct argp_state *state)
{
	if (options->trace_count == 0)
		argp_error(state, "which trace? give the .pbt file, or - for standard input");
	if (options->command == COMMAND_EXPORT && options->export_to == EXPORT_NONE)
		argp_error(state, "export to what? give --to perfetto or --to chrome");
	if (options->command == COMMAND_EXPORT &&
	    (!options->output || strcmp(options->output, "-") == 0))
		argp_error(state, "export writes to a file: give -o PATH");
	if (options->has_from && options->has_to && options->from_ns >= options->to_ns)
		argp_error(state, "--from must be before --to");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case KEY_FORMAT: return parse_format(arg, options, state);
	case KEY_AS: return parse_export(arg, options, state);
	case 'o': options->output = arg; break;
	case KEY_STRICT: options->strict = true; break;
	case KEY_TOP: parse_top(arg, options, state); break;
	case KEY_FROM:
		parse_time("--from", arg, &options->has_from, &options->from_ns, state);
		break;
	case KEY_TO: parse_time("--to", arg, &options->has_to, &options->to_ns, state); break;
	case KEY_SECTION:
		if (!parse_sections(arg, &options->sections))
			argp_error(state, "no such section in '%s'; there are %s", arg,
				   SECTION_NAMES);
		break;
	case KEY_PID:
		free(options->pids);
		options->pids = NULL;
		if (!parse_numbers(arg, &options->pids, &options->pid_count))
			argp_error(state, "--pid wants process ids, not '%s'", arg);
		break;
	case ARGP_KEY_ARG: return ARGP_ERR_UNKNOWN; /* to ARGP_KEY_ARGS, with the rest */
	case ARGP_KEY_ARGS:
		options->traces = state->argv + state->next;
		options->trace_count = (unsigned int)(state->argc - state->next);
		break;
	case ARGP_KEY_END: check_usage(options, state); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

struct command_help {
	const char *name;
	enum command command;
	struct argp argp;
};

static const struct command_help COMMANDS[] = {
	{ "report",
	  COMMAND_REPORT,
	  { REPORT_OPTIONS, parse, "TRACE...",
	    "Say what a recorded job and its machine did, and why its devices were idle.", NULL,
	    NULL, NULL } },
	{ "export",
	  COMMAND_EXPORT,
	  { EXPORT_OPTIONS, parse, "TRACE...", "Write a trace in another tool's format.", NULL,
	    NULL, NULL } },
	{ "info",
	  COMMAND_INFO,
	  { INFO_OPTIONS, parse, "TRACE...",
	    "Say what a trace holds: header, clocks, sources, losses, damage.", NULL, NULL,
	    NULL } },
};

static const char HELP[] =
	"usage: analyzer report TRACE... [--format text|json] [-o FILE] [--section LIST]\n"
	"                       [--top N] [--from T] [--to T] [--pid LIST] [--strict]\n"
	"       analyzer export TRACE... --to perfetto|chrome -o PATH [--pid LIST] [--strict]\n"
	"       analyzer info   TRACE... [--format text|json] [-o FILE] [--strict]\n"
	"\n"
	"TRACE is a .pbt file that profctl recorded, or - for standard input.\n"
	"analyzer COMMAND --help explains the options of a command.\n";

static _Noreturn void general_help(const char *wrong)
{
	if (wrong) {
		fprintf(stderr, "analyzer: unknown command '%s'\n%s", wrong, HELP);
		exit(EXIT_USAGE);
	}
	fputs(HELP, stdout);
	exit(EXIT_SUCCESS);
}

static void parse_command(const struct command_help *command, int argc, char **argv,
			  struct options *options)
{
	char name[64];

	/* Usage lines and errors name the program and the command. */
	snprintf(name, sizeof(name), "analyzer %s", command->name);
	argv[0] = name;
	options->command = command->command;
	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&command->argp, argc, argv, 0, NULL, options) != 0)
		exit(EXIT_USAGE);
}

void options_parse(int argc, char **argv, struct options *options)
{
	*options = (struct options){ .sections = SECTION_ALL };
	if (argc < 2) {
		fputs(HELP, stderr);
		exit(EXIT_USAGE);
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts("analyzer (profbpf) " PROFBPF_VERSION);
		exit(EXIT_SUCCESS);
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0)
		general_help(NULL);
	for (size_t i = 0; i < sizeof(COMMANDS) / sizeof(COMMANDS[0]); i++) {
		if (strcmp(argv[1], COMMANDS[i].name) == 0) {
			parse_command(&COMMANDS[i], argc - 1, argv + 1, options);
			return;
		}
	}
	general_help(argv[1]);
}

void options_free(struct options *options)
{
	free(options->pids);
	options->pids = NULL;
}

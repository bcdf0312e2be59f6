/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/command_line.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/cli/command_tables.h"
#include "analyzer/export/timeline/device_tracks.h"
#include "analyzer/view/report.h"
#include "lib/base/duration.h"
#include "lib/base/size.h"

static error_t parse_query_format(const char *arg, struct options *options,
				  struct argp_state *state)
{
	static const struct {
		const char *name;
		enum format format;
	} formats[] = {
		{ "table", FORMAT_TEXT }, { "text", FORMAT_TEXT },	   { "csv", FORMAT_CSV },
		{ "json", FORMAT_JSON },  { "markdown", FORMAT_MARKDOWN },
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(arg, formats[i].name) == 0) {
			options->format = formats[i].format;
			return 0;
		}
	}
	argp_error(state,
		   "unknown format '%s': use table, csv or json, with --schema also markdown",
		   arg);
	return 0;
}

static error_t parse_format(const char *arg, struct options *options, struct argp_state *state)
{
	bool page = options->command == COMMAND_REPORT || options->command == COMMAND_DIFF;

	if (options->command == COMMAND_QUERY || options->command == COMMAND_LAKE)
		return parse_query_format(arg, options, state);
	if (strcmp(arg, "text") == 0)
		options->format = FORMAT_TEXT;
	else if (strcmp(arg, "json") == 0)
		options->format = FORMAT_JSON;
	else if (strcmp(arg, "html") == 0 && page)
		options->format = FORMAT_HTML;
	else
		argp_error(state, "unknown format '%s': use text%s json%s", arg,
			   page ? "," : " and", page ? " or html, a page for a browser" : "");
	return 0;
}

static error_t parse_export(const char *arg, struct options *options, struct argp_state *state)
{
#define EXPORTER(name) { #name, &export_##name },
	static const struct {
		const char *name;
		const struct exporter *exporter;
	} exporters[] = { EXPORTERS(EXPORTER, EXPORTER) };
#undef EXPORTER

	for (size_t i = 0; i < sizeof(exporters) / sizeof(exporters[0]); i++) {
		if (strcmp(arg, exporters[i].name) == 0)
			options->exporter = exporters[i].exporter;
	}
	if (!options->exporter)
		argp_error(state, "cannot export to '%s': use one of " EXPORT_NAMES, arg);
	return 0;
}

static void parse_kind(const char *arg, struct options *options, struct argp_state *state)
{
	static const char *const names[] = {
		[STACKS_ON_CPU] = "on-cpu", [STACKS_OFF_CPU] = "off-cpu", [STACKS_DEVICE] = "device"
	};
	size_t kind = 0;

	while (kind < sizeof(names) / sizeof(names[0]) && strcmp(arg, names[kind]) != 0)
		kind++;
	if (kind == sizeof(names) / sizeof(names[0]))
		argp_error(state,
			   "unknown kind of stacks '%s': use on-cpu, off-cpu or device",
			   arg);
	options->has_stacks = true;
	options->stacks = (enum stacks_kind)kind;
}

static uint32_t parse_number(const char *name, const char *arg, struct argp_state *state)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(arg, &end, 10);
	if (errno || *arg < '0' || *arg > '9' || *end || value > UINT32_MAX)
		argp_error(state, "%s needs a number, not '%s'", name, arg);
	return (uint32_t)value;
}

static void parse_time(const char *name, const char *arg, bool *given, uint64_t *ns,
		       struct argp_state *state)
{
	char error[256];

	if (duration_parse(arg, ns, error, sizeof(error)))
		argp_error(state, "%s: %s", name, error);
	*given = true;
}

/* Parses a range like "0s..10s". */
static void parse_range(const char *name, const char *arg, struct diff_range *range,
			struct argp_state *state)
{
	const char *dots = strstr(arg, "..");
	char first[64];

	if (!dots || !dots[2] || (size_t)(dots - arg) >= sizeof(first)) {
		argp_error(state, "%s needs two times, as 0s..10s, not '%s'", name, arg);
		return;
	}
	snprintf(first, sizeof(first), "%.*s", (int)(dots - arg), arg);
	parse_time(name, first, &range->given, &range->from_ns, state);
	parse_time(name, dots + 2, &range->given, &range->to_ns, state);
	if (range->from_ns >= range->to_ns)
		argp_error(state, "%s: the part ends before it begins: '%s'", name, arg);
}

static void check_diff(const struct options *options, struct argp_state *state)
{
	if (options->trace_count < 1 || options->trace_count > 2)
		argp_error(state, "no recording is given; give two: diff before.pbt after.pbt");
	if (options->trace_count == 1 && !(options->before.given && options->after.given))
		argp_error(state, "only one recording is given: give a second one, or two parts of "
				  "this one: --before 0s..10s --after 10s..20s");
}

/* The statement is the last argument; sqlite3's .tables and .schema are accepted, too. */
static void check_query(struct options *options, struct argp_state *state)
{
	const char *sql = options->trace_count ? options->traces[options->trace_count - 1] : NULL;

	if (options->schema)
		return;
	if (options->format == FORMAT_MARKDOWN)
		argp_error(state, "--format markdown is for the list of tables only: add --schema");
	if (!sql)
		argp_error(
			state,
			"no statement is given: give a trace and a statement: run.pbt \"select * from api\"");
	if (!access(sql, F_OK))
		argp_error(state, "no statement is given: '%s' is a file; give a statement after "
				  "it: \"select * from api\"", sql);
	options->trace_count--;
	options->sql = sql;
	if (sql &&
	    (strcmp(sql, ".tables") == 0 || strncmp(sql, ".schema", strlen(".schema")) == 0)) {
		options->schema = true;
		sql += strcspn(sql, " ");
		sql += strspn(sql, " ");
		options->schema_of = *sql ? sql : NULL;
	}
}

/* --gil is a kind of stacks of its own. */
static void check_gil(struct options *options, struct argp_state *state)
{
	if (!options->exporter || !options->exporter->has_kinds)
		argp_error(state, "--gil is for stacks only: use it with --to folded, speedscope or pprof");
	if (options->has_stacks && options->stacks != STACKS_ON_CPU)
		argp_error(state, "--gil is for samples of threads on a CPU only: omit --kind");
	options->has_stacks = true;
	options->stacks = STACKS_GIL;
}

static void check_usage(struct options *options, struct argp_state *state)
{
	if (options->command == COMMAND_QUERY)
		check_query(options, state);
	if (options->schema)
		return;
	if (options->command == COMMAND_DIFF) {
		check_diff(options, state);
		return;
	}
	if (options->trace_count == 0 && options->device_count == 0)
		argp_error(state, "no trace is given: give a .pbt file, - for standard input, or a "
				  "device file with --device PATH");
	if (options->command == COMMAND_EXPORT && !options->exporter)
		argp_error(state, "no format is given: use --to with one of " EXPORT_NAMES);
	if (options->no_merge && options->exporter != &export_chrome)
		argp_error(state, "--no-merge is for --to chrome only: other formats merge nothing");
	if (options->has_stacks && !(options->exporter && options->exporter->has_kinds))
		argp_error(state,
			   "--kind is for stacks only: use it with --to folded, speedscope or pprof");
	if (options->gil)
		check_gil(options, state);
	if (options->command == COMMAND_EXPORT &&
	    (!options->output || strcmp(options->output, "-") == 0))
		argp_error(state, "export writes to a file or a folder: give -o PATH");
	if (options->command == COMMAND_LAKE && options->format != FORMAT_TEXT)
		argp_error(state, "--format is for --schema only: a lake is always Parquet");
	if (options->command == COMMAND_LAKE &&
	    (!options->output || strcmp(options->output, "-") == 0))
		argp_error(state, "no lake is given: give its directory with -o DIR");
	if (options->has_from && options->has_to && options->from_ns >= options->to_ns)
		argp_error(state, "--from must be before %s",
			   options->command == COMMAND_EXPORT ? "--until" : "--to");
	if (options->has_steps && (options->has_from || options->has_to))
		argp_error(state, "--step selects the time: omit --from and %s",
			   options->command == COMMAND_EXPORT ? "--until" : "--to");
}

static void add_device(char *path, struct options *options, struct argp_state *state)
{
	char **grown = reallocarray(options->devices, options->device_count + 1, sizeof(*grown));

	if (!grown)
		argp_failure(state, EXIT_FAILURE, errno, "--device");
	else
		options->devices = grown;
	if (grown)
		options->devices[options->device_count++] = path;
}

/* Parses options of the list of operators; ARGP_ERR_UNKNOWN for other options. */
static error_t parse_operators(int key, char *arg, struct operator_options *options,
			       struct argp_state *state)
{
	bool given;

	switch (key) {
	case KEY_NAME: options->name = arg; return 0;
	case KEY_TYPE: options->types = arg; return 0;
	case KEY_DTYPE: options->dtype = arg; return 0;
	case KEY_MIN_TIME: parse_time("--min-time", arg, &given, &options->min_ns, state); return 0;
	case KEY_MAX_TIME: parse_time("--max-time", arg, &given, &options->max_ns, state); return 0;
	case KEY_AGGREGATE:
		if (!parse_operator_value(arg, options))
			argp_error(state, "--aggregate needs sum, max, min or mean, not '%s'", arg);
		return 0;
	case KEY_AGGREGATE_BY:
		if (!parse_operator_by(arg, options))
			argp_error(
				state,
				"--aggregate-by needs name, type, core, shape or scope, not '%s'",
				arg);
		return 0;
	case KEY_ORDER_BY:
		if (!parse_operator_order(arg, options))
			argp_error(
				state,
				"--order-by needs value, name, type, count, total, mean, min, max, "
				"flops, rate, utilization, bytes or bandwidth, not '%s'",
				arg);
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static void parse_memory(const char *arg, struct options *options, struct argp_state *state)
{
	char message[128];

	if (size_parse(arg, &options->memory, message, sizeof(message)))
		argp_error(state, "--memory: %s", message);
	if (!options->memory)
		argp_error(state, "--memory: must be more than 0");
}

static void parse_depth(const char *arg, struct options *options, struct argp_state *state)
{
	uint64_t depth = 0, last = 0;

	if (!parse_steps(arg, &depth, &last) || depth != last || depth > SCOPE_DEPTH_MAX)
		argp_error(state, "--scope-depth needs a number up to %d, not '%s'",
			   SCOPE_DEPTH_MAX, arg);
	options->operators.scope_depth = (uint32_t)depth;
	options->has_scope_depth = true;
}

static void parse_ids(const char *name, const char *of, const char *arg, uint32_t **ids,
		      uint32_t *count, struct argp_state *state)
{
	free(*ids);
	*ids = NULL;
	if (!parse_numbers(arg, ids, count))
		argp_error(state, "%s needs %s ids, not '%s'", name, of, arg);
}

/* Parses options that select a part of the recording or name things in it. */
static error_t parse_part(int key, char *arg, struct options *options, struct argp_state *state)
{
	switch (key) {
	case KEY_FROM:
		parse_time("--from", arg, &options->has_from, &options->from_ns, state);
		break;
	case KEY_TO:
		parse_time(options->command == COMMAND_EXPORT ? "--until" : "--to", arg,
			   &options->has_to, &options->to_ns, state);
		break;
	case KEY_PID:
		parse_ids("--pid", "process", arg, &options->pids, &options->pid_count, state);
		break;
	case KEY_THREAD:
		parse_ids("--thread", "thread", arg, &options->tids, &options->tid_count, state);
		break;
	case KEY_STEP:
		if (!parse_steps(arg, &options->first_step, &options->last_step))
			argp_error(state, "--step needs a number or a range as 3..5, not '%s'", arg);
		options->has_steps = true;
		break;
	case KEY_BEFORE: parse_range("--before", arg, &options->before, state); break;
	case KEY_AFTER: parse_range("--after", arg, &options->after, state); break;
	case KEY_FP_POINT: options->fp_point = arg; break;
	case KEY_BP_POINT: options->bp_point = arg; break;
	default: return parse_operators(key, arg, &options->operators, state);
	}
	return 0;
}

/* Parses options of the output. */
static error_t parse_shape(int key, char *arg, struct options *options, struct argp_state *state)
{
	switch (key) {
	case KEY_FORMAT: return parse_format(arg, options, state);
	case KEY_AS: return parse_export(arg, options, state);
	case 'o': options->output = arg; break;
	case KEY_SCHEMA:
		options->schema = true;
		options->schema_of = arg;
		break;
	case KEY_TOP:
		options->has_top = true;
		options->top = parse_number("--top", arg, state);
		break;
	case KEY_FULL: options->full = true; break;
	case KEY_SECTION:
		options->full = true;
		options->named = true;
		if (!parse_sections(arg, &options->sections))
			argp_error(state, "unknown section in '%s': the sections are %s", arg,
				   SECTION_NAMES);
		break;
	case KEY_KIND: parse_kind(arg, options, state); break;
	case KEY_GIL: options->gil = true; break;
	case KEY_NO_MERGE: options->no_merge = true; break;
	case KEY_SCOPE_DEPTH: parse_depth(arg, options, state); break;
	case KEY_SUBTRACT: options->subtract_probe_cost = true; break;
	case KEY_RANK:
		options->lake.has_rank = true;
		options->lake.rank = parse_number("--rank", arg, state);
		break;
	default: return parse_part(key, arg, options, state);
	}
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case KEY_STRICT: options->strict = true; break;
	case KEY_MEMORY: parse_memory(arg, options, state); break;
	case KEY_DEVICE: add_device(arg, options, state); break;
	case ARGP_KEY_ARG: return ARGP_ERR_UNKNOWN; /* handled by ARGP_KEY_ARGS, with the rest */
	case ARGP_KEY_ARGS:
		options->traces = state->argv + state->next;
		options->trace_count = (unsigned int)(state->argc - state->next);
		break;
	case ARGP_KEY_END: check_usage(options, state); break;
	default: return parse_shape(key, arg, options, state);
	}
	return 0;
}

static _Noreturn void general_help(const char *wrong)
{
	if (wrong && access(wrong, F_OK) == 0) {
		fprintf(stderr,
			"analyzer: '%s' is a file, not a command; type: analyzer report %s%s\n",
			wrong, strstr(wrong, ".pbt") ? "" : "--device ", wrong);
		exit(EXIT_USAGE);
	}
	if (wrong) {
		fprintf(stderr, "analyzer: unknown command '%s'\n%s", wrong, command_general_help);
		exit(EXIT_USAGE);
	}
	fputs(command_general_help, stdout);
	exit(EXIT_SUCCESS);
}

static void parse_command(const struct command_help *command, int argc, char **argv,
			  struct options *options)
{
	struct argp argp = command->argp;
	char name[64];

	argp.parser = parse;
	/* argp's usage lines and errors then contain the program and the command. */
	snprintf(name, sizeof(name), "analyzer %s", command->name);
	argv[0] = name;
	options->command = command->command;
	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, options) != 0)
		exit(EXIT_USAGE);
}

void options_parse(int argc, char **argv, struct options *options)
{
	*options = (struct options){ .sections = SECTION_DEFAULT };
	if (argc < 2) {
		fputs(command_general_help, stderr);
		exit(EXIT_USAGE);
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts("analyzer (profbpf) " PROFBPF_VERSION);
		exit(EXIT_SUCCESS);
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0)
		general_help(NULL);
	for (size_t i = 0; i < command_count; i++) {
		if (strcmp(argv[1], command_table[i].name) == 0) {
			parse_command(&command_table[i], argc - 1, argv + 1, options);
			return;
		}
	}
	general_help(argv[1]);
}

void options_free(struct options *options)
{
	free(options->pids);
	options->pids = NULL;
	free(options->tids);
	options->tids = NULL;
	free(options->devices);
	options->devices = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/settings.h"

#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/common/control.h"
#include "daemon/profbpfd/capture/features.h"
#include "daemon/profbpfd/capture/kernel_types.h"
#include "daemon/profbpfd/config_file.h"
#include "daemon/profbpfd/control/trigger_files.h"
#include "daemon/profbpfd/metrics/endpoint.h"
#include "daemon/profbpfd/metrics/listen.h"
#include "lib/base/duration.h"
#include "lib/base/size.h"

enum {
	OPTION_SOCKET = 's',
	OPTION_CATALOG = 'c',
	OPTION_VERSION = 'V',
	OPTION_PRIVATE = 256,
	OPTION_USER_SESSIONS,
	OPTION_USER_MEMORY,
	OPTION_USER_PROCESSES,
	OPTION_USER_FUNCTIONS,
	OPTION_USER_CATALOG,
	OPTION_WITHOUT,
	OPTION_BTF,
	OPTION_RECORDER,
	OPTION_RECORDER_MEMORY,
	OPTION_RECORDER_FOR,
	OPTION_TRIGGER,
	OPTION_TRIGGER_DIRECTORY,
	OPTION_TRIGGER_SPACE,
	OPTION_METRICS,
	OPTION_CONFIG,
	OPTION_CHECK_CONFIG,
};

static const struct argp_option options[] = {
	{ "socket", OPTION_SOCKET, "PATH", 0,
	  "Listen on PATH (default: $" CONTROL_SOCKET_ENV " or " CONTROL_SOCKET_DEFAULT ")" },
	{ "catalog", OPTION_CATALOG, "DIR", 0,
	  "Also read the catalogs in DIR; they override those of profbpf (repeatable)" },
	{ "btf", OPTION_BTF, "FILE", 0,
	  "Read the kernel's type information (BTF) from FILE, if " KERNEL_TYPES " is not available" },
	{ "metrics", OPTION_METRICS, "ADDRESS", 0,
	  "Serve metrics at http://ADDRESS/metrics. ADDRESS is the path of a socket, or HOST:PORT, "
	  "where every client sees all metrics (repeatable; default: none)" },
	{ "config", OPTION_CONFIG, "FILE", 0,
	  "Read FILE first: options of this list, without the dashes, as NAME = VALUE (default: " CONFIG_FILE
	  ", if there is one)" },
	{ "check-config", OPTION_CHECK_CONFIG, "FILE", OPTION_ARG_OPTIONAL,
	  "Only check FILE (default: as for --config) for errors" },
	{ "private", OPTION_PRIVATE, "FD", OPTION_HIDDEN, NULL },
	{ "without-feature", OPTION_WITHOUT, "NAME", OPTION_HIDDEN, NULL },
	{ NULL, 0, NULL, 0, "The flight recorder, which keeps the last seconds for `profctl snapshot':", 2 },
	{ "recorder", OPTION_RECORDER, "DURATION", 0, "Keep the last DURATION in memory (default: no recorder)", 2 },
	{ "recorder-memory", OPTION_RECORDER_MEMORY, "SIZE", 0,
	  "Limit of its memory; the oldest data are dropped first (default: 64M)", 2 },
	{ "recorder-for", OPTION_RECORDER_FOR, "WHOM", 0,
	  "Record these processes: accelerators (all that use one; the default), pid=N, user=NAME, "
	  "cgroup=/PATH, unit=NAME or pod=UID (repeatable)",
	  2 },
	{ "trigger", OPTION_TRIGGER, "WHAT", 0,
	  "Write a snapshot at this event: signal, signal=N, no-launch=DURATION, "
	  "slow-step=K:FUNCTION, steps=N+M:FUNCTION, data-wait=X%[:FUNCTION], metric=NAME>X "
	  "(repeatable; profctl trigger adds more)",
	  2 },
	{ "trigger-directory", OPTION_TRIGGER_DIRECTORY, "DIR", 0,
	  "Folder of these snapshots (default: " TRIGGER_DIRECTORY ")", 2 },
	{ "trigger-space", OPTION_TRIGGER_SPACE, "SIZE", 0,
	  "Limit of their size; the oldest are removed first (default: 1G)", 2 },
	{ NULL, 0, NULL, 0,
	  "Limits of an ordinary user (root and the group profbpf have none):", 1 },
	{ "user-sessions", OPTION_USER_SESSIONS, "N", 0, "Concurrent sessions (default: 4)", 1 },
	{ "user-memory", OPTION_USER_MEMORY, "SIZE", 0,
	  "Memory of all sessions: buffers and data waiting to be written (default: 1G)", 1 },
	{ "user-processes", OPTION_USER_PROCESSES, "N", 0,
	  "Processes of a session, including those that they start (default: 256)", 1 },
	{ "user-functions", OPTION_USER_FUNCTIONS, "N", 0,
	  "Functions that a session probes (default: 16384)", 1 },
	{ "user-catalog", OPTION_USER_CATALOG, "SIZE", 0,
	  "Size of the catalogs sent with a request (default: 512K)", 1 },
	{ NULL, 0, NULL, 0, NULL, -1 },
	{ "version", OPTION_VERSION, NULL, 0, "Print the version", -1 },
	{ 0 },
};

/*
 * Ends the program with status 2. If settings are read again, stores the first error and returns EINVAL; if a file is only
 * checked, prints the error and returns EINVAL.
 */
static int wrong(const struct argp_state *state, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int wrong(const struct argp_state *state, const char *format, ...)
{
	const struct settings *settings = state->input;
	const char *place = settings->place;
	va_list words;
	char text[1024];

	va_start(words, format);
	vsnprintf(text, sizeof(text), format, words);
	va_end(words);
	if (settings->error && !*settings->error)
		snprintf(settings->error, settings->error_size, "%s%s%s", place ? place : "", place ? ": " : "", text);
	if (settings->error)
		return EINVAL;
	if (place)
		fprintf(stderr, "profbpfd: %s: %s\n", place, text);
	else
		argp_error(state, "%s", text);
	if (settings->only_check)
		return EINVAL;
	exit(2);
}

static int set_quota(struct quotas *quotas, int key, const char *value, const struct argp_state *state)
{
	char error[256];

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (options[i].key == key && quotas_set(quotas, options[i].name, value, error, sizeof(error)))
			return wrong(state, "--%s: %s", options[i].name, error);
	return 0;
}

static int add_trigger(struct flight_recorder_options *recorder, const char *value, const struct argp_state *state)
{
	struct trigger *larger = realloc(recorder->triggers, (recorder->trigger_count + 1) * sizeof(*larger));
	char error[512];

	if (!larger)
		return wrong(state, "out of memory");
	recorder->triggers = larger;
	if (trigger_parse(value, &larger[recorder->trigger_count], error, sizeof(error)))
		return wrong(state, "--trigger: %s", error);
	if (recorder->trigger_count == TRIGGERS_MAX)
		return wrong(state, "--trigger %s: more than %d triggers", value, TRIGGERS_MAX);
	larger[recorder->trigger_count].of_settings = true;
	larger[recorder->trigger_count++].every_ns = TRIGGER_EVERY_NS;
	return 0;
}

static int set_recorder(struct flight_recorder_options *recorder, int key, const char *value,
			const struct argp_state *state)
{
	char error[256];

	switch (key) {
	case OPTION_RECORDER:
		if (duration_parse(value, &recorder->window_ns, error, sizeof(error)))
			return wrong(state, "--recorder: %s", error);
		if (recorder->window_ns < RECORDER_WINDOW_MIN_NS || recorder->window_ns > RECORDER_WINDOW_MAX_NS)
			return wrong(state, "--recorder %s: must be from 1s to 24h", value);
		return 0;
	case OPTION_RECORDER_MEMORY:
		if (size_parse(value, &recorder->memory_bytes, error, sizeof(error)))
			return wrong(state, "--recorder-memory: %s", error);
		if (recorder->memory_bytes < RECORDER_MEMORY_MIN)
			return wrong(state, "--recorder-memory %s: must be at least 4M", value);
		return 0;
	case OPTION_TRIGGER: return add_trigger(recorder, value, state);
	case OPTION_TRIGGER_DIRECTORY: recorder->directory = value; return 0;
	case OPTION_TRIGGER_SPACE:
		if (size_parse(value, &recorder->space_bytes, error, sizeof(error)))
			return wrong(state, "--trigger-space: %s", error);
		return 0;
	default:
		if (user_rules_add(&recorder->rules, value, error, sizeof(error)))
			return wrong(state, "--recorder-for: %s", error);
		return words_add(&((struct settings *)state->input)->recorded, value) ? wrong(state, "out of memory") : 0;
	}
}

static int parse_private(const char *text, const struct argp_state *state)
{
	char *end;
	long fd = strtol(text, &end, 10);

	if (!*text || *end || fd < 3 || fd > 1 << 20)
		return wrong(state, "--private is for use by profctl only");
	((struct settings *)state->input)->private_fd = (int)fd;
	return 0;
}

/* Adds a feature to the names in the environment. */
static int parse_without(const char *name, const struct argp_state *state)
{
	const char *others = getenv(FEATURES_WITHOUT_ENV);
	struct features none = { 0 };
	char *names;

	if (!features_leave_out(&none, name))
		return wrong(state, "--without-feature %s: unknown feature", name);
	if (asprintf(&names, "%s,%s", others ? others : "", name) < 0)
		return wrong(state, "out of memory");
	setenv(FEATURES_WITHOUT_ENV, names, true);
	free(names);
	return 0;
}

/* Passes the path to other modules by the environment. */
static int set_btf(const char *path, const struct argp_state *state)
{
	struct settings *settings = state->input;
	char error[512];

	settings->btf = path;
	if (settings->error)
		return 0; /* the types are in use, and stay as they are */
	if (kernel_types_check(path, error, sizeof(error))) {
		if (settings->place)
			return wrong(state, "%s", error);
		/* The error is in the file, not in the command line. */
		argp_failure(state, 1, 0, "%s", error);
	}
	setenv(KERNEL_TYPES_ENV, path, true);
	return 0;
}

static int add_catalog(struct settings *settings, const char *path, const struct argp_state *state)
{
	struct stat st;

	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return wrong(state, "--catalog %s: no such directory", path);
	return words_add(&settings->catalogs, path) ? wrong(state, "out of memory") : 0;
}

static int add_address(struct settings *settings, const char *address, const struct argp_state *state)
{
	char error[512];

	if (listen_check(address, error, sizeof(error)))
		return wrong(state, "--metrics: %s", error);
	if (settings->metrics.count == METRICS_ADDRESSES_MAX)
		return wrong(state, "--metrics %s: more than %d addresses", address, METRICS_ADDRESSES_MAX);
	return words_add(&settings->metrics, address) ? wrong(state, "out of memory") : 0;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case OPTION_SOCKET: settings->socket = text; return 0;
	case OPTION_CATALOG: return add_catalog(settings, text, state);
	case OPTION_PRIVATE: return parse_private(text, state);
	case OPTION_USER_SESSIONS:
	case OPTION_USER_MEMORY:
	case OPTION_USER_PROCESSES:
	case OPTION_USER_FUNCTIONS:
	case OPTION_USER_CATALOG: return set_quota(&settings->quotas, key, text, state);
	case OPTION_RECORDER:
	case OPTION_RECORDER_MEMORY:
	case OPTION_TRIGGER:
	case OPTION_TRIGGER_DIRECTORY:
	case OPTION_TRIGGER_SPACE:
	case OPTION_RECORDER_FOR: return set_recorder(&settings->recorder, key, text, state);
	case OPTION_BTF: return set_btf(text, state);
	case OPTION_METRICS: return add_address(settings, text, state);
	case OPTION_CONFIG:
	case OPTION_CHECK_CONFIG: return 0; /* find_config() has seen it */
	case OPTION_WITHOUT: return settings->error ? 0 : parse_without(text, state);
	case OPTION_VERSION: puts("profbpfd " PROFBPF_VERSION); exit(0);
	case ARGP_KEY_ARG: return wrong(state, "unexpected argument '%s'", text);
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* ---- The configuration */

struct config {
	const char *path;
	bool given, check; /* the file must exist; it is only checked */
};

/* Called before other options are read, because they override those of the file. */
static struct config find_config(int argc, char **argv)
{
	struct config config = { .path = CONFIG_FILE };

	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--private", 9)) {
			config.path = NULL; /* a private daemon of profctl uses no configuration file */
			break;
		}
		if (!strncmp(argv[i], "--check-config", 14) && (!argv[i][14] || argv[i][14] == '=')) {
			config.check = true;
			if (argv[i][14] == '=')
				config.path = argv[i] + 15;
		} else if (!strncmp(argv[i], "--config=", 9)) {
			config.path = argv[i] + 9;
		} else if (!strcmp(argv[i], "--config") && i + 1 < argc) {
			config.path = argv[++i];
		}
	}
	config.given = config.check || (config.path && strcmp(config.path, CONFIG_FILE));
	return config;
}

struct reading {
	struct settings *settings;
	const char *path;
	unsigned int wrong_lines; /* of a file that is only checked */
};

/* The option of that name which may stand in a file; NULL if there is none. */
static const struct argp_option *find_option(const char *name)
{
	const struct argp_option *option = options;

	while ((option->name || option->doc) && (!option->name || strcmp(option->name, name)))
		option++;
	if (!option->name || !option->arg || option->flags & OPTION_HIDDEN || option->key == OPTION_CONFIG ||
	    option->key == OPTION_CHECK_CONFIG)
		return NULL;
	return option;
}

static int take_option(struct settings *settings, const char *name, const char *value)
{
	struct argp_state state = { .input = settings };
	const struct argp_option *option;

	if (!name)
		return wrong(&state, "the line is not NAME = VALUE, with a name that profbpfd --help lists and a value "
				     "that is not empty");
	option = find_option(name);
	if (!option)
		return wrong(&state, "%s is not an option of this file; profbpfd --help lists them", name);
	/* Options keep pointers to their values, so these are stored. */
	if (words_add(&settings->kept, value))
		return wrong(&state, "out of memory");
	return parse_option(option->key, settings->kept.word[settings->kept.count - 1], &state);
}

static int take_line(void *context, const char *name, const char *value, unsigned int line)
{
	struct reading *reading = context;
	struct settings *settings = reading->settings;
	char place[512];
	int err;

	snprintf(place, sizeof(place), "%s:%u", reading->path, line);
	settings->place = place;
	err = take_option(settings, name, value);
	settings->place = NULL;
	if (err && settings->only_check) {
		reading->wrong_lines++;
		return 0;
	}
	return -err;
}

static int read_config(const struct config *config, struct settings *settings)
{
	struct reading reading = { .settings = settings, .path = config->path };
	char error[512] = "";
	int err = config->path ? config_file_read(config->path, take_line, &reading, error, sizeof(error)) : 0;

	if (err == -ENOENT && !config->given)
		return 0;
	if (err && *error) {
		if (settings->error)
			snprintf(settings->error, settings->error_size, "%s", error);
		else
			fprintf(stderr, "profbpfd: %s\n", error);
	}
	if ((err && !settings->error) || reading.wrong_lines)
		exit(2);
	if (!err && config->check) {
		printf("%s: no errors\n", config->path);
		exit(0);
	}
	return err;
}

static const struct argp argp = {
	options, parse_option, NULL,
	"Record what the host does for its accelerators, on requests of profctl.\vRuns in the "
	"foreground until SIGTERM. See profbpfd(8)."
};

static void set_defaults(struct settings *settings)
{
	*settings = (struct settings){ .quotas = QUOTAS_DEFAULT,
				       .recorder.memory_bytes = RECORDER_MEMORY_DEFAULT,
				       .recorder.directory = TRIGGER_DIRECTORY,
				       .recorder.space_bytes = TRIGGER_SPACE_DEFAULT,
				       .private_fd = -1 };
}

void settings_read(struct settings *settings, int argc, char **argv)
{
	struct config config = find_config(argc, argv);

	set_defaults(settings);
	settings->only_check = config.check;
	argp_err_exit_status = 2;
	read_config(&config, settings);
	argp_parse(&argp, argc, argv, 0, NULL, settings);
}

int settings_read_again(struct settings *settings, int argc, char **argv, char *error, size_t error_size)
{
	struct config config = find_config(argc, argv);

	set_defaults(settings);
	*error = '\0';
	settings->error = error;
	settings->error_size = error_size;
	if (!read_config(&config, settings) &&
	    argp_parse(&argp, argc, argv, ARGP_NO_EXIT | ARGP_NO_ERRS, NULL, settings) && !*error)
		snprintf(error, error_size, "the command line cannot be read again");
	if (!*error)
		return 0;
	settings_free(settings);
	return -EINVAL;
}

void settings_free(struct settings *settings)
{
	words_free(&settings->metrics);
	user_rules_free(&settings->recorder.rules);
	free(settings->recorder.triggers);
	settings->recorder.triggers = NULL;
	words_free(&settings->recorded);
	words_free(&settings->kept);
	words_free(&settings->catalogs);
}

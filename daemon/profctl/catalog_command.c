/* SPDX-License-Identifier: Apache-2.0 */
/* catalog_command.c - profctl catalog: list, check and match catalogs. Needs no privilege. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/catalog/catalog.h"
#include "daemon/catalog/catalog_set.h"
#include "daemon/profctl/catalog_match.h"
#include "daemon/profctl/catalog_texts.h"
#include "daemon/profctl/commands.h"
#include "daemon/profctl/message.h"
#include "daemon/profctl/command_options.h"
#include "daemon/profctl/pids.h"

struct arguments {
	struct words directories;
	struct pids pids;
	const char *socket;
	bool json, formatted;
	char **words; /* subcommand, then files */
	size_t word_count;
};

static const struct argp_option options[] = {
	{ "catalog", 'c', "DIR", 0, "list, match: also read the catalogs in DIR (repeatable)" },
	{ "pid", 'p', "PID", 0, "match: search the files that this process has mapped" },
	{ "format", 'f', "FORMAT", 0, "match: text (default) or json" },
	SOCKET_OPTION,
	{ 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	char error[512];

	switch (key) {
	case 'c':
		if (words_add(&arguments->directories, text))
			argp_failure(state, 1, 0, "out of memory");
		return 0;
	case 'p':
		if (pids_add(&arguments->pids, text, error, sizeof(error)))
			argp_error(state, "--pid: %s", error);
		return 0;
	case 'f':
		arguments->json = parse_format(text, state);
		arguments->formatted = true;
		return 0;
	case OPTION_SOCKET: arguments->socket = text; return 0;
	case ARGP_KEY_ARGS:
		arguments->words = state->argv + state->next;
		arguments->word_count = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_NO_ARGS: argp_error(state, "no command is given: use list, check or match"); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* Loads the catalogs that a session would use; prints and counts errors, and returns the valid catalogs. */
static struct catalogs *load(const struct words *directories, size_t *errors)
{
	struct words problems = { 0 };
	struct catalogs *catalogs = catalog_set_load((const char *const *)directories->word,
						     directories->count, &problems);

	if (!catalogs)
		message("out of memory");
	for (size_t i = 0; i < problems.count; i++)
		message("%s", problems.word[i]);
	*errors = problems.count;
	words_free(&problems);
	return catalogs;
}

static int list(const struct arguments *arguments)
{
	size_t errors;
	struct catalogs *catalogs = load(&arguments->directories, &errors);

	if (!catalogs)
		return 1;
	printf("%-16s %-16s %9s  %s\n", "RUNTIME", "FAMILY", "FUNCTIONS", "FILE");
	for (size_t i = 0; i < catalogs_count(catalogs); i++) {
		const struct catalog *c = catalogs_get(catalogs, i);

		printf("%-16s %-16s %9zu  %s\n", c->runtime, c->family, catalog_set_functions(c),
		       c->name);
	}
	catalogs_free(catalogs);
	return errors ? 1 : 0;
}

/* Which functions may have return probes, and why: a promise that is worth a second look. */
static void print_vouched(const struct catalog *catalog)
{
	char safe[4096];

	for (size_t i = 0; i < catalog->vouch_count; i++) {
		const struct catalog_vouch *vouch = &catalog->vouches[i];
		size_t count = 0;

		for (size_t k = 0; k < catalog->function_count; k++)
			count += catalog->functions[k].plain == vouch->text;
		printf("  %zu plain by %s: %s\n", count, vouch->name,
		       printable(vouch->text, safe, sizeof(safe)));
	}
}

static int check_file(const char *path)
{
	struct catalog_errors errors;
	struct catalog *catalog;
	char *text = read_text(path), *lines;
	int err = 0;

	if (!text) {
		message("cannot read %s: %s", path,
			errno == EINVAL ? "it is not a text file" : strerror(errno));
		return 1;
	}
	catalog = catalog_parse(path, text, strlen(text), &errors);
	if (catalog) {
		size_t functions = catalog_set_functions(catalog);

		printf("%s: runtime %s, %zu function%s: no errors\n", path, catalog->runtime, functions,
		       functions == 1 ? "" : "s");
		print_vouched(catalog);
	} else {
		lines = catalog_errors_text(&errors, path);
		fputs(lines && *lines ? lines : "profctl: out of memory\n", stderr);
		if (lines && *lines && lines[strlen(lines) - 1] != '\n')
			fputc('\n', stderr);
		free(lines);
		err = 1;
	}
	catalog_errors_free(&errors);
	catalog_free(catalog);
	free(text);
	return err;
}

static int check(const struct arguments *arguments)
{
	int status = 0;

	for (size_t i = 1; i < arguments->word_count; i++)
		status |= check_file(arguments->words[i]);
	return status;
}

static int match(const struct arguments *arguments)
{
	size_t errors;
	int status = 0;
	struct catalogs *catalogs = load(&arguments->directories, &errors);
	struct match_printer printer;
	struct match_kernel kernel;

	if (!catalogs)
		return 1;
	match_kernel_ask(&kernel, arguments->socket);
	if (match_print_begin(&printer, arguments->json, &kernel)) {
		catalogs_free(catalogs);
		return 1;
	}
	for (size_t i = 0; i < arguments->pids.count; i++)
		status |= catalog_match_process(&printer, catalogs,
						(pid_t)arguments->pids.pid[i]) != 0;
	for (size_t i = 1; i < arguments->word_count; i++)
		status |= catalog_match_file(&printer, catalogs, arguments->words[i]) != 0;
	status |= match_print_end(&printer) != 0;
	catalogs_free(catalogs);
	return errors ? 1 : status;
}

static int wrong_usage(const char *text)
{
	fprintf(stderr, "profctl catalog: %s\nTry `profctl catalog --help' for more information.\n",
		text);
	return 2;
}

static int run(const struct arguments *arguments)
{
	const char *what = arguments->words[0];
	bool files = arguments->word_count > 1, pids = arguments->pids.count > 0;

	if (arguments->formatted && strcmp(what, "match"))
		return wrong_usage("--format is an option of match only");
	if (!strcmp(what, "list"))
		return files || pids ? wrong_usage("list takes neither files nor --pid")
				     : list(arguments);
	if (!strcmp(what, "check"))
		return !files || pids || arguments->directories.count
			       ? wrong_usage("check takes catalog files, and nothing else")
			       : check(arguments);
	if (!strcmp(what, "match"))
		return !files && !pids ? wrong_usage("match needs --pid PID or files")
				       : match(arguments);
	return wrong_usage("no command is given: use list, check or match");
}

int command_catalog(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse_option, "list\ncheck FILE...\nmatch --pid PID\nmatch FILE...",
		"Catalogs define which library functions are traced and what their arguments mean."
		"\vlist shows the catalogs that sessions use. check reports every error in a "
		"catalog file with its line and column. match shows which functions of a process "
		"or a library would be traced, on which instruction the probe of each would be, "
		"what it costs, and which functions are plain: the catalog guarantees that these "
		"are left only by returning."
	};
	struct arguments arguments = { 0 };
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	status = run(&arguments);
	words_free(&arguments.directories);
	pids_free(&arguments.pids);
	return status;
}

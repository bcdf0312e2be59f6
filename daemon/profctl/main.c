/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - profctl: finds the subcommand. */
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "daemon/profctl/commands.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *usage;
	const char *purpose;
};

static const struct command commands[] = {
	{ "attach", command_attach, "attach --pid PID[,PID...] [OPTION...]",
	  "trace a running job; Ctrl-C or --duration ends it" },
	{ "record", command_record, "record [OPTION...] -- COMMAND [ARG...]",
	  "start a job under trace, from its first instruction" },
	{ NULL, NULL, "record --system [OPTION...]", "trace everything on this machine" },
	{ "list", command_list, "list [OPTION...]", "sessions of the daemon" },
	{ "stop", command_stop, "stop SESSION [OPTION...]", "end a session and wait for its file" },
	{ "status", command_status, "status [OPTION...]",
	  "what this kernel and daemon can do; sources, costs, losses" },
	{ "top", command_top, "top [--pid PID[,PID...]] [OPTION...]",
	  "live table, each second: processes, runtime calls, devices" },
	{ "why", command_why, "why PID[,PID...] [OPTION...]",
	  "trace a running job for 10 s and print what holds it up" },
	{ "snapshot", command_snapshot, "snapshot [-o FILE] [OPTION...]",
	  "write the flight recorder's last seconds to a file" },
	{ "trigger", command_trigger, "trigger add WHAT | list | remove NUMBER",
	  "have snapshots written when something happens" },
	{ "reload", command_reload, "reload [OPTION...]", "make the daemon read its configuration again" },
	{ "catalog", command_catalog, "catalog list | check | match",
	  "show, check and apply the catalogs of runtimes" },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_usage(FILE *to)
{
	fputs("usage:\n", to);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(to, "  profctl %-40s %s\n", commands[i].usage, commands[i].purpose);
	fputs("\n"
	      "profctl COMMAND --help lists the options of a command; profctl --version prints the version.\n"
	      "Exit status: 0 done, 1 something failed, 2 wrong usage; record: that of its command.\n",
	      to);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (commands[i].name && !strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct command *command;
	char name[32];

	if (argc < 2) {
		print_usage(stderr);
		return 2;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "-?") ||
	    !strcmp(argv[1], "help")) {
		print_usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("profctl " PROFBPF_VERSION);
		return 0;
	}
	command = find_command(argv[1]);
	if (!command) {
		fprintf(stderr, "profctl: unknown command '%s'; profctl --help lists the commands\n",
			argv[1]);
		return 2;
	}
	argp_err_exit_status = 2;
	snprintf(name, sizeof(name), "profctl %s", command->name);
	argv[1] = name;
	return command->run(argc - 1, argv + 1);
}

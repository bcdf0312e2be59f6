/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - profctl's subcommands. Each parses its own arguments (argv[0] is
 * "profctl NAME") and returns the exit status: 0 done, 1 failed (it has said
 * why), 2 wrong usage (argp ends the program); record that of its command.
 */
#ifndef PROFBPF_DAEMON_PROFCTL_COMMANDS_H
#define PROFBPF_DAEMON_PROFCTL_COMMANDS_H

int command_attach(int argc, char **argv);
int command_record(int argc, char **argv);
int command_list(int argc, char **argv);
int command_stop(int argc, char **argv);
int command_status(int argc, char **argv);
int command_top(int argc, char **argv);
int command_why(int argc, char **argv);
int command_snapshot(int argc, char **argv);
int command_trigger(int argc, char **argv);
int command_reload(int argc, char **argv);
int command_catalog(int argc, char **argv);

#endif /* PROFBPF_DAEMON_PROFCTL_COMMANDS_H */

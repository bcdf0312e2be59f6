/* SPDX-License-Identifier: Apache-2.0 */
/* command_options.h - the options that attach and record have in common. */
#ifndef PROFBPF_DAEMON_PROFCTL_COMMAND_OPTIONS_H
#define PROFBPF_DAEMON_PROFCTL_COMMAND_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/common/words.h"

struct trace_options {
	const char *socket; /* NULL = the usual place */
	const char *output; /* NULL = the default name */
	uint64_t duration_ns; /* 0 = until ended */
	uint64_t min_duration_ns;
	uint64_t interval_ns; /* 0 = default */
	uint64_t buffer_bytes; /* 0 = default */
	uint64_t stack_block_ns; /* 0 = default */
	uint32_t stack_rate; /* 0 = default */
	uint32_t budget_permille; /* 0 = default */
	bool no_budget;
	bool by_steps; /* record some steps: */
	uint64_t first_step, steps; /* steps 0: not said how many */
	const char *step_call; /* the function that begins steps; NULL = fetches of batches */
	bool keep_queues; /* calls of kind queue are recorded, however short */
	unsigned int topics; /* TOPIC_* */
	bool topics_named; /* by --topics */
	struct words catalogs; /* directories */
	bool no_follow;
	bool standalone;
};

/* Input of the child parser is a struct trace_options, zeroed but for topics. */
extern const struct argp trace_argp;

/* trace_options_free - free what parsing allocated */
void trace_options_free(struct trace_options *options);

/* Options of every subcommand that speaks to a daemon. */
#define OPTION_SOCKET 's'
#define SOCKET_OPTION                                                       \
	{                                                                   \
		"socket", OPTION_SOCKET, "PATH", 0,                         \
			"The daemon's socket (default: $PROFBPF_SOCKET or " \
			"/run/profbpf/profbpfd.sock)"                       \
	}

/*
 * All arguments of list and status. The parser's input is a zeroed struct
 * query_arguments, whose texts point into the command line.
 */
struct query_arguments {
	const char *socket; /* NULL = the usual place */
	bool json;
};

extern const struct argp_option query_options[];
error_t query_parse(int key, char *text, struct argp_state *state);

/* parse_format - "text" or "json" for --format; true is json. Ends the program on others. */
bool parse_format(const char *text, struct argp_state *state);

#endif /* PROFBPF_DAEMON_PROFCTL_COMMAND_OPTIONS_H */

/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the options that attach and record have in common. */
#ifndef PROFBPF_DAEMON_PROFCTL_OPTIONS_H
#define PROFBPF_DAEMON_PROFCTL_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/common/words.h"

struct trace_options {
	const char *socket; /* NULL = the usual place */
	const char *output; /* NULL = the default name */
	uint64_t duration_ns; /* 0 = until ended */
	uint64_t min_duration_ns;
	uint64_t buffer_bytes; /* 0 = default */
	unsigned int topics; /* TOPIC_* */
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

/* parse_format - "text" or "json" for --format; true is json. Ends the program on others. */
bool parse_format(const char *text, struct argp_state *state);

#endif /* PROFBPF_DAEMON_PROFCTL_OPTIONS_H */

/* SPDX-License-Identifier: Apache-2.0 */
/* live_request.h - a request for a session. */
#ifndef PROFBPF_DAEMON_PROFCTL_LIVE_REQUEST_H
#define PROFBPF_DAEMON_PROFCTL_LIVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/common/control.h"
#include "daemon/profctl/child.h"
#include "daemon/profctl/command_options.h"

/* Since the recording's begin. */
struct live_part {
	uint64_t from_ns;
	uint64_t to_ns; /* 0 = it is not known */
};

struct live_request {
	const struct trace_options *options;
	uint32_t *pids;
	size_t pid_count;
	size_t grouped; /* the last of them, of groups: they may have ended meanwhile */
	bool system_wide;
	bool temporary; /* the file is only for this command and is not mentioned */
	const char *command; /* record: its name, for the line; NULL = attach */
	struct child *child; /* record: waits to be released; NULL = none */
	struct live_part *part; /* filled with where the steps are that were asked for; NULL = of no interest */
	const struct control_fds *files; /* to probe before they are mapped; NULL = none */
};

#endif /* PROFBPF_DAEMON_PROFCTL_LIVE_REQUEST_H */

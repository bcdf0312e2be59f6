/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - runs one session from its start to its complete file, with everything that its user
 * sees: the line when it is live, signals, the command's end, the summary.
 */
#ifndef PROFBPF_DAEMON_PROFCTL_LIVE_H
#define PROFBPF_DAEMON_PROFCTL_LIVE_H

#include <signal.h>
#include <stdbool.h>

#include "daemon/profctl/daemon_client.h"
#include "daemon/profctl/live_request.h"
#include "daemon/profctl/trace_file.h"

enum live_result {
	LIVE_DONE, /* the file is complete, or its damage was reported */
	LIVE_FAILED, /* the session failed; this has been said */
	LIVE_NOT_STARTED, /* it was never live: the file is worthless; the reason was printed */
	LIVE_NOTHING, /* it was live, but the awaited event did not happen: the file is worthless; the reason was printed */
	LIVE_LEFT, /* the user did not want to wait */
	LIVE_NO_EXEC, /* record: the command could not be run; said */
};

/*
 * live_block_signals - from now on signals are read by live_run(), not delivered
 *
 * @before gets the mask that a command should run with.
 */
void live_block_signals(sigset_t *before);

/*
 * live_run - starts the session and waits for its end
 *
 * @exec_error: with LIVE_NO_EXEC the result of child_release(). With a child it
 * returns only after that has ended as well, except for LIVE_NOT_STARTED.
 */
enum live_result live_run(const struct live_request *request, struct client *client,
			  const struct output *output, int *exec_error);

#endif /* PROFBPF_DAEMON_PROFCTL_LIVE_H */

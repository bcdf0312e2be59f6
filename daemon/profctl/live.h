/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - one session from its start to its complete file, as its user sees it:
 * the line that says it is live, signals, the command's end, the summary.
 */
#ifndef PROFBPF_DAEMON_PROFCTL_LIVE_H
#define PROFBPF_DAEMON_PROFCTL_LIVE_H

#include <signal.h>
#include <stdbool.h>

#include "daemon/profctl/daemon_client.h"
#include "daemon/profctl/live_request.h"
#include "daemon/profctl/trace_file.h"

enum live_result {
	LIVE_DONE, /* the file is complete, or its damage has been told */
	LIVE_FAILED, /* the session failed; this has been said */
	LIVE_NOT_STARTED, /* it was never live: nothing worth keeping; said */
	LIVE_NOTHING, /* it was live, but what it waited for did not happen: nothing worth keeping; said */
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
 * live_run - start the session, wait for its end
 *
 * @exec_error is set with LIVE_NO_EXEC to what child_release() said. With a
 * child, returns only after that has ended as well, but for LIVE_NOT_STARTED.
 */
enum live_result live_run(const struct live_request *request, struct client *client,
			  const struct output *output, int *exec_error);

#endif /* PROFBPF_DAEMON_PROFCTL_LIVE_H */

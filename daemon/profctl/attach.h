/* SPDX-License-Identifier: Apache-2.0 */
/* attach.h - tracing processes that already run, for the commands that do it. */
#ifndef PROFBPF_DAEMON_PROFCTL_ATTACH_H
#define PROFBPF_DAEMON_PROFCTL_ATTACH_H

#include "daemon/profctl/live.h"

/*
 * attach_run - runs one session for the processes of @request, to its end
 *
 * Signals stay blocked, as by live_block_signals(). Returns 0 if the file is complete, else 1 after it has
 * printed the reason.
 */
int attach_run(const struct live_request *request);

#endif /* PROFBPF_DAEMON_PROFCTL_ATTACH_H */

/* SPDX-License-Identifier: Apache-2.0 */
/* attach.h - tracing processes that already run, for the commands that do it. */
#ifndef PROFBPF_DAEMON_PROFCTL_ATTACH_H
#define PROFBPF_DAEMON_PROFCTL_ATTACH_H

#include "daemon/profctl/live.h"

/*
 * attach_run - one session of the processes of @request, to its end
 *
 * Signals stay blocked, as live_block_signals() does it. Returns 0 if the file is complete, else 1; it has
 * been said why.
 */
int attach_run(const struct live_request *request);

#endif /* PROFBPF_DAEMON_PROFCTL_ATTACH_H */

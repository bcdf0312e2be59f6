/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/held.h"

#include <unistd.h>

#include "daemon/common/process_check.h"

bool held_gone(const struct held *held, pid_t pid)
{
	if (held->fd >= 0)
		return process_gone(held->fd);
	return held->started && !process_runs(pid, held->started);
}

void held_let_go(struct held *held)
{
	if (held->fd >= 0)
		close(held->fd);
	*held = HELD_NONE;
}

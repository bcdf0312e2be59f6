/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probe/probe_target.h"

#include <errno.h>
#include <unistd.h>

#include "daemon/common/process_check.h"

static bool is_same(const struct probe_target *target)
{
	return (!target->started || process_runs(target->pid, target->started)) &&
	       right_holds(target->right, target->pid);
}

int probe_target_hold(const struct probe_target *target, int *held)
{
	*held = -1;
	if (!target->pid)
		return 0;
	/* The order matters: what is read about the id after the hold is about the held process, as long as that runs. */
	*held = process_hold(target->pid);
	if (*held != -ESRCH && is_same(target))
		return 0;
	if (*held >= 0)
		close(*held);
	*held = -1;
	return -ESRCH;
}

bool probe_target_kept(const struct probe_target *target, int held)
{
	bool kept;

	if (!target->pid)
		return true;
	/* Without a descriptor to spare, the start time tells processes with the same id apart. */
	kept = !process_gone(held) && is_same(target);
	if (held >= 0)
		close(held);
	return kept;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/right.h"

#include "daemon/common/process_check.h"
#include "daemon/profbpfd/capture/capture.h"

/*
 * The order matters. When a process executes a program, the kernel changes its credentials before the BPF program
 * drops its claim, for good. With the checks in the other order, a process could gain rights, give them up and
 * execute a program of the user between the two checks.
 */
bool right_ask(const struct right *right, pid_t pid)
{
	struct process_facts facts;

	return !process_facts_read(pid, &facts) &&
	       process_owned_by(&facts, right->uid, right->gid) &&
	       capture_holds(right->capture, pid);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/right.h"

#include "daemon/common/process_check.h"
#include "daemon/profbpfd/capture/capture.h"

/*
 * In this order: the kernel changes credentials before it takes a process that executes a program from the
 * claims, and from there on it is not put back. The other way round there would be time
 * for a program that takes rights, gives them up and executes one of the user's.
 */
bool right_ask(const struct right *right, pid_t pid)
{
	struct process_facts facts;

	return !process_facts_read(pid, &facts) &&
	       process_owned_by(&facts, right->uid, right->gid) &&
	       capture_holds(right->capture, pid);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* probes_follow.c - processes that begin and end while a session runs: their ids are used again. */
#include <errno.h>

#include "daemon/common/process_check.h"
#include "daemon/profbpfd/probe/probes_private.h"

/* The id is another process's by now: the record of the end is lost, or still in a ring. Unlike a zombie that runs. */
static bool is_replaced(const struct probed_process *process)
{
	uint64_t started;

	return process->started && !process_start_time(process->pid, &started) && started != process->started;
}

int probes_follow(struct probes *p, pid_t pid, uint64_t mapped_ns, uint64_t began_ns)
{
	struct probed_process *process = probed_processes_find(&p->processes, pid);
	int err;

	if (process && is_replaced(process))
		probes_forget(p, pid);
	/* The order matters: the process that was expected is the one that is a target, or it gets no probes. */
	err = probes_expect(p, pid);
	if (err)
		return err;
	if (!capture_is_target(p->setting.capture, pid)) {
		probes_forget(p, pid);
		return -ESRCH;
	}
	process = probed_processes_find(&p->processes, pid);
	if (process->began_ns < began_ns)
		process->began_ns = began_ns;
	return probes_scan(p, pid, mapped_ns);
}

void probes_ended(struct probes *p, pid_t pid, uint64_t ended_ns)
{
	const struct probed_process *process = probed_processes_find(&p->processes, pid);

	if (process && process->began_ns <= ended_ns)
		probes_forget(p, pid);
}

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

int probes_expect(struct probes *p, pid_t pid)
{
	uint64_t started;
	int err;

	if (probed_processes_find(&p->processes, pid))
		return 0;
	err = process_start_time(pid, &started);
	if (!err)
		err = probed_processes_add(&p->processes, pid);
	if (!err)
		probed_processes_find(&p->processes, pid)->started = started;
	return err;
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

/*
 * The record of its begin may be lost. By /proc the begin is known to a hundredth of a second: if that is the one of the
 * end, a process that still runs has not ended.
 */
static bool began_after(const struct probed_process *process, uint64_t ended_ns)
{
	uint64_t ended = process_clock(ended_ns);

	return process->began_ns > ended_ns || process->started > ended ||
	       (process->started == ended && process_runs(process->pid, process->started) &&
		process_began_since(process->pid, ended_ns));
}

void probes_ended(struct probes *p, pid_t pid, uint64_t ended_ns)
{
	const struct probed_process *process = probed_processes_find(&p->processes, pid);

	if (process && !began_after(process, ended_ns))
		probes_forget(p, pid);
}

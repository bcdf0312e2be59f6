// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * fault.bpf.c - major page faults of the targets.
 *
 * The program runs from the kernel's software event for major faults, which fires when a fault has been
 * served: minor faults cost nothing. The context switches say how long the thread slept
 * (sleeps_in_fault() in sched.bpf.c).
 */
#include "task.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

SEC("perf_event")
int on_major_fault(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = current_task();
	struct thread_state *state = thread_state(task);
	__u64 now = bpf_ktime_get_ns(), since = now;
	struct rec_fault *r;
	struct emit e;

	if (!field_of(task, pid) || !is_target_task(task, state))
		return 0;
	state = announce(task, state);
	/* The kernel has already counted this fault. */
	if (state && state->fault_ns && state->fault_count + 1 == field_of(task, min_flt) + field_of(task, maj_flt))
		since = state->fault_ns;
	r = emit_begin(&e, SOURCE_FAULT, sizeof(*r));
	if (!r)
		return 0;
	header_fill(&r->header, REC_FAULT, 0, since);
	r->dur_ns = now - since;
	r->tgid = field_of(task, tgid);
	r->tid = field_of(task, pid);
	r->address = ctx->addr;
	emit_end(&e, false);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * stack.bpf.c - where targets spend their time on a CPU, and where they block.
 *
 * Samples: a perf event per CPU fires about a hundred times a second; the thread on that CPU then gets a record
 * with both stacks. The scheduler's programs take the stacks of sleeps (sleep_stack.bpf.h).
 */
#include "kernel_stack.bpf.h"
#include "python_stack.bpf.h"
#include "run_cost.bpf.h"
#include "stack_record.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

#define WAKE_AGAIN_NS 20000000ll /* for a job whose walks often end early */

volatile __u64 woke_ns __weak = 0;

/*
 * Must the reader be woken for a walk with the result @user? Where a walk ended early, the daemon probably has not read
 * the unwind tables of this code yet, and the process may run nothing but this code in its first tenths of a second.
 */
static __always_inline __u64 wake_for(__u32 user, __u64 now_ns)
{
	if (!settings.unwind || !user || user & USER_WHOLE || (__s64)(now_ns - woke_ns) < WAKE_AGAIN_NS)
		return BPF_RB_NO_WAKEUP;
	woke_ns = now_ns;
	return BPF_RB_FORCE_WAKEUP;
}

static __always_inline int take_sample(struct bpf_perf_event_data *ctx, bool may_loop)
{
	struct task_struct *task = current_task();
	__u64 id = bpf_get_current_pid_tgid();
	__u32 key = BY_SAMPLE, user, kernel;
	struct stacks_record *r;
	struct run_cost *cost;

	if (!(__u32)id || !is_target(id >> 32))
		return 0;
	cost = run_begins(RUN_SAMPLE);
	if (runs_shed[RUN_SAMPLE])
		return 0;
	r = bpf_map_lookup_elem(&stack_scratch, &key);
	if (!r)
		return 0;
	header_fill(&r->head.header, REC_STACK, 0, bpf_ktime_get_ns());
	r->head.dur_ns = 0;
	r->head.waker = 0;
	r->head.tgid = id >> 32;
	r->head.tid = (__u32)id;
	user = user_stack(task, user_regs(task, REGISTERS_OF_SAMPLE), user_walk(BY_SAMPLE), walk_rules(BY_SAMPLE),
			  (struct user_frames *)&r->frames, REC_USER_FRAMES, may_loop);
	kernel = frames_of(bpf_get_stack(ctx, r->frames.address + (user & USER_FRAMES_MASK),
					 REC_KERNEL_FRAMES * sizeof(__u64), 0));
	stack_send(r, user, kernel,
		   may_loop ? python_stack(task, &r->frames, (user & USER_FRAMES_MASK) + kernel, REC_PYTHON_FRAMES,
					   &r->head.header.flags) :
			      0,
		   wake_for(user, r->head.header.ts_ns));
	run_ends(cost, r->head.header.ts_ns);
	return 0;
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	return take_sample(ctx, true);
}

SEC("perf_event")
int on_sample_before_5_17(struct bpf_perf_event_data *ctx)
{
	return take_sample(ctx, false);
}

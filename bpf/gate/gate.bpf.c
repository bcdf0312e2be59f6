// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * gate.bpf.c - one program for all sessions of a daemon at each event of the scheduler.
 *
 * If each session attached its own program to an event, every process on the machine would pay for each of
 * them. So only the gate is attached; it calls the sessions' programs for events that may concern them. Its
 * test is cheap: a mark for each process and session (gate.bpf.h), and whether a target waits for the CPU.
 * The session's program then decides itself, exactly as it does when it is attached without the gate.
 *
 * The gate calls the programs by tail calls from a subprogram, which return to the gate. Kernels without such
 * calls refuse to load it, and sessions attach their own programs.
 */
#define bpf_task_work bpf_task_work___of_building_machine
#include "vmlinux.h"
#undef bpf_task_work
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "session_maps.h"

#include "gate.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

#define PF_EXITING_FLAG 0x00000004 /* PF_EXITING, include/linux/sched.h */

/* Set by the daemon: no session uses a slot from this number on. */
volatile __u32 slots_used = 0;

union wanted {
	__u64 words[GATE_SLOTS / sizeof(__u64)];
	__u8 slot[GATE_SLOTS];
};

/* One function for each event: the verifier must know the map of a tail call at load time. */
#define DEFINE_EVENT(event)                                                             \
	struct {                                                                        \
		__uint(type, BPF_MAP_TYPE_PROG_ARRAY);                                  \
		__uint(max_entries, GATE_SLOTS);                                        \
		__type(key, __u32);                                                     \
		__type(value, __u32);                                                   \
	} event##_programs SEC(".maps");                                                \
                                                                                        \
	static __noinline int event##_to(void *ctx, __u32 slot)                         \
	{                                                                               \
		bpf_tail_call(ctx, &event##_programs, slot);                            \
		return 0;                                                               \
	}                                                                               \
                                                                                        \
	static __always_inline void event##_pass(void *ctx, const union wanted *wanted) \
	{                                                                               \
		for (__u32 slot = 0; slot < GATE_SLOTS && slot < slots_used; slot++)    \
			if (wanted->slot[slot])                                         \
				event##_to(ctx, slot);                                  \
	}

DEFINE_EVENT(switch)
DEFINE_EVENT(waking)
DEFINE_EVENT(migrate)
DEFINE_EVENT(wakeup_new)

static __always_inline const struct gate_marks *marks_of(struct task_struct *task)
{
	__u32 place = task->tgid & (TARGET_MARKS - 1);

	return bpf_map_lookup_elem(&gate_marks, &place);
}

static __always_inline bool take_marks(union wanted *wanted, const struct gate_marks *marks)
{
	wanted->words[0] = marks->words[0];
	wanted->words[1] = marks->words[1];
	wanted->words[2] = marks->words[2];
	wanted->words[3] = marks->words[3];
	return wanted->words[0] | wanted->words[1] | wanted->words[2] | wanted->words[3];
}

static __always_inline bool add_marks(union wanted *wanted, const struct gate_marks *marks)
{
	wanted->words[0] |= marks->words[0];
	wanted->words[1] |= marks->words[1];
	wanted->words[2] |= marks->words[2];
	wanted->words[3] |= marks->words[3];
	return wanted->words[0] | wanted->words[1] | wanted->words[2] | wanted->words[3];
}

static __always_inline bool is_waited_for(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	const struct waiting_count *waits = bpf_map_lookup_elem(&gate_waiting, &cpu);

	return waits && waits->count > 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(gate_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	const struct gate_marks *of_prev = marks_of(prev), *of_next = marks_of(next);
	union wanted wanted;

	if (!of_prev || !of_next)
		return 0;
	take_marks(&wanted, of_prev);
	/* Every session records the final figures of a thread that exits, at its last switch. */
	if (is_waited_for() || prev->flags & PF_EXITING_FLAG)
		__builtin_memset(&wanted, 0xff, sizeof(wanted));
	if (add_marks(&wanted, of_next))
		switch_pass(ctx, &wanted);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(gate_waking, struct task_struct *task)
{
	const struct gate_marks *marks = marks_of(task);
	union wanted wanted;

	if (marks && take_marks(&wanted, marks))
		waking_pass(ctx, &wanted);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(gate_migrate, struct task_struct *task)
{
	const struct gate_marks *marks = marks_of(task);
	union wanted wanted;

	if (marks && take_marks(&wanted, marks))
		migrate_pass(ctx, &wanted);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(gate_wakeup_new, struct task_struct *task)
{
	const struct gate_marks *marks = marks_of(task);
	union wanted wanted;

	if (marks && take_marks(&wanted, marks))
		wakeup_new_pass(ctx, &wanted);
	return 0;
}

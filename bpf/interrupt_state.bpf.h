/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * interrupt_state.bpf.h - the mark of a CPU that is in an interrupt.
 *
 * The gate's programs set the marks for all sessions at the gate; other sessions set their own.
 */
#ifndef PROFBPF_INTERRUPT_STATE_BPF_H
#define PROFBPF_INTERRUPT_STATE_BPF_H

struct interrupt_state {
	__u32 kinds;		/* WAKE_HARDIRQ, WAKE_SOFTIRQ, WAKE_TIMER: the kinds that the CPU is in now */
	__u32 seen;		/* the kinds since start_ns */
	__u64 start_ns;
	__u32 irq;		/* the hardware interrupt and the software interrupt: as rec_wake.source */
	__u32 vector;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct interrupt_state);
} interrupted __weak SEC(".maps");

static __always_inline struct interrupt_state *interrupt_state(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&interrupted, &zero);
}

#endif /* PROFBPF_INTERRUPT_STATE_BPF_H */

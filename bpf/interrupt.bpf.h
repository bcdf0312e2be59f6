/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * interrupt.bpf.h - is this CPU in an interrupt, and of what kind?
 *
 * The kernel's preemption count would tell, but kernels built without
 * KALLSYMS_ALL do not let a program find it. So the entry and exit tracepoints
 * of interrupts keep a mark per CPU: they fire a few thousand times a second at
 * most, against every wake-up if the question were asked of the stack.
 */
#ifndef PROFBPF_INTERRUPT_BPF_H
#define PROFBPF_INTERRUPT_BPF_H

#include "profbpf.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);	/* WAKE_HARDIRQ, WAKE_SOFTIRQ, WAKE_TIMER */
} interrupted __weak_map;

static __always_inline __u32 *interrupt_mark(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&interrupted, &zero);
}

#endif /* PROFBPF_INTERRUPT_BPF_H */

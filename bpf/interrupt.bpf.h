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

#include "interrupt_state.bpf.h"

/* As rec_wake.source: the innermost of those that the CPU is in. A timer is told by its kind. */
static __always_inline __u32 interrupt_source(const struct interrupt_state *state)
{
	if (!state || state->kinds & WAKE_TIMER)
		return 0;
	if (state->kinds & WAKE_HARDIRQ)
		return state->irq;
	return state->kinds & WAKE_SOFTIRQ ? state->vector : 0;
}

#endif /* PROFBPF_INTERRUPT_BPF_H */

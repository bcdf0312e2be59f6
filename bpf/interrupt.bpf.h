/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * interrupt.bpf.h - is this CPU in an interrupt, and of what kind?
 *
 * The kernel's preemption count has the answer, but programs cannot find it on kernels built without
 * KALLSYMS_ALL. So the entry and exit tracepoints of interrupts keep a mark per CPU: they fire a few
 * thousand times a second at most; a look at the stack would be needed at every wake-up.
 */
#ifndef PROFBPF_INTERRUPT_BPF_H
#define PROFBPF_INTERRUPT_BPF_H

#include "profbpf.bpf.h"

#include "interrupt_state.bpf.h"

/* The innermost interrupt that the CPU is in, as rec_wake.source; 0 for a timer, which its kind identifies. */
static __always_inline __u32 interrupt_source(const struct interrupt_state *state)
{
	if (!state || state->kinds & WAKE_TIMER)
		return 0;
	if (state->kinds & WAKE_HARDIRQ)
		return state->irq;
	return state->kinds & WAKE_SOFTIRQ ? state->vector : 0;
}

#endif /* PROFBPF_INTERRUPT_BPF_H */

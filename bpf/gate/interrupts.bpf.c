// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interrupts.bpf.c - marks CPUs that handle an interrupt, for the wake-ups made there. Serves all sessions that do
 * not record interrupts themselves (those use interrupt.bpf.c).
 */
#define bpf_task_work bpf_task_work___of_building_machine
#include "vmlinux.h"
#undef bpf_task_work
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "events.h"

#include "interrupt_state.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

/* A nested interrupt has removed its own mark before this code continues. */
static __always_inline void mark(struct interrupt_state *state, __u32 kind)
{
	if (state)
		state->kinds |= kind;
}

static __always_inline void unmark(__u32 kind)
{
	struct interrupt_state *state = interrupt_state();

	if (state)
		state->kinds &= ~kind;
}

/* Exits come first: programs are attached in the order of this file (see interrupt.bpf.c). */
SEC("tp_btf/irq_handler_exit")
int BPF_PROG(gate_irq_exit)
{
	unmark(WAKE_HARDIRQ);
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(gate_irq_entry, int irq)
{
	struct interrupt_state *state = interrupt_state();

	if (state)
		state->irq = WAKE_IRQ | irq;
	mark(state, WAKE_HARDIRQ);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(gate_softirq_exit)
{
	unmark(WAKE_SOFTIRQ);
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(gate_softirq_entry, unsigned int vector)
{
	struct interrupt_state *state = interrupt_state();

	if (state)
		state->vector = vector + 1;
	mark(state, WAKE_SOFTIRQ);
	return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(gate_timer_exit)
{
	unmark(WAKE_TIMER);
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(gate_timer_entry)
{
	mark(interrupt_state(), WAKE_TIMER);
	return 0;
}

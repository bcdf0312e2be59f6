// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* interrupt.bpf.c - marks CPUs that handle an interrupt, for the wake-ups made there. */
#include "interrupt.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

static __always_inline int mark(__u32 kind)
{
	__u32 *m = interrupt_mark();

	if (m)
		*m |= kind;
	return 0;
}

static __always_inline int unmark(__u32 kind)
{
	__u32 *m = interrupt_mark();

	if (m)
		*m &= ~kind;
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_entry)
{
	return mark(WAKE_HARDIRQ);
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_exit)
{
	return unmark(WAKE_HARDIRQ);
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry)
{
	return mark(WAKE_SOFTIRQ);
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit)
{
	return unmark(WAKE_SOFTIRQ);
}

/* Sleeps and timeouts of system calls end here. */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_timer_entry)
{
	return mark(WAKE_TIMER);
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_timer_exit)
{
	return unmark(WAKE_TIMER);
}

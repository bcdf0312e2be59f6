// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* interrupt.bpf.c - marks CPUs that handle an interrupt, for the wake-ups made there. */
#include "interrupt.bpf.h"
#include "task.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

/* Another interrupt may arrive anywhere in mark() and unmark(), and run both: it must see that it is nested. */
static __always_inline int mark(struct interrupt_state *state, __u32 kind)
{
	__u32 before;

	if (!state)
		return 0;
	before = state->kinds;
	state->kinds = before | kind;
	barrier();
	if (settings.time_interrupts && !before) {
		state->start_ns = bpf_ktime_get_ns();
		state->seen = 0;
	}
	state->seen |= kind;
	return 0;
}

/* Writes the record when the CPU goes back to the interrupted thread. */
static __always_inline void emit_interrupt(__u64 start_ns, __u64 end_ns, __u32 seen, __u32 source)
{
	struct task_struct *task = current_task();
	struct thread_state *state;
	struct rec_interrupt *r;
	struct emit e;

	if (!field_of(task, pid) || !start_ns)
		return;
	state = thread_state(task);
	if (!is_target_task(task, state))
		return;
	announce(task, state); /* the thread may end before the daemon's list of existing threads is sent */
	r = emit_begin(&e, SOURCE_SCHED, sizeof(*r));
	if (!r)
		return;
	header_fill(&r->header, REC_INTERRUPT, seen, start_ns);
	r->dur_ns = end_ns - start_ns;
	r->tid = field_of(task, pid);
	r->source = source;
	emit_end(&e, false);
}

/* As soon as "kinds" is 0, the next interrupt may use the state: this one's values are copied before. */
static __always_inline int unmark(__u32 kind)
{
	struct interrupt_state *state = interrupt_state();
	__u64 start_ns, end_ns;
	__u32 seen, source;

	if (!state)
		return 0;
	if (!settings.time_interrupts || state->kinds & ~kind) {
		state->kinds &= ~kind;
		return 0;
	}
	start_ns = state->start_ns;
	seen = state->seen;
	source = interrupt_source(state);
	end_ns = bpf_ktime_get_ns();
	state->start_ns = 0;
	barrier();
	state->kinds = 0;
	emit_interrupt(start_ns, end_ns, seen, source);
	return 0;
}

/*
 * Programs are attached in the order of this file. If those at the entries came first, an interrupt that ends before its
 * exit is seen would leave a CPU marked until the next one of its kind, which for a disk's may be long after.
 */
SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_exit)
{
	return unmark(WAKE_HARDIRQ);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_entry, int irq)
{
	struct interrupt_state *state = interrupt_state();

	if (state)
		state->irq = WAKE_IRQ | irq;
	return mark(state, WAKE_HARDIRQ);
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit)
{
	return unmark(WAKE_SOFTIRQ);
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, unsigned int vector)
{
	struct interrupt_state *state = interrupt_state();

	if (state)
		state->vector = vector + 1;
	return mark(state, WAKE_SOFTIRQ);
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_timer_exit)
{
	return unmark(WAKE_TIMER);
}

/* Timers end sleeps and timeouts of system calls here. */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_timer_entry)
{
	return mark(interrupt_state(), WAKE_TIMER);
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * own_stack.bpf.h - is a stack pointer on the stack that the kernel or pthread_create() gave to the
 * thread, and not on the stack of a coroutine?
 *
 * A return probe writes into the stack. Code that moves a stack, or continues on it in another thread, would
 * move the probe's address along with it. So nothing is written to any stack but a thread's own. Processes that
 * copy parts of a thread's own stack away and back count as having no own stack.
 */
#ifndef PROFBPF_OWN_STACK_BPF_H
#define PROFBPF_OWN_STACK_BPF_H

#include "call_stack.bpf.h"

#define OWN_STACK_MAX (64ull << 20) /* addresses further down do not count as the thread's own stack */
#define OWN_STACK_USUAL (8ull << 20) /* the assumed size where the kernel cannot be asked */

/* Processes that move stacks; the daemon finds them by the libraries that they map. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32); /* tgid */
	__type(value, __u32);
} stack_movers __weak_map;

/* The daemon increases this when it has changed "stack_movers". */
volatile __u32 stack_movers_version __weak = 1;

struct area {
	__u64 low;
	__u64 high;
};

static long take_area(struct task_struct *task, struct vm_area_struct *vma, struct area *area)
{
	area->low = vma->vm_start;
	area->high = vma->vm_end;
	return 0;
}

/*
 * By the thread's control block, which glibc and musl put at the end of its stack. Not inlined, because it is rare. Fails
 * while memory is being mapped; the next call asks again.
 */
static __noinline bool ask_for_area(struct call_stack *stack)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 at = thread_pointer_of(task);
	struct area area = {};

	bpf_find_vma(task, at, take_area, &area, 0);
	if (!area.high)
		return false;
	stack->own_high = area.high;
	stack->own_low = area.high - area.low > OWN_STACK_MAX ? area.high - OWN_STACK_MAX : area.low;
	return true;
}

/*
 * find_own_stack - fills own_low and own_high of the current thread's @stack
 *
 * They are equal if the thread has no own stack or its bounds are unknown. @exact: the kernel has
 * bpf_find_vma() (5.17); else every thread's stack is assumed to have the usual size.
 */
static __always_inline void find_own_stack(struct call_stack *stack, bool exact)
{
	struct task_struct *task = current_task();
	__u32 version = stack_movers_version;

	stack->own_low = stack->own_high = 0;
	if (bpf_map_lookup_elem(&stack_movers, &stack->tgid)) {
		stack->own_version = version;
		return;
	}
	if (stack->tid == stack->tgid) {
		stack->own_high = BPF_CORE_READ(task, mm, start_stack);
		stack->own_low = stack->own_high - OWN_STACK_MAX;
	} else if (!exact) {
		stack->own_high = thread_pointer_of(task);
		stack->own_low = stack->own_high - OWN_STACK_USUAL;
	} else if (!ask_for_area(stack)) {
		return;
	}
	stack->own_version = version;
}

static __noinline void find_own_stack_exactly(struct call_stack *stack)
{
	find_own_stack(stack, true);
}

static __noinline void find_own_stack_nearly(struct call_stack *stack)
{
	find_own_stack(stack, false);
}

static __always_inline void refresh_own_stack(struct call_stack *stack, bool exact)
{
	if (stack->own_version == stack_movers_version)
		return;
	if (exact)
		find_own_stack_exactly(stack);
	else
		find_own_stack_nearly(stack);
}

#endif /* PROFBPF_OWN_STACK_BPF_H */

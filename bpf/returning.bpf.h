/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * returning.bpf.h - threads walk their own user stacks when they return from a long sleep.
 *
 * They do so before they return to user space, where the stack is still as it was when the thread went to sleep. Short
 * sleeps then need no walk at all. Kernel stacks are walked when a thread gets the CPU, before it leaves the function
 * in which it slept.
 */
#ifndef PROFBPF_RETURNING_BPF_H
#define PROFBPF_RETURNING_BPF_H

#include "python_stack.bpf.h"
#include "sleeper.bpf.h"
#include "task.bpf.h"
#include "task_work.bpf.h"

/* A thread on its way back. */
struct returning {
	struct bpf_task_work work;
	__u64 instruction, stack_pointer; /* the user registers after the return, unless the program has changed */
	__u32 kernel_frames, reserved;
	__u64 kernel[REC_KERNEL_FRAMES];
	struct user_walk walk;
	struct stacks_record record;
};

#define KERNEL_FRAMES_MASK 63 /* at least REC_KERNEL_FRAMES, as a mask, which the verifier understands */

/* Each CPU takes elements from its own part; the kernel's task work marks those in use. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RETURNING_PER_CPU); /* for each CPU; set before loading */
	__type(key, __u32);
	__type(value, struct returning);
} returning __weak_map;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} returning_next __weak_map;

/* Was a recent sleep at the same stack pointer long? (A thread that waits for a lock has another stack pointer.) */
static __always_inline bool is_often_long(const struct sleeper *s)
{
	return s->walk_before && (s->at == s->long_at[0] || s->at == s->long_at[1]);
}

/*
 * Threads that never return to user space, or may not any more, must walk before they sleep: an exiting thread may be past
 * its last task work, and the kernel would drop ours without a word. One that is not exiting when it goes to sleep has
 * not begun to exit when it is back.
 */
static __always_inline bool will_return(struct task_struct *task, const struct sleeper *s)
{
	return settings.stacks_when_back && !s->returning && !is_often_long(s) &&
	       !(task->flags & (PF_EXITING_FLAG | PF_USER_WORKER_FLAG));
}

/* Is the thread still in the same program? After execve() or exit() only its current instruction can be recorded. */
static __always_inline bool same_program(struct task_struct *task, const struct returning *back)
{
	const struct pt_regs *regs = user_regs(task, REGISTERS_OF_SWITCH);

	return regs && task->mm && USER_INSTRUCTION(regs) == back->instruction &&
	       USER_STACK_POINTER(regs) == back->stack_pointer;
}

static __always_inline __u32 walk_now(struct task_struct *task, struct returning *back)
{
	struct user_frames *frames = (struct user_frames *)&back->record.frames;

	if (same_program(task, back))
		return user_stack(task, user_regs(task, REGISTERS_OF_SWITCH), &back->walk, NULL,
				  frames, REC_USER_FRAMES, true);
	frames->address[0] = back->instruction;
	return 1;
}

/* Runs in the returning thread itself. */
static int walk_returning(struct bpf_map *map, void *key, void *value)
{
	struct task_struct *task = current_task();
	struct returning *back = value;
	struct sleeper *s = thread_find(sleepers, task);
	__u32 user, kernel, python = 0;

	if (s)
		s->returning = 0;
	if (capture_closed || !may_look(task))
		return 0;
	user = walk_now(task, back);
	bpf_probe_read_kernel(back->record.frames.address + (user & USER_FRAMES_MASK),
			      sizeof(back->kernel), back->kernel);
	kernel = back->kernel_frames & KERNEL_FRAMES_MASK;
	/* The thread takes and releases the interpreter's lock in user space only, so the state is still that of the sleep. */
	if (same_program(task, back))
		python = python_stack(task, &back->record.frames, (user & USER_FRAMES_MASK) + kernel,
				      REC_PYTHON_FRAMES, &back->record.head.header.flags);
	stack_send(&back->record, user, kernel, python, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline struct returning *take_place(struct task_struct *task)
{
	__u32 zero = 0, *next = bpf_map_lookup_elem(&returning_next, &zero), place;
	__u32 first = bpf_get_smp_processor_id() * RETURNING_PER_CPU;
	struct returning *back;

	for (int i = 0; next && i < RETURNING_PER_CPU; i++) {
		place = first + (++*next & (RETURNING_PER_CPU - 1));
		back = bpf_map_lookup_elem(&returning, &place);
		if (back && task_work_schedule(task, &back->work, &returning, walk_returning))
			return back;
	}
	return NULL;
}

/*
 * walk_when_back - makes @task, which is about to run after its sleep @s, walk its user stack and send the record
 *
 * For the program of the switch: the work is scheduled before its data are filled in, because the thread cannot run
 * before the switch. Returns false if there was no free element.
 */
static __always_inline bool walk_when_back(struct task_struct *task, struct sleeper *s)
{
	struct returning *back = take_place(task);
	const struct pt_regs *regs = user_regs(task, REGISTERS_OF_SWITCH);

	if (!back || !regs)
		return false;
	s->returning = 1;
	back->instruction = USER_INSTRUCTION(regs);
	back->stack_pointer = USER_STACK_POINTER(regs);
	sleep_fill(&back->record.head, task, s, 0);
	back->kernel_frames = kernel_stack(task, back->kernel);
	return true;
}

#endif /* PROFBPF_RETURNING_BPF_H */

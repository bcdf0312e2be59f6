/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* call_stack.bpf.h - the traced calls a thread is in, kept in task-local storage. */
#ifndef PROFBPF_CALL_STACK_BPF_H
#define PROFBPF_CALL_STACK_BPF_H

#include "profbpf.bpf.h"

struct call_frame {
	__u64 start_ns;
	__u64 sp;		/* stack pointer at entry: tells frames apart where there is no cookie */
	__u64 args[REC_ARGS];
	__u32 probe;
	__u32 flags; /* CALL_HAS_STRING, FRAME_OUT */
};

#define FRAME_OUT 0x10000 /* above the 16 bits of a record: args[2] is to be read at return */

struct call_stack {
	__u32 depth;
	__u32 target; /* for is_known_target() */
	struct call_frame frames[REC_CALL_DEPTH];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call_stack);
} call_stacks __weak_map;

/* A call that will not be seen to return: its thread dies, or the session ends. */
static __always_inline void emit_open_call(struct task_struct *task, struct call_frame *frame,
					   __u32 depth, __u64 now)
{
	struct emit e;
	struct rec_call *r = emit_begin(&e, SOURCE_API, sizeof(*r));

	if (!r)
		return;
	header_fill(&r->header, REC_CALL, CALL_OPEN | frame->flags | depth << CALL_DEPTH_SHIFT,
		    frame->start_ns);
	r->dur_ns = now - frame->start_ns;
	r->tgid = task->tgid;
	r->tid = task->pid;
	r->probe = frame->probe;
	r->ret = 0;
	__builtin_memcpy(r->args, frame->args, sizeof(r->args));
	emit_end(&e, false);
}

static __always_inline void emit_open_calls(struct task_struct *task, __u64 now)
{
	struct call_stack *stack = bpf_task_storage_get(&call_stacks, task, 0, 0);

	if (!stack)
		return;
	for (__u32 i = 0; i < REC_CALL_DEPTH; i++) {
		if (i >= stack->depth)
			break;
		if (stack->frames[i].start_ns < now)
			emit_open_call(task, &stack->frames[i], i, now);
	}
	stack->depth = 0;
}

#endif /* PROFBPF_CALL_STACK_BPF_H */

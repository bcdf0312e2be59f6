/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * user_stack.bpf.h - return addresses of a thread that is in the kernel, by its frame pointers.
 *
 * What bpf_get_stack() gives, mostly faster: that one learns from page faults where the frames end, for in code
 * without frame pointers, libc's too, their register holds anything. Here a frame has to lie a little
 * further up the same stack. Return addresses that probes of returns have replaced are told as they were;
 * bpf_get_stack() does that since 6.11. Of 32-bit processes only where they go on.
 */
#ifndef PROFBPF_USER_STACK_BPF_H
#define PROFBPF_USER_STACK_BPF_H

#include "profbpf.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define USER_INSTRUCTION(regs) ((regs)->ip)
#define USER_STACK_POINTER(regs) ((regs)->sp)
#define USER_FRAME_POINTER(regs) ((regs)->bp)
#define USER_ADDRESS(word) (word)
#define USER_IS_32_BIT(regs) ((regs)->cs == 0x23) /* __USER32_CS */
#else
#define USER_INSTRUCTION(regs) ((regs)->pc)
#define USER_STACK_POINTER(regs) ((regs)->sp)
#define USER_FRAME_POINTER(regs) ((regs)->regs[29])
/* Without the signature that the bits above may be. */
#define USER_ADDRESS(word) ((word) & ((1ull << 48) - 1))
#define USER_IS_32_BIT(regs) ((regs)->pstate & 0x10) /* PSR_MODE32_BIT */
#endif

#define USER_FRAME_BYTES_MAX (16u << 20)
#define USER_STACK_WORDS 128 /* read at once */
#define USER_PROBED_MAX 16 /* nested calls whose returns are probed */

/* Who walks: a sample can interrupt a switch. */
#define BY_SAMPLE 0
#define BY_SWITCH 1

/* The lowest part of a stack: each reading of a user's memory costs as much as a hundred instructions. */
struct user_stack_part {
	__u64 word[USER_STACK_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct user_stack_part);
} user_stack_parts __weak_map;

/* What stands at a frame pointer. */
struct user_frame {
	__u64 next;
	__u64 address; /* where its function returns to */
};

/* @part holds the stack from @low on; NULL if it could not be read. */
static __always_inline bool read_frame(const struct user_stack_part *part, __u64 low, __u64 at,
				       struct user_frame *frame)
{
	__u64 word = (at - low) / sizeof(word);

	if (part && at >= low && word < USER_STACK_WORDS - 1) {
		frame->next = part->word[word & (USER_STACK_WORDS - 1)];
		frame->address = part->word[(word + 1) & (USER_STACK_WORDS - 1)];
		return true;
	}
	return !bpf_probe_read_user(frame, sizeof(*frame), (const void *)at);
}

/* What the kernel keeps of calls whose returns are probed, the innermost first. */
struct probed_returns {
	struct return_instance *call;
	__u64 trampoline; /* where they return to instead */
};

static __always_inline struct probed_returns probed_returns(struct task_struct *task)
{
	struct probed_returns probed = {};
	struct uprobe_task *utask = task->utask;

	if (utask)
		probed.call = utask->return_instances;
	if (probed.call)
		probed.trampoline = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
	return probed;
}

/* @address is in the frame at @frame: of its call, if it is probed, the stack began right above. */
static __always_inline __u64 original_return(struct probed_returns *probed, __u64 frame,
					     __u64 address)
{
	struct return_instance *call = probed->call;

	if (!call || address != probed->trampoline)
		return address;
	for (int i = 0; i < USER_PROBED_MAX && call && BPF_CORE_READ(call, stack) <= frame; i++)
		call = BPF_CORE_READ(call, next);
	probed->call = call;
	if (!call || BPF_CORE_READ(call, stack) <= frame)
		return address;
	return BPF_CORE_READ(call, orig_ret_vaddr);
}

/*
 * user_stack - fills @address with REC_USER_FRAMES addresses at most, the innermost first
 *
 * @task is the current one; @by is BY_SAMPLE or BY_SWITCH. Returns how many; at least 1, where it goes on in user space.
 */
static __always_inline __u32 user_stack(struct task_struct *task, __u32 by, __u64 *address)
{
	const struct pt_regs *regs = (const struct pt_regs *)bpf_task_pt_regs(task);
	struct probed_returns probed = probed_returns(task);
	__u64 low = USER_STACK_POINTER(regs) & ~7ull, above = low, at = USER_FRAME_POINTER(regs);
	struct user_stack_part *part = NULL;
	struct user_frame frame;
	__u32 count;

	address[0] = USER_INSTRUCTION(regs);
	if (USER_IS_32_BIT(regs))
		return 1;
	if (at - low < USER_STACK_WORDS * sizeof(at))
		part = bpf_map_lookup_elem(&user_stack_parts, &by);
	if (part && bpf_probe_read_user(part, sizeof(*part), (const void *)low))
		part = NULL;
	for (count = 1; count < REC_USER_FRAMES; count++) {
		if (at - above >= USER_FRAME_BYTES_MAX || at % sizeof(at) ||
		    !read_frame(part, low, at, &frame) || !frame.address)
			break;
		address[count] = original_return(&probed, at, USER_ADDRESS(frame.address));
		above = at + sizeof(frame);
		at = frame.next;
	}
	return count;
}

#endif /* PROFBPF_USER_STACK_BPF_H */

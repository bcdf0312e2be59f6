/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kernel_stack.bpf.h - kernel return addresses of a thread that is off its CPU.
 *
 * The result is that of bpf_get_task_stack(), which takes about 4 us on x86, because the kernel looks up the size
 * of each frame in its tables. But threads sleep in few places, so stacks are cached together with the positions of
 * their return addresses. A stack of the same depth with the same words at these positions is the same
 * stack: the first frame begins at the stack pointer, and each return address determines the size of its frame.
 *
 * Only for the program of the switch: the cache is per CPU.
 */
#ifndef PROFBPF_KERNEL_STACK_BPF_H
#define PROFBPF_KERNEL_STACK_BPF_H

#include "profbpf.bpf.h"

static __always_inline __u32 frames_of(long bytes)
{
	return bytes > 0 ? (__u32)bytes / sizeof(__u64) : 0;
}

static __always_inline __u32 unwind_kernel(struct task_struct *task, __u64 *address)
{
	return frames_of(
		bpf_get_task_stack(task, address, REC_KERNEL_FRAMES * sizeof(*address), 0));
}

#if defined(__TARGET_ARCH_x86)

#define KERNEL_WORDS 256 /* a power of two; deeper stacks are not kept */
#define KEPT_FRAMES 32 /* a power of two; stacks of more frames are not kept either */
#define KEPT_STACKS KERNEL_WORDS

struct kernel_words {
	__u64 word[KERNEL_WORDS]; /* the stack from the stack pointer up */
};

struct kept_stack {
	__u32 bytes; /* size of the stack below the user-space registers; 0 = the entry is empty */
	__u32 count;
	__u32 found; /* positions found so far, during a search */
	__u8 place[KEPT_FRAMES];
	__u64 address[KEPT_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KEPT_STACKS); /* by depth */
	__type(key, __u32);
	__type(value, struct kept_stack);
} kept_stacks __weak_map;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kernel_words);
} kernel_words __weak_map;

/* Not static, nor are the functions below: the verifier checks a global function once, not on each path to it. */
__weak __noinline int is_kept(const struct kernel_words *words, const struct kept_stack *kept)
{
	if (!words || !kept)
		return 0;
	for (__u32 i = 0; i < KEPT_FRAMES; i++) {
		if (i >= kept->count)
			break;
		if (words->word[kept->place[i] & (KERNEL_WORDS - 1)] != kept->address[i])
			return 0;
	}
	return 1;
}

/*
 * Finds the lowest positions of the stack's addresses, in their order; returns false if one is missing. The number of
 * positions found is kept in memory, which the verifier does not track: else it would check all combinations.
 */
__weak __noinline int find_lowest(const struct kernel_words *words, struct kept_stack *kept)
{
	volatile __u32 *found;

	if (!words || !kept)
		return 0;
	found = &kept->found;
	*found = 0;
	for (__u32 i = 0; i < KERNEL_WORDS; i++) {
		__u32 next = *found;

		if (i >= kept->bytes / sizeof(words->word[0]) || next >= kept->count)
			break;
		next &= KEPT_FRAMES - 1;
		if (words->word[i] != kept->address[next])
			continue;
		kept->place[next] = i;
		*found = next + 1;
	}
	return *found == kept->count;
}

/* A stale word of an earlier call may equal an address. That is excluded if the lowest positions are the highest, too. */
__weak __noinline int are_highest(const struct kernel_words *words, struct kept_stack *kept)
{
	volatile __u32 *found;

	if (!words || !kept)
		return 0;
	found = &kept->found;
	for (__u32 i = KERNEL_WORDS; i; i--) {
		__u32 left = *found, last = (left - 1) & (KEPT_FRAMES - 1);

		if (!left)
			break;
		if (i > kept->bytes / sizeof(words->word[0]) ||
		    words->word[i - 1] != kept->address[last])
			continue;
		if (kept->place[last] != i - 1)
			return 0;
		*found = last;
	}
	return !*found;
}

static __always_inline void keep_stack(struct kept_stack *kept, const struct kernel_words *words,
				       const __u64 *address, __u32 count, __u32 bytes)
{
	kept->bytes = 0;
	if (!count || count > KEPT_FRAMES)
		return;
	bpf_probe_read_kernel(kept->address, sizeof(kept->address), address);
	kept->count = count;
	kept->bytes = bytes;
	if (!find_lowest(words, kept) || !are_highest(words, kept))
		kept->bytes = 0;
}

/*
 * Reads the stack of @task below the user-space registers. Returns its size in bytes, 0 if it is larger than the
 * cache allows. The pointer goes through memory, because the verifier forbids to subtract from it.
 */
static __always_inline __u32 read_words(struct task_struct *task, struct kernel_words *words)
{
	__u64 from = task->thread.sp, bytes;

	*(volatile __u64 *)&words->word[0] = user_regs_address(task);
	bytes = *(volatile __u64 *)&words->word[0] - from;
	if (!bytes || bytes > sizeof(*words) ||
	    bpf_probe_read_kernel(words, bytes, (const void *)from))
		return 0;
	return bytes;
}

/* kernel_stack - fills @address with at most REC_KERNEL_FRAMES addresses, the innermost first; returns their number */
static __always_inline __u32 kernel_stack(struct task_struct *task, __u64 *address)
{
	__u32 place = 0, count, bytes = 0;
	struct kernel_words *words = bpf_map_lookup_elem(&kernel_words, &place);
	struct kept_stack *kept;

	if (words)
		bytes = read_words(task, words);
	place = bytes / sizeof(words->word[0]) & (KEPT_STACKS - 1);
	kept = bpf_map_lookup_elem(&kept_stacks, &place);
	if (!words || !bytes || !kept)
		return unwind_kernel(task, address);
	count = kept->count;
	if (kept->bytes == bytes && count <= KEPT_FRAMES && is_kept(words, kept)) {
		bpf_probe_read_kernel(address, sizeof(kept->address), kept->address);
		return count;
	}
	count = unwind_kernel(task, address);
	keep_stack(kept, words, address, count, bytes);
	return count;
}

#else

static __always_inline __u32 kernel_stack(struct task_struct *task, __u64 *address)
{
	return unwind_kernel(task, address);
}

#endif

#endif /* PROFBPF_KERNEL_STACK_BPF_H */

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kernel_stack.bpf.h - return addresses, in the kernel, of a thread that is off its CPU.
 *
 * What bpf_get_task_stack() gives. On x86 that takes some 4 us, for the kernel's tables tell frame by
 * frame how large each is; but threads sleep in few places. So stacks are kept, with the places
 * where their addresses stand. A stack as deep that has the same words in these places is the
 * same one: the first frame lies at the stack pointer, and the address in a frame tells its size.
 *
 * For the switch's program: what is kept is a CPU's own.
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
	__u64 word[KERNEL_WORDS]; /* of a stack, from its pointer up */
};

struct kept_stack {
	__u32 bytes; /* below the registers of user space; 0 = none is kept */
	__u32 count;
	__u32 found; /* while places are looked for */
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

/* Not static, as the other ones below: the verifier looks at each once, not for each way to it. */
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
 * The lowest places where its addresses stand, in their order; false if they don't. How many are
 * found is kept in memory, of which the verifier knows nothing: else it goes through all combinations.
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

/* A word that was left there by an earlier call can be taken for an address; not if these are the highest, too. */
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
 * Reads the stack of @task below the registers of user space; how many bytes, 0 if there are more than
 * are kept. That pointer goes through memory because the verifier lets nobody subtract from it.
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

/* kernel_stack - fills @address with REC_KERNEL_FRAMES at most, the innermost first; how many */
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

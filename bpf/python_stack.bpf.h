/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * python_stack.bpf.h - the Python stack of the current thread, read from its PyThreadState.
 *
 * The daemon provides the address of each CPython thread's PyThreadState (interpreters/python/python_live.h). The program
 * uses it only if the pthread_t in it is the thread's own. The daemon validates the code objects that the frames name.
 */
#ifndef PROFBPF_PYTHON_STACK_BPF_H
#define PROFBPF_PYTHON_STACK_BPF_H

#include "stack_record.bpf.h"

/* Layouts of the processes that run CPython, by tgid. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct python_layout);
} python_layouts __weak_map;

/* Addresses of their threads' PyThreadState. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct python_thread_key);
	__type(value, __u64);
} python_states __weak_map;

struct python_climb {
	const struct python_layout *layout;
	struct stack_frames *frames;
	__u64 frame; /* the next frame */
	__u32 at; /* index of its word in @frames */
	__u32 count; /* frames so far */
};

static __always_inline __u64 python_pointer(__u64 address)
{
	__u64 value = 0;

	if (address & 7 || bpf_probe_read_user(&value, sizeof(value), (const void *)address))
		return 0;
	return value;
}

/* Is @frame the outermost frame of one entry into the interpreter's loop? */
static __always_inline bool python_entry(const struct python_layout *layout, __u64 frame, bool *of_c)
{
	__u8 byte = 0;

	*of_c = false;
	if (layout->frame_entry != PYTHON_LAYOUT_NONE) {
		bpf_probe_read_user(&byte, sizeof(byte), (const void *)(frame + layout->frame_entry));
		return byte;
	}
	if (layout->frame_owner == PYTHON_LAYOUT_NONE)
		return true;
	bpf_probe_read_user(&byte, sizeof(byte), (const void *)(frame + layout->frame_owner));
	*of_c = byte == PYTHON_OWNED_BY_C;
	return *of_c;
}

static long python_climb_once(__u32 index, void *context)
{
	struct python_climb *c = context;
	__u64 code, instruction;
	bool entry, of_c;

	if (!c->frame || c->frame & 7)
		return 1;
	entry = python_entry(c->layout, c->frame, &of_c);
	code = of_c ? 0 : python_pointer(c->frame + c->layout->frame_code);
	if (!code && !of_c)
		return 1;
	instruction = of_c ? 0 : python_pointer(c->frame + c->layout->frame_instruction);
	c->frames->address[BOUNDED(c->at, STACK_WORDS - 1)] = code | (entry ? PYTHON_FRAME_ENTRY : 0);
	c->frames->address[BOUNDED(c->at + 1, STACK_WORDS - 1)] = instruction;
	c->at += 2;
	c->count++;
	c->frame = python_pointer(c->frame + c->layout->frame_previous);
	return 0;
}

/*
 * Stores at most @most frames from @frame outwards in @frames from word @at on; returns their number. Global: the
 * verifier checks it once.
 */
__weak __noinline int python_frames(const struct python_layout *layout, struct stack_frames *frames, __u64 frame,
				    __u32 at, __u32 most)
{
	struct python_climb c = { .layout = layout, .frames = frames, .frame = frame, .at = at };

	if (!layout || !frames)
		return 0;
	bpf_loop(most, python_climb_once, &c, 0);
	return c.count;
}

/* Does the thread of @state hold its interpreter's lock? Returns an enum stack_flag; 0: unknown */
static __always_inline __u16 python_lock(const struct python_layout *layout, __u64 state)
{
	__u32 locked = 0;
	__u64 holder;

	if (!layout->lock ||
	    bpf_probe_read_user(&locked, sizeof(locked), (const void *)(layout->lock + layout->lock_locked)))
		return 0;
	if (!locked)
		return STACK_NO_LOCK;
	holder = python_pointer(layout->lock + layout->lock_holder);
	if (locked != 1 || !holder)
		return 0;
	return holder == state ? STACK_HAD_LOCK : STACK_NO_LOCK;
}

#define PTHREAD_BYTES_MAX 8192 /* at least the size of the C library's description of a thread; less than any stack */

/*
 * Is @id the pthread_t of @task? It is the address of the C library's description of the thread. The thread pointer is
 * that address on x86-64, and the end of the description on AArch64 (glibc: sysdeps/aarch64/nptl/tls.h; musl:
 * arch/aarch64/pthread_arch.h).
 */
static __always_inline bool is_own_pthread(struct task_struct *task, __u64 id)
{
	__u64 pointer = thread_pointer_of(task);

#if defined(__TARGET_ARCH_x86)
	return id && id == pointer;
#else
	return id < pointer && pointer - id <= PTHREAD_BYTES_MAX;
#endif
}

/*
 * python_stack - stores the Python frames of @task, the current thread, innermost first, after @at words of @frames
 *
 * At most @most frames, of REC_PYTHON_FRAMES. Returns their number. Adds to @flags whether the thread holds its
 * interpreter's lock.
 */
static __always_inline __u32 python_stack(struct task_struct *task, struct stack_frames *frames, __u32 at,
					  __u32 most, __u16 *flags)
{
	struct python_thread_key key = { .tgid = field_of(task, tgid), .tid = field_of(task, pid) };
	struct python_layout *layout = bpf_map_lookup_elem(&python_layouts, &key.tgid);
	__u64 *state, holder, frame;

	if (!layout)
		return 0;
	state = bpf_map_lookup_elem(&python_states, &key);
	if (!state || !is_own_pthread(task, python_pointer(*state + layout->state_id)))
		return 0;
	*flags |= python_lock(layout, *state);
	holder = layout->state_cframe == PYTHON_LAYOUT_NONE ? *state :
							      python_pointer(*state + layout->state_cframe);
	frame = python_pointer(holder + layout->state_frame);
	return frame ? (__u32)python_frames(layout, frames, frame, at, most) : 0;
}

#endif /* PROFBPF_PYTHON_STACK_BPF_H */

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * stack.bpf.c - where targets spend their time on a CPU, and where they block.
 *
 * Samples: a perf event per CPU fires some hundred times a second; who is on that
 * CPU then gets a record with both stacks.
 *
 * Blocks: only the thread itself can walk its user stack, so that is done when it
 * goes to sleep, into storage of its own. Whether it was worth it is known when it
 * gets a CPU again: a short sleep leaves no record. The kernel stack is walked only
 * then, and only of those who slept long: it is still as it was.
 *
 * User stacks are followed by frame pointers.
 */
#include "interrupt.bpf.h"
#include "task.bpf.h"
#include "user_stack.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

/* Frames of both stacks: the user's, then the kernel's. */
struct stack_frames {
	__u64 address[REC_USER_FRAMES + 1 + REC_KERNEL_FRAMES];
};

struct block_stack {
	__u64 since_ns; /* 0 = not asleep, or not to be recorded */
	__u64 woken_ns; /* 0 = not woken yet */
	__u32 user_frames;
	__u32 waker;
	__u32 lock; /* it waits for its interpreter's lock */
	__u32 reserved;
	__u64 user[REC_USER_FRAMES + 1];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct block_stack);
} block_stacks SEC(".maps");

/* A sample's record is made here: rings take records of any size only as a copy. */
struct sample_record {
	struct rec_stack head;
	struct stack_frames frames;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2); /* a sample can interrupt a switch */
	__type(key, __u32);
	__type(value, struct sample_record);
} stack_scratch SEC(".maps");

/* Processes that run Python, by tgid; the daemon puts them in. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct python_range);
} python_locks SEC(".maps");

#if defined(__TARGET_ARCH_x86)
#define FUTEX_NR 202
#define FIRST_ARGUMENT(regs) ((regs)->di)
#else
#define FUTEX_NR 98
#define FIRST_ARGUMENT(regs) ((regs)->orig_x0)
#endif

/* Does a thread that goes to sleep wait for the lock of its interpreter? */
static __always_inline bool waits_for_lock(struct task_struct *task)
{
	__u32 tgid = task->tgid;
	struct python_range *range = bpf_map_lookup_elem(&python_locks, &tgid);
	struct pt_regs *regs;
	__u64 address;
	__u16 flags = 0;

	if (!range || syscall_of(task, &flags) != FUTEX_NR)
		return false;
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	address = FIRST_ARGUMENT(regs);
	return address >= range->first && address < range->last;
}

#define SCRATCH_SAMPLE 0
#define SCRATCH_BLOCK 1
#define USER_FRAMES_MASK (REC_USER_FRAMES) /* one less than a power of two */

static __always_inline __u32 frames_of(long bytes)
{
	return bytes > 0 ? (__u32)bytes / sizeof(__u64) : 0;
}

static __always_inline void send(struct sample_record *r, __u32 user, __u32 kernel)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct source_stats *s = source_stats(SOURCE_STACK);
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	__u64 size;
	long err = -1;

	user &= USER_FRAMES_MASK;
	if (kernel > REC_KERNEL_FRAMES)
		kernel = REC_KERNEL_FRAMES;
	r->head.user_frames = user;
	r->head.kernel_frames = kernel;
	size = sizeof(r->head) + (user + kernel) * sizeof(__u64);
	if (ring && size <= sizeof(*r))
		err = bpf_ringbuf_output(ring, r, size, BPF_RB_NO_WAKEUP);
	if (!s)
		return;
	add(&s->produced, 1);
	if (err)
		add(&s->lost[LOSS_RING_FULL], 1);
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 key = SCRATCH_SAMPLE, user, kernel;
	struct sample_record *r;

	if (!(__u32)id || !is_target(id >> 32))
		return 0;
	r = bpf_map_lookup_elem(&stack_scratch, &key);
	if (!r)
		return 0;
	header_fill(&r->head.header, REC_STACK, 0, bpf_ktime_get_ns());
	r->head.dur_ns = 0;
	r->head.waker = 0;
	r->head.reserved = 0;
	r->head.tgid = id >> 32;
	r->head.tid = (__u32)id;
	user = frames_of(bpf_get_stack(ctx, r->frames.address, REC_USER_FRAMES * sizeof(__u64),
				       BPF_F_USER_STACK)) &
	       USER_FRAMES_MASK;
	kernel = frames_of(bpf_get_stack(ctx, r->frames.address + user,
					 REC_KERNEL_FRAMES * sizeof(__u64), 0));
	send(r, user, kernel);
	return 0;
}

/* Walks the stack of who goes to sleep. Kernel threads have none. */
static __always_inline void sleep_begins(struct task_struct *task)
{
	struct block_stack *b;

	if (task->flags & PF_KTHREAD_FLAG)
		return;
	b = bpf_task_storage_get(&block_stacks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!b) {
		count_lost(SOURCE_STACK, LOSS_NO_MEMORY, 1);
		return;
	}
	b->user_frames = user_stack(task, b->user);
	b->woken_ns = 0;
	b->waker = 0;
	b->lock = waits_for_lock(task);
	b->since_ns = bpf_ktime_get_ns();
}

static __always_inline void sleep_ends(struct task_struct *task)
{
	struct block_stack *b = bpf_task_storage_get(&block_stacks, task, 0, 0);
	__u32 key = SCRATCH_BLOCK, user, kernel;
	struct sample_record *r;
	__u64 since, end;
	bool whole;

	if (!b || !b->since_ns)
		return;
	since = b->since_ns;
	b->since_ns = 0;
	/* What comes after the wake-up is a wait for a CPU. */
	end = b->woken_ns ? b->woken_ns : bpf_ktime_get_ns();
	whole = end - since >= settings.stack_block_ns;
	if (!whole && !b->lock)
		return;
	r = bpf_map_lookup_elem(&stack_scratch, &key);
	if (!r)
		return;
	header_fill(&r->head.header, REC_STACK, STACK_BLOCK | (b->lock ? STACK_LOCK : 0), since);
	r->head.dur_ns = end - since;
	r->head.tgid = task->tgid;
	r->head.tid = task->pid;
	r->head.waker = b->waker;
	r->head.reserved = 0;
	if (!whole) {
		r->head.header.flags |= STACK_SHORT;
		send(r, 0, 0);
		return;
	}
	user = b->user_frames & USER_FRAMES_MASK;
	bpf_probe_read_kernel(r->frames.address, user * sizeof(__u64), b->user);
	kernel = frames_of(bpf_get_task_stack(task, r->frames.address + user,
					      REC_KERNEL_FRAMES * sizeof(__u64), 0));
	send(r, user, kernel);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(stack_waking, struct task_struct *task)
{
	struct block_stack *b;
	struct interrupt_state *interrupt;

	if (!is_target_task(task, thread_state(task)))
		return 0;
	b = bpf_task_storage_get(&block_stacks, task, 0, 0);
	if (!b || !b->since_ns)
		return 0;
	b->woken_ns = bpf_ktime_get_ns();
	/* What a timer interrupts did not wake it. */
	interrupt = interrupt_state();
	if (b->lock && !(interrupt && interrupt->kinds))
		b->waker = (__u32)bpf_get_current_pid_tgid();
	return 0;
}

static __always_inline int block_switch(bool preempt, struct task_struct *prev,
					struct task_struct *next, __u64 state)
{
	if (capture_stopped)
		return 0;
	if (next->pid && is_target_task(next, thread_state(next)))
		sleep_ends(next);
	if (!preempt && state & 0xffff && !(state & ST_DEAD) && prev->pid &&
	    is_target_task(prev, thread_state(prev)))
		sleep_begins(prev);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(stack_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	return block_switch(preempt, prev, next, prev_state);
}

struct task_struct___stack_old_state {
	volatile long state;
} __attribute__((preserve_access_index));

SEC("tp_btf/sched_switch")
int BPF_PROG(stack_switch_before_5_18, bool preempt, struct task_struct *prev,
	     struct task_struct *next)
{
	struct task_struct___stack_old_state *old = (void *)prev;
	__u64 state;

	if (bpf_core_field_exists(old->state))
		state = BPF_CORE_READ(old, state);
	else
		state = BPF_CORE_READ(prev, __state);
	return block_switch(preempt, prev, next, state);
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * call_stack.bpf.h - the state of a thread's traced calls: its open calls, and counts that only this
 * thread changes.
 *
 * A thread runs one uprobe program at a time, so its own counts need no atomic addition, even if the
 * program is preempted or migrates to another CPU. They are added to the common counts now and then,
 * when the thread exits and, at the end of the session, after its probes are gone.
 */
#ifndef PROFBPF_CALL_STACK_BPF_H
#define PROFBPF_CALL_STACK_BPF_H

#include "profbpf.bpf.h"

/* Where a probe's conf is (api_maps.bpf.h); in memory, because map lookups take a pointer to the key. */
struct conf_place {
	__u32 chunk, place;
};

struct call_frame {
	__u64 start_ns;
	__u64 sp; /* stack pointer at entry, which identifies the call at its end; 0 = the slot is free */
	__u64 returns_to; /* with FRAME_EXITS */
	__u64 goes_to; /* with FRAME_TAILED: the jump's target, if the ends of that code are not probed; else 0 */
	__u64 args[REC_ARGS];
	__u64 text; /* with CALL_HAS_STRING */
	__u32 probe;
	__u32 flags; /* CALL_HAS_STRING, FRAME_* */
	__u64 named; /* the object whose name "text" is, kept for later calls; 0 = none */
	__u32 named_probe; /* the kept name holds for calls of this probe, */
	__u32 names_version; /* as long as this equals names_now() */
	__u32 depth; /* calls around it */
	__u32 reserved;
};

/* In the upper 16 bits of call_frame.flags: the flags of the probe's conf that concern the end of a call. */
#define FRAME_FLAGS(conf_flags) ((__u32)(conf_flags) << 16)
#define FRAME_OUT FRAME_FLAGS(PROBE_OUT)
#define FRAME_RETURN FRAME_FLAGS(PROBE_RETURN)
#define FRAME_KEEP FRAME_FLAGS(PROBE_KEEP)
#define FRAME_VALUE FRAME_FLAGS(PROBE_VALUE)
#define FRAME_RETURNS (1u << 27) /* its end is seen by a return probe */
#define FRAME_EXITS (1u << 28) /* its end is seen by probes on its exits */
#define FRAME_TAILED (1u << 29) /* it went on in another function */
#define FRAME_UNSURE (1u << 30) /* another call could be taken for it: its end is not reported */

/* Counts of one function's calls below --min-duration since the last addition to "short_calls". */
struct short_slot {
	__u32 probe; /* 1 + its index; 0 = not in use */
	__u32 count;
	__u64 total_ns;
	__u64 unended; /* calls among them without a known duration */
};

#define REGISTERS 16 /* a power of two above the positions of arguments in registers */
#define SHORT_SLOTS 16 /* a power of two */
#define SHORT_FLUSH_NS 500000000ull

/*
 * Calls of coroutines may end in any order, and in another thread: the stack pointer identifies a call.
 * A new call that begins above an open call on the same stack shows that the open call was left by an
 * exception or a longjmp. Whether two addresses are on the same stack is known for a thread's own stack only.
 */
struct call_stack {
	__u64 owner; /* in "near_stacks": the address of the owning thread's task_struct; 0 = free */
	__u64 claims; /* in "near_stacks": the number of threads that own it or try to */
	__u32 depth; /* frames[0 .. depth - 1] may be in use; the last of them is */
	__u32 target; /* for is_known_target() */
	__u32 tid; /* the thread's id at its last entry: reading it here is faster than asking the kernel */
	__u32 tgid;
	__u32 cpu; /* the CPU whose ring a record is written to */
	__u32 probe; /* the probe whose call begins */
	__u64 own_low, own_high; /* the thread's own stack, if it is known: see own_stack.bpf.h */
	__u32 own_version; /* the targets' version for which the bounds were found; 0 = unknown */
	__u32 unsure; /* FRAME_UNSURE for the call that begins, or 0 */
	__u32 armed; /* the call that begins returns to a return probe: the call in its slot tail-jumped into it */
	struct conf_place conf; /* where the probe's conf is */
	__u32 value_later; /* while a call ends: its return value is not set yet */
	struct tail_target tail; /* the target of a tail jump */
	__u64 returns_to, ip; /* return address and entry of a call that begins with the stack pointer of an open one */
	__u64 produced; /* calls not yet added to "stats" */
	__u64 short_since_ns; /* the time of the last addition of short_slots */
	__u64 registers[REGISTERS]; /* by argument position, while a call begins */
	__u64 text[REC_STRING_LEN / sizeof(__u64)]; /* the string argument, while a call begins */
	struct call_frame frames[REC_CALL_DEPTH];
	struct short_slot short_slots[SHORT_SLOTS];
};

DEFINE_THREAD_MAP(call_stacks, struct call_stack, 4096);

#define MAX_PROBES 32768 /* a power of two */

/*
 * By probe: functions that are called so often that the ends of their calls are not probed for now
 * (hot_functions.h), and the approximate number of their calls meanwhile: threads that count at the same
 * time may lose counts.
 */
extern volatile __u8 hot_functions[MAX_PROBES];
extern volatile __u32 hot_hits[MAX_PROBES];

static __always_inline bool is_hot(__u32 probe)
{
	return hot_functions[probe & (MAX_PROBES - 1)];
}

/*
 * The call stacks of most threads, indexed by the low bits of the thread id: programs read an array without
 * a helper call, task storage only with one. A thread whose slot is taken uses its task storage. A
 * thread that exits or changes its id frees its slot.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* as settings.near_stacks; set before loading */
	__type(key, __u32);
	__type(value, struct call_stack);
} near_stacks __weak_map;

static __always_inline struct call_stack *near_stack(struct task_struct *task, __u32 tid)
{
	__u32 place = tid & (settings.near_stacks - 1);
	struct call_stack *stack = bpf_map_lookup_elem(&near_stacks, &place);

	return stack && stack->owner == (__u64)task ? stack : NULL;
}

static __always_inline struct call_stack *stack_of(struct task_struct *task)
{
	struct call_stack *stack = near_stack(task, field_of(task, pid));

	return stack ? stack : thread_find(call_stacks, task);
}

/*
 * Takes the slot of a thread that has no call stack yet; NULL if another thread has it. Of several threads
 * that try at the same time none gets it: an atomic addition that returns the old value would avoid that, but
 * needs version 3 of the BPF instruction set.
 */
static __always_inline struct call_stack *claim_near_stack(struct task_struct *task)
{
	__u32 place = field_of(task, pid) & (settings.near_stacks - 1);
	struct call_stack *stack = bpf_map_lookup_elem(&near_stacks, &place);

	if (!stack || stack->owner)
		return NULL;
	__sync_fetch_and_add(&stack->claims, 1);
	if (*(volatile __u64 *)&stack->claims != 1) {
		__sync_fetch_and_add(&stack->claims, -1);
		return NULL;
	}
	stack->target = 0;
	stack->own_version = 0;
	for (__u32 i = 0; i < REC_CALL_DEPTH; i++)
		stack->frames[i].named = 0;
	stack->owner = (__u64)task;
	return stack;
}

static __always_inline void release_near_stack(struct call_stack *stack)
{
	stack->owner = 0;
	__sync_fetch_and_add(&stack->claims, -1);
}

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct short_key);
	__type(value, struct short_value);
} short_calls __weak_map;

/*
 * Not inlined: the key takes BPF stack, see api.bpf.c. Not static: the verifier checks a global function
 * once, a static one again in each turn of a loop that calls it.
 */
__weak __noinline int add_short_calls(struct short_slot *slot, __u32 tgid)
{
	struct short_key key = { .tgid = tgid };
	struct short_value *v;
	__u64 count, total_ns, unended;

	if (!slot || !slot->count)
		return 0;
	key.probe = slot->probe - 1;
	count = slot->count;
	total_ns = slot->total_ns;
	unended = slot->unended;
	slot->count = 0;
	slot->total_ns = 0;
	slot->unended = 0;
	v = bpf_map_lookup_elem(&short_calls, &key);
	if (!v) {
		struct short_value zero = {};

		bpf_map_update_elem(&short_calls, &key, &zero, BPF_NOEXIST);
		v = bpf_map_lookup_elem(&short_calls, &key);
	}
	if (!v) {
		count_lost(SOURCE_API, LOSS_NO_MEMORY, count);
		return 0;
	}
	add(&v->count, count);
	add(&v->total_ns, total_ns);
	if (unended)
		add(&v->unended, unended);
	return 0;
}

static __always_inline void hand_over_produced(struct call_stack *stack)
{
	struct source_stats *s = source_stats(SOURCE_API);

	if (!s)
		return;
	add(&s->produced, stack->produced);
	stack->produced = 0;
}

/* Adds a thread's own counts to the common counts. */
static __noinline void hand_over_counts(struct call_stack *stack, __u32 tgid)
{
	hand_over_produced(stack);
	for (__u32 i = 0; i < SHORT_SLOTS; i++)
		add_short_calls(&stack->short_slots[i], tgid);
}

/*
 * Writes the record of a call whose return was not seen: @how is CALL_OPEN (its thread dies, or the session
 * ends), CALL_LEFT or CALL_ENTRY. Global for the verifier, like add_short_calls().
 */
__weak __noinline int emit_unended(const struct call_frame *frame, __u32 how, __u32 tgid, __u32 tid,
				   __u64 now)
{
	struct rec_call *r;
	struct emit e;

	if (!frame)
		return 0;
	r = emit_begin(&e, SOURCE_API, sizeof(*r));
	if (!r)
		return 0;
	/* The probes on its exits may have been removed during the call. */
	if (is_hot(frame->probe))
		how = CALL_ENTRY;
	header_fill(&r->header, REC_CALL,
		    how | (frame->flags & CALL_HAS_STRING) | frame->depth << CALL_DEPTH_SHIFT,
		    frame->start_ns);
	r->dur_ns = how & CALL_ENTRY ? 0 : now - frame->start_ns;
	r->tgid = tgid;
	r->tid = tid;
	r->probe = frame->probe;
	r->ret = 0;
	r->args[0] = frame->args[0];
	r->args[1] = frame->args[1];
	/* Values that are read at the return are missing. */
	r->args[2] = frame->flags & (FRAME_OUT | FRAME_RETURN) ? 0 : frame->args[2];
	r->text = frame->text;
	emit_end(&e, false);
	return 0;
}

static __always_inline bool on_own_stack(const struct call_stack *stack, __u64 sp)
{
	return sp - stack->own_low < stack->own_high - stack->own_low;
}

/*
 * The state of a call whose end was not seen. @sp is the thread's present stack pointer, 0 if unknown: calls
 * below it on the thread's own stack were left. A call on another stack may have ended in another thread, a
 * call that continued in another function may have ended with that function.
 */
static __always_inline __u32 open_or_not(const struct call_stack *stack,
					 const struct call_frame *frame, __u64 sp)
{
	if (frame->flags & FRAME_TAILED || (stack->own_version && !on_own_stack(stack, frame->sp)))
		return CALL_ENTRY;
	return !sp || !on_own_stack(stack, sp) || frame->sp >= sp ? CALL_OPEN : CALL_LEFT;
}

/* Writes the open call in @slot. @ids: process id in the upper half, thread id in the lower. Global, as above. */
__weak __noinline int emit_open_call(struct call_stack *stack, __u32 slot, __u64 sp, __u64 now,
				     __u64 ids)
{
	const struct call_frame *frame;

	if (!stack)
		return 0;
	frame = &stack->frames[slot & (REC_CALL_DEPTH - 1)];
	if (frame->sp && frame->start_ns < now)
		emit_unended(frame, open_or_not(stack, frame, sp), ids >> 32, ids, now);
	return 0;
}

static __always_inline void emit_open_calls(struct task_struct *task, struct call_stack *stack,
					    __u64 sp, __u64 now)
{
	__u64 ids = (__u64)task->tgid << 32 | (__u32)task->pid;

	for (__u32 i = 0; i < REC_CALL_DEPTH && i < stack->depth; i++)
		emit_open_call(stack, i, sp, now, ids);
	stack->depth = 0;
}

/* Does the thread have counts that were not added yet? */
static __always_inline bool has_counts(const struct call_stack *stack)
{
	for (__u32 i = 0; i < SHORT_SLOTS; i++)
		if (stack->short_slots[i].count)
			return true;
	return stack->produced != 0;
}

#endif /* PROFBPF_CALL_STACK_BPF_H */

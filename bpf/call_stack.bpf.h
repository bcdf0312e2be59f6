/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * call_stack.bpf.h - what is kept of a thread's traced calls: those it is in, and
 * counts that only it changes.
 *
 * A thread is in one uprobe program at a time, so what it alone changes needs no
 * atomic addition, even if the program is preempted or moves to another CPU. The
 * counts get to where everybody's are added up now and then, when the thread
 * exits and, at the end of the session, when its probes are gone.
 */
#ifndef PROFBPF_CALL_STACK_BPF_H
#define PROFBPF_CALL_STACK_BPF_H

#include "profbpf.bpf.h"

struct call_frame {
	__u64 start_ns;
	__u64 sp; /* stack pointer at entry: tells frames apart where there is no cookie */
	__u64 args[REC_ARGS];
	__u64 text; /* with CALL_HAS_STRING */
	__u32 probe;
	__u32 flags; /* CALL_HAS_STRING, FRAME_* */
	__u64 named; /* the object whose name is in "text", also of calls to come; 0 = none's */
	__u32 named_probe; /* to the same probe, */
	__u32 names_version; /* as long as this is names_now() */
};

/* Above the 16 bits of a record: what the probe's conf says of the return. */
#define FRAME_FLAGS(conf_flags) ((__u32)(conf_flags) << 16)
#define FRAME_OUT FRAME_FLAGS(PROBE_OUT)
#define FRAME_RETURN FRAME_FLAGS(PROBE_RETURN)
#define FRAME_KEEP FRAME_FLAGS(PROBE_KEEP)

/* Calls of one function below --min-duration since they were last added to "short_calls". */
struct short_slot {
	__u32 probe; /* 1 + its index; 0 = not in use */
	__u32 count;
	__u64 total_ns;
};

#define REGISTERS 16 /* a power of two above the positions of arguments in registers */
#define SHORT_SLOTS 16 /* a power of two */
#define SHORT_FLUSH_NS 500000000ull

struct call_stack {
	__u64 owner; /* of one in "near_stacks": address of the thread's task_struct; 0 = none */
	__u64 claims; /* the same: who has it or tries to get it */
	__u32 depth;
	__u32 target; /* for is_known_target() */
	__u32 tid; /* of the thread when it last entered: asking for it takes longer than reading it */
	__u32 tgid;
	__u32 cpu; /* on which a record is written */
	__u32 reserved;
	__u64 produced; /* calls not yet added to "stats" */
	__u64 short_since_ns; /* when short_slots were last added up */
	__u64 registers[REGISTERS]; /* by argument position, while a call begins */
	__u64 text[REC_STRING_LEN / sizeof(__u64)]; /* the same: its string */
	struct call_frame frames[REC_CALL_DEPTH];
	struct short_slot short_slots[SHORT_SLOTS];
};

DEFINE_THREAD_MAP(call_stacks, struct call_stack, 4096);

/*
 * Where the stacks of most threads lie, by thread id: an array is looked into without
 * calling into the kernel, a thread's storage is not. Who finds its place taken uses its
 * storage. Who exits, or gets another id, gives its place back.
 */
#define NEAR_STACKS 1024 /* a power of two */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NEAR_STACKS);
	__type(key, __u32);
	__type(value, struct call_stack);
} near_stacks __weak_map;

static __always_inline struct call_stack *near_stack(struct task_struct *task, __u32 tid)
{
	__u32 place = tid & (NEAR_STACKS - 1);
	struct call_stack *stack = bpf_map_lookup_elem(&near_stacks, &place);

	return stack && stack->owner == (__u64)task ? stack : NULL;
}

static __always_inline struct call_stack *stack_of(struct task_struct *task)
{
	struct call_stack *stack = near_stack(task, field_of(task, pid));

	return stack ? stack : thread_find(call_stacks, task);
}

/*
 * The place of a thread that has no stack yet, or NULL if it is another's. Of several
 * that try at once none gets it: an addition that returns what was there before would
 * do better, but is not to be had below version 3 of the instruction set.
 */
static __always_inline struct call_stack *claim_near_stack(struct task_struct *task)
{
	__u32 place = field_of(task, pid) & (NEAR_STACKS - 1);
	struct call_stack *stack = bpf_map_lookup_elem(&near_stacks, &place);

	if (!stack || stack->owner)
		return NULL;
	__sync_fetch_and_add(&stack->claims, 1);
	if (*(volatile __u64 *)&stack->claims != 1) {
		__sync_fetch_and_add(&stack->claims, -1);
		return NULL;
	}
	stack->target = 0;
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
 * Not inlined: the key takes stack, see api.bpf.c. Not static: the verifier looks once at a
 * function that others could call, and at each turn of a loop that calls one of its own.
 */
__weak __noinline int add_short_calls(struct short_slot *slot, __u32 tgid)
{
	struct short_key key = { .tgid = tgid };
	struct short_value *v;
	__u64 count, total_ns;

	if (!slot || !slot->count)
		return 0;
	key.probe = slot->probe - 1;
	count = slot->count;
	total_ns = slot->total_ns;
	slot->count = 0;
	slot->total_ns = 0;
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

/* Adds a thread's own counts to everybody's. */
static __noinline void hand_over_counts(struct call_stack *stack, __u32 tgid)
{
	hand_over_produced(stack);
	for (__u32 i = 0; i < SHORT_SLOTS; i++)
		add_short_calls(&stack->short_slots[i], tgid);
}

/* A call that will not be seen to return: its thread dies, or the session ends. Looked at once, as above. */
__weak __noinline int emit_open_call(const struct call_frame *frame, __u32 depth, __u32 tgid,
				     __u32 tid, __u64 now)
{
	struct rec_call *r;
	struct emit e;

	if (!frame)
		return 0;
	r = emit_begin(&e, SOURCE_API, sizeof(*r));
	if (!r)
		return 0;
	header_fill(&r->header, REC_CALL, CALL_OPEN | frame->flags | depth << CALL_DEPTH_SHIFT,
		    frame->start_ns);
	r->dur_ns = now - frame->start_ns;
	r->tgid = tgid;
	r->tid = tid;
	r->probe = frame->probe;
	r->ret = 0;
	__builtin_memcpy(r->args, frame->args, sizeof(r->args));
	r->text = frame->text;
	emit_end(&e, false);
	return 0;
}

static __always_inline void emit_open_calls(struct task_struct *task, struct call_stack *stack,
					    __u64 now)
{
	for (__u32 i = 0; i < REC_CALL_DEPTH; i++) {
		if (i >= stack->depth)
			break;
		if (stack->frames[i].start_ns < now)
			emit_open_call(&stack->frames[i], i, task->tgid, task->pid, now);
	}
	stack->depth = 0;
}

/* Are there counts of a thread that were not added yet? */
static __always_inline bool has_counts(const struct call_stack *stack)
{
	for (__u32 i = 0; i < SHORT_SLOTS; i++)
		if (stack->short_slots[i].count)
			return true;
	return stack->produced != 0;
}

#endif /* PROFBPF_CALL_STACK_BPF_H */

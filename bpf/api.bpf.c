// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * api.bpf.c - runtime API calls: entry and return of the probed functions.
 *
 * The entry is pushed on the thread's call stack, the record is written at
 * return. Three ways to attach, best first: a session program (6.13, one link,
 * skips the return of calls that nobody wants, carries the stack slot in its
 * cookie), an entry and a return program on multi links (6.6), the same two on
 * perf events. The last two find their frame by the stack pointer.
 *
 * No function that runs in a uprobe may use more than 48 bytes of stack, which
 * is why some are not inlined. From 64 on (rounded up by 16) kernels since 6.13
 * give it one stack per CPU, and these programs can be preempted: the next
 * thread on that CPU would overwrite what the first has there.
 */
#include "call_stack.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

#define MAX_PROBES 32768
#define SLOT_NONE (~0ull)

extern bool bpf_session_is_return(void) __ksym __weak;
extern __u64 *bpf_session_cookie(void) __ksym __weak;
/* The same on kernels where they take the context (7.0 and later). */
extern bool bpf_session_is_return___context(void *ctx) __ksym __weak;
extern __u64 *bpf_session_cookie___context(void *ctx) __ksym __weak;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_PROBES);
	__type(key, __u32);
	__type(value, struct probe_conf);
} probes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct short_key);
	__type(value, struct short_value);
} short_calls SEC(".maps");

static __always_inline __u64 stack_argument(struct pt_regs *ctx, __u32 index)
{
	__u64 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)(PT_REGS_SP(ctx) + 8 * index));
	return value;
}

/* position counts from 1. On x86-64 the return address lies between the stack pointer and the 7th. */
static __always_inline __u64 argument(struct pt_regs *ctx, __u32 position)
{
	switch (position) {
	case 1: return PT_REGS_PARM1(ctx);
	case 2: return PT_REGS_PARM2(ctx);
	case 3: return PT_REGS_PARM3(ctx);
	case 4: return PT_REGS_PARM4(ctx);
	case 5: return PT_REGS_PARM5(ctx);
	case 6: return PT_REGS_PARM6(ctx);
#if defined(__TARGET_ARCH_arm64)
	case 7: return PT_REGS_PARM7(ctx);
	case 8: return PT_REGS_PARM8(ctx);
	default: return stack_argument(ctx, position - 9);
#else
	default: return stack_argument(ctx, position - 6);
#endif
	}
}

static __always_inline __u64 narrow(__u64 value, __u8 width)
{
	switch (width) {
	case 1: return (__u8)value;
	case 2: return (__u16)value;
	case 4: return (__u32)value;
	default: return value;
	}
}

static __noinline __u64 read_argument(struct pt_regs *ctx, const struct probe_argument *arg)
{
	__u64 value, through = 0;

	if (!arg->position)
		return 0;
	value = argument(ctx, arg->position);
	if (arg->deref >= 0) {
		bpf_probe_read_user(&through, sizeof(through), (void *)(value + arg->deref));
		value = through;
	}
	return narrow(value, arg->width);
}

static __noinline void send_string(struct pt_regs *ctx, const struct probe_conf *conf,
				   struct call_frame *frame)
{
	struct emit e;
	struct rec_string *r = emit_begin(&e, SOURCE_TASK, sizeof(*r));
	long n;

	if (!r)
		return;
	n = bpf_probe_read_user_str(r->str, sizeof(r->str),
				    (void *)argument(ctx, conf->string_position));
	header_fill(&r->header, REC_STRING, 0, frame->start_ns);
	r->tid = (__u32)bpf_get_current_pid_tgid();
	r->probe = frame->probe;
	r->len = n > 0 ? n - 1 : 0;
	emit_end(&e, false);
	frame->flags |= CALL_HAS_STRING;
}

/* The stack of the current thread if it belongs to a target. */
static __always_inline struct call_stack *target_stack(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct call_stack *stack = bpf_task_storage_get(&call_stacks, task, 0, 0);

	if (stack)
		return is_known_target(&stack->target, task->tgid) ? stack : NULL;
	if (!is_target(task->tgid))
		return NULL;
	stack = bpf_task_storage_get(&call_stacks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!stack)
		count_lost(SOURCE_API, LOSS_NO_MEMORY, 1);
	return stack;
}

/* Returns the slot taken on the stack, or SLOT_NONE if the call is not wanted. */
static __noinline __u64 enter(struct pt_regs *ctx)
{
	__u32 probe = bpf_get_attach_cookie(ctx);
	struct call_stack *stack = target_stack();
	const struct probe_conf *conf;
	struct call_frame *frame;
	__u32 slot;

	conf = stack ? bpf_map_lookup_elem(&probes, &probe) : NULL;
	if (!conf)
		return SLOT_NONE;
	slot = stack->depth;
	if (slot >= REC_CALL_DEPTH) {
		count_lost(SOURCE_API, LOSS_TOO_DEEP, 1);
		return SLOT_NONE;
	}
	frame = &stack->frames[slot];
	frame->probe = probe;
	frame->flags = 0;
	frame->sp = PT_REGS_SP(ctx);
	frame->args[0] = read_argument(ctx, &conf->args[0]);
	frame->args[1] = read_argument(ctx, &conf->args[1]);
	if (conf->flags & PROBE_OUT) {
		frame->args[2] = argument(ctx, conf->args[2].position);
		frame->flags = FRAME_OUT;
	} else {
		frame->args[2] = read_argument(ctx, &conf->args[2]);
	}
	stack->depth = slot + 1;
	frame->start_ns = bpf_ktime_get_ns();
	if (conf->flags & PROBE_STRING)
		send_string(ctx, conf, frame);
	return slot;
}

static __noinline void count_short(__u32 probe, __u32 tgid, __u64 dur)
{
	struct short_key key = { .probe = probe, .tgid = tgid };
	struct source_stats *s = source_stats(SOURCE_API);
	struct short_value zero = {}, *v;

	v = bpf_map_lookup_elem(&short_calls, &key);
	if (!v) {
		bpf_map_update_elem(&short_calls, &key, &zero, BPF_NOEXIST);
		v = bpf_map_lookup_elem(&short_calls, &key);
	}
	if (!v) {
		count_lost(SOURCE_API, LOSS_NO_MEMORY, 1);
		return;
	}
	add(&v->count, 1);
	add(&v->total_ns, dur);
	if (s)
		add(&s->filtered, 1);
}

static __noinline __u64 read_out(__u32 probe, __u64 pointer)
{
	const struct probe_conf *conf = bpf_map_lookup_elem(&probes, &probe);
	__u64 value = 0;

	if (pointer)
		bpf_probe_read_user(&value, sizeof(value), (void *)pointer);
	return conf ? narrow(value, conf->args[2].width) : 0;
}

static __noinline void write_call(struct pt_regs *ctx, const struct call_frame *frame, __u32 slot,
				  __u64 now)
{
	__u64 ret = PT_REGS_RC(ctx), id;
	struct rec_call *r;
	struct emit e;

	r = emit_begin(&e, SOURCE_API, sizeof(*r));
	if (!r)
		return;
	header_fill(&r->header, REC_CALL,
		    frame->flags | slot << CALL_DEPTH_SHIFT | (ret ? 0 : CALL_RET_ZERO),
		    frame->start_ns);
	r->dur_ns = now - frame->start_ns;
	id = bpf_get_current_pid_tgid();
	r->tgid = id >> 32;
	r->tid = (__u32)id;
	r->probe = frame->probe;
	r->ret = (__u32)ret;
	r->args[0] = frame->args[0];
	r->args[1] = frame->args[1];
	if (frame->flags & FRAME_OUT)
		r->args[2] = read_out(frame->probe, frame->args[2]);
	else
		r->args[2] = frame->args[2];
	emit_end(&e, false);
}

/*
 * Frames above the one that returns belong to calls that never will: they were
 * left by longjmp or an exception.
 */
static __always_inline void leave(struct pt_regs *ctx, struct call_stack *stack, __u32 slot,
				  __u64 now)
{
	struct call_frame *frame;

	if (slot >= REC_CALL_DEPTH || slot >= stack->depth)
		return;
	if (stack->depth > slot + 1)
		count_lost(SOURCE_API, LOSS_UNMATCHED, stack->depth - slot - 1);
	stack->depth = slot;
	frame = &stack->frames[slot];
	if (now - frame->start_ns < settings.min_duration_ns)
		count_short(frame->probe, bpf_get_current_pid_tgid() >> 32, now - frame->start_ns);
	else
		write_call(ctx, frame, slot, now);
}

static __always_inline struct call_stack *current_stack(void)
{
	return bpf_task_storage_get(&call_stacks, bpf_get_current_task_btf(), 0, 0);
}

static __always_inline bool session_is_return(struct pt_regs *ctx)
{
	return bpf_ksym_exists(bpf_session_is_return___context)
		       ? bpf_session_is_return___context(ctx)
		       : bpf_session_is_return();
}

static __always_inline __u64 *session_cookie(struct pt_regs *ctx)
{
	return bpf_ksym_exists(bpf_session_cookie___context) ? bpf_session_cookie___context(ctx)
							     : bpf_session_cookie();
}

SEC("uprobe.multi")
int api_session(struct pt_regs *ctx)
{
	__u64 *cookie = session_cookie(ctx);

	if (session_is_return(ctx)) {
		__u64 now = bpf_ktime_get_ns();
		struct call_stack *stack = current_stack();

		if (stack)
			leave(ctx, stack, *cookie, now);
		return 0;
	}
	*cookie = enter(ctx);
	return *cookie == SLOT_NONE; /* 1: do not come back at return */
}

/* The innermost frame of this probe whose caller's stack pointer is the one we return to. */
static __always_inline int leave_by_stack_pointer(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct call_stack *stack = current_stack();
	__u32 probe = bpf_get_attach_cookie(ctx);
	__u64 sp = PT_REGS_SP(ctx);

	if (!stack)
		return 0;
#if defined(__TARGET_ARCH_x86)
	sp -= 8; /* the return has popped the return address */
#endif
	for (__u32 i = 0; i < REC_CALL_DEPTH; i++) {
		__u32 slot = stack->depth - 1 - i;

		if (slot >= REC_CALL_DEPTH)
			return 0;
		if (stack->frames[slot].sp == sp && stack->frames[slot].probe == probe) {
			leave(ctx, stack, slot, now);
			return 0;
		}
	}
	return 0;
}

SEC("uprobe.multi")
int api_enter_multi(struct pt_regs *ctx)
{
	enter(ctx);
	return 0;
}

SEC("uretprobe.multi")
int api_leave_multi(struct pt_regs *ctx)
{
	return leave_by_stack_pointer(ctx);
}

SEC("uprobe")
int api_enter_perf(struct pt_regs *ctx)
{
	enter(ctx);
	return 0;
}

SEC("uretprobe")
int api_leave_perf(struct pt_regs *ctx)
{
	return leave_by_stack_pointer(ctx);
}

/* Calls that a dying thread will never return from. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(api_exit, struct task_struct *task)
{
	if (is_target(task->tgid))
		emit_open_calls(task, bpf_ktime_get_ns());
	return 0;
}

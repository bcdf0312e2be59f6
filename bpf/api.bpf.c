// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * api.bpf.c - runtime API calls: entry and return of the probed functions.
 *
 * The entry is pushed on the thread's call stack, the record is written at
 * return. Three ways to attach: a session program (6.13, one link, skips the
 * return of calls that nobody wants, carries the stack slot in its cookie), an
 * entry and a return program on multi links (6.6), the same two on perf events.
 * The last two find their frame by the stack pointer, and need not ask which of
 * the two they are: they are cheaper where all calls are wanted.
 *
 * No function that runs in a uprobe may use more than 48 bytes of stack, which
 * is why some are not inlined; tests/unit/test_bpf_stack.c checks it. From 64 on
 * (rounded up by 16) kernels since 6.13 give it one stack per CPU, and these
 * programs can be preempted: the next thread on that CPU would overwrite what
 * the first has there.
 */
#include "call_stack.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

#define MAX_PROBES 32768
#define SLOT_NONE (~0ull)

extern __u64 *bpf_session_cookie(void) __ksym __weak;
/* The same on kernels where it takes the context (7.0 and later). */
extern __u64 *bpf_session_cookie___context(void *ctx) __ksym __weak;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_PROBES);
	__type(key, __u32);
	__type(value, struct probe_conf);
} probes SEC(".maps");

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

static __always_inline __u64 read_argument(struct pt_regs *ctx, const struct probe_argument *arg)
{
	__u64 value, through = 0;

	value = argument(ctx, arg->position);
	if (arg->deref >= 0) {
		bpf_probe_read_user(&through, sizeof(through), (void *)(value + arg->deref));
		value = through;
	}
	if (arg->deref >= 0 && arg->inner >= 0) {
		through = 0;
		bpf_probe_read_user(&through, sizeof(through), (void *)(value + arg->inner));
		value = through;
	}
	return narrow(value, arg->width);
}

/* Those that are not simply in a register. */
static __noinline void read_arguments(struct pt_regs *ctx, const struct probe_conf *conf,
				      struct call_frame *frame)
{
	for (__u32 i = 0; i < REC_ARGS; i++) {
		const struct probe_argument *arg = &conf->args[i];

		if (i == 2 && conf->flags & PROBE_OUT)
			frame->args[i] = argument(ctx, arg->position);
		else
			frame->args[i] = arg->position ? read_argument(ctx, arg) : 0;
	}
}

/*
 * All registers are put side by side, where a position is an index: asking which one it
 * is takes longer. Position 0, of an argument that is not used, stays 0.
 */
static __always_inline void take_registers(struct pt_regs *ctx, struct call_stack *stack)
{
	__u64 *at = stack->registers;

	at[1] = PT_REGS_PARM1(ctx);
	at[2] = PT_REGS_PARM2(ctx);
	at[3] = PT_REGS_PARM3(ctx);
	at[4] = PT_REGS_PARM4(ctx);
	at[5] = PT_REGS_PARM5(ctx);
	at[6] = PT_REGS_PARM6(ctx);
#if defined(__TARGET_ARCH_arm64)
	at[7] = PT_REGS_PARM7(ctx);
	at[8] = PT_REGS_PARM8(ctx);
#endif
}

static __always_inline __u64 register_at(const struct call_stack *stack, __u8 position)
{
	return stack->registers[position & (REGISTERS - 1)];
}

/* The upper bits of narrower ones are not the caller's to set. A width is 1, 2, 4 or 8. */
static __always_inline __u64 register_argument(const struct call_stack *stack,
					       const struct probe_argument *arg)
{
	__u32 unused = (64 - 8 * arg->width) & 63;

	return register_at(stack, arg->position) << unused >> unused;
}

static __always_inline void take_arguments(struct pt_regs *ctx, struct call_stack *stack,
					   const struct probe_conf *conf, struct call_frame *frame)
{
	if (conf->flags & PROBE_MEMORY) {
		read_arguments(ctx, conf, frame);
		return;
	}
	take_registers(ctx, stack);
	frame->args[0] = register_argument(stack, &conf->args[0]);
	frame->args[1] = register_argument(stack, &conf->args[1]);
	frame->args[2] = conf->flags & PROBE_OUT ? register_at(stack, conf->args[2].position) :
						   register_argument(stack, &conf->args[2]);
}

static __noinline __u64 string_address(struct pt_regs *ctx, const struct probe_conf *conf)
{
	__u64 value = argument(ctx, conf->string_position), inner = 0;

	if (!(conf->flags & PROBE_STRING_IN))
		return value;
	bpf_probe_read_user(&inner, sizeof(inner), (void *)(value + conf->string_offset));
	return inner;
}

#define TEXT_MARKS 4096 /* a power of two */

/* Keys of strings that were sent, in the places that their last bits say; mixed with the version. */
volatile __u64 text_marks[TEXT_MARKS] __weak = {};

/* Counted up by the daemon when it has forgotten strings: they are sent again. */
volatile __u64 texts_version __weak = 0;

/* Of @bytes, from 1 to REC_STRING_LEN; what follows them in their last word is not theirs. */
static __noinline __u64 text_key(struct call_stack *stack, __u32 bytes)
{
	__u64 key = bytes, word;

	for (__u32 i = 0; i < REC_STRING_LEN / sizeof(word) && i * sizeof(word) < bytes; i++) {
		word = stack->text[i];
		if (bytes - i * sizeof(word) < sizeof(word))
			word &= (1ull << 8 * (bytes & 7)) - 1;
		key = (key ^ word) * 0x9e3779b97f4a7c15ull;
		key ^= key >> 32;
	}
	return key;
}

static __noinline bool send_text(struct call_stack *stack, __u64 key, __u32 bytes)
{
	struct emit e;
	struct rec_string *r = emit_begin(&e, SOURCE_TASK, sizeof(*r));

	if (!r)
		return false;
	header_fill(&r->header, REC_STRING, 0, bpf_ktime_get_ns());
	r->key = key;
	r->len = bytes - 1;
	__builtin_memcpy(r->str, stack->text, sizeof(r->str));
	emit_end(&e, false);
	return true;
}

/* Counted up when names may have changed that are otherwise kept. */
volatile __u32 names_version __weak = 0;

static __always_inline void names_change(void)
{
	__sync_fetch_and_add(&names_version, 1);
}

/* Names also have to be sent again, and those of who was no target for a while may have changed unseen. */
static __always_inline __u32 names_now(void)
{
	return names_version + (__u32)texts_version + targets_version;
}

/* A thread mostly calls the same again: what it read then need not be read again. */
static __always_inline bool has_kept_name(const struct call_stack *stack,
					  const struct probe_conf *conf,
					  const struct call_frame *frame)
{
	return conf->flags & PROBE_NAME_KEPT && frame->named &&
	       frame->named == register_at(stack, conf->string_position) &&
	       frame->named_probe == frame->probe && frame->names_version == names_now();
}

static __always_inline void keep_name(const struct call_stack *stack,
				      const struct probe_conf *conf, struct call_frame *frame,
				      __u32 version)
{
	if (!(conf->flags & PROBE_NAME_KEPT))
		return;
	frame->named = register_at(stack, conf->string_position);
	frame->named_probe = frame->probe;
	frame->names_version = version;
}

/* Most strings were sent before: a call then has only to name its own. */
static __noinline void take_string(struct pt_regs *ctx, const struct probe_conf *conf,
				   struct call_stack *stack, struct call_frame *frame)
{
	__u32 version = names_now();
	long bytes = bpf_probe_read_user_str(stack->text, sizeof(stack->text),
					     (void *)string_address(ctx, conf));
	__u64 mark;

	frame->named = 0;
	if (bytes <= 1) /* not to be read, or empty */
		return;
	frame->text = text_key(stack, bytes);
	mark = frame->text ^ texts_version;
	if (text_marks[frame->text & (TEXT_MARKS - 1)] != mark) {
		if (!send_text(stack, frame->text, bytes))
			return;
		text_marks[frame->text & (TEXT_MARKS - 1)] = mark;
	}
	frame->flags |= CALL_HAS_STRING;
	keep_name(stack, conf, frame, version);
}

static __noinline void name_call(struct pt_regs *ctx, const struct probe_conf *conf,
				 struct call_stack *stack, struct call_frame *frame)
{
	if (conf->flags & PROBE_NAMES_CHANGED)
		names_change();
	if (!(conf->flags & PROBE_STRING))
		return;
	if (has_kept_name(stack, conf, frame))
		frame->flags |= CALL_HAS_STRING;
	else
		take_string(ctx, conf, stack, frame);
}

/* Not inlined, as all that is rare: what it keeps on the stack would add up. */
static __noinline void lost_call(__u32 reason, __u64 n)
{
	count_lost(SOURCE_API, reason, n);
}

static __noinline struct call_stack *first_stack(void)
{
	struct task_struct *task = current_task();
	struct call_stack *stack;

	if (!is_target(field_of(task, tgid)))
		return NULL;
	stack = claim_near_stack(task);
	if (stack)
		return stack;
	stack = thread_make(call_stacks, task);
	if (!stack)
		lost_call(LOSS_NO_MEMORY, 1);
	return stack;
}

/* The stack of the current thread if it belongs to a target. */
static __always_inline struct call_stack *target_stack(void)
{
	struct task_struct *task = current_task();
	struct call_stack *stack = stack_of(task);

	if (!stack)
		stack = first_stack();
	if (!stack)
		return NULL;
	stack->tid = field_of(task, pid);
	stack->tgid = field_of(task, tgid);
	return is_known_target(&stack->target, stack->tgid) ? stack : NULL;
}

/* Returns the slot taken on the stack, or SLOT_NONE if the call is not wanted. */
static __always_inline __u64 enter(struct pt_regs *ctx)
{
	struct call_stack *stack = target_stack();
	const struct probe_conf *conf;
	struct call_frame *frame;
	__u32 slot;

	if (!stack)
		return SLOT_NONE;
	slot = stack->depth;
	if (slot >= REC_CALL_DEPTH) {
		lost_call(LOSS_TOO_DEEP, 1);
		return SLOT_NONE;
	}
	frame = &stack->frames[slot];
	frame->probe = attach_cookie(ctx, PROBED_ENTRY);
	conf = bpf_map_lookup_elem(&probes, &frame->probe);
	if (!conf) {
		lost_call(LOSS_PLACE, 1);
		return SLOT_NONE;
	}
	frame->flags = FRAME_FLAGS(conf->flags);
	frame->sp = PT_REGS_SP(ctx);
	take_arguments(ctx, stack, conf, frame);
	stack->depth = slot + 1;
	frame->start_ns = bpf_ktime_get_ns();
	if (conf->flags & (PROBE_STRING | PROBE_NAMES_CHANGED))
		name_call(ctx, conf, stack, frame);
	return slot;
}

static __noinline void change_slot(struct call_stack *stack, struct short_slot *slot, __u32 probe)
{
	add_short_calls(slot, stack->tgid);
	slot->probe = probe + 1;
}

static __noinline void hand_over_in_time(struct call_stack *stack, __u64 now)
{
	stack->short_since_ns = now;
	hand_over_counts(stack, stack->tgid);
}

static __always_inline void count_short(struct call_stack *stack, __u32 probe, __u64 dur, __u64 now)
{
	struct short_slot *slot = &stack->short_slots[probe % SHORT_SLOTS];

	if (slot->probe != probe + 1)
		change_slot(stack, slot, probe);
	slot->count++;
	slot->total_ns += dur;
	if (now - stack->short_since_ns > SHORT_FLUSH_NS)
		hand_over_in_time(stack, now);
}

static __noinline __u64 read_out(__u32 probe, __u64 pointer)
{
	const struct probe_conf *conf = bpf_map_lookup_elem(&probes, &probe);
	__u64 value = 0;

	if (pointer)
		bpf_probe_read_user(&value, sizeof(value), (void *)pointer);
	return conf ? narrow(value, conf->args[2].width) : 0;
}

/* A ring's fill is looked at when a thread's counts are handed over. */
static __noinline __u64 submit_flags(struct call_stack *stack, void *ring)
{
	hand_over_produced(stack);
	return bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >= settings.wake_bytes
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

/* As emit_begin() and emit_end(), but what is produced is counted by thread. */
static __always_inline void write_call(struct pt_regs *ctx, struct call_stack *stack,
				  const struct call_frame *frame, __u16 depth, __u64 dur)
{
	__u16 flags;
	struct rec_call *r;
	void *ring;

	stack->cpu = bpf_get_smp_processor_id();
	ring = bpf_map_lookup_elem(&rings, &stack->cpu);
	r = ring ? bpf_ringbuf_reserve(ring, sizeof(*r), 0) : NULL;
	if (!r) {
		lost_call(LOSS_RING_FULL, 1);
		return;
	}
	flags = frame->flags | depth << CALL_DEPTH_SHIFT;
	if (!PT_REGS_RC(ctx))
		flags |= CALL_RET_ZERO;
	r->header.type = REC_CALL;
	r->header.flags = flags;
	r->header.cpu = stack->cpu;
	r->header.ts_ns = frame->start_ns;
	r->dur_ns = dur;
	r->tgid = stack->tgid;
	r->tid = stack->tid;
	r->probe = frame->probe;
	r->ret = (__u32)PT_REGS_RC(ctx);
	r->args[0] = frame->args[0];
	r->args[1] = frame->args[1];
	if (frame->flags & FRAME_OUT)
		r->args[2] = read_out(frame->probe, frame->args[2]);
	else if (frame->flags & FRAME_RETURN)
		r->args[2] = PT_REGS_RC(ctx);
	else
		r->args[2] = frame->args[2];
	r->text = frame->text;
	bpf_ringbuf_submit(r, ++stack->produced < RECORDS_PER_LOOK ? BPF_RB_NO_WAKEUP
								   : submit_flags(stack, ring));
}

/*
 * Frames above the one that returns belong to calls that never will: they were
 * left by longjmp or an exception.
 */
static __always_inline void leave(struct pt_regs *ctx, struct call_stack *stack, __u64 slot,
				  __u64 now)
{
	struct call_frame *frame;
	__u64 dur;

	if (slot >= REC_CALL_DEPTH || slot >= stack->depth)
		return;
	if (stack->depth > slot + 1)
		lost_call(LOSS_UNMATCHED, stack->depth - slot - 1);
	stack->depth = slot;
	/* What it was compared with is forgotten by verifiers that see it widened (6.1) or added to (6.12). */
	asm volatile("" : "+r"(slot));
	frame = &stack->frames[slot & (REC_CALL_DEPTH - 1)];
	dur = now - frame->start_ns;
	if (dur < settings.min_duration_ns && !(frame->flags & FRAME_KEEP))
		count_short(stack, frame->probe, dur, now);
	else
		write_call(ctx, stack, frame, slot, dur);
}

static __always_inline struct call_stack *current_stack(void)
{
	return stack_of(current_task());
}

static __always_inline __u64 *session_cookie(struct pt_regs *ctx)
{
	return bpf_ksym_exists(bpf_session_cookie___context) ? bpf_session_cookie___context(ctx)
							     : bpf_session_cookie();
}

/* The cookie is 0 at entry, by the kernel's doing, and 1 + the slot at return: no need to ask which it is. */
SEC("uprobe.multi")
int api_session(struct pt_regs *ctx)
{
	__u64 *cookie = session_cookie(ctx);

	if (*cookie) {
		__u64 now = bpf_ktime_get_ns();
		struct call_stack *stack = current_stack();

		if (stack)
			leave(ctx, stack, *cookie - 1, now);
		return 0;
	}
	*cookie = enter(ctx) + 1;
	return !*cookie; /* 1: do not come back at return */
}

static __noinline void leave_found(struct pt_regs *ctx, struct call_stack *stack, __u64 slot,
				   __u64 now)
{
	leave(ctx, stack, slot, now);
}

/* The innermost frame of this probe whose caller's stack pointer is the one we return to. */
static __noinline void leave_inner(struct pt_regs *ctx, struct call_stack *stack, __u64 sp,
				   __u64 now)
{
	__u32 probe = settings.cookies ? bpf_get_attach_cookie(ctx) : 0;

	for (__u32 i = 0; i < REC_CALL_DEPTH; i++) {
		__u32 slot = stack->depth - 1 - i;

		if (slot >= REC_CALL_DEPTH)
			return;
		if (stack->frames[slot].sp == sp &&
		    (stack->frames[slot].probe == probe || !settings.cookies)) {
			leave_found(ctx, stack, slot, now);
			return;
		}
	}
}

/*
 * Mostly it is the last one. Calls with one stack pointer, of which each was the end of
 * the one before, return together, the last first: the probe need not be asked for.
 */
static __always_inline int leave_by_stack_pointer(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns(), sp = PT_REGS_SP(ctx);
	struct call_stack *stack;
	__u32 last;

	/* Read now, not through a pointer into the context: 6.1's verifier refuses that (seen on arm64). */
	asm volatile("" : "+r"(sp));
	stack = current_stack();
	if (!stack)
		return 0;
#if defined(__TARGET_ARCH_x86)
	sp -= 8; /* the return has popped the return address */
#endif
	last = stack->depth - 1;
	if (last >= REC_CALL_DEPTH)
		return 0;
	if (stack->frames[last].sp == sp)
		leave(ctx, stack, last, now);
	else
		leave_inner(ctx, stack, sp, now);
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

/*
 * The calls of a thread will not return any more; its counts and its place are given back.
 * When recording has ended, open_calls() writes what is open.
 */
static __always_inline void close_stack(struct task_struct *task, struct call_stack *stack)
{
	if (is_target(task->tgid))
		emit_open_calls(task, stack, bpf_ktime_get_ns());
	hand_over_counts(stack, task->tgid);
	if (capture_stopped || !stack->owner)
		return;
	stack->depth = 0;
	release_near_stack(stack);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(api_exit, struct task_struct *task)
{
	struct call_stack *stack = stack_of(task);

	if (stack)
		close_stack(task, stack);
	return 0;
}

/* A thread that is not its process' first takes over the first one's id. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(api_exec, struct task_struct *task, int old_tid)
{
	struct call_stack *stack;

	names_change();
	if (old_tid == task->pid)
		return 0;
	stack = near_stack(task, old_tid);
	if (stack)
		close_stack(task, stack);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * api.bpf.c - runtime API calls: entry and return of the probed functions.
 *
 * The entry is noted on the thread's call stack, the record is written when the call ends.
 * That is seen by probes on the instructions with which functions return, or jump to others:
 * they leave the target's memory as it is. Only of functions that the catalog vouches for (plain) a
 * return probe sees it, by a session program (6.13), which decides for each call; docs/safety.md.
 *
 * No function that runs in a uprobe may use more than 48 bytes of stack, which
 * is why some are not inlined; tests/unit/test_bpf_stack.c checks it. From 64 on
 * (rounded up by 16) kernels since 6.13 give it one stack per CPU, and these
 * programs can be preempted: the next thread on that CPU would overwrite what
 * the first has there.
 */
#include "own_stack.bpf.h"

char LICENSE[] SEC("license") __weak = "Dual BSD/GPL";

#define SLOT_NONE (~0ull)
#define NO_PROBE (~0u)

extern __u64 *bpf_session_cookie(void) __ksym __weak;
/* The same on kernels where it takes the context (7.0 and later). */
extern __u64 *bpf_session_cookie___context(void *ctx) __ksym __weak;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_PROBES);
	__type(key, __u32);
	__type(value, struct probe_conf);
} probes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, EXITS_MAX);
	__type(key, __u32);
	__type(value, struct exit_conf);
} exit_confs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, struct tail_target);
	__type(value, __u32);
} tail_targets SEC(".maps");

/*
 * How often each exit was reached, for the daemon to see which cost too much. Threads that count at
 * the same time may count one for two: it is no figure for users.
 */
volatile __u32 exit_hits[EXITS_MAX] = {};

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

static __always_inline struct call_stack *current_stack(void)
{
	struct task_struct *task = current_task();

	return may_look(task) ? stack_of(task) : NULL;
}

/*
 * ONCE() - call a function of a stack, the current thread's, at which the verifier looks once
 *
 * NAME##_once() is not static and is given the stack. Before 5.12 it can't be: NAME##_found() looks
 * the stack up again.
 */
#define ONCE(name, stack, ...)                                                 \
	(settings.global_pointers ? name##_once(stack, ##__VA_ARGS__) : \
				    name##_found(__VA_ARGS__))

#define TEXT_MARKS 4096 /* a power of two */

/* Keys of strings that were sent, in the places that their last bits say; mixed with the version. */
volatile __u64 text_marks[TEXT_MARKS] __weak = {};

/* Counted up by the daemon when it has forgotten strings: they are sent again. */
volatile __u64 texts_version __weak = 0;

/* Of @bytes, from 1 to REC_STRING_LEN; what follows them in their last word is not theirs. */
static __always_inline __u64 text_key_in(struct call_stack *stack, __u32 bytes)
{
	__u64 key = bytes, word;

	if (!stack)
		return 0;
	for (__u32 i = 0; i < REC_STRING_LEN / sizeof(word) && i * sizeof(word) < bytes; i++) {
		word = stack->text[i];
		if (bytes - i * sizeof(word) < sizeof(word))
			word &= (1ull << 8 * (bytes & 7)) - 1;
		key = (key ^ word) * 0x9e3779b97f4a7c15ull;
		key ^= key >> 32;
	}
	return key;
}

__weak __noinline __u64 text_key_once(struct call_stack *stack, __u32 bytes)
{
	return text_key_in(stack, bytes);
}

__weak __noinline __u64 text_key_found(__u32 bytes)
{
	return text_key_in(current_stack(), bytes);
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
	frame->text = ONCE(text_key, stack, bytes);
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

/* The frames up to the last one that is in use. */
static __always_inline void trim(struct call_stack *stack)
{
	for (__u32 i = 0; i < REC_CALL_DEPTH; i++) {
		__u32 last = stack->depth - 1;

		if (last >= REC_CALL_DEPTH || stack->frames[last].sp)
			return;
		stack->depth = last;
	}
}

/* Calls of this session, which are recorded even if nobody saw how they ended. */
static __noinline void end_unseen(struct call_stack *stack, struct call_frame *frame, __u32 how)
{
	emit_unended(frame, how, stack->tgid, stack->tid, bpf_ktime_get_ns());
	frame->sp = 0;
}

/* What a slot was compared with is forgotten by verifiers that see it widened (6.1) or added to (6.12), and by compilers. */
static __always_inline struct call_frame *frame_at(struct call_stack *stack, __u32 slot)
{
	asm volatile("" : "+r"(slot));
	return &stack->frames[slot & (REC_CALL_DEPTH - 1)];
}

/* Others' return probes, or this session's, put the kernel's address where the return address was. */
static __noinline bool is_trampoline(__u64 address)
{
	struct task_struct *task = current_task();

	return address && address == BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
}

#define FRAME_STAYS 0 /* besides CALL_LEFT and CALL_ENTRY */
#define PROBE_REACH 64 /* a function's probe is not further behind its first instruction */

/* Is the call that begins the one in which @frame's went on? It returns to the same caller, and was jumped to. */
static __always_inline bool went_on_in(const struct call_stack *stack,
				       const struct call_frame *frame, __u32 probe)
{
	if (frame->flags & FRAME_RETURNS)
		return stack->armed;
	return frame->flags & FRAME_TAILED && frame->probe != probe &&
	       (frame->returns_to == stack->returns_to || stack->armed) &&
	       (!frame->goes_to || stack->ip - frame->goes_to < PROBE_REACH);
}

/*
 * What became of a call when another begins at @sp, or one that began at @sp has ended
 * (@probe is NO_PROBE). One that began further down the same stack is gone; of other
 * stacks nothing is known. One at the same place goes on in the new one if it jumped there.
 */
static __always_inline __u32 fate(const struct call_stack *stack, const struct call_frame *frame,
				  __u64 sp, __u32 probe)
{
	bool own = on_own_stack(stack, sp) && on_own_stack(stack, frame->sp);

	if (!frame->sp || frame->sp > sp)
		return FRAME_STAYS;
	if (frame->sp < sp)
		return !own ? FRAME_STAYS : frame->flags & FRAME_TAILED ? CALL_ENTRY : CALL_LEFT;
	if (probe == NO_PROBE || went_on_in(stack, frame, probe))
		return FRAME_STAYS;
	return own && !(frame->flags & FRAME_TAILED) ? CALL_LEFT : CALL_ENTRY;
}

/* Takes off the calls that are gone. */
static __always_inline int settle_in(struct call_stack *stack, __u64 sp, __u32 probe)
{
	if (!stack)
		return 0;
	for (__u32 i = 0; i < REC_CALL_DEPTH; i++) {
		struct call_frame *frame = &stack->frames[i];
		__u32 how;

		if (i >= stack->depth)
			break;
		how = fate(stack, frame, sp, probe);
		if (!how)
			continue;
		/* That stack may have been moved away, and come back: two calls at one place. */
		if (frame->sp == sp && !on_own_stack(stack, sp))
			stack->unsure = FRAME_UNSURE;
		end_unseen(stack, frame, how);
	}
	trim(stack);
	return 0;
}

__weak __noinline int settle_once(struct call_stack *stack, __u64 sp, __u32 probe)
{
	return settle_in(stack, sp, probe);
}

/* Apart from the looking up, with which clang 19 needs too much stack. */
static __noinline int settle_looked_up(struct call_stack *stack, __u64 sp, __u32 probe)
{
	return settle_in(stack, sp, probe);
}

__weak __noinline int settle_found(__u64 sp, __u32 probe)
{
	return settle_looked_up(current_stack(), sp, probe);
}

static __always_inline void settle(struct call_stack *stack, __u64 sp, __u32 probe)
{
	ONCE(settle, stack, sp, probe);
}

/*
 * A place for a call where all are taken: one in between that is free, or that of a call on a stack
 * that is not the thread's own. REC_CALL_DEPTH: none.
 */
static __always_inline __u32 spare_slot_in(struct call_stack *stack)
{
	__u32 other = REC_CALL_DEPTH;

	if (!stack)
		return REC_CALL_DEPTH;
	for (__u32 i = 0; i < REC_CALL_DEPTH; i++) {
		struct call_frame *frame = &stack->frames[i];

		if (!frame->sp)
			return i;
		if (other == REC_CALL_DEPTH && !on_own_stack(stack, frame->sp))
			other = i;
	}
	if (other < REC_CALL_DEPTH)
		end_unseen(stack, frame_at(stack, other), CALL_ENTRY);
	return other;
}

__weak __noinline int spare_slot_once(struct call_stack *stack)
{
	return spare_slot_in(stack);
}

__weak __noinline int spare_slot_found(void)
{
	return spare_slot_in(current_stack());
}

static __always_inline __u32 spare_slot(struct call_stack *stack)
{
	return ONCE(spare_slot, stack);
}

/* Calls around one that begins at @sp, where the last one begun is on another stack. */
static __always_inline __u32 depth_in(const struct call_stack *stack, __u64 sp)
{
	__u32 depth = 0;

	if (!stack)
		return 0;
	for (__u32 i = 0; i < REC_CALL_DEPTH; i++) {
		const struct call_frame *frame = &stack->frames[i];

		if (i >= stack->depth)
			break;
		if (frame->sp >= sp && on_own_stack(stack, frame->sp) == on_own_stack(stack, sp))
			depth++;
	}
	return depth;
}

__weak __noinline int depth_once(struct call_stack *stack, __u64 sp)
{
	return depth_in(stack, sp);
}

__weak __noinline int depth_found(__u64 sp)
{
	return depth_in(current_stack(), sp);
}

static __always_inline void read_return_address(struct pt_regs *ctx, __u64 *returns_to)
{
	*returns_to = 0;
#if defined(__TARGET_ARCH_x86)
	bpf_probe_read_user(returns_to, sizeof(*returns_to), (void *)PT_REGS_SP(ctx));
#else
	*returns_to = ctx->regs[30];
#endif
}

/* The slot for a call that begins at @sp, where that is not simply the next one; REC_CALL_DEPTH: none. */
static __noinline __u32 make_room(struct pt_regs *ctx, struct call_stack *stack, __u64 sp)
{
	__u32 slot;

	stack->ip = PT_REGS_IP(ctx);
	read_return_address(ctx, &stack->returns_to);
	stack->armed = is_trampoline(stack->returns_to);
	settle(stack, sp, stack->probe);
	slot = stack->depth < REC_CALL_DEPTH ? stack->depth : (__u32)spare_slot(stack);
	if (slot < REC_CALL_DEPTH)
		frame_at(stack, slot)->depth = ONCE(depth, stack, sp);
	else
		lost_call(LOSS_TOO_DEEP, 1);
	return slot;
}

/* The same, mostly the next one. */
static __always_inline __u32 next_slot(struct pt_regs *ctx, struct call_stack *stack, __u64 sp,
				       bool exact)
{
	__u32 slot = stack->depth, last = slot - 1;
	const struct call_frame *around;

	stack->unsure = 0;
	if (!slot) {
		stack->frames[0].depth = 0;
		return 0;
	}
	around = frame_at(stack, last);
	if (slot < REC_CALL_DEPTH && around->sp > sp) {
		frame_at(stack, slot)->depth = around->depth + 1;
		return slot;
	}
	refresh_own_stack(stack, exact);
	return make_room(ctx, stack, sp);
}

static __noinline void take_return_address(struct pt_regs *ctx, struct call_frame *frame)
{
	read_return_address(ctx, &frame->returns_to);
}

/* A call of which nothing more will be seen. */
static __noinline void entry_only(struct call_stack *stack, __u32 slot)
{
	struct call_frame *frame = frame_at(stack, slot);

	hot_hits[frame->probe & (MAX_PROBES - 1)]++;
	end_unseen(stack, frame, CALL_ENTRY);
	trim(stack);
}

static __noinline void exit_at_entry(struct pt_regs *ctx, struct call_stack *stack, __u32 slot,
				     __u64 cookie);

/* May a return probe write into the stack for this call? */
static __always_inline bool is_armed(struct call_stack *stack, __u64 sp, bool exact)
{
	refresh_own_stack(stack, exact);
	return on_own_stack(stack, sp);
}

/*
 * Returns the slot taken for the call, or SLOT_NONE if it is not wanted or its end will not be
 * seen. @exact: see find_own_stack(). What takes stack is not inlined.
 */
static __always_inline __u64 enter(struct pt_regs *ctx, __u32 probe, __u32 seen_by, bool exact)
{
	struct call_stack *stack = target_stack();
	const struct probe_conf *conf;
	struct call_frame *frame;
	__u32 slot;

	if (!stack)
		return SLOT_NONE;
	stack->probe = probe;
	conf = bpf_map_lookup_elem(&probes, &stack->probe);
	if (!conf) {
		lost_call(LOSS_PLACE, 1);
		return SLOT_NONE;
	}
	slot = next_slot(ctx, stack, PT_REGS_SP(ctx), exact);
	if (slot >= REC_CALL_DEPTH)
		return SLOT_NONE;
	frame = frame_at(stack, slot);
	frame->probe = stack->probe;
	frame->flags = FRAME_FLAGS(conf->flags) | seen_by | stack->unsure;
	frame->sp = PT_REGS_SP(ctx);
	if (seen_by == FRAME_EXITS)
		take_return_address(ctx, frame);
	take_arguments(ctx, stack, conf, frame);
	if (slot >= stack->depth)
		stack->depth = slot + 1;
	frame->start_ns = bpf_ktime_get_ns();
	if (conf->flags & (PROBE_STRING | PROBE_NAMES_CHANGED))
		name_call(ctx, conf, stack, frame);
	if (conf->entry_only ||
	    (seen_by == FRAME_RETURNS && !is_armed(stack, frame->sp, exact))) {
		entry_only(stack, slot);
		return SLOT_NONE;
	}
	if (seen_by == FRAME_EXITS && conf->exit)
		exit_at_entry(ctx, stack, slot, conf->exit);
	return slot;
}

static __noinline __u64 enter_returning(struct pt_regs *ctx, __u32 probe)
{
	return enter(ctx, probe, FRAME_RETURNS, true);
}

static __noinline __u64 enter_place(struct pt_regs *ctx, __u32 probe)
{
	return enter(ctx, probe, FRAME_EXITS, true);
}

/* Before 5.17. */
static __noinline __u64 enter_place_near(struct pt_regs *ctx, __u32 probe)
{
	return enter(ctx, probe, FRAME_EXITS, false);
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
static __noinline void write_call(struct call_stack *stack, const struct call_frame *frame,
				  __u64 returned, __u64 dur)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u16 flags;
	struct rec_call *r;
	void *ring;

	ring = bpf_map_lookup_elem(&rings, &cpu);
	r = ring ? bpf_ringbuf_reserve(ring, sizeof(*r), 0) : NULL;
	if (!r) {
		lost_call(LOSS_RING_FULL, 1);
		return;
	}
	flags = frame->flags | frame->depth << CALL_DEPTH_SHIFT;
	if (!returned)
		flags |= CALL_RET_ZERO;
	r->header.type = REC_CALL;
	r->header.flags = flags;
	r->header.cpu = cpu;
	r->header.ts_ns = frame->start_ns;
	r->dur_ns = dur;
	r->tgid = stack->tgid;
	r->tid = stack->tid;
	r->probe = frame->probe;
	r->ret = (__u32)returned;
	r->args[0] = frame->args[0];
	r->args[1] = frame->args[1];
	if (frame->flags & FRAME_OUT)
		r->args[2] = read_out(frame->probe, frame->args[2]);
	else if (frame->flags & FRAME_RETURN)
		r->args[2] = returned;
	else
		r->args[2] = frame->args[2];
	r->text = frame->text;
	bpf_ringbuf_submit(r, ++stack->produced < RECORDS_PER_LOOK ? BPF_RB_NO_WAKEUP
								   : submit_flags(stack, ring));
}

/* What of the others is gone, now that the call at @sp has ended. */
static __noinline void settle_rest(struct call_stack *stack, __u32 slot, __u64 sp)
{
	if (slot + 1 < stack->depth)
		settle(stack, sp, NO_PROBE);
	else
		trim(stack);
}

/* A call has ended, the one in @slot. Not static: looked at once, not for each way to it. */
__weak __noinline int leave(struct call_stack *stack, __u32 slot, __u64 sp, __u64 now, __u64 returned)
{
	struct call_frame *frame;
	__u64 dur;

	if (!stack)
		return 0;
	frame = frame_at(stack, slot);
	dur = now - frame->start_ns;
	if (frame->flags & FRAME_UNSURE)
		end_unseen(stack, frame, CALL_ENTRY);
	else if (dur < settings.min_duration_ns && !(frame->flags & FRAME_KEEP))
		count_short(stack, frame->probe, dur, now);
	else
		write_call(stack, frame, returned, dur);
	frame->sp = 0;
	if (slot + 1 == stack->depth && (!slot || frame_at(stack, slot - 1)->sp))
		stack->depth = slot;
	else
		settle_rest(stack, slot, sp);
	return 0;
}

/* The last call begun at @sp whose end is seen by @seen_by; REC_CALL_DEPTH if there is none. */
static __always_inline __u32 find_slot_in(struct call_stack *stack, __u64 sp, __u32 seen_by)
{
	if (!stack)
		return REC_CALL_DEPTH;
	for (__u32 i = 0; i < REC_CALL_DEPTH; i++) {
		__u32 slot = stack->depth - 1 - i;

		if (slot >= REC_CALL_DEPTH)
			return REC_CALL_DEPTH;
		if (stack->frames[slot].sp == sp && stack->frames[slot].flags & seen_by)
			return slot;
	}
	return REC_CALL_DEPTH;
}

__weak __noinline int find_slot_once(struct call_stack *stack, __u64 sp, __u32 seen_by)
{
	return find_slot_in(stack, sp, seen_by);
}

__weak __noinline int find_slot_found(__u64 sp, __u32 seen_by)
{
	return find_slot_in(current_stack(), sp, seen_by);
}

static __always_inline __u32 find_slot(struct call_stack *stack, __u64 sp, __u32 seen_by)
{
	return ONCE(find_slot, stack, sp, seen_by);
}

/* Mostly it is the last one. */
static __always_inline __u32 slot_at(struct call_stack *stack, __u64 sp, __u32 seen_by)
{
	__u32 last = stack->depth - 1;

	if (last < REC_CALL_DEPTH && stack->frames[last].sp == sp &&
	    stack->frames[last].flags & seen_by)
		return last;
	return find_slot(stack, sp, seen_by);
}

/* A function that went on in another one ends with it. */
static __noinline void leave_around(struct pt_regs *ctx, struct call_stack *stack, __u64 sp, __u64 now)
{
	for (__u32 i = 0; i < REC_CALL_DEPTH; i++) {
		__u32 slot = find_slot(stack, sp, FRAME_TAILED | FRAME_RETURNS);

		/* A return probe is still to come for that one. */
		if (slot >= REC_CALL_DEPTH || frame_at(stack, slot)->flags & FRAME_RETURNS)
			return;
		leave(stack, slot, sp, now, PT_REGS_RC(ctx));
	}
}

static __always_inline void at_return(struct pt_regs *ctx, struct call_stack *stack, __u32 slot,
				      __u64 sp, __u64 now)
{
	__u32 last;

	leave(stack, slot, sp, now, PT_REGS_RC(ctx));
	last = stack->depth - 1;
	if (last < REC_CALL_DEPTH && stack->frames[last].sp == sp)
		leave_around(ctx, stack, sp, now);
}

static __always_inline __u64 *session_cookie(struct pt_regs *ctx)
{
	return bpf_ksym_exists(bpf_session_cookie___context) ? bpf_session_cookie___context(ctx)
							     : bpf_session_cookie();
}

static __always_inline void leave_by_return_probe(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns(), sp = PT_REGS_SP(ctx);
	struct call_stack *stack = current_stack();
	__u32 slot;

	asm volatile("" : "+r"(sp));
	if (!stack)
		return;
#if defined(__TARGET_ARCH_x86)
	sp -= 8; /* the return has popped the return address */
#endif
	slot = slot_at(stack, sp, FRAME_RETURNS);
	if (slot < REC_CALL_DEPTH)
		at_return(ctx, stack, slot, sp, now);
}

/*
 * Of functions that are left only by returning: the kernel puts its own address where the return
 * address was, for calls on the thread's own stack. The cookie is 0 at entry, by the kernel's
 * doing, and 1 at return: no need to ask which it is.
 */
SEC("uprobe.multi")
int api_session(struct pt_regs *ctx)
{
	__u64 *cookie = session_cookie(ctx);

	if (*cookie) {
		leave_by_return_probe(ctx);
		return 0;
	}
	*cookie = enter_returning(ctx, bpf_get_attach_cookie(ctx)) != SLOT_NONE;
	return !*cookie; /* 1: do not come back at return */
}

/* ---- Ends of calls, seen at the instructions that end them */

/*
 * Does the call in @slot return to where it was called from? A call that an exception or a longjmp left may
 * have been followed by one of another function at the same place.
 */
static __noinline bool returns_home(struct pt_regs *ctx, struct call_stack *stack, __u32 slot)
{
	read_return_address(ctx, &stack->returns_to);
	return stack->returns_to == frame_at(stack, slot)->returns_to ||
	       is_trampoline(stack->returns_to);
}

/* All side by side, numbered as the instructions do. Nothing is beginning: their place is free. */
static __always_inline void take_numbered(struct pt_regs *ctx, struct call_stack *stack)
{
	__u64 *at = stack->registers;

	stack->text[0] = PT_REGS_IP(ctx);
#if defined(__TARGET_ARCH_x86)
	at[0] = ctx->ax;
	at[1] = ctx->cx;
	at[2] = ctx->dx;
	at[3] = ctx->bx;
	at[4] = ctx->sp;
	at[5] = ctx->bp;
	at[6] = ctx->si;
	at[7] = ctx->di;
	at[8] = ctx->r8;
	at[9] = ctx->r9;
	at[10] = ctx->r10;
	at[11] = ctx->r11;
	at[12] = ctx->r12;
	at[13] = ctx->r13;
	at[14] = ctx->r14;
	at[15] = ctx->r15;
#else
	at[0] = ctx->regs[16]; /* no others are used: control_flow.c */
	at[1] = ctx->regs[17];
#endif
}

static __always_inline __u64 numbered(const struct call_stack *stack, __u8 number)
{
	if (number == EXIT_IP)
		return stack->text[0];
	return number == EXIT_NO_REGISTER ? 0 : stack->registers[number & (REGISTERS - 1)];
}

/* Where an indirect jump leads; 0 if it stays in the function, or if it is not known. */
static __noinline __u64 jump_target(struct pt_regs *ctx, struct call_stack *stack,
				    const struct exit_conf *conf)
{
	__u64 target;
	__s64 distance;

	take_numbered(ctx, stack);
	target = numbered(stack, conf->base) + conf->displacement;
	target += numbered(stack, conf->index) * conf->scale;
	if (conf->in_memory && bpf_probe_read_user(&target, sizeof(target), (void *)target))
		return 0;
	distance = target - stack->text[0];
	return distance >= conf->own_start && distance < conf->own_end ? 0 : target;
}

#define NEAR 0x1000000 /* no two files are mapped closer to one another, but for small ones */

/*
 * Through the linkage table to a function that was not called yet: the loader looks it up first, and jumps
 * to it then. The table's slot still leads to the table itself, not far away.
 */
static __always_inline bool is_unbound(const struct call_stack *stack, const struct exit_conf *conf)
{
	return conf->in_memory && conf->base == EXIT_IP &&
	       stack->tail.address - stack->text[0] + NEAR < 2 * NEAR;
}

/* The daemon probes where calls go on, and says so in the table. */
static __noinline void ask_for_tail(struct call_stack *stack)
{
	__u32 asked = TAIL_ASKED;
	struct rec_tail *r;
	struct emit e;

	if (bpf_map_update_elem(&tail_targets, &stack->tail, &asked, BPF_NOEXIST))
		return;
	r = emit_begin(&e, SOURCE_TASK, sizeof(*r));
	if (!r)
		return;
	header_fill(&r->header, REC_TAIL, 0, bpf_ktime_get_ns());
	r->tgid = stack->tail.tgid;
	r->reserved = 0;
	r->address = stack->tail.address;
	emit_end(&e, true);
}

static __noinline void at_indirect_jump(struct pt_regs *ctx, struct call_stack *stack, __u32 slot,
					__u32 exit)
{
	struct call_frame *frame = frame_at(stack, slot);
	const struct exit_conf *conf;
	__u32 *known;

	stack->probe = exit;
	conf = bpf_map_lookup_elem(&exit_confs, &stack->probe);
	if (!conf)
		return;
	stack->tail.address = jump_target(ctx, stack, conf);
	if (!stack->tail.address)
		return;
	stack->tail.tgid = stack->tgid;
	known = bpf_map_lookup_elem(&tail_targets, &stack->tail);
	frame->flags |= FRAME_TAILED;
	frame->goes_to = (known && *known == TAIL_PROBED) || is_unbound(stack, conf) ?
				 0 :
				 stack->tail.address;
	if (!known)
		ask_for_tail(stack);
}

static __always_inline void went_on(struct call_frame *frame)
{
	frame->flags |= FRAME_TAILED;
	frame->goes_to = 0;
}

/* A function that does nothing but jump to another one. */
static __noinline void exit_at_entry(struct pt_regs *ctx, struct call_stack *stack, __u32 slot,
				     __u64 cookie)
{
	__u32 kind = cookie >> PLACE_KIND_SHIFT & PLACE_KIND_MASK;

	exit_hits[(__u32)cookie & (EXITS_MAX - 1)]++;
	if (kind == PLACE_JUMP)
		went_on(frame_at(stack, slot));
	else
		at_indirect_jump(ctx, stack, slot, cookie);
}

/*
 * At a return the stack pointer is what it was at the entry, so it is at a jump to another function.
 * Elsewhere in a function that jumps to a part of itself it is not, and nothing is done.
 */
static __always_inline void exit_reached(struct pt_regs *ctx, __u64 cookie)
{
	__u64 now = bpf_ktime_get_ns(), sp = PT_REGS_SP(ctx);
	__u32 kind = cookie >> PLACE_KIND_SHIFT & PLACE_KIND_MASK, slot;
	struct call_stack *stack;

	asm volatile("" : "+r"(sp));
	exit_hits[(__u32)cookie & (EXITS_MAX - 1)]++;
	stack = current_stack();
	if (!stack || !stack->depth)
		return;
	slot = slot_at(stack, sp, FRAME_EXITS | FRAME_RETURNS);
	/* What went on in a function with a return probe ends with it. */
	if (slot >= REC_CALL_DEPTH || frame_at(stack, slot)->flags & FRAME_RETURNS ||
	    !returns_home(ctx, stack, slot))
		return;
	if (kind == PLACE_RETURN)
		at_return(ctx, stack, slot, sp, now);
	else if (kind == PLACE_JUMP)
		went_on(frame_at(stack, slot));
	else
		at_indirect_jump(ctx, stack, slot, cookie);
}

static __always_inline void at_place(struct pt_regs *ctx, __u64 cookie, bool exact)
{
	/* An unknown place is taken for an entry, which counts it as lost. */
	if (cookie >> PLACE_KIND_SHIFT & PLACE_KIND_MASK && cookie != NO_COOKIE)
		exit_reached(ctx, cookie);
	else if (exact)
		enter_place(ctx, cookie);
	else
		enter_place_near(ctx, cookie);
}

SEC("uprobe.multi")
int api_place(struct pt_regs *ctx)
{
	at_place(ctx, bpf_get_attach_cookie(ctx), true);
	return 0;
}

#if defined(__TARGET_ARCH_x86)
#define BREAKPOINT 0xcc
#define SHADOW_STACK 1 /* ARCH_SHSTK_SHSTK of task_struct.thread.features */

struct thread_struct___shadow {
	unsigned long features;
} __attribute__((preserve_access_index));

struct task_struct___shadow {
	struct thread_struct___shadow thread;
} __attribute__((preserve_access_index));

/* Returns would have to be taken off the shadow stack, too. */
static __always_inline bool has_shadow_stack(void)
{
	struct task_struct___shadow *task = (void *)current_task();

	return bpf_core_field_exists(task->thread.features) &&
	       BPF_CORE_READ(task, thread.features) & SHADOW_STACK;
}

/*
 * Does the return instruction that the probe is at, so that the kernel need not step over it. In
 * doubt the kernel does: if another tracer's program, which comes first, has done it already, the
 * instruction pointer is not at the probe any more.
 */
static __noinline int do_return(struct pt_regs *ctx, __u64 cookie)
{
	__u64 sp = ctx->sp, ip = ctx->ip, returns_to = 0;
	__u8 byte = 0;

	if ((ip ^ cookie >> PLACE_OFFSET_SHIFT) & 0xfff || has_shadow_stack())
		return 0;
	if (bpf_probe_read_user(&byte, sizeof(byte), (void *)ip) || byte != BREAKPOINT)
		return 0;
	if (bpf_probe_read_user(&returns_to, sizeof(returns_to), (void *)sp) || !returns_to)
		return 0;
	ctx->sp = sp + sizeof(returns_to);
	ctx->ip = returns_to;
	return 0;
}
#else
static __always_inline int do_return(struct pt_regs *ctx, __u64 cookie)
{
	return 0;
}
#endif

/* On kernels where a program may write the registers of the thread that it interrupts. */
SEC("uprobe.multi")
int api_place_returning(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);

	at_place(ctx, cookie, true);
	if (cookie & PLACE_RETURN_PLAIN)
		do_return(ctx, cookie);
	return 0;
}

SEC("uprobe")
int api_place_perf(struct pt_regs *ctx)
{
	at_place(ctx, attach_cookie(ctx, PROBED_ENTRY), false);
	return 0;
}

/*
 * The calls of a thread will not return any more; its counts and its place are given back.
 * When recording has ended, open_calls() writes what is open.
 */
static __always_inline void close_stack(struct task_struct *task, struct call_stack *stack)
{
	if (is_target(task->tgid))
		emit_open_calls(task, stack, 0, bpf_ktime_get_ns());
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

/*
 * No call of the program before returns any more, nor may one of the new program's be taken for it. A thread
 * that is not its process' first takes over the first one's id.
 */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(api_exec, struct task_struct *task, int old_tid)
{
	struct call_stack *stack = old_tid == task->pid ? stack_of(task) : near_stack(task, old_tid);

	names_change();
	if (!stack)
		return 0;
	if (old_tid != task->pid) {
		close_stack(task, stack);
		return 0;
	}
	if (is_target_thread(task))
		emit_open_calls(task, stack, 0, bpf_ktime_get_ns());
	stack->depth = 0;
	stack->own_version = 0;
	return 0;
}

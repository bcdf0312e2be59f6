/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* exit_places.bpf.h - ends of calls, seen at the instructions that end them. */
#ifndef PROFBPF_EXIT_PLACES_BPF_H
#define PROFBPF_EXIT_PLACES_BPF_H

#include "call_end.bpf.h"
#include "call_entry.bpf.h"

#define ZERO_FLAG 0x40 /* of x86-64's flags: what was compared is equal */

/* Does the jne before an exit jump? Then the stack protector ends the program, and the exit is not reached. */
static __always_inline bool jumps_away(struct pt_regs *ctx, __u64 cookie)
{
#if defined(__TARGET_ARCH_x86)
	return cookie & PLACE_EARLY && !(ctx->flags & ZERO_FLAG);
#else
	return false;
#endif
}

/* The stack pointer at the exit that the probed place stands for. */
static __always_inline __u64 exit_stack_pointer(struct pt_regs *ctx, __u64 cookie)
{
	return PT_REGS_SP(ctx) + (cookie >> PLACE_BELOW_SHIFT & PLACE_BELOW_MASK) * 8;
}

/*
 * Does this exit return to the caller of the call in @slot? After an exception or a longjmp has left that call,
 * another function may have been called with the same stack pointer.
 */
static __noinline bool returns_home(struct pt_regs *ctx, struct call_stack *stack, __u32 slot, __u64 cookie)
{
	read_return_address(ctx, exit_stack_pointer(ctx, cookie), &stack->returns_to);
	return stack->returns_to == frame_at(stack, slot)->returns_to ||
	       is_trampoline(stack->returns_to);
}

#define NOT_THERE REC_CALL_DEPTH

/*
 * Finds the call whose return another program has already done, for example one of another session that probes
 * the same file. The stack pointer then is above the return address, and the instruction pointer is that address.
 */
static __noinline __u32 slot_returned(struct pt_regs *ctx, struct call_stack *stack)
{
#if defined(__TARGET_ARCH_x86)
	__u64 sp = PT_REGS_SP(ctx) - sizeof(sp);
	__u32 slot = find_slot(stack, sp, FRAME_EXITS);

	if (slot >= REC_CALL_DEPTH)
		return NOT_THERE;
	stack->returns_to = 0;
	bpf_probe_read_user(&stack->returns_to, sizeof(stack->returns_to), (void *)sp);
	if (stack->returns_to == PT_REGS_IP(ctx) &&
	    (stack->returns_to == frame_at(stack, slot)->returns_to || is_trampoline(stack->returns_to)))
		return slot;
#endif
	return NOT_THERE;
}

static __always_inline void end_returned(struct pt_regs *ctx, struct call_stack *stack, __u64 now)
{
	__u32 slot = slot_returned(ctx, stack);

	if (slot < REC_CALL_DEPTH)
		at_return(ctx, stack, slot, frame_at(stack, slot)->sp, now);
}

/* Copies the registers by their numbers in instructions. No call begins here, so stack->registers is free. */
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
	at[0] = ctx->regs[16]; /* tail jumps use x16 and x17 only: control_flow.c */
	at[1] = ctx->regs[17];
#endif
}

static __always_inline __u64 numbered(const struct call_stack *stack, __u8 number)
{
	if (number == EXIT_IP)
		return stack->text[0];
	return number == EXIT_NO_REGISTER ? 0 : stack->registers[number & (REGISTERS - 1)];
}

#define NOT_READ 1 /* instead of a target: the memory that holds it could not be read */

/* The target of an indirect jump, or NOT_READ; 0 if it is in the same function. */
static __noinline __u64 jump_target(struct pt_regs *ctx, struct call_stack *stack,
				    const struct exit_conf *conf)
{
	__u64 target;
	__s64 distance;

	take_numbered(ctx, stack);
	target = numbered(stack, conf->base) + conf->displacement;
	target += numbered(stack, conf->index) * conf->scale;
	stack->registers[0] = 0; /* as take_registers() leaves it */
	if (conf->loads && bpf_probe_read_user(&target, sizeof(target), (void *)target))
		return NOT_READ;
	if (conf->loads == 2 && bpf_probe_read_user(&target, sizeof(target), (void *)(target + conf->inner)))
		return NOT_READ;
	distance = target - stack->text[0];
	return distance >= conf->own_start && distance < conf->own_end ? 0 : target;
}

#define NEAR 0x1000000 /* only small files are mapped closer to one another */

/*
 * Is this a jump through the procedure linkage table to a function that is not bound yet? The dynamic loader
 * resolves it first and then jumps to it; until then the slot points back into the table itself, which is near.
 */
static __always_inline bool is_unbound(const struct call_stack *stack, const struct exit_conf *conf)
{
	return conf->loads && conf->base == EXIT_IP &&
	       stack->tail.address - stack->text[0] + NEAR < 2 * NEAR;
}

/* Asks the daemon to probe the ends of the code at the jump's target; the daemon answers in tail_targets. */
static __noinline void ask_for_tail(struct call_stack *stack, __u32 probe)
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
	r->probe = probe;
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
	/* The call leaves the function; its end will not be known. */
	if (stack->tail.address == NOT_READ) {
		frame->flags |= FRAME_TAILED;
		frame->goes_to = NOT_READ;
		return;
	}
	stack->tail.tgid = stack->tgid;
	known = bpf_map_lookup_elem(&tail_targets, &stack->tail);
	frame->flags |= FRAME_TAILED;
	frame->goes_to = (known && *known == TAIL_PROBED) || is_unbound(stack, conf) ?
				 0 :
				 stack->tail.address;
	if (!known)
		ask_for_tail(stack, frame->probe);
}

static __always_inline void went_on(struct call_frame *frame)
{
	frame->flags |= FRAME_TAILED;
	frame->goes_to = 0;
}

/* For a function that consists of a jump to another function. */
static __noinline void exit_at_entry(struct pt_regs *ctx, struct call_stack *stack, __u32 slot,
				     __u64 cookie)
{
	__u32 kind = cookie >> PLACE_KIND_SHIFT & PLACE_KIND_MASK;

	exit_hits[(__u32)cookie & (EXITS_MAX - 1)]++;
	if (jumps_away(ctx, cookie))
		return;
	if (kind == PLACE_JUMP)
		went_on(frame_at(stack, slot));
	else
		at_indirect_jump(ctx, stack, slot, cookie);
}

/*
 * At a return and at a tail jump the stack pointer is the same as at the entry. At other jumps within a
 * function it differs: no call is found, and nothing is done.
 */
static __always_inline void exit_reached(struct pt_regs *ctx, __u64 cookie, bool returning)
{
	__u64 now = bpf_ktime_get_ns(), sp = exit_stack_pointer(ctx, cookie);
	__u32 kind = cookie >> PLACE_KIND_SHIFT & PLACE_KIND_MASK, slot;
	struct call_stack *stack;

	asm volatile("" : "+r"(sp));
	exit_hits[(__u32)cookie & (EXITS_MAX - 1)]++;
	stack = current_stack();
	if (!stack || !stack->depth || jumps_away(ctx, cookie))
		return;
	slot = slot_at(stack, sp, FRAME_EXITS | FRAME_RETURNS);
	if (returning && slot >= REC_CALL_DEPTH && cookie & PLACE_RETURN_PLAIN) {
		end_returned(ctx, stack, now);
		return;
	}
	/* A call that continued in a function with a return probe ends with that function. */
	if (slot >= REC_CALL_DEPTH || frame_at(stack, slot)->flags & FRAME_RETURNS ||
	    !returns_home(ctx, stack, slot, cookie))
		return;
	if (kind == PLACE_RETURN) {
		stack->value_later = cookie & PLACE_VALUE_LATER ? 1 : 0;
		at_return(ctx, stack, slot, sp, now);
		stack->value_later = 0;
	} else if (kind == PLACE_JUMP) {
		went_on(frame_at(stack, slot));
	} else {
		at_indirect_jump(ctx, stack, slot, cookie);
	}
}

/* @returning: on this kernel programs execute the return instruction, this one or another session's. */
static __always_inline void at_place(struct pt_regs *ctx, __u64 cookie, bool exact, bool returning)
{
	/* An unknown place is treated as an entry, which counts the call as lost. */
	if (cookie >> PLACE_KIND_SHIFT & PLACE_KIND_MASK && cookie != NO_COOKIE)
		exit_reached(ctx, cookie, returning);
	else if (exact)
		enter_place(ctx, cookie);
	else
		enter_place_near(ctx, cookie);
}

#endif /* PROFBPF_EXIT_PLACES_BPF_H */

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * call_arguments.bpf.h - arguments of calls, including strings and names.
 *
 * A string is sent once; afterwards its key stands for it. The name of an object is kept with the thread.
 */
#ifndef PROFBPF_CALL_ARGUMENTS_BPF_H
#define PROFBPF_CALL_ARGUMENTS_BPF_H

#include "api_maps.bpf.h"

/* Positions count from 1. On x86-64 the return address lies between the stack pointer and the 7th. */
#if defined(__TARGET_ARCH_arm64)
#define REGISTER_ARGUMENTS 8
#define STACK_ARGUMENT_0 9
#else
#define REGISTER_ARGUMENTS 6
#define STACK_ARGUMENT_0 6
#endif

static __always_inline __u64 narrow(__u64 value, __u8 width)
{
	switch (width) {
	case 1: return (__u8)value;
	case 2: return (__u16)value;
	case 4: return (__u32)value;
	default: return value;
	}
}

/*
 * Copies all argument registers into an array indexed by position, which is faster than a switch over
 * the position. Position 0 stands for an unused argument and stays 0.
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

/*
 * Returns the argument at @position of a call that begins with the stack pointer @sp, after take_registers(). This
 * function and the next are not static: the verifier checks a global function once, not at each of its calls.
 */
__weak __noinline __u64 argument(struct call_stack *stack, __u32 position, __u64 sp)
{
	__u64 value = 0;

	if (!stack)
		return 0;
	if (position <= REGISTER_ARGUMENTS)
		return register_at(stack, position);
	bpf_probe_read_user(&value, sizeof(value),
			    (void *)(sp + 8 * (position - STACK_ARGUMENT_0)));
	return value;
}

__weak __noinline __u64 read_argument(struct call_stack *stack, const struct probe_argument *arg,
				      __u64 sp)
{
	__u64 value, through = 0;

	if (!stack || !arg)
		return 0;
	value = argument(stack, arg->position, sp);
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

/* Reads the arguments of a function some of whose arguments are in memory. */
static __noinline void read_arguments(struct call_stack *stack, const struct probe_conf *conf,
				      struct call_frame *frame)
{
	for (__u32 i = 0; i < REC_ARGS; i++) {
		const struct probe_argument *arg = &conf->args[i];

		if (i == 2 && conf->flags & PROBE_OUT)
			frame->args[i] = argument(stack, arg->position, frame->sp);
		else
			frame->args[i] = arg->position ? read_argument(stack, arg, frame->sp) : 0;
	}
}

/* The upper bits of an argument narrower than a register are undefined: drops them. A width is 1, 2, 4 or 8. */
static __always_inline __u64 register_argument(const struct call_stack *stack,
					       const struct probe_argument *arg)
{
	__u32 unused = (64 - 8 * arg->width) & 63;

	return register_at(stack, arg->position) << unused >> unused;
}

static __always_inline void take_arguments(struct pt_regs *ctx, struct call_stack *stack,
					   const struct probe_conf *conf, struct call_frame *frame)
{
	take_registers(ctx, stack);
	if (conf->flags & PROBE_MEMORY) {
		read_arguments(stack, conf, frame);
		return;
	}
	frame->args[0] = register_argument(stack, &conf->args[0]);
	frame->args[1] = register_argument(stack, &conf->args[1]);
	frame->args[2] = conf->flags & PROBE_OUT ? register_at(stack, conf->args[2].position) :
						   register_argument(stack, &conf->args[2]);
}

static __noinline __u64 string_address(struct call_stack *stack, const struct probe_conf *conf,
				       __u64 sp)
{
	__u64 value = argument(stack, conf->string_position, sp), inner = 0;

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
 * ONCE() - calls a function on the current thread's stack that the verifier checks once
 *
 * NAME##_once() is global and takes a pointer to the stack. Before 5.12 a global function cannot take such a
 * pointer: there NAME##_found() looks the stack up again.
 */
#define ONCE(name, stack, ...)                                                 \
	(settings.global_pointers ? name##_once(stack, ##__VA_ARGS__) : \
				    name##_found(__VA_ARGS__))

#define TEXT_MARKS 4096 /* a power of two */

/* Keys of the strings that were sent, combined with the version; the last bits of a key are its index. */
volatile __u64 text_marks[TEXT_MARKS] __weak = {};

/* The daemon increases this when it has dropped its strings, so that they are sent again. */
volatile __u64 texts_version __weak = 0;

static __always_inline __u64 mix_word(__u64 key, __u64 word)
{
	key = (key ^ word) * 0x9e3779b97f4a7c15ull;
	return key ^ key >> 32;
}

/* The key of the first @bytes bytes of the text, 1 to REC_STRING_LEN; the rest of their last word is masked out. */
static __always_inline __u64 text_key_in(struct call_stack *stack, __u32 bytes)
{
	__u64 key = bytes, word;

	if (!stack)
		return 0;
	for (__u32 i = 0; i < REC_STRING_LEN / sizeof(word) && (i + 1) * sizeof(word) <= bytes; i++)
		key = mix_word(key, stack->text[i]);
	if (!(bytes & 7))
		return key;
	word = stack->text[bytes / sizeof(word) & (REC_STRING_LEN / sizeof(word) - 1)];
	return mix_word(key, word & ((1ull << 8 * (bytes & 7)) - 1));
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

/* Increased when kept names may have changed. */
volatile __u32 names_version __weak = 0;

static __always_inline void names_change(void)
{
	__sync_fetch_and_add(&names_version, 1);
}

/*
 * Kept names also expire when strings are sent again, and when the targets change: a process that was no target for a
 * while may have renamed its objects unseen.
 */
static __always_inline __u32 names_now(void)
{
	return names_version + (__u32)texts_version + targets_version;
}

/* A thread mostly repeats its last call: the name that was read for it is used again. */
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

/* Reads the call's string. Most strings were sent before: the record then only needs the key. */
static __noinline void take_string(const struct probe_conf *conf, struct call_stack *stack,
				   struct call_frame *frame)
{
	__u32 version = names_now();
	long bytes = bpf_probe_read_user_str(stack->text, sizeof(stack->text),
					     (void *)string_address(stack, conf, frame->sp));
	__u64 mark;

	frame->named = 0;
	if (bytes <= 1) /* unreadable or empty */
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

static __noinline void name_call(const struct probe_conf *conf, struct call_stack *stack,
				 struct call_frame *frame)
{
	if (conf->flags & PROBE_NAMES_CHANGED)
		names_change();
	if (!(conf->flags & PROBE_STRING))
		return;
	if (has_kept_name(stack, conf, frame))
		frame->flags |= CALL_HAS_STRING;
	else
		take_string(conf, stack, frame);
}

#endif /* PROFBPF_CALL_ARGUMENTS_BPF_H */

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * user_stack.bpf.h - walks the user stack of a thread that is in the kernel: by the unwind tables of the files whose
 * code it runs (unwind.bpf.h); by frame pointers while the daemon has not made the tables yet, and on kernels
 * without loops.
 *
 * The walk by frame pointers gives the result of bpf_get_stack(), mostly faster: in code without frame pointers (libc's,
 * for one) that register holds arbitrary values, and bpf_get_stack() stops only at a page fault. Here each frame must
 * be a little further up the same stack. Return addresses that return probes have replaced are
 * restored in the result, as bpf_get_stack() does since 6.11. For 32-bit processes only the current
 * instruction is recorded.
 */
#ifndef PROFBPF_USER_STACK_BPF_H
#define PROFBPF_USER_STACK_BPF_H

#include "unwind.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define USER_INSTRUCTION(regs) ((regs)->ip)
#define USER_STACK_POINTER(regs) ((regs)->sp)
#define USER_FRAME_POINTER(regs) ((regs)->bp)
#define USER_LINK(regs) 0ull /* calls leave the return address on the stack */
#define USER_ADDRESS(word) (word)
#define USER_IS_32_BIT(regs) ((regs)->cs == 0x23) /* __USER32_CS */
#else
#define USER_INSTRUCTION(regs) ((regs)->pc)
#define USER_STACK_POINTER(regs) ((regs)->sp)
#define USER_FRAME_POINTER(regs) ((regs)->regs[29])
#define USER_LINK(regs) ((regs)->regs[30])
/* Drops the upper bits, which may hold a pointer authentication code. */
#define USER_ADDRESS(word) ((word) & ((1ull << 48) - 1))
#define USER_IS_32_BIT(regs) ((regs)->pstate & 0x10) /* PSR_MODE32_BIT */
#endif

#define USER_FRAME_BYTES_MAX (16u << 20)
#define USER_STACK_WORDS 128 /* read at once */
#define USER_PROBED_MAX 16 /* nested calls whose returns are probed */

/* The kinds of walks on a CPU: a sample can interrupt the walk of a switch. */
#define BY_SAMPLE 0
#define BY_SWITCH 1
#define BY_LOOK 2 /* an iterator's program, which unwinds no user stack */

/* The state of a walk: its registers, and the words read from the stack. */
struct user_walk {
	__u64 instruction; /* the instruction pointer in user space */
	__u64 stack_pointer, frame_pointer;
	__u64 call; /* struct return_instance of the innermost call whose return is probed; 0 = none */
	__u64 trampoline; /* the return address of such calls instead */
	__u64 word[USER_STACK_WORDS]; /* the lowest part of the stack; in a walk by tables: the part at "window" */
	/* For walks by tables only. */
	__u64 window; /* address of word[0]; NO_WINDOW: nothing was read yet */
	__u64 registers; /* address of the thread's registers in the kernel; 0: they are not the frame's */
	__u64 link; /* return address of the innermost function, if it is not on the stack */
	__u32 mapping; /* index of the mapping that contains the frame's code */
	__u32 called; /* "instruction" is a return address: the call precedes it */
	__u64 word_at; /* result of stack_word() */
	struct unwind_rule rule; /* for the current frame */
};

#define NO_WINDOW (1ull << 63)
/* The limit of frames on kernels without loops, whose verifier checks each frame: that of 5.10 takes minutes for twice as many. */
#define USER_FRAMES_UNROLLED 127
#define USER_WHOLE (REC_USER_FRAMES + 1) /* flag beside the number of frames: the last frame is the thread's start */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2); /* BY_SAMPLE, BY_SWITCH */
	__type(key, __u32);
	__type(value, struct user_walk);
} user_walks __weak_map;

static __always_inline struct user_walk *user_walk(__u32 by)
{
	return bpf_map_lookup_elem(&user_walks, &by);
}

#define WALK_RULES 256 /* a power of two */

/* A cached rule for recently walked code: the search for a rule takes longer than the rest of a frame. */
struct walk_rule {
	__u64 address;
	__u64 version; /* of struct unwind_process */
	struct unwind_rule rule;
};

struct walk_rules {
	struct walk_rule row[WALK_RULES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2); /* BY_SAMPLE, BY_SWITCH */
	__type(key, __u32);
	__type(value, struct walk_rules);
} walked_rules __weak_map;

static __always_inline struct walk_rules *walk_rules(__u32 by)
{
	return bpf_map_lookup_elem(&walked_rules, &by);
}

static __always_inline struct walk_rule *walk_rule(struct walk_rules *rules, __u64 address)
{
	return &rules->row[BOUNDED(address ^ address >> 8, WALK_RULES - 1)];
}

static __always_inline bool is_known(const struct walk_rule *row, __u64 version, __u64 address)
{
	return row->address == address && row->version == version;
}

struct user_frames {
	__u64 address[REC_USER_FRAMES + 1];
};

/* The two words at a frame pointer. */
struct user_frame {
	__u64 next;
	__u64 address; /* return address of the frame's function */
};

/*
 * A read of user memory costs as much as a hundred instructions. So the lowest part of the stack is read in one
 * piece, but only if there is more than one frame.
 */
static __always_inline bool read_frame(const struct user_walk *walk, bool have_words, __u64 at,
				       struct user_frame *frame)
{
	__u64 word = (at - walk->stack_pointer) / sizeof(word);

	if (have_words && at >= walk->stack_pointer && word < USER_STACK_WORDS - 1) {
		/* clang 19 knows that @word is small and leaves the masks out, which the verifier needs. */
		asm volatile("" : "+r"(word));
		frame->next = walk->word[word & (USER_STACK_WORDS - 1)];
		frame->address = walk->word[(word + 1) & (USER_STACK_WORDS - 1)];
		return true;
	}
	return !bpf_probe_read_user(frame, sizeof(*frame), (const void *)at);
}

/*
 * Returns the original return address of the frame at @frame, which holds @address, the trampoline: that of the probed
 * call whose stack began right above the frame. Probed calls below it have no frame of their own.
 *
 * Not static, like user_frames(): the verifier checks a global function once, not on each path to it.
 */
__weak __noinline __u64 original_return(struct user_walk *walk, __u64 frame, __u64 address)
{
	struct return_instance *call;
	int i;

	if (!walk)
		return address;
	call = (struct return_instance *)walk->call;
	for (i = 0; i < USER_PROBED_MAX && call && BPF_CORE_READ(call, stack) <= frame; i++)
		call = BPF_CORE_READ(call, next);
	walk->call = (__u64)call;
	return call && i < USER_PROBED_MAX ? BPF_CORE_READ(call, orig_ret_vaddr) : address;
}

/* The progress of a walk. */
struct user_climb {
	struct user_walk *walk;
	struct user_frames *frames;
	__u64 above, at; /* end of the walked part of the stack; address of the next frame */
	__u32 count; /* number of frames, set at the end */
	bool have_words;
};

/* Takes frame @number; returns false if there are no more frames. */
static __always_inline bool climb_once(struct user_climb *c, __u32 number)
{
	struct user_frame frame = {};
	__u64 address;

	if (c->at - c->above >= USER_FRAME_BYTES_MAX || c->at % sizeof(c->at))
		return false;
	if (number == 2)
		c->have_words = !bpf_probe_read_user(c->walk->word, sizeof(c->walk->word),
						     (const void *)c->walk->stack_pointer);
	if (!read_frame(c->walk, c->have_words, c->at, &frame) || !frame.address)
		return false;
	address = USER_ADDRESS(frame.address);
	if (c->walk->call && address == c->walk->trampoline)
		address = original_return(c->walk, c->at, address);
	c->frames->address[number & REC_USER_FRAMES] = address;
	c->above = c->at + sizeof(frame);
	c->at = frame.next;
	return true;
}

static long climb(__u32 index, void *context)
{
	struct user_climb *c = context;

	if (climb_once(c, index + 1))
		return 0;
	c->count = index + 1;
	return 1;
}

static __always_inline bool climb_begins(struct user_climb *c, struct user_walk *walk, struct user_frames *frames)
{
	if (!walk || !frames)
		return false;
	*c = (struct user_climb){
		.walk = walk,
		.frames = frames,
		.above = walk->stack_pointer,
		.at = walk->frame_pointer,
	};
	frames->address[0] = walk->instruction;
	return true;
}

/* user_frames - fills @frames with at most USER_FRAMES_UNROLLED addresses, the innermost first; returns their number */
__weak __noinline int user_frames(struct user_walk *walk, struct user_frames *frames)
{
	struct user_climb c;
	__u32 number;

	if (!climb_begins(&c, walk, frames))
		return 0;
	for (number = 1; number < USER_FRAMES_UNROLLED; number++)
		if (!climb_once(&c, number))
			break;
	return number;
}

/*
 * The same for at most @most addresses (1 to REC_USER_FRAMES), with bpf_loop(): the verifier checks one turn instead of
 * all, which take a third of a session's start.
 */
__weak __noinline int user_frames_looped(struct user_walk *walk, struct user_frames *frames, __u32 most)
{
	struct user_climb c;

	if (!climb_begins(&c, walk, frames))
		return 0;
	c.count = most;
	bpf_loop(most - 1, climb, &c, 0);
	return c.count;
}

/* The progress of a walk by tables; the registers in @walk are those of the current frame. */
struct table_climb {
	struct user_walk *walk;
	struct user_frames *frames;
	const struct unwind_process *process;
	struct walk_rules *rules; /* may be NULL */
	__u32 count; /* number of frames, set at the end */
};

/*
 * Reads the word of the stack at @at into "word_at": from the words read before, or together with the words above
 * it, which later frames need. Global, like the functions below: the verifier checks it once, not on each path to it.
 */
__weak __noinline int stack_word(struct user_walk *walk, __u64 at)
{
	__u64 place;

	if (!walk || at % sizeof(walk->word[0]))
		return 0;
	place = (at - walk->window) / sizeof(walk->word[0]);
	if (place >= USER_STACK_WORDS) {
		walk->window = NO_WINDOW;
		if (bpf_probe_read_user(walk->word, sizeof(walk->word), (const void *)at))
			return !bpf_probe_read_user(&walk->word_at, sizeof(walk->word_at), (const void *)at);
		walk->window = at;
		place = 0;
	}
	walk->word_at = walk->word[BOUNDED(place, USER_STACK_WORDS - 1)];
	return 1;
}

/* Offsets of registers in the signal frame, which the kernel puts on the stack for the handler's return: struct ucontext. */
#define SIGNAL_FRAME_POINTER 120
#define SIGNAL_STACK_POINTER 160
#define SIGNAL_INSTRUCTION 168

__weak __noinline int climb_signal(struct user_walk *walk)
{
	__u64 at;

	if (!walk)
		return 0;
	at = walk->stack_pointer;
	if (!stack_word(walk, at + SIGNAL_FRAME_POINTER))
		return 0;
	walk->frame_pointer = walk->word_at;
	if (!stack_word(walk, at + SIGNAL_STACK_POINTER))
		return 0;
	walk->stack_pointer = walk->word_at;
	if (!stack_word(walk, at + SIGNAL_INSTRUCTION))
		return 0;
	walk->instruction = walk->word_at;
	walk->called = 0;
	walk->registers = 0;
	return 1;
}

/* The word of the thread's registers that the rule names; 0: the registers are unknown, as those of an outer frame are. */
static __always_inline __u64 register_word(const struct user_walk *walk)
{
	__u64 word, place = walk->rule.add;

	if (walk->called || !walk->registers ||
	    bpf_probe_read_kernel(&word, sizeof(word), (const void *)(walk->registers + 8 * place)))
		return 0;
	return word + walk->rule.cfa;
}

/* Does a call instruction end at the end of @code? For x86-64 and AArch64. */
static __always_inline bool is_call(const __u8 *code)
{
#if defined(__TARGET_ARCH_x86)
	/* call with a displacement; by register or memory, with one more byte, a displacement, or both */
	return code[3] == 0xe8 || (code[6] == 0xff && (code[7] & 0x38) == 0x10) ||
	       (code[5] == 0xff && (code[6] & 0x38) == 0x10) || (code[4] == 0xff && (code[5] & 0x38) == 0x10) ||
	       (code[2] == 0xff && (code[3] & 0x38) == 0x10) || (code[1] == 0xff && (code[2] & 0x38) == 0x10);
#else
	__u32 word = *(const __u32 *)(code + 4);

	/* bl, blr, and blraa and its variants, which check a pointer authentication code */
	return (word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000 ||
	       (word & 0xfefff800) == 0xd63f0800;
#endif
}

/* Does a call instruction precede @address, so that it can be a return address? */
__weak __noinline int behind_call(__u64 address)
{
	__u8 code[8] = {};

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(address - sizeof(code))))
		return 0;
	return is_call(code);
}

/* The canonical frame address of the frame; 0: unknown */
static __always_inline __u64 frame_address(struct user_walk *walk)
{
	__s64 cfa = walk->rule.cfa;

	switch (walk->rule.kind) {
	case UNWIND_STACK: return walk->stack_pointer + cfa;
	case UNWIND_FRAME: return walk->frame_pointer + cfa;
	case UNWIND_PLT: return walk->stack_pointer + ((walk->instruction & 15) >= cfa ? 16 : 8);
	case UNWIND_STACK_WORD:
		return stack_word(walk, walk->stack_pointer + cfa) ? walk->word_at + walk->rule.add : 0;
	case UNWIND_REGISTER: return register_word(walk);
	case UNWIND_FRAME_WORD: return stack_word(walk, walk->frame_pointer + cfa) ? walk->word_at : 0;
	default: return 0;
	}
}

/* The address of the saved frame pointer of the caller; @frame is the canonical frame address. 0: it is still in the register */
static __always_inline __u64 pointer_address(const struct user_walk *walk, __u64 frame)
{
	__s64 offset = walk->rule.pointer * 8;

	switch (walk->rule.pointer_kind) {
	case UNWIND_POINTER_AT_CFA: return frame + offset;
	case UNWIND_POINTER_AT_FRAME: return walk->frame_pointer + offset;
	default: return 0;
	}
}

__weak __noinline int climb_call(struct user_walk *walk)
{
	__u64 frame, pointer, address;
	__s64 back;

	if (!walk)
		return 0;
	back = walk->rule.back * 8;
	frame = frame_address(walk);
	/* A function without a frame cannot have called another one. */
	if (frame - walk->stack_pointer >= USER_FRAME_BYTES_MAX ||
	    (walk->called && (frame == walk->stack_pointer || !back)))
		return 0;
	pointer = pointer_address(walk, frame);
	if (pointer) {
		if (!stack_word(walk, pointer))
			return 0;
		walk->frame_pointer = walk->word_at;
	}
	address = walk->link;
	if (back) {
		if (!stack_word(walk, frame + back))
			return 0;
		address = walk->word_at;
	}
	address = USER_ADDRESS(address);
	if (walk->call && address == walk->trampoline)
		address = original_return(walk, frame - 16, address);
	if (walk->rule.derived && !behind_call(address))
		return 0;
	walk->instruction = address;
	walk->stack_pointer = frame;
	walk->called = 1;
	return address != 0;
}

/* Sets the mapping that contains @address; returns 0 if there is none. */
static __always_inline int find_code(struct user_walk *walk, const struct unwind_process *process, __u64 address)
{
	const struct unwind_mapping *mapping = &process->mapping[BOUNDED(walk->mapping, UNWIND_MAPPINGS - 1)];

	if (address >= mapping->start && address < mapping->end)
		return 1;
	walk->mapping = unwind_mapping(process, address);
	mapping = &process->mapping[BOUNDED(walk->mapping, UNWIND_MAPPINGS - 1)];
	return address >= mapping->start && address < mapping->end;
}

/*
 * Finds the rule for the frame's code. The default is a frame pointer with the return address beside it. Returns 0 if the
 * code is in no known mapping. The map element of a process that has ended may be overwritten for another process
 * meanwhile, from its beginning to its end: a cached rule carries the version that was read before the search.
 */
__weak __noinline int find_rule(struct user_walk *walk, const struct unwind_process *process, struct walk_rules *rules)
{
	const struct unwind_rule *rule;
	struct walk_rule *row;
	__u64 address, version;
	int in_code;

	if (!walk || !process)
		return 0;
	version = *(const volatile __u64 *)&process->version;
	address = walk->instruction - walk->called;
	row = rules ? walk_rule(rules, address) : NULL;
	if (row && is_known(row, version, address)) {
		walk->rule = row->rule;
		return 1;
	}
	in_code = find_code(walk, process, address);
	rule = unwind_rule(&process->mapping[BOUNDED(walk->mapping, UNWIND_MAPPINGS - 1)], address);
	if (rule && rule->kind != UNWIND_POINTERS) {
		walk->rule = *rule;
		if (row)
			*row = (struct walk_rule){ address, version, *rule };
		return 1;
	}
	walk->rule = UNWIND_WITHOUT_RULE;
	return in_code;
}

static __always_inline bool climb_by_table_once(struct table_climb *c, __u32 number)
{
	struct user_walk *walk = c->walk;

	if (walk->rule.kind == UNWIND_FIRST)
		return false;
	if (!(walk->rule.kind == UNWIND_SIGNAL ? climb_signal(walk) : climb_call(walk)))
		return false;
	if (!find_rule(walk, c->process, c->rules) && c->process->whole)
		return false;
	c->frames->address[number & REC_USER_FRAMES] = walk->instruction + !walk->called;
	return true;
}

static long climb_by_table(__u32 index, void *context)
{
	struct table_climb *c = context;

	if (climb_by_table_once(c, index + 1))
		return 0;
	c->count = index + 1;
	return 1;
}

/* user_frames_looped() by the unwind tables of @process */
__weak __noinline int user_frames_by_table(struct user_walk *walk, struct user_frames *frames,
					   const struct unwind_process *process, struct walk_rules *rules, __u32 most)
{
	struct table_climb c = {
		.walk = walk, .frames = frames, .process = process, .rules = rules, .count = most
	};

	if (!walk || !frames || !process)
		return 0;
	frames->address[0] = walk->instruction;
	walk->window = NO_WINDOW;
	walk->called = 0;
	walk->mapping = 0;
	find_rule(walk, process, rules);
	bpf_loop(most - 1, climb_by_table, &c, 0);
	return c.count | (walk->rule.kind == UNWIND_FIRST ? USER_WHOLE : 0);
}

static __always_inline void walk_from(struct user_walk *walk, struct task_struct *task,
				      const struct pt_regs *regs)
{
	struct uprobe_task *utask = field_of(task, utask);

	walk->instruction = USER_INSTRUCTION(regs);
	walk->stack_pointer = USER_STACK_POINTER(regs) & ~7ull;
	walk->frame_pointer = USER_FRAME_POINTER(regs);
	walk->link = USER_LINK(regs);
	walk->registers = (__u64)regs;
	walk->call = utask ? (__u64)field_of(utask, return_instances) : 0;
	if (walk->call)
		walk->trampoline = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
}

#define FORKS_MAX 2 /* generations between a process and the one whose tables it uses */

/* The pages of code that fork() copies: not the page in which the kernel single-steps instructions, and that of returns. */
static __always_inline unsigned long copied_code(struct mm_struct *mm)
{
	return field_of(mm, exec_vm) - (BPF_CORE_READ(mm, uprobes_state.xol_area) ? 1 : 0);
}

/*
 * Is @mm the address space @other, or a copy of it since which neither has begun another program or mapped code? The
 * kernel places each program's stack and mappings at random; where it does not, equal places are those of equal code.
 */
static __always_inline bool is_copy(struct mm_struct *mm, struct mm_struct *other)
{
	if (!mm || !other)
		return false;
	return mm == other || (field_of(mm, start_stack) == field_of(other, start_stack) &&
			       field_of(mm, mmap_base) == field_of(other, mmap_base) &&
			       field_of(mm, start_code) == field_of(other, start_code) &&
			       field_of(mm, end_code) == field_of(other, end_code) &&
			       copied_code(mm) == copied_code(other));
}

/*
 * The tables of a process. A child of fork() often ends before the daemon has looked at it: until then the tables of its
 * parent hold for it, as long as both have the same code.
 */
static __always_inline struct unwind_process *tables_of(struct task_struct *task)
{
	struct mm_struct *mm = field_of(task, mm);

	for (int i = 0; i <= FORKS_MAX; i++) {
		__u32 tgid = field_of(task, tgid);
		struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &tgid);

		if (process)
			return process;
		task = field_of(task, real_parent);
		if (!is_copy(mm, field_of(task, mm)))
			break;
	}
	return NULL;
}

/*
 * user_stack - user_frames() of @task, the current one, whose registers are @regs (may be NULL)
 *
 * At most @most frames, of REC_USER_FRAMES; without @may_loop perhaps more, but at most USER_FRAMES_UNROLLED. @walk is
 * scratch memory, user_walk()'s or another, and @rules the walk_rules() of the same kind, or NULL. With @may_loop,
 * a constant, bpf_loop() is used (5.17); without it the program contains no callback function, which kernels before
 * 5.13 refuse even if it is never reached. Returns the number of frames: at least 1, the current instruction, unless the
 * registers are unknown; with USER_WHOLE if the last frame is known to be the thread's start.
 */
static __always_inline __u32 user_stack(struct task_struct *task, const struct pt_regs *regs,
					struct user_walk *walk, struct walk_rules *rules,
					struct user_frames *frames, __u32 most, bool may_loop)
{
	if (!walk || !regs)
		return 0;
	walk_from(walk, task, regs);
	if (USER_IS_32_BIT(regs)) {
		frames->address[0] = walk->instruction;
		return 1;
	}
	if (may_loop && settings.unwind) {
		struct unwind_process *process = tables_of(task);

		if (process)
			return (__u32)user_frames_by_table(walk, frames, process, rules, most) &
			       (USER_WHOLE | REC_USER_FRAMES);
	}
	if (may_loop)
		return (__u32)user_frames_looped(walk, frames, most) & REC_USER_FRAMES;
	return (__u32)user_frames(walk, frames) & REC_USER_FRAMES;
}

#endif /* PROFBPF_USER_STACK_BPF_H */

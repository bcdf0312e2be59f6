/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * user_stack.bpf.h - return addresses of a thread that is in the kernel: by the tables of the files whose code it
 * runs (unwind.bpf.h), before the daemon has made them and where the kernel cannot loop by its frame pointers.
 *
 * The latter is what bpf_get_stack() gives, mostly faster: that one learns from page faults where the frames end, for in code
 * without frame pointers, libc's too, their register holds anything. Here a frame has to lie a little
 * further up the same stack. Return addresses that probes of returns have replaced are told as they were;
 * bpf_get_stack() does that since 6.11. Of 32-bit processes only where they go on.
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
/* Without the signature that the bits above may be. */
#define USER_ADDRESS(word) ((word) & ((1ull << 48) - 1))
#define USER_IS_32_BIT(regs) ((regs)->pstate & 0x10) /* PSR_MODE32_BIT */
#endif

#define USER_FRAME_BYTES_MAX (16u << 20)
#define USER_STACK_WORDS 128 /* read at once */
#define USER_PROBED_MAX 16 /* nested calls whose returns are probed */

/* Who walks on a CPU: a sample can interrupt a switch. */
#define BY_SAMPLE 0
#define BY_SWITCH 1

/* A walk: where it begins, and what is read of the stack. */
struct user_walk {
	__u64 instruction; /* where the thread goes on in user space */
	__u64 stack_pointer, frame_pointer;
	__u64 call; /* struct return_instance of the innermost call whose return is probed; 0 = none */
	__u64 trampoline; /* where such calls return to instead */
	__u64 word[USER_STACK_WORDS]; /* the lowest part of the stack; by tables: the part at "window" */
	/* By tables only. */
	__u64 window; /* NO_WINDOW: nothing was read yet */
	__u64 registers; /* the thread's, in the kernel; 0: not those of the frame */
	__u64 link; /* where the innermost function returns to, if that is not on the stack */
	__u32 mapping; /* that the frame's code is in */
	__u32 called; /* its instruction is a return address: the call lies before it */
	__u64 word_at; /* that stack_word() found */
	struct unwind_rule rule; /* for the frame */
};

#define NO_WINDOW (1ull << 63)
/* Frames of a walk where the kernel has no loops: its verifier looks at each of them, that of 5.10 for minutes at twice as many. */
#define USER_FRAMES_UNROLLED 127
#define USER_WHOLE (REC_USER_FRAMES + 1) /* with a number of frames: the thread began at the last one */

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

/* A rule of code that walks came through lately: to find it takes longer than all else that a frame takes. */
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

/* What stands at a frame pointer. */
struct user_frame {
	__u64 next;
	__u64 address; /* where its function returns to */
};

/*
 * Reading a user's memory costs as much as a hundred instructions: the stack's lowest part is
 * read at once, but only if there is more than one frame.
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
 * @address, the trampoline's, is in the frame at @frame: of its call the stack began right above.
 * Calls below have no frame of their own.
 *
 * Not static, like user_frames(): the verifier looks at each once, not for each way to it.
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

/* How far a walk has come. */
struct user_climb {
	struct user_walk *walk;
	struct user_frames *frames;
	__u64 above, at; /* up to where the stack was seen; the next frame */
	__u32 count; /* of frames, when it is over */
	bool have_words;
};

/* Takes frame @number; false where there are no more. */
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
		.count = REC_USER_FRAMES,
	};
	frames->address[0] = walk->instruction;
	return true;
}

/* user_frames - fills @frames with REC_USER_FRAMES addresses at most, the innermost first; how many */
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

/* The same, where the kernel can loop: the verifier looks at one turn, not at all, which takes a third of a session's start. */
__weak __noinline int user_frames_looped(struct user_walk *walk, struct user_frames *frames)
{
	struct user_climb c;

	if (!climb_begins(&c, walk, frames))
		return 0;
	bpf_loop(REC_USER_FRAMES - 1, climb, &c, 0);
	return c.count;
}

/* A walk by tables: the walk's registers are those of the frame that it has come to. */
struct table_climb {
	struct user_walk *walk;
	struct user_frames *frames;
	const struct unwind_process *process;
	struct walk_rules *rules; /* may be NULL */
	__u32 count; /* of frames, when it is over */
};

/*
 * A word of the stack, into "word_at": of what was read, or read with what lies above it, where most of the others
 * will be. Like those below a function that the verifier looks at once, not at each way to it.
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

/* Where registers lie in what the kernel leaves on the stack for a signal handler to return to: struct ucontext. */
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

/* Of who has called another one the registers are not known any more; 0: as such a one's. */
static __always_inline __u64 register_word(const struct user_walk *walk)
{
	__u64 word, place = walk->rule.add;

	if (walk->called || !walk->registers ||
	    bpf_probe_read_kernel(&word, sizeof(word), (const void *)(walk->registers + 8 * place)))
		return 0;
	return word + walk->rule.cfa;
}

/* An instruction that ends with @code, as x86-64 and AArch64 have them, is a call. */
static __always_inline bool is_call(const __u8 *code)
{
#if defined(__TARGET_ARCH_x86)
	/* call with a displacement; by register or memory, with one more byte, a displacement, or both */
	return code[3] == 0xe8 || (code[6] == 0xff && (code[7] & 0x38) == 0x10) ||
	       (code[5] == 0xff && (code[6] & 0x38) == 0x10) || (code[4] == 0xff && (code[5] & 0x38) == 0x10) ||
	       (code[2] == 0xff && (code[3] & 0x38) == 0x10) || (code[1] == 0xff && (code[2] & 0x38) == 0x10);
#else
	__u32 word = *(const __u32 *)(code + 4);

	/* bl, blr, and what checks a signature before it */
	return (word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000 ||
	       (word & 0xfefff800) == 0xd63f0800;
#endif
}

/* There is a call before @address: it can be where one returns to. */
__weak __noinline int behind_call(__u64 address)
{
	__u8 code[8] = {};

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(address - sizeof(code))))
		return 0;
	return is_call(code);
}

/* Where the caller's frame begins; 0: that can't be told */
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

/* Where the caller's frame pointer lies, whose frame begins at @frame; 0: it is in its register */
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
	/* Who has no frame has not called another. */
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

/* Sets the mapping that @address is in; 0: it is in none. */
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
 * Finds the rule for the frame's code. Where frame pointers are kept they and the return addresses stand side by side.
 * 0: its code is in no mapping that is known. The element of a process that ended may become another's meanwhile, from its
 * beginning to its end: a rule that is kept belongs to the version that was there before it was looked for.
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
	walk->rule = (struct unwind_rule){
		.kind = UNWIND_FRAME,
		.pointer_kind = UNWIND_POINTER_AT_CFA,
		.pointer = -2,
		.back = -1,
		.derived = 1,
		.cfa = 16,
	};
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

/* user_frames() by the tables of @process */
__weak __noinline int user_frames_by_table(struct user_walk *walk, struct user_frames *frames,
					   const struct unwind_process *process, struct walk_rules *rules)
{
	struct table_climb c = {
		.walk = walk, .frames = frames, .process = process, .rules = rules, .count = REC_USER_FRAMES
	};

	if (!walk || !frames || !process)
		return 0;
	frames->address[0] = walk->instruction;
	walk->window = NO_WINDOW;
	walk->called = 0;
	walk->mapping = 0;
	find_rule(walk, process, rules);
	bpf_loop(REC_USER_FRAMES - 1, climb_by_table, &c, 0);
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

/*
 * user_stack - user_frames() of @task, the current one, whose registers are @regs (may be NULL)
 *
 * @walk is scratch memory, user_walk()'s or another, and @rules walk_rules() of the same, or NULL. With @may_loop, a constant, bpf_loop() is used (5.17); without,
 * the program names no function to call back, which kernels before 5.13 refuse even where it is never reached.
 * Returns at least 1, where it goes on in user space, but for want of that; with USER_WHOLE if it is known that the
 * thread began at the last frame.
 */
static __always_inline __u32 user_stack(struct task_struct *task, const struct pt_regs *regs,
					struct user_walk *walk, struct walk_rules *rules,
					struct user_frames *frames, bool may_loop)
{
	if (!walk || !regs)
		return 0;
	walk_from(walk, task, regs);
	if (USER_IS_32_BIT(regs)) {
		frames->address[0] = walk->instruction;
		return 1;
	}
	if (may_loop && settings.unwind) {
		__u32 tgid = field_of(task, tgid);
		struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &tgid);

		if (process)
			return (__u32)user_frames_by_table(walk, frames, process, rules) &
			       (USER_WHOLE | REC_USER_FRAMES);
	}
	if (may_loop)
		return (__u32)user_frames_looped(walk, frames) & REC_USER_FRAMES;
	return (__u32)user_frames(walk, frames) & REC_USER_FRAMES;
}

#endif /* PROFBPF_USER_STACK_BPF_H */

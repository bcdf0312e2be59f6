/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/sleeper_walk.h"

#define FRAME_BYTES_MAX (16u << 20)
#define ADDRESS_BITS 48 /* arm64: the bits above may be a signature */

/* Offsets of registers in the signal frame on the stack: struct ucontext, x86-64. */
#define SIGNAL_FRAME_POINTER 120
#define SIGNAL_STACK_POINTER 160
#define SIGNAL_INSTRUCTION 168

struct walk {
	const struct sleeper_source *source;
	struct sleeper_registers at; /* registers of the current frame */
	bool called; /* the frame's instruction is a return address: the call is before it */
	struct unwind_rule rule; /* rule of the current frame */
};

static uint64_t plain_address(uint64_t word)
{
#if defined(__aarch64__)
	return word & ((1ull << ADDRESS_BITS) - 1);
#else
	return word;
#endif
}

static bool read_word(const struct walk *w, uint64_t at, uint64_t *word)
{
	return !(at % sizeof(*word)) && !w->source->read(w->source->context, at, word, sizeof(*word));
}

/* Do the last bytes of the 8 at @code form a call instruction? The same as is_call() of user_stack.bpf.h. */
static bool is_call(const uint8_t *code)
{
#if defined(__aarch64__)
	uint32_t word = (uint32_t)code[4] | (uint32_t)code[5] << 8 | (uint32_t)code[6] << 16 | (uint32_t)code[7] << 24;

	return (word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000 ||
	       (word & 0xfefff800) == 0xd63f0800;
#else
	static const uint8_t by_pointer[] = { 6, 5, 4, 2, 1 }; /* possible places of the opcode 0xff */

	if (code[3] == 0xe8)
		return true;
	for (size_t i = 0; i < sizeof(by_pointer); i++)
		if (code[by_pointer[i]] == 0xff && (code[by_pointer[i] + 1] & 0x38) == 0x10)
			return true;
	return false;
#endif
}

static bool behind_call(const struct walk *w, uint64_t address)
{
	uint8_t code[8];

	return address > sizeof(code) &&
	       !w->source->read(w->source->context, address - sizeof(code), code, sizeof(code)) && is_call(code);
}

/* Without a rule, assumes a function that keeps a frame pointer. Returns false if no known mapping holds the frame's code. */
static bool find_rule(struct walk *w)
{
	bool in_code;

	if (w->source->rule(w->source->context, w->at.instruction - w->called, &w->rule, &in_code))
		return true;
	w->rule = UNWIND_WITHOUT_RULE;
	return in_code;
}

/* Computes the canonical frame address. */
static bool frame_address(const struct walk *w, uint64_t *address)
{
	uint64_t cfa = (uint64_t)(int64_t)w->rule.cfa, word;

	switch (w->rule.kind) {
	case UNWIND_STACK: *address = w->at.stack_pointer + cfa; return true;
	case UNWIND_FRAME: *address = w->at.frame_pointer + cfa; return true;
	case UNWIND_PLT:
		*address = w->at.stack_pointer + ((int64_t)(w->at.instruction & 15) >= w->rule.cfa ? 16 : 8);
		return true;
	case UNWIND_STACK_WORD:
		if (!read_word(w, w->at.stack_pointer + cfa, &word))
			return false;
		*address = word + (uint64_t)(int64_t)w->rule.add;
		return true;
	case UNWIND_FRAME_WORD: return read_word(w, w->at.frame_pointer + cfa, address);
	default: return false; /* UNWIND_REGISTER: the register is unknown */
	}
}

static bool climb_signal(struct walk *w)
{
	uint64_t at = w->at.stack_pointer;

	w->called = false;
	return read_word(w, at + SIGNAL_FRAME_POINTER, &w->at.frame_pointer) &&
	       read_word(w, at + SIGNAL_INSTRUCTION, &w->at.instruction) &&
	       read_word(w, at + SIGNAL_STACK_POINTER, &w->at.stack_pointer);
}

/* Restores the caller's frame pointer; @frame is the canonical frame address. */
static bool climb_pointer(struct walk *w, uint64_t frame)
{
	uint64_t offset = (uint64_t)((int64_t)w->rule.pointer * 8);

	switch (w->rule.pointer_kind) {
	case UNWIND_POINTER_AT_CFA: return read_word(w, frame + offset, &w->at.frame_pointer);
	case UNWIND_POINTER_AT_FRAME: return read_word(w, w->at.frame_pointer + offset, &w->at.frame_pointer);
	default: return true;
	}
}

static bool climb_call(struct walk *w)
{
	uint64_t frame, address = w->at.link;
	int64_t back = (int64_t)w->rule.back * 8;

	if (!frame_address(w, &frame) || frame - w->at.stack_pointer >= FRAME_BYTES_MAX ||
	    /* A function without a frame cannot have called another. */
	    (w->called && (frame == w->at.stack_pointer || !back)) || !climb_pointer(w, frame) ||
	    (back && !read_word(w, frame + (uint64_t)back, &address)))
		return false;
	address = plain_address(address);
	if (!address || (w->rule.derived && !behind_call(w, address)))
		return false;
	w->at.instruction = address;
	w->at.stack_pointer = frame;
	w->called = true;
	return true;
}

uint32_t sleeper_walk(const struct sleeper_registers *registers, const struct sleeper_source *source, uint64_t *frames,
		      uint32_t room, bool *whole)
{
	struct walk w = { .source = source, .at = *registers };
	uint32_t count = 1;

	frames[0] = registers->instruction;
	w.at.stack_pointer &= ~7ull;
	find_rule(&w);
	while (count < room && w.rule.kind != UNWIND_FIRST) {
		if (!(w.rule.kind == UNWIND_SIGNAL ? climb_signal(&w) : climb_call(&w)) ||
		    (!find_rule(&w) && source->whole))
			break;
		frames[count++] = w.at.instruction + !w.called;
	}
	*whole = w.rule.kind == UNWIND_FIRST;
	return count;
}

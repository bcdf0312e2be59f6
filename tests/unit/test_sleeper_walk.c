/* SPDX-License-Identifier: Apache-2.0 */
/* The user stack of a sleeping thread is walked by rules where its memory can be read, and no further. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/profbpfd/stacks/sleeper_walk.h"

#define STACK 0x7000ull /* its lowest address */
#define STACK_WORDS 64
#define CODE 0x1000ull
#define CODE_BYTES 0x200
#define ROOM 16

/* A process: a stack, code with rules by address, and words that are not in memory. */
struct scene {
	uint64_t stack[STACK_WORDS];
	uint8_t code[CODE_BYTES];
	struct {
		uint64_t from;
		struct unwind_rule rule;
	} rules[8];
	size_t rule_count;
	uint64_t gone; /* this word of the stack cannot be read */
	bool whole_code;
	uint64_t frames[ROOM];
	bool whole;
};

static bool rule_at(void *context, uint64_t address, struct unwind_rule *rule, bool *in_code)
{
	const struct scene *s = context;
	size_t found = s->rule_count;

	*in_code = address >= CODE && address < CODE + CODE_BYTES;
	for (size_t i = 0; i < s->rule_count; i++)
		if (address >= s->rules[i].from)
			found = i;
	if (!*in_code || found == s->rule_count || s->rules[found].rule.kind == UNWIND_POINTERS)
		return false;
	*rule = s->rules[found].rule;
	return true;
}

static int read_memory(void *context, uint64_t address, void *into, size_t size)
{
	const struct scene *s = context;

	if (address >= STACK && address + size <= STACK + sizeof(s->stack) && address != s->gone)
		memcpy(into, (const uint8_t *)s->stack + (address - STACK), size);
	else if (address >= CODE && address + size <= CODE + CODE_BYTES)
		memcpy(into, s->code + (address - CODE), size);
	else
		return -EFAULT;
	return 0;
}

static void add_rule(struct scene *s, uint64_t from, struct unwind_rule rule)
{
	s->rules[s->rule_count].from = from;
	s->rules[s->rule_count++].rule = rule;
}

static void put(struct scene *s, uint64_t address, uint64_t word)
{
	s->stack[(address - STACK) / 8] = word;
}

static uint32_t walk(struct scene *s, uint64_t instruction, uint64_t stack_pointer, uint64_t frame_pointer)
{
	const struct sleeper_registers registers = { instruction, stack_pointer, frame_pointer, 0 };
	const struct sleeper_source source = { rule_at, read_memory, s->whole_code, s };

	return sleeper_walk(&registers, &source, s->frames, ROOM, &s->whole);
}

/* wait() (rule by stack pointer) < work() (by frame pointer) < start(), the thread's first function. */
static struct scene three_frames(void)
{
	struct scene s = { .whole_code = true };

	add_rule(&s, CODE, (struct unwind_rule){ .kind = UNWIND_STACK, .cfa = 24, .back = -1 });
	add_rule(&s, CODE + 0x40, (struct unwind_rule){ .kind = UNWIND_FRAME,
							.cfa = 16,
							.back = -1,
							.pointer_kind = UNWIND_POINTER_AT_CFA,
							.pointer = -2 });
	add_rule(&s, CODE + 0x80, (struct unwind_rule){ .kind = UNWIND_FIRST });
	put(&s, STACK + 16, CODE + 0x50); /* wait() returns into work() */
	put(&s, STACK + 64, 0x1234); /* work()'s caller's frame pointer */
	put(&s, STACK + 72, CODE + 0x90); /* work() returns into start() */
	return s;
}

static void frames_are_followed_to_the_start(void **state)
{
	struct scene s = three_frames();

	(void)state;
	assert_int_equal(walk(&s, CODE + 0x10, STACK, STACK + 64), 3);
	assert_int_equal(s.frames[0], CODE + 0x10);
	assert_int_equal(s.frames[1], CODE + 0x50);
	assert_int_equal(s.frames[2], CODE + 0x90);
	assert_true(s.whole);
}

/* If a return address is the first of the next function, the call lies before it. */
static void rules_are_those_of_the_call(void **state)
{
	struct scene s = three_frames();

	(void)state;
	put(&s, STACK + 16, CODE + 0x80);
	assert_int_equal(walk(&s, CODE + 0x10, STACK, STACK + 64), 3);
	assert_int_equal(s.frames[1], CODE + 0x80);
	assert_true(s.whole);
}

static void what_is_not_in_memory_ends_it(void **state)
{
	struct scene s = three_frames();

	(void)state;
	s.gone = STACK + 72;
	assert_int_equal(walk(&s, CODE + 0x10, STACK, STACK + 64), 2);
	assert_false(s.whole);
	s.gone = STACK + 16;
	assert_int_equal(walk(&s, CODE + 0x10, STACK, STACK + 64), 1);
	assert_int_equal(s.frames[0], CODE + 0x10);
	assert_false(s.whole);
}

/* Memory may contain anything: a frame below the previous one, far above it, or at unaligned places. */
static void hostile_stacks_end_it(void **state)
{
	struct scene s = three_frames();

	(void)state;
	assert_int_equal(walk(&s, CODE + 0x10, STACK, STACK - 64), 2);
	assert_int_equal(walk(&s, CODE + 0x10, STACK, STACK + (32u << 20)), 2);
	assert_int_equal(walk(&s, CODE + 0x10, STACK, STACK + 65), 2);
	assert_int_equal(walk(&s, CODE + 0x10, UINT64_MAX, UINT64_MAX), 1);
	/* A circular stack: the number of frames is limited by the room. */
	s.rules[1].rule = s.rules[0].rule;
	s.rules[1].rule.cfa = 8;
	for (uint64_t i = 3; i < STACK_WORDS; i++)
		s.stack[i] = CODE + 0x50;
	assert_int_equal(walk(&s, CODE + 0x10, STACK, 0), ROOM);
	assert_false(s.whole);
}

/* Code without a rule: by the frame pointer, if there is a call instruction before the return address. */
static void code_without_rules_goes_by_frame_pointers(void **state)
{
	struct scene s = three_frames();

	(void)state;
	s.rules[1].rule.kind = UNWIND_POINTERS;
#if defined(__x86_64__)
	s.code[0x90 - 5] = 0xe8;
#else
	memcpy(s.code + 0x90 - 4, &(uint32_t){ 0x94000000 }, 4);
#endif
	assert_int_equal(walk(&s, CODE + 0x10, STACK, STACK + 64), 3);
	assert_true(s.whole);
	memset(s.code, 0, sizeof(s.code));
	assert_int_equal(walk(&s, CODE + 0x10, STACK, STACK + 64), 2);
	assert_false(s.whole);
	/* If all code is known, an address outside of it is no frame. */
	put(&s, STACK + 16, 0x9999);
	assert_int_equal(walk(&s, CODE + 0x10, STACK, STACK + 64), 1);
	s.whole_code = false;
	assert_int_equal(walk(&s, CODE + 0x10, STACK, STACK + 64), 2);
}

/* A signal handler sleeps: the interrupted function is found by the kernel's signal frame on the stack. */
static void signals_are_passed(void **state)
{
	struct scene s = three_frames();

	(void)state;
	add_rule(&s, CODE + 0xc0, (struct unwind_rule){ .kind = UNWIND_SIGNAL });
	put(&s, STACK + 16, CODE + 0xc8); /* wait() returns to the signal frame's return code */
	put(&s, STACK + 24 + 120, STACK + 400); /* frame pointer */
	put(&s, STACK + 24 + 160, STACK + 300 / 8 * 8); /* stack pointer */
	put(&s, STACK + 24 + 168, CODE + 0x44); /* work() was interrupted */
	put(&s, STACK + 400, 0);
	put(&s, STACK + 408, CODE + 0x90);
	assert_int_equal(walk(&s, CODE + 0x10, STACK, 0), 4);
	assert_int_equal(s.frames[2], CODE + 0x44 + 1);
	assert_int_equal(s.frames[3], CODE + 0x90);
	assert_true(s.whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_followed_to_the_start),
		cmocka_unit_test(rules_are_those_of_the_call),
		cmocka_unit_test(what_is_not_in_memory_ends_it),
		cmocka_unit_test(hostile_stacks_end_it),
		cmocka_unit_test(code_without_rules_goes_by_frame_pointers),
		cmocka_unit_test(signals_are_passed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

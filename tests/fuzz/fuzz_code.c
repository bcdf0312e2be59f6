/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_code.c - libFuzzer target for the machine code of functions, which comes from files of targets.
 *
 * The first byte of an input selects the machine and kernel, the available part of the function, and
 * whether its first instructions, its exits or its frames are analysed; the next two are its place. Then, for exits,
 * follow the pieces of code in the unwind tables, for frames the starts of functions. The rest is code.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/elf/code_frames.h"
#include "lib/elf/function_exits.h"
#include "lib/elf/instruction.h"
#include "tests/fuzz/input.h"

#define OPTIMIZED_NOP 0x01
#define AARCH64 0x02
#define SIZE_UNKNOWN 0x04
#define SIZE_LARGER 0x08 /* larger than the available code */
#define EXITS 0x10
#define FRAMES 0x20
#define STACK_STAYS 0x40

#define BASE 0x100000
#define PIECES 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct instruction_decoder *decoder_for(uint8_t flags)
{
	static struct instruction_decoder *decoders[4];
	struct instruction_decoder **decoder = &decoders[flags & (OPTIMIZED_NOP | AARCH64)];

	if (!*decoder)
		*decoder = instruction_decoder_new(flags & AARCH64 ? ELF_FILE_AARCH64
								   : ELF_FILE_X86_64,
						   flags & OPTIMIZED_NOP);
	check(*decoder != NULL);
	return *decoder;
}

static void choose(uint8_t flags, uint64_t offset, const uint8_t *code, size_t available)
{
	uint64_t size = flags & SIZE_UNKNOWN ? 0 : available + !!(flags & SIZE_LARGER);
	struct instruction_choice choice =
		instruction_choose(decoder_for(flags), code, available, size, offset, flags & STACK_STAYS);

	check(choice.class < INSTRUCTION_CLASSES);
	check((choice.class == INSTRUCTION_STEPPED) == (choice.reason != INSTRUCTION_NO_REASON));
	check(!choice.delta || (choice.delta < available && size == available));
	check(!choice.delta || !(flags & AARCH64));
	check(!choice.below || (choice.delta && !(flags & STACK_STAYS)));
}

/* ---- The function's exits */

static struct place {
	uint64_t start; /* of the code */
	struct input code;
	uint8_t pieces[PIECES][2]; /* start and size, in units of two bytes */
} place;

static size_t read_code(void *context, uint64_t address, void *buffer, size_t size)
{
	uint64_t at = address - place.start;

	if (at >= place.code.size)
		return 0;
	if (size > place.code.size - at)
		size = place.code.size - at;
	memcpy(buffer, place.code.data + at, size);
	return size;
}

static int find_extent(void *context, uint64_t address, uint64_t *start, uint64_t *end)
{
	for (int i = 0; i < PIECES; i++) {
		*start = place.start + 2 * place.pieces[i][0];
		*end = *start + 2 * place.pieces[i][1];
		if (address >= *start && address < *end)
			return 0;
	}
	return -1;
}

static void check_return(const struct function_exit *e, bool aarch64)
{
	const uint8_t *code = place.code.data + (e->address - place.start);
	size_t left = place.code.size - (e->address - place.start);

	if (aarch64) {
		check(left >= 4 && !memcmp(code, "\xc0\x03\x5f\xd6", 4) && !e->stepped);
		return;
	}
	while (left && *code != 0xc2 && *code != 0xc3)
		code++, left--;
	check(left > 0 && e->plain == (*code == 0xc3));
}

static void check_exits(const struct function_exits *found, bool aarch64)
{
	check((found->doubt == EXITS_CLEAN) == (found->count > 0));
	check(found->count <= FUNCTION_EXITS_MAX && exit_doubt_text(found->doubt)[0] != '?');
	for (size_t i = 0; i < found->count; i++) {
		const struct function_exit *e = &found->exits[i];

		check(!i || e->address > found->exits[i - 1].address);
		check(e->address - place.start < place.code.size);
		check(e->address >= e->own_start && e->address < e->own_end);
		if (e->kind == EXIT_RETURN)
			check_return(e, aarch64);
		if (e->kind == EXIT_JUMP_INDIRECT)
			check(e->base <= EXIT_REGISTER_NONE && e->index <= EXIT_REGISTER_NONE);
	}
}

static struct exit_finder *finder_for(bool aarch64)
{
	static const struct code_source source = { read_code, find_extent, NULL };
	static struct exit_finder *finders[2];

	if (!finders[aarch64])
		finders[aarch64] =
			exit_finder_new(aarch64 ? ELF_FILE_AARCH64 : ELF_FILE_X86_64, &source);
	check(finders[aarch64] != NULL);
	return finders[aarch64];
}

/* Checks that the result depends on the function alone, not on earlier analyses. */
static void find_exits(uint8_t flags, uint64_t offset, const uint8_t *code, size_t available)
{
	uint64_t size = flags & SIZE_UNKNOWN ? 0 : available + !!(flags & SIZE_LARGER);
	struct exit_finder *finder = finder_for(flags & AARCH64);
	struct function_exits found, again;

	place.start = BASE + offset;
	place.code = (struct input){ code, available };
	check(!exit_finder_find(finder, place.start, size, &found));
	check_exits(&found, flags & AARCH64);
	check(!exit_finder_find(finder, place.start, size, &again));
	check(again.doubt == found.doubt && again.count == found.count);
	for (size_t i = 0; i < found.count; i++)
		check(again.exits[i].address == found.exits[i].address &&
		      again.exits[i].kind == found.exits[i].kind);
	function_exits_free(&again);
	function_exits_free(&found);
}

/* ---- The function's frames */

struct rules {
	uint64_t last;
	size_t count;
};

static int check_rule(void *context, uint64_t address, const struct frame_rule *rule)
{
	struct rules *rules = context;

	check(rules->count ? address > rules->last : address == BASE);
	check(rule->kind <= FRAME_RULE_REGISTER && (rule->kind == FRAME_RULE_NONE || rule->derived));
	check(rule->kind != FRAME_RULE_STACK || rule->cfa >= 8);
	rules->last = address;
	rules->count++;
	return 0;
}

static void find_frames(const uint8_t *code, size_t available)
{
	const struct code_span span = { code, BASE, BASE + available };
	struct code_entry entries[PIECES];
	struct rules rules = { 0 };
	uint64_t at = BASE;

	for (int i = 0; i < PIECES; i++) {
		at += place.pieces[i][0];
		entries[i] = (struct code_entry){ at, place.pieces[i][1] & 1 };
	}
	check(!code_frames_run(&span, entries, PIECES, check_rule, &rules));
	check(rules.count > 0 && (rules.count == 1 || rules.last < BASE + available));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	uint8_t flags = input_byte(&in);
	uint64_t offset = input_number(&in, 2);
	uint8_t *code;

	if (flags & (EXITS | FRAMES))
		for (int i = 0; i < PIECES; i++) {
			place.pieces[i][0] = input_byte(&in);
			place.pieces[i][1] = input_byte(&in);
		}
	code = malloc(in.size ? in.size : 1);
	check(code != NULL);
	/* A copy in its own allocation, so that a read beyond its end is detected. */
	if (in.size)
		memcpy(code, in.data, in.size);
	if (flags & FRAMES)
		find_frames(code, in.size);
	else if (flags & EXITS)
		find_exits(flags, offset, code, in.size);
	else
		choose(flags, offset, code, in.size);
	free(code);
	return 0;
}

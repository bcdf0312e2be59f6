/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_code.c - libFuzzer target for the machine code of functions, which comes from files of targets.
 *
 * The first byte of an input says for which machine and kernel, and how much of the function there is;
 * the next two are its place in a page. The rest is code.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/instruction.h"
#include "tests/fuzz/input.h"

#define OPTIMIZED_NOP 0x01
#define AARCH64 0x02
#define SIZE_UNKNOWN 0x04
#define SIZE_LARGER 0x08 /* than what there is of it */

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
		instruction_choose(decoder_for(flags), code, available, size, offset);

	check(choice.class < INSTRUCTION_CLASSES);
	check((choice.class == INSTRUCTION_STEPPED) == (choice.reason != INSTRUCTION_NO_REASON));
	check(!choice.delta || (choice.delta < available && size == available));
	check(!choice.delta || !(flags & AARCH64));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	uint8_t flags = input_byte(&in);
	uint64_t offset = input_number(&in, 2);
	uint8_t *code = malloc(in.size ? in.size : 1);

	check(code != NULL);
	/* A copy, so that a byte read behind it is found out. */
	if (in.size)
		memcpy(code, in.data, in.size);
	choose(flags, offset, code, in.size);
	free(code);
	return 0;
}

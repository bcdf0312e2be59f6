/* SPDX-License-Identifier: Apache-2.0 */
/* control_flow.h - the successors of an instruction: next instruction, jump, return. */
#ifndef PROFBPF_LIB_ELF_CONTROL_FLOW_H
#define PROFBPF_LIB_ELF_CONTROL_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/elf_file.h"

enum flow {
	FLOW_UNKNOWN, /* can't be decoded */
	FLOW_NEXT, /* the next instruction, also after a call */
	FLOW_STOP, /* none: a trap */
	FLOW_JUMP, /* target */
	FLOW_BRANCH, /* the next instruction or target */
	FLOW_TABLE, /* one of several places in the same function: a jump table */
	FLOW_INDIRECT, /* the address that the operands give */
	FLOW_RETURN,
	FLOW_ODD, /* the instruction may leave the function in a way that cannot be probed */
};

/* Register numbers as in x86-64 instructions; AArch64 registers have their own numbers. */
#define FLOW_REGISTER_SP 4 /* of x86-64 */
#define FLOW_REGISTER_IP 32
#define FLOW_REGISTER_NONE 33

struct flow_step {
	enum flow flow;
	uint32_t size; /* bytes; 0 with FLOW_UNKNOWN */
	uint64_t target; /* FLOW_JUMP, FLOW_BRANCH */
	bool stepped; /* under a probe the kernel single-steps the instruction; else it emulates it */
	bool plain; /* FLOW_RETURN: it pops only the return address */
	bool reads_code; /* the instruction loads data at target */
	/* FLOW_INDIRECT: base + index * scale + displacement, or with in_memory the word at that address. */
	bool in_memory;
	uint8_t base, index, scale;
	int32_t displacement;
};

struct flow_decoder;

/* flow_decoder_new - a decoder for one thread; NULL without memory or for other machines */
struct flow_decoder *flow_decoder_new(enum elf_file_machine machine);
void flow_decoder_free(struct flow_decoder *decoder);

/* flow_decoder_begin - starts a new piece of code: the decoder forgets the instructions before */
void flow_decoder_begin(struct flow_decoder *decoder);

/*
 * flow_decode - decodes the instruction at @code, whose address is @address
 *
 * Instructions of a function must be decoded in order: the instructions before it identify a jump table.
 */
struct flow_step flow_decode(struct flow_decoder *decoder, const uint8_t *code, size_t available,
			     uint64_t address);

/* flow_decode_apart - decodes an instruction elsewhere, without context; the sequence of flow_decode() is not affected */
struct flow_step flow_decode_apart(struct flow_decoder *decoder, const uint8_t *code,
				   size_t available, uint64_t address);

#endif /* PROFBPF_LIB_ELF_CONTROL_FLOW_H */

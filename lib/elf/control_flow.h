/* SPDX-License-Identifier: Apache-2.0 */
/* control_flow.h - where the code goes on after an instruction. */
#ifndef PROFBPF_LIB_ELF_CONTROL_FLOW_H
#define PROFBPF_LIB_ELF_CONTROL_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/elf_file.h"

enum flow {
	FLOW_UNKNOWN, /* can't be decoded */
	FLOW_NEXT, /* to the next one; also after calls */
	FLOW_STOP, /* nowhere: a trap */
	FLOW_JUMP, /* to target */
	FLOW_BRANCH, /* to the next one or to target */
	FLOW_TABLE, /* to one of several places in the same function: a jump table */
	FLOW_INDIRECT, /* to where operands tell */
	FLOW_RETURN,
	FLOW_ODD, /* it may leave the function in a way that can't be probed */
};

/* Numbered as x86-64's instructions number them; the aarch64 ones are their own numbers. */
#define FLOW_REGISTER_SP 4 /* of x86-64 */
#define FLOW_REGISTER_IP 32
#define FLOW_REGISTER_NONE 33

struct flow_step {
	enum flow flow;
	uint32_t size; /* bytes; 0 with FLOW_UNKNOWN */
	uint64_t target; /* FLOW_JUMP, FLOW_BRANCH */
	bool stepped; /* the kernel single-steps it; else it emulates it */
	bool plain; /* FLOW_RETURN: nothing but the return address is taken off the stack */
	bool reads_code; /* there is data at target, which the instruction loads */
	/* FLOW_INDIRECT: base + index * scale + displacement, or what lies there. */
	bool in_memory;
	uint8_t base, index, scale;
	int32_t displacement;
};

struct flow_decoder;

/* flow_decoder_new - for one function after the other, from one thread; NULL without memory or for other machines */
struct flow_decoder *flow_decoder_new(enum elf_file_machine machine);
void flow_decoder_free(struct flow_decoder *decoder);

/* flow_decoder_begin - what is decoded next has nothing to do with what was decoded before */
void flow_decoder_begin(struct flow_decoder *decoder);

/*
 * flow_decode - the instruction at @code, which lies at @address
 *
 * Instructions of a function must come in order: a jump table is told by what was decoded before it.
 */
struct flow_step flow_decode(struct flow_decoder *decoder, const uint8_t *code, size_t available,
			     uint64_t address);

/* flow_decode_apart - one that lies elsewhere, as if nothing had been decoded before it; the order goes on after it */
struct flow_step flow_decode_apart(struct flow_decoder *decoder, const uint8_t *code,
				   size_t available, uint64_t address);

#endif /* PROFBPF_LIB_ELF_CONTROL_FLOW_H */

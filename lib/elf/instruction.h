/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instruction.h - which instruction of a function to put the probe on.
 *
 * The instruction under a uprobe decides its price: a 5-byte nop is rewritten
 * into a call, some instructions are emulated by the kernel, all others are
 * single-stepped, which costs ten times as much. A probe a few bytes into the
 * function sees the same call, the same arguments and the same return address
 * as one at its entry if everything before it is straight-line code that leaves
 * the argument registers alone, writes to memory only what it has just taken from
 * the stack, and if nothing in the function jumps back to it.
 */
#ifndef PROFBPF_LIB_ELF_INSTRUCTION_H
#define PROFBPF_LIB_ELF_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/elf_file.h"

#define INSTRUCTION_SKIP_MAX 8 /* instructions stepped over at most */
#define INSTRUCTION_DELTA_MAX 63 /* bytes stepped over at most */
#define INSTRUCTION_SCAN_MAX (64u << 10) /* bytes of a function looked at most */

enum instruction_class {
	INSTRUCTION_NOP5, /* rewritten into a call by the kernel: cheapest */
	INSTRUCTION_EMULATED, /* push, nop, direct jump or call */
	INSTRUCTION_STEPPED, /* everything else: about ten times as expensive */
};
#define INSTRUCTION_CLASSES (INSTRUCTION_STEPPED + 1)

/* Why a stepped instruction is probed nevertheless. */
enum instruction_reason {
	INSTRUCTION_NO_REASON, /* it is not a stepped one */
	INSTRUCTION_MACHINE, /* only the entry is ever probed on this machine */
	INSTRUCTION_SIZE, /* the size is unknown, or too large to look at all of it */
	INSTRUCTION_REACH, /* nothing better within reach, or not without a harm on the way */
	INSTRUCTION_UNKNOWN, /* something in the function cannot be decoded */
	INSTRUCTION_JUMP, /* something in the function jumps there, or may do so */
};

struct instruction_choice {
	uint32_t delta; /* bytes from the function's first instruction */
	uint16_t below; /* bytes that the stack pointer is below its place there */
	enum instruction_class class;
	enum instruction_reason reason;
};

struct instruction_decoder;

/*
 * instruction_decoder_new - state for instruction_choose(), not shared by threads
 *
 * @optimized_nop: the running kernel turns 5-byte nops into calls (Linux 6.18
 * and later on x86-64) and emulates the other long nops; without it they are
 * single-stepped there, so the choice avoids them. Returns NULL if there is no
 * memory.
 */
struct instruction_decoder *instruction_decoder_new(enum elf_file_machine machine,
						    bool optimized_nop);
void instruction_decoder_free(struct instruction_decoder *decoder);

/*
 * instruction_choose - where to probe a function, and what that costs
 *
 * @code:      the function's bytes from its first instruction
 * @available: bytes in @code; may be fewer than the function has
 * @size:      the function's size as its symbol tells it; 0 = unknown
 * @offset:    of the first instruction in the file; needed because a nop that
 *             crosses a page is not rewritten
 * @stack_stays: the stack pointer must be what it is at the entry; a return
 *             probe replaces what lies there
 *
 * Never fails: in doubt the answer is the entry with its honest class. The probe
 * stays at the entry if the size is unknown, if not all of the function is in
 * @code, if some of it cannot be decoded, or if it holds an indirect jump that
 * may be a jump table (indirect tail calls through a loaded pointer are told
 * apart). On AArch64 the answer always is the entry.
 */
struct instruction_choice instruction_choose(struct instruction_decoder *decoder,
					     const uint8_t *code, size_t available, uint64_t size,
					     uint64_t offset, bool stack_stays);

/* instruction_class_name - "nop5", "emulated" or "stepped" */
const char *instruction_class_name(enum instruction_class class);

/* instruction_reason_text - a few words; "" for none */
const char *instruction_reason_text(enum instruction_reason reason);

#endif /* PROFBPF_LIB_ELF_INSTRUCTION_H */

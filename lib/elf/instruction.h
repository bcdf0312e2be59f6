/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instruction.h - chooses the instruction of a function that its entry probe is placed on.
 *
 * The instruction under a uprobe decides its price: a 5-byte nop is rewritten
 * into a call, some instructions are emulated by the kernel, all others are
 * single-stepped, which costs ten times as much. A probe a few bytes into the
 * function sees the same call, the same arguments and the same return address
 * as one at its entry if all instructions before it are straight-line code that does not change
 * the argument registers and writes only to the stack space that it has just reserved,
 * and if nothing in the function jumps back to it.
 */
#ifndef PROFBPF_LIB_ELF_INSTRUCTION_H
#define PROFBPF_LIB_ELF_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/elf_file.h"

#define INSTRUCTION_SKIP_MAX 8 /* the most instructions before the probe */
#define INSTRUCTION_DELTA_MAX 63 /* the most bytes before the probe */
#define INSTRUCTION_SCAN_MAX (64u << 10) /* the most bytes of a function that are read */

enum instruction_class {
	INSTRUCTION_NOP5, /* rewritten into a call by the kernel: cheapest */
	INSTRUCTION_EMULATED, /* push, nop, direct jump or call */
	INSTRUCTION_STEPPED, /* everything else: about ten times as expensive */
};
#define INSTRUCTION_CLASSES (INSTRUCTION_STEPPED + 1)

/* Why a stepped instruction is probed. */
enum instruction_reason {
	INSTRUCTION_NO_REASON, /* the instruction is not stepped */
	INSTRUCTION_MACHINE, /* only the entry is ever probed on this machine */
	INSTRUCTION_SIZE, /* the function's size is unknown or exceeds the limit */
	INSTRUCTION_REACH, /* no better instruction is in reach behind harmless ones */
	INSTRUCTION_UNKNOWN, /* part of the function cannot be decoded */
	INSTRUCTION_JUMP, /* a jump in the function leads there, or may do so */
};

struct instruction_choice {
	uint32_t delta; /* bytes from the function's first instruction */
	uint16_t below; /* bytes by which the stack pointer at the probe is below its value at the entry */
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
 * instruction_choose - chooses where to probe a function, and gives the class of that instruction
 *
 * @code:      the function's bytes from its first instruction
 * @available: bytes in @code; may be fewer than the function has
 * @size:      the function's size from its symbol; 0 = unknown
 * @offset:    of the first instruction in the file; needed because a nop that
 *             crosses a page is not rewritten
 * @stack_stays: the stack pointer must be the same as at the entry, because a return
 *             probe replaces the word there
 *
 * Never fails: in doubt the answer is the entry with its honest class. The probe
 * stays at the entry if the size is unknown, if not all of the function is in
 * @code, if some of it cannot be decoded, or if it holds an indirect jump that
 * may be a jump table (indirect tail calls through a loaded pointer are
 * recognised). On AArch64 the answer is always the entry.
 */
struct instruction_choice instruction_choose(struct instruction_decoder *decoder,
					     const uint8_t *code, size_t available, uint64_t size,
					     uint64_t offset, bool stack_stays);

/* instruction_class_name - "nop5", "emulated" or "stepped" */
const char *instruction_class_name(enum instruction_class class);

/* instruction_reason_text - a few words; "" for none */
const char *instruction_reason_text(enum instruction_reason reason);

#endif /* PROFBPF_LIB_ELF_INSTRUCTION_H */

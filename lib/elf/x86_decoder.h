/* SPDX-License-Identifier: Apache-2.0 */
/* x86_decoder.h - the disassembler for x86-64 code: a Capstone handle, and memory for one instruction. */
#ifndef PROFBPF_LIB_ELF_X86_DECODER_H
#define PROFBPF_LIB_ELF_X86_DECODER_H

#include <capstone/capstone.h>
#include <stdbool.h>

struct x86_decoder {
	csh handle;
	cs_insn *insn; /* for cs_disasm_iter() */
};

/*
 * x86_decoder_open - opens @x86, which must be zeroed ({ 0 })
 *
 * @detail: instructions come with their operands and groups, which takes longer. A decoder is not shared by threads. Returns
 * false without memory, or if this Capstone lacks x86; x86_decoder_close() may be called in any case.
 */
bool x86_decoder_open(struct x86_decoder *x86, bool detail);

/* x86_decoder_close - does nothing for a zeroed one */
void x86_decoder_close(struct x86_decoder *x86);

#define X86_NO_REGISTER 16

/* x86_register_number - 0 to 15, as in instructions, for a general register (X86_REG_...) or a part of one; else X86_NO_REGISTER */
unsigned int x86_register_number(unsigned int reg);

#endif /* PROFBPF_LIB_ELF_X86_DECODER_H */

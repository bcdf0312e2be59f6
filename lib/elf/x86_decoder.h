/* SPDX-License-Identifier: Apache-2.0 */
/* x86_decoder.h - the disassembler for x86-64 code: a handle of Capstone, and room for one instruction. */
#ifndef PROFBPF_LIB_ELF_X86_DECODER_H
#define PROFBPF_LIB_ELF_X86_DECODER_H

#include <capstone/capstone.h>
#include <stdbool.h>

struct x86_decoder {
	csh handle;
	cs_insn *insn; /* for cs_disasm_iter() */
};

/*
 * x86_decoder_open - @x86 is empty ({ 0 }) before it
 *
 * @detail: instructions come with their operands and groups, which takes longer. Not for several threads at once. False:
 * there is no memory, or this Capstone has no x86; x86_decoder_close() may be called nevertheless.
 */
bool x86_decoder_open(struct x86_decoder *x86, bool detail);

/* x86_decoder_close - an empty one stays as it is */
void x86_decoder_close(struct x86_decoder *x86);

#endif /* PROFBPF_LIB_ELF_X86_DECODER_H */

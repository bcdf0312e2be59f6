/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_size.h - the length of x86-64 SSE, AVX and AVX-512 instructions that write only vectors, memory or flags.
 *
 * Code written in assembler consists mostly of these. Their encoding gives the length a hundred times faster than the
 * disassembler, and also for instructions that are newer than it.
 */
#ifndef PROFBPF_LIB_ELF_VECTOR_SIZE_H
#define PROFBPF_LIB_ELF_VECTOR_SIZE_H

#include <stddef.h>
#include <stdint.h>

/*
 * vector_instruction_size - the length in bytes of such an instruction
 *
 * Intel SDM, volume 2: 2.1, 2.3 and 2.7 (prefixes, ModRM, SIB, displacement), appendix A (opcodes). Returns 0 if it is
 * another instruction, may write a general register, or is not complete in @available bytes.
 */
uint32_t vector_instruction_size(const uint8_t *code, size_t available);

#endif /* PROFBPF_LIB_ELF_VECTOR_SIZE_H */

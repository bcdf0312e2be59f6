/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_size.h - how long x86-64 instructions of SSE, AVX and AVX-512 are that write vectors, memory or flags only.
 *
 * Code that people write in assembler consists of these. Their form tells their length, also of those that the
 * disassembler is too old for, and a hundred times as fast.
 */
#ifndef PROFBPF_LIB_ELF_VECTOR_SIZE_H
#define PROFBPF_LIB_ELF_VECTOR_SIZE_H

#include <stddef.h>
#include <stdint.h>

/*
 * vector_instruction_size - bytes of such an instruction
 *
 * Intel SDM, volume 2: 2.1, 2.3 and 2.7 (prefixes, ModRM, SIB, displacement), appendix A (opcodes). 0: it is another
 * one, may write a general register, or not all of it is in @available bytes.
 */
uint32_t vector_instruction_size(const uint8_t *code, size_t available);

#endif /* PROFBPF_LIB_ELF_VECTOR_SIZE_H */

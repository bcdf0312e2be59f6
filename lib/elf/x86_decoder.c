/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/x86_decoder.h"

bool x86_decoder_open(struct x86_decoder *x86, bool detail)
{
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &x86->handle) != CS_ERR_OK)
		return false;
	if (detail)
		cs_option(x86->handle, CS_OPT_DETAIL, CS_OPT_ON);
	x86->insn = cs_malloc(x86->handle);
	return x86->insn != NULL;
}

void x86_decoder_close(struct x86_decoder *x86)
{
	if (x86->insn)
		cs_free(x86->insn, 1);
	if (x86->handle)
		cs_close(&x86->handle);
	*x86 = (struct x86_decoder){ 0 };
}

static const uint16_t REGISTERS[16][6] = {
	{ X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH },
	{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH },
	{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH },
	{ X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH },
	{ X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL },
	{ X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL },
	{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL },
	{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL },
	{ X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B },
	{ X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B },
	{ X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B },
	{ X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B },
	{ X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B },
	{ X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B },
	{ X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B },
	{ X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B },
};

unsigned int x86_register_number(unsigned int reg)
{
	static uint8_t numbers[X86_REG_ENDING]; /* and 1; 0: it has none */
	static bool filled;

	/* The first thread fills the table; another one at the same time writes the same values. */
	if (!__atomic_load_n(&filled, __ATOMIC_ACQUIRE)) {
		for (unsigned int i = 0; i < 16; i++)
			for (unsigned int j = 0; j < 6 && REGISTERS[i][j]; j++)
				numbers[REGISTERS[i][j]] = (uint8_t)(i + 1);
		__atomic_store_n(&filled, true, __ATOMIC_RELEASE);
	}
	return reg < X86_REG_ENDING && numbers[reg] ? numbers[reg] - 1u : X86_NO_REGISTER;
}

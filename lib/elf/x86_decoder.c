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

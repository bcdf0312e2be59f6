/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/readable_symbol.h"

#include <libiberty/demangle.h>
#include <string.h>

#define SYMBOL_MAX 4096

char *readable_symbol(const char *symbol)
{
	if (strncmp(symbol, "_Z", 2) != 0 || strnlen(symbol, SYMBOL_MAX) == SYMBOL_MAX)
		return NULL;
	return cplus_demangle_v3(symbol, DMGL_NO_OPTS);
}

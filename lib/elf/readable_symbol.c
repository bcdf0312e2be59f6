/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/readable_symbol.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#define SYMBOL_MAX 4096

struct rust_name {
	jmp_buf too_long;
	size_t length;
	char text[SYMBOL_MAX];
};

/* The library has no other way to end early, and 150 bytes of a symbol may describe a name of gigabytes. */
static void append(const char *text, size_t length, void *context)
{
	struct rust_name *name = context;

	if (length >= sizeof(name->text) - name->length)
		longjmp(name->too_long, 1);
	memcpy(name->text + name->length, text, length);
	name->length += length;
}

static char *rust_symbol(const char *symbol)
{
	struct rust_name name;

	name.length = 0;
	if (setjmp(name.too_long) != 0 || !rust_demangle_callback(symbol, DMGL_NO_OPTS, append, &name))
		return NULL;
	return strndup(name.text, name.length);
}

char *readable_symbol(const char *symbol)
{
	char *rust;

	if ((strncmp(symbol, "_Z", 2) != 0 && strncmp(symbol, "_R", 2) != 0) ||
	    strnlen(symbol, SYMBOL_MAX) == SYMBOL_MAX)
		return NULL;
	/* The older mangling of Rust is valid C++, whose last name is a hash. */
	rust = rust_symbol(symbol);
	return rust ? rust : cplus_demangle_v3(symbol, DMGL_NO_OPTS);
}

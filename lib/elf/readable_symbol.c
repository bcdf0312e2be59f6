/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/readable_symbol.h"

#include <libiberty/demangle.h>
#include <ctype.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#define SYMBOL_MAX 4096
#define LIFETIMES_MAX 1000 /* of all types of a symbol; in real ones a few */

struct rust_name {
	jmp_buf too_long;
	bool over; /* it is longer than @text */
	size_t length;
	char text[SYMBOL_MAX];
};

static bool is_ascii(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return true;
}

/*
 * The library has no other way to end early, and 150 bytes of a symbol may describe a name of gigabytes. But it must not
 * be left while it holds memory: only for an identifier with other letters than ASCII, which it decodes, and which it
 * frees when it has passed it on. It passes other text on before the next of these.
 */
static void append(const char *text, size_t length, void *context)
{
	struct rust_name *name = context;

	if (!length)
		return;
	name->over |= length >= sizeof(name->text) - name->length;
	if (name->over && is_ascii(text, length))
		longjmp(name->too_long, 1);
	if (name->over)
		return;
	memcpy(name->text + name->length, text, length);
	name->length += length;
}

static unsigned int digit_62(char c)
{
	if (isdigit((unsigned char)c))
		return (unsigned int)(c - '0');
	return islower((unsigned char)c) ? (unsigned int)(c - 'a' + 10) : (unsigned int)(c - 'A' + 36);
}

/* Returns the number of lifetimes, in base 62 and less 1, that ends with "_"; 0 if none stands at @text. */
static size_t lifetimes_at(const char *text)
{
	size_t count = 0;

	for (; isalnum((unsigned char)*text); text++)
		if (count <= LIFETIMES_MAX)
			count = count * 62 + digit_62(*text);
	return *text == '_' ? count + 1 : 0;
}

/*
 * Where the library skips a part of a symbol it still counts that part's lifetimes one by one: "FGzzzzzzzzzz_" would
 * take years. They follow the letter of a function or of a trait. Such letters in an identifier leave it mangled, too.
 */
static bool has_many_lifetimes(const char *symbol)
{
	size_t all = 0;

	for (const char *at = symbol; (at = strchr(at, 'G')) && all <= LIFETIMES_MAX; at++)
		if (at > symbol && (at[-1] == 'F' || at[-1] == 'D'))
			all += lifetimes_at(at + 1);
	return all > LIFETIMES_MAX;
}

static char *rust_symbol(const char *symbol)
{
	struct rust_name name;

	if (!strncmp(symbol, "_R", 2) && has_many_lifetimes(symbol))
		return NULL;
	name.length = 0;
	name.over = false;
	if (setjmp(name.too_long) != 0 || !rust_demangle_callback(symbol, DMGL_NO_OPTS, append, &name) || name.over)
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

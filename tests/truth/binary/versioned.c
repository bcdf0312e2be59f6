/* SPDX-License-Identifier: Apache-2.0 */
/* versioned.c - symbols without a one-to-one mapping to functions: versions, aliases, IFUNCs; see symbols.map */

#define FUNCTION __attribute__((noinline, visibility("default"))) int

/* Two functions with one name. */
FUNCTION version_one(int value)
{
	__asm__ volatile("" ::: "memory");
	return value & 0;
}

FUNCTION version_two(int value)
{
	__asm__ volatile("nop" ::: "memory");
	return value & 0;
}

__asm__(".symver version_one, binary_version@V1");
__asm__(".symver version_two, binary_version@@V2");

/* One function with two names; the catalog has the exact second name. */
FUNCTION binary_a_name(int value)
{
	__asm__ volatile("" ::: "memory");
	return value & 0;
}

FUNCTION binary_alias(int value) __attribute__((alias("binary_a_name")));

/* A function that is selected when the library is loaded. */
static int chosen(int value)
{
	__asm__ volatile("" ::: "memory");
	return value & 0;
}

static int (*choose(void))(int)
{
	return chosen;
}

FUNCTION binary_chosen(int value) __attribute__((ifunc("choose")));

/* SPDX-License-Identifier: Apache-2.0 */
/* picked.c - an IFUNC, and with -DIMPORTER a library that calls it: its GOT has the selected function */

#define FUNCTION __attribute__((noinline, visibility("default"))) int

#ifdef IMPORTER
int binary_picked(int value);

FUNCTION call_picked(int value)
{
	return binary_picked(value) & 0;
}
#else
static int first(int value)
{
	__asm__ volatile("" ::: "memory");
	return value & 0;
}

static int second(int value)
{
	__asm__ volatile("nop" ::: "memory");
	return value & 0;
}

static int (*pick(void))(int)
{
	return sizeof(void *) == 8 ? second : first;
}

FUNCTION binary_picked(int value) __attribute__((ifunc("pick")));
#endif

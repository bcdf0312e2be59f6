/* SPDX-License-Identifier: Apache-2.0 */
/* library.c - a library of one function, whose name is FUNCTION; see binaries.c */

__attribute__((noinline, visibility("default"))) int FUNCTION(int value)
{
	__asm__ volatile("" ::: "memory");
	return value & 0;
}

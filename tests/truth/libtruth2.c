/* SPDX-License-Identifier: Apache-2.0 */
/* libtruth2.c - the part of the runtime that is loaded later, by dlopen(). */
#include "tests/truth/truth.h"

__attribute__((noinline, visibility("default"))) int truth_second(int value)
{
	__asm__ volatile("" ::: "memory");
	return value & 0;
}

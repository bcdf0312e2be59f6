/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system_call.h - system calls made inline in the caller and not in libc, which has no frame
 * pointers, so that the place of a sleep is a function of the program.
 */
#ifndef PROFBPF_TESTS_TRUTH_SYSTEM_CALL_H
#define PROFBPF_TESTS_TRUTH_SYSTEM_CALL_H

#define NOT_A_LEAF __asm__ volatile("" ::: "memory") /* prevents tail calls, too */

/* Returns the kernel's value: a negative errno on error. */
static inline __attribute__((always_inline)) long system_call(long number, long first, long second,
							      long third)
{
	long result;

#if defined(__x86_64__)
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(first), "S"(second), "d"(third)
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = first;
	register long x1 __asm__("x1") = second;
	register long x2 __asm__("x2") = third;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	result = x0;
#else
#error "unknown architecture"
#endif
	return result;
}

#endif /* PROFBPF_TESTS_TRUTH_SYSTEM_CALL_H */

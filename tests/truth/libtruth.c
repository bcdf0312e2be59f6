/* SPDX-License-Identifier: Apache-2.0 */
/* libtruth.c - a runtime whose functions do exactly what their names say. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/truth/truth.h"

#define EXPORT __attribute__((noinline, visibility("default")))

EXPORT int truth_noop(int value)
{
	__asm__ volatile("" ::: "memory");
	return value & 0;
}

/* Fails with 7 in every @every-th call, counting @n from 1. */
EXPORT int truth_fail_every(int n, int every)
{
	return n % every ? 0 : 7;
}

/*
 * Returns its argument; no value is an error. Without the nop the AArch64 function would be a single return
 * instruction, of which only the entry is seen.
 */
EXPORT int truth_count(int n)
{
#if defined(__aarch64__)
	__asm__ volatile("nop" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
	return n;
}

/* Writes beyond its own array: with a stack protector the program ends instead of returning. */
EXPORT int truth_smash(void)
{
	char room[16];
	volatile char *byte = room;

	__asm__("" : "+r"(byte)); /* Hides the value from the compiler. */
	for (size_t i = sizeof(room); i < 2 * sizeof(room); i++)
		byte[i] ^= 1;
	return byte[sizeof(room)] ? 0 : 1;
}

EXPORT void *truth_make(int wanted)
{
	static int thing;

	return wanted ? &thing : NULL;
}

EXPORT int truth_sleep(unsigned int us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts))
		;
	return 0;
}

EXPORT int truth_inner(int value)
{
	__asm__ volatile("" ::: "memory");
	return value & 0;
}

EXPORT int truth_outer(int inner_calls)
{
	int sum = 0;

	for (int i = 0; i < inner_calls; i++)
		sum += truth_inner(i);
	return sum;
}

EXPORT int truth_recurse(int depth)
{
	int below = depth > 1 ? truth_recurse(depth - 1) : 0;

	__asm__ volatile("" ::: "memory");
	return below;
}

EXPORT int truth_arguments(const char *name, uint64_t bytes, void *stream, int d, int e, int f,
			   uint64_t g, uint64_t *out)
{
	*out = g + bytes;
	return (name && stream && d && e && f) ? 0 : 1;
}

EXPORT void truth_name(struct truth_named *object, const char *name)
{
	object->name = name;
}

EXPORT int truth_named(struct truth_named *object, uint64_t number)
{
	return object->name && number ? 0 : 1;
}

EXPORT int truth_method(struct truth_object *object, int n, int every)
{
	return object->methods->run(object, n, every);
}

EXPORT int truth_dropped(struct truth_object *object, int n, int every)
{
	return object->methods->run(object, n, every);
}

static __attribute__((noinline)) int run(void *object, int n, int every)
{
	static const struct timespec ms = { .tv_nsec = 1000000 };

	nanosleep(&ms, NULL);
	return object && n % every ? 0 : 7;
}

EXPORT struct truth_object *truth_object(void)
{
	static const struct truth_methods methods = { .run = run };
	static struct truth_object object = { &methods };

	return &object;
}

/* Go on in the same method, which returns 1: nobody reads the value of the first, and the second fails. */
EXPORT int truth_pass(struct truth_object *object)
{
	return object->methods->run(object, 0, 0);
}

EXPORT int truth_borrow(struct truth_object *object)
{
	return object->methods->run(object, 0, 0);
}

/* Not static: its instructions are looked at. With a stack protector it sets its value behind the comparison. */
__attribute__((noinline)) int truth_keep(void *object, int n, int every)
{
	__asm__ volatile("" ::"r"(object), "r"(n), "r"(every) : "memory");
	return 1;
}

EXPORT struct truth_object *truth_keeper(void)
{
	static const struct truth_methods methods = { .run = truth_keep };
	static struct truth_object object = { &methods };

	return &object;
}

EXPORT int truth_block(int fd)
{
	char c;

	return read(fd, &c, 1) == 1 ? 0 : 1;
}

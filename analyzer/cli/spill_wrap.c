/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spill_wrap.c - malloc() and its kin of the program: large blocks are those of spill.h.
 *
 * Linked with --wrap (see the Makefile): what the program's own objects call malloc() is __wrap_malloc(), and
 * __real_malloc() the C library's. What libraries allocate is their own, and may be freed here.
 */
#include "analyzer/cli/spill.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sort_rows.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
bool __real_rows_fit(uint64_t bytes);
void __real_qsort_r(void *rows, size_t count, size_t size, __compar_d_fn_t compare, void *context);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_reallocarray(void *block, size_t count, size_t size);
void __wrap_free(void *block);
bool __wrap_rows_fit(uint64_t bytes);
void __wrap_qsort(void *rows, size_t count, size_t size, __compar_fn_t compare);
void __wrap_qsort_r(void *rows, size_t count, size_t size, __compar_d_fn_t compare, void *context);

/* What malloc() gave, or would not. */
static void *noted(void *block)
{
	spill_note(malloc_usable_size(block), 0);
	return block;
}

/*
 * May malloc() give out a block that is not to lie in a file, or has no room there? Beyond what is to be kept in memory all large
 * blocks together are bounded as one is: others must not be killed for them.
 */
static bool in_memory(size_t size)
{
	return size < SPILL_FROM || spill_keeps(size) ||
	       (size <= PTRDIFF_MAX && __real_rows_fit((uint64_t)spill_kept() + size));
}

bool __wrap_rows_fit(uint64_t bytes)
{
	return __real_rows_fit(bytes) || (bytes <= SIZE_MAX && spill_has_room(bytes));
}

static void *of_memory(size_t size)
{
	return in_memory(size) ? noted(__real_malloc(size)) : NULL;
}

void *__wrap_malloc(size_t size)
{
	void *block = spill_new(size);

	return block ? block : of_memory(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	size_t all;
	void *block = NULL;

	if (!__builtin_mul_overflow(count, size, &all)) {
		block = spill_new(all);
		if (!block && !in_memory(all))
			return NULL;
	}
	return block ? block : noted(__real_calloc(count, size));
}

/* To where the other kind of blocks is. NULL without room: then @from stays. */
static void *move(void *from, size_t held, void *to, size_t size)
{
	if (to) {
		memcpy(to, from, held < size ? held : size);
		__wrap_free(from);
	}
	return to;
}

void *__wrap_realloc(void *block, size_t size)
{
	size_t held = spill_size(block);
	void *grown;

	if (held) {
		grown = size >= SPILL_FROM ? spill_grow(block, size) : NULL;
		return grown ? grown : move(block, held, of_memory(size), size);
	}
	held = malloc_usable_size(block);
	spill_note(0, held);
	grown = spill_new_of(size, block, held);
	if (!grown && !in_memory(size)) {
		spill_note(held, 0);
		return NULL;
	}
	if (grown && block) {
		__real_free(block);
	} else if (!grown) {
		grown = __real_realloc(block, size);
		/* Of 0 bytes NULL says that the block is freed. */
		noted(grown || !size ? grown : block);
	}
	return grown;
}

void *__wrap_reallocarray(void *block, size_t count, size_t size)
{
	size_t all;

	/* Too much for any machine: the C library says so. */
	return __wrap_realloc(block, __builtin_mul_overflow(count, size, &all) ? SIZE_MAX : all);
}

void __wrap_free(void *block)
{
	if (spill_free(block))
		return;
	spill_note(0, malloc_usable_size(block));
	__real_free(block);
}

/* ---- The C library sorts in a copy of all rows that it takes from malloc() itself */

void __wrap_qsort_r(void *rows, size_t count, size_t size, __compar_d_fn_t compare, void *context)
{
	if (!sort_runs(rows, count, size, compare, context))
		__real_qsort_r(rows, count, size, compare, context);
}

static int without_context(const void *a, const void *b, void *context)
{
	return (*(__compar_fn_t *)context)(a, b);
}

void __wrap_qsort(void *rows, size_t count, size_t size, __compar_fn_t compare)
{
	__wrap_qsort_r(rows, count, size, without_context, &compare);
}

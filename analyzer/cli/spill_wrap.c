/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spill_wrap.c - replaces malloc() and related functions in the program: large blocks come from spill.h.
 *
 * Linked with --wrap (see the Makefile): calls of malloc() in the program's own objects are calls of __wrap_malloc(),
 * and __real_malloc() is the C library's. Libraries allocate their own blocks, which may be freed here.
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

/* Counts a result of malloc(), which may be NULL. */
static void *noted(void *block)
{
	spill_note(malloc_usable_size(block), 0);
	return block;
}

/*
 * May malloc() allocate a block that should not be in a file, or has no room there? Beyond the size kept in memory,
 * all large blocks together have the limit of a single block: otherwise other processes might be killed for them.
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

/* Moves a block to the other kind of memory. Returns NULL without room: then @from stays. */
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
		/* With size 0, NULL means that the block was freed. */
		noted(grown || !size ? grown : block);
	}
	return grown;
}

void *__wrap_reallocarray(void *block, size_t count, size_t size)
{
	size_t all;

	/* Too large for any machine: the C library then reports the failure. */
	return __wrap_realloc(block, __builtin_mul_overflow(count, size, &all) ? SIZE_MAX : all);
}

void __wrap_free(void *block)
{
	if (spill_free(block))
		return;
	spill_note(0, malloc_usable_size(block));
	__real_free(block);
}

/* ---- Sorting: the C library would sort in a copy of all rows, which it allocates with its own malloc() */

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

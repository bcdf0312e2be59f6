/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/sort_rows.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/bisect.h"

#define SHORT_ROWS 16 /* so few are sorted by insertion */
#define ROW_MAX 256 /* bytes of rows that are */
#define SMALL_COPY (1u << 20) /* up to this size a copy grows by more than is needed */

struct sorting {
	size_t size;
	int (*compare)(const void *a, const void *b, void *context);
	void *context;
	char *copy;
	size_t room; /* size of the copy in bytes */
};

static bool comes_after(const struct sorting *of, const char *a, const char *b)
{
	return of->compare(a, b, of->context) > 0;
}

static void insert_rows(const struct sorting *of, char *rows, size_t count)
{
	const size_t size = of->size;
	char row[ROW_MAX];

	for (size_t i = 1; i < count; i++) {
		size_t to = i;

		while (to && comes_after(of, rows + (to - 1) * size, rows + i * size))
			to--;
		if (to == i)
			continue;
		memcpy(row, rows + i * size, size);
		memmove(rows + (to + 1) * size, rows + to * size, (i - to) * size);
		memcpy(rows + to * size, row, size);
	}
}

/* The number of rows at the end of a sorted part that come after @row. They are mostly few: the search begins at the end. */
static size_t count_after(const struct sorting *of, const char *rows, size_t count, const char *row)
{
	size_t most = 1, least = 0;

	while (most < count && comes_after(of, rows + (count - most) * of->size, row)) {
		least = most;
		most *= 2;
	}
	most = most < count ? most : count;
	return BISECT(i, least, most, comes_after(of, rows + (count - 1 - i) * of->size, row));
}

/* How many of the first rows of a part in order come before @row. */
static size_t count_before(const struct sorting *of, const char *rows, size_t count,
			   const char *row)
{
	size_t most = 1, least = 0;

	while (most < count && comes_after(of, row, rows + (most - 1) * of->size)) {
		least = most;
		most *= 2;
	}
	most = most < count ? most : count;
	return BISECT(i, least, most, comes_after(of, row, rows + i * of->size));
}

static bool copy_rows(struct sorting *of, const char *rows, size_t count)
{
	size_t bytes = count * of->size;

	if (bytes > of->room) {
		size_t room = bytes < SMALL_COPY ? bytes * 2 : bytes;
		/* Not free() and malloc(): the kernel would take pages back and clear new ones for each larger copy. */
		char *grown = realloc(of->copy, room);

		if (!grown)
			return false;
		of->copy = grown;
		of->room = room;
	}
	memcpy(of->copy, rows, bytes);
	return true;
}

/* Merges two sorted parts, the first of @half rows. Equal rows keep their order. */
static bool merge(struct sorting *of, char *rows, size_t half, size_t count)
{
	const size_t size = of->size;
	const char *a, *a_end, *b = rows + half * size, *b_end;
	size_t after;

	if (!comes_after(of, b - size, b))
		return true;
	after = count_after(of, rows, half, b);
	b_end = b + count_before(of, b, count - half, b - size) * size;
	rows += (half - after) * size;
	if (!copy_rows(of, rows, after))
		return false;
	a = of->copy;
	a_end = a + after * size;
	for (; a < a_end && b < b_end; rows += size) {
		const char **from = comes_after(of, a, b) ? &b : &a;

		memcpy(rows, *from, size);
		*from += size;
	}
	memcpy(rows, a, (size_t)(a_end - a));
	return true;
}

static bool sort_part(struct sorting *of, char *rows, size_t count)
{
	size_t half = count / 2;

	if (count <= (of->size <= ROW_MAX ? SHORT_ROWS : 1)) {
		insert_rows(of, rows, count);
		return true;
	}
	return sort_part(of, rows, half) && sort_part(of, rows + half * of->size, count - half) &&
	       merge(of, rows, half, count);
}

bool sort_runs(void *rows, size_t count, size_t size,
	       int (*compare)(const void *a, const void *b, void *context), void *context)
{
	struct sorting of = { .size = size, .compare = compare, .context = context };
	bool ok = count < 2 || sort_part(&of, rows, count);

	free(of.copy);
	return ok;
}

struct plain {
	int (*compare)(const void *a, const void *b);
};

static int without_context(const void *a, const void *b, void *context)
{
	return ((const struct plain *)context)->compare(a, b);
}

void sort_rows(void *rows, size_t count, size_t size, int (*compare)(const void *a, const void *b))
{
	struct plain plain = { compare };

	if (!sort_runs(rows, count, size, without_context, &plain))
		qsort(rows, count, size, compare);
}

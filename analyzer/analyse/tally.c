/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/tally.h"

#include <stdlib.h>

struct tally_kind *tally_kind_of(struct tally *tally, uint32_t key)
{
	/* Rows of one kind are often consecutive. */
	if (tally->last >= tally->kinds.count || tally->kinds.row[tally->last].key != key)
		tally->last = map_get(&tally->map, key);
	return tally->last < tally->kinds.count ? &tally->kinds.row[tally->last] : NULL;
}

bool tally_add(struct tally *tally, uint32_t key)
{
	struct tally_kind *known = tally_kind_of(tally, key);
	struct tally_kind new = { .key = key, .count = 1 };

	if (known) {
		known->count++;
		return true;
	}
	tally->last = tally->kinds.count;
	return map_put(&tally->map, key, tally->kinds.count) && MODEL_PUSH(&tally->kinds, new);
}

static int by_key(const void *a, const void *b)
{
	const struct tally_kind *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

bool tally_sort(struct tally *tally)
{
	uint32_t first = 0;

	if (tally->kinds.count)
		qsort(tally->kinds.row, tally->kinds.count, sizeof(*tally->kinds.row), by_key);
	for (uint32_t i = 0; i < tally->kinds.count; i++) {
		if (!map_put(&tally->map, tally->kinds.row[i].key, i))
			return false;
		tally->kinds.row[i].first = first;
		first += tally->kinds.row[i].count;
	}
	return true;
}

void tally_free(struct tally *tally)
{
	map_free(&tally->map);
	free(tally->kinds.row);
	*tally = (struct tally){ 0 };
}

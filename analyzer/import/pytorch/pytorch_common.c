/* SPDX-License-Identifier: Apache-2.0 */
/* What many calls and tasks of a Kineto trace have in common, stored once: millions of rows are kept until its end. */
#include "analyzer/import/pytorch/pytorch.h"

#include <string.h>

static uint64_t hash_of(const struct pytorch_common *common)
{
	uint64_t words[sizeof(*common) / sizeof(uint64_t)], hash = 0;

	_Static_assert(sizeof(words) == sizeof(*common) &&
			       sizeof(words) == 3 * sizeof(uint64_t) + 5 * sizeof(uint32_t) + 2 * sizeof(uint16_t),
		       "the words are all of the row, which has no gaps");
	memcpy(words, common, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	return hash;
}

static bool is_common(const struct pytorch *file, uint32_t index, const struct pytorch_common *common)
{
	return memcmp(&file->commons.row[index], common, sizeof(*common)) == 0;
}

uint32_t pytorch_common_of(struct pytorch *file, const struct pytorch_common *common)
{
	uint64_t key = hash_of(common);
	uint32_t *recent = &file->recent_commons[key % PYTORCH_RECENT];
	uint32_t index;

	if (*recent && is_common(file, *recent - 1, common))
		return *recent - 1;
	while ((index = map_get(&file->common_map, key)) != MAP_NONE && !is_common(file, index, common))
		key++;
	if (index == MAP_NONE) {
		index = file->commons.count;
		if (!map_put(&file->common_map, key, index) || !MODEL_PUSH(&file->commons, *common))
			return INDEX_NONE;
	}
	*recent = index + 1;
	return index;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/seen_code.h"

void seen_code_add(struct seen_code *seen, uint64_t address)
{
	seen->address[seen->count++ % SEEN_CODE_MAX] = address;
}

void seen_code_first(struct seen_code *seen, const struct code_maps *maps, uint32_t *places, uint32_t count)
{
	uint32_t first = 0;

	for (size_t i = 0; i < SEEN_CODE_MAX && i < seen->count; i++) {
		const struct code_map *map = code_maps_find(maps, seen->address[i]);

		for (uint32_t j = first; map && j < count; j++) {
			uint32_t place = places[j];

			if (&maps->map[place] != map)
				continue;
			places[j] = places[first];
			places[first++] = place;
			break;
		}
	}
	seen->count = 0;
}

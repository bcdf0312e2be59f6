/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SLOTS_MIN 64
#define SLOTS_MAX (1u << 31)

static uint32_t slot_of(const struct map *map, uint64_t key)
{
	/* The finalizer of splitmix64. */
	key ^= map->seed;
	key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9ull;
	key = (key ^ (key >> 27)) * 0x94d049bb133111ebull;
	return (uint32_t)(key ^ (key >> 31)) & map->mask;
}

/* The slot of the key, or the free one where it belongs. */
static struct map_slot *find(const struct map *map, uint64_t key)
{
	uint32_t i = slot_of(map, key);

	while (map->slot[i].value != MAP_NONE && map->slot[i].key != key)
		i = (i + 1) & map->mask;
	return &map->slot[i];
}

uint32_t map_get(const struct map *map, uint64_t key)
{
	return map->slot ? find(map, key)->value : MAP_NONE;
}

static bool resize(struct map *map, uint32_t slots)
{
	struct map bigger = { .mask = slots - 1, .seed = map->seed, .count = map->count };

	bigger.slot = reallocarray(NULL, slots, sizeof(*bigger.slot));
	if (!bigger.slot)
		return false;
	memset(bigger.slot, 0xff, slots * sizeof(*bigger.slot));
	for (uint32_t i = 0; map->slot && i <= map->mask; i++) {
		if (map->slot[i].value != MAP_NONE)
			*find(&bigger, map->slot[i].key) = map->slot[i];
	}
	free(map->slot);
	*map = bigger;
	return true;
}

static bool make_room(struct map *map)
{
	if (!map->slot) {
		/* Without randomness the map still works. */
		if (getrandom(&map->seed, sizeof(map->seed), GRND_NONBLOCK) < 0)
			map->seed = 0;
		return resize(map, SLOTS_MIN);
	}
	if ((uint64_t)map->count * 3 < (uint64_t)map->mask * 2)
		return true;
	if (map->mask >= SLOTS_MAX - 1)
		return map->count < map->mask;
	return resize(map, (map->mask + 1) * 2);
}

bool map_put(struct map *map, uint64_t key, uint32_t value)
{
	struct map_slot *slot;

	if (!make_room(map))
		return false;
	slot = find(map, key);
	if (slot->value == MAP_NONE)
		map->count++;
	slot->key = key;
	slot->value = value;
	return true;
}

void map_remove(struct map *map, uint64_t key)
{
	struct map_slot *slot = map->slot ? find(map, key) : NULL;
	uint32_t hole, i;

	if (!slot || slot->value == MAP_NONE)
		return;
	hole = (uint32_t)(slot - map->slot);
	/* Keys that would not be found behind the hole move into it: those that belong at or before it. */
	for (i = (hole + 1) & map->mask; map->slot[i].value != MAP_NONE; i = (i + 1) & map->mask) {
		uint32_t home = slot_of(map, map->slot[i].key);

		if (((i - home) & map->mask) < ((i - hole) & map->mask))
			continue;
		map->slot[hole] = map->slot[i];
		hole = i;
	}
	map->slot[hole].value = MAP_NONE;
	map->count--;
}

void map_free(struct map *map)
{
	free(map->slot);
	memset(map, 0, sizeof(*map));
}

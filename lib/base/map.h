/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - a hash map from 64-bit keys to 32-bit values, such as row indices.
 *
 * Hashing is seeded, so that keys from a file cannot be chosen to collide.
 */
#ifndef PROFBPF_LIB_BASE_MAP_H
#define PROFBPF_LIB_BASE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

struct map_slot {
	uint64_t key;
	uint32_t value; /* MAP_NONE = free */
};

/* Zeroed is empty. */
struct map {
	struct map_slot *slot;
	uint32_t count;
	uint32_t mask;
	uint64_t seed;
};

/* Value of a key, or MAP_NONE. */
uint32_t map_get(const struct map *map, uint64_t key);

/* Set the value (not MAP_NONE) of a key. Returns false without memory. */
bool map_put(struct map *map, uint64_t key, uint32_t value);

/* Removes a key, if it is there. The next map_put() of any key then needs no memory. */
void map_remove(struct map *map, uint64_t key);

void map_free(struct map *map);

#endif /* PROFBPF_LIB_BASE_MAP_H */

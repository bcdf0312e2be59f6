/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/code_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bisect.h"

static int add_map(struct code_maps *maps, size_t *capacity, const struct process_map *map)
{
	struct code_map *new;

	if (maps->count == CODE_MAPS_MAX || map->start >= map->end ||
	    (maps->count && map->start < maps->map[maps->count - 1].map.end))
		return 0;
	if (maps->count == *capacity) {
		size_t grown_capacity = *capacity ? *capacity * 2 : 64;
		void *grown = reallocarray(maps->map, grown_capacity, sizeof(*maps->map));

		if (!grown)
			return -ENOMEM;
		maps->map = grown;
		*capacity = grown_capacity;
	}
	new = &maps->map[maps->count];
	*new = (struct code_map){ .map = *map };
	new->map.path = strdup(map->path);
	if (!new->map.path)
		return -ENOMEM;
	maps->count++;
	return 0;
}

int code_maps_parse(FILE *file, struct code_maps *maps)
{
	size_t capacity = 0, size = 0;
	struct process_map map;
	char *line = NULL;
	int err = 0;

	*maps = (struct code_maps){ 0 };
	while (!err && getline(&line, &size, file) > 0)
		if (process_map_parse(line, &map))
			err = add_map(maps, &capacity, &map);
	free(line);
	if (err)
		code_maps_free(maps);
	return err;
}

int code_maps_read(pid_t pid, struct code_maps *maps)
{
	char path[64];
	FILE *file;
	int err;

	*maps = (struct code_maps){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	err = code_maps_parse(file, maps);
	fclose(file);
	return err;
}

void code_maps_free(struct code_maps *maps)
{
	for (size_t i = 0; i < maps->count; i++)
		free(maps->map[i].map.path);
	free(maps->map);
	*maps = (struct code_maps){ 0 };
}

struct code_map *code_maps_find(const struct code_maps *maps, uint64_t address)
{
	size_t next = BISECT(i, 0, maps->count, maps->map[i].map.start <= address);

	if (!next || address >= maps->map[next - 1].map.end)
		return NULL;
	return &maps->map[next - 1];
}

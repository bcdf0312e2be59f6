/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_maps.c - libFuzzer target for the maps from addresses to code: the mappings of a process, its
 * perf map of generated code, and the kernel's symbols.
 *
 * The first byte of an input selects the kind of map; after a record separator (0x1e) follow
 * addresses of eight bytes to look up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/elf/address_names.h"
#include "lib/elf/code_maps.h"
#include "tests/fuzz/input.h"

#define ADDRESSES 0x1e

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(const struct address_names *names, uint64_t address)
{
	const char *name = address_names_find(names, address);

	check(!name || (name[0] && strlen(name) <= ADDRESS_NAMES_LENGTH));
}

static void try_names(FILE *file, bool kernel, struct input addresses)
{
	struct address_names *names = kernel ? address_names_kernel(file)
					     : address_names_perf_map(file);

	check(names != NULL);
	look_up(names, 0);
	look_up(names, UINT64_MAX);
	while (addresses.size)
		look_up(names, input_number(&addresses, 8));
	address_names_free(names);
}

static void try_maps(FILE *file, struct input addresses)
{
	struct code_maps maps;

	check(!code_maps_parse(file, &maps));
	for (size_t i = 0; i < maps.count; i++) {
		const struct process_map *map = &maps.map[i].map;

		check(map->start < map->end && (!i || maps.map[i - 1].map.end <= map->start));
		check(code_maps_find(&maps, map->start) == &maps.map[i]);
		check(code_maps_find(&maps, map->end - 1) == &maps.map[i]);
		check(strlen(map->path) < 2000);
	}
	while (addresses.size) {
		uint64_t address = input_number(&addresses, 8);
		const struct code_map *map = code_maps_find(&maps, address);

		check(!map || (map->map.start <= address && address < map->map.end));
	}
	code_maps_free(&maps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	uint8_t which = input_byte(&in);
	const uint8_t *end = in.size ? memchr(in.data, ADDRESSES, in.size) : NULL;
	struct input text = input_take(&in, end ? (size_t)(end - in.data) : in.size);
	FILE *file = text.size ? fmemopen((void *)text.data, text.size, "r") : NULL;

	if (!file)
		return 0;
	input_byte(&in);
	if (which % 3 == 0)
		try_maps(file, in);
	else
		try_names(file, which % 3 == 1, in);
	fclose(file);
	return 0;
}

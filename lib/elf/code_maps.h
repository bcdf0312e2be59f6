/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_maps.h - the executable mappings of a process by address, including mappings without a file.
 * (process_maps.h looks them up by file.)
 */
#ifndef PROFBPF_LIB_ELF_CODE_MAPS_H
#define PROFBPF_LIB_ELF_CODE_MAPS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/elf/process_maps.h"

#define CODE_MAPS_MAX 65536 /* mappings kept of a process */

struct code_map {
	struct process_map map; /* path "" and inode 0: no file; "[vdso]" and the like by name */
	uint32_t user; /* for the owner of the maps; 0 at first */
};

struct code_maps {
	struct code_map *map; /* in order of address, no two overlap */
	size_t count;
};

/*
 * code_maps_read - reads the executable mappings of @pid
 * code_maps_parse - the same from a file in the format of /proc/PID/maps
 *
 * Returns 0, -ENOMEM, or the negative errno of opening (-ENOENT: the process is
 * gone). Free with code_maps_free().
 */
int code_maps_read(pid_t pid, struct code_maps *maps);
int code_maps_parse(FILE *file, struct code_maps *maps);
void code_maps_free(struct code_maps *maps);

/* code_maps_find - the mapping that contains @address, or NULL */
struct code_map *code_maps_find(const struct code_maps *maps, uint64_t address);

#endif /* PROFBPF_LIB_ELF_CODE_MAPS_H */

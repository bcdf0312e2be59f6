/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loaded_library.h - a library as the loader of a running process has set it up.
 *
 * All is read from the process's memory, as far as it is there (process_memory.h), and the mapped file. Both may be
 * hostile: sizes are bounded, every address is only ever read.
 */
#ifndef PROFBPF_LIB_ELF_LOADED_LIBRARY_H
#define PROFBPF_LIB_ELF_LOADED_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/process_memory.h"
#include "lib/elf/process_maps.h"

#define LOADED_SEGMENTS_MAX 64

/* A segment of the file, from its program header. */
struct loaded_segment {
	uint64_t address; /* in the file's own address space */
	uint64_t offset; /* in the file */
	uint64_t size; /* in the file */
};

/* Addresses are in the process; 0 = there is none. */
struct loaded_library {
	const struct process_memory *memory; /* the caller owns it, and the next */
	int file; /* from which it was loaded */
	uint64_t base; /* is added to the file's own addresses */
	uint64_t symbols, strings;
	uint64_t relocations, relocations_size; /* DT_RELA */
	uint64_t relative_count; /* number of relocations at their start that name no symbol */
	uint64_t plt_relocations, plt_relocations_size; /* DT_JMPREL */
	uint64_t hash; /* DT_GNU_HASH, or */
	uint64_t old_hash; /* DT_HASH, which is the only table in some manylinux2014 files */
	struct loaded_segment segments[LOADED_SEGMENTS_MAX];
	size_t segment_count;
};

/*
 * loaded_library_read - fill @library
 *
 * @file is the mapped file, @map its executable mapping. Returns 0; -EIO
 * if memory or file could not be read; -EBADMSG if it is no library that a loader loads.
 */
int loaded_library_read(struct loaded_library *library, const struct process_memory *memory, int file,
			const struct process_map *map);

/*
 * loaded_read - reads @size bytes of its tables, at @address in the process; returns false unless it got all
 *
 * What is not in memory is read from the file: nobody has written to it.
 */
bool loaded_read(const struct loaded_library *library, uint64_t address, void *into, size_t size);

/* loaded_original - reads what the file holds for @address of its own; returns false unless it got all */
bool loaded_original(const struct loaded_library *library, uint64_t address, void *into, size_t size);

#endif /* PROFBPF_LIB_ELF_LOADED_LIBRARY_H */

/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/loaded_library.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define DYNAMIC_MAX 256

static bool file_read(int file, uint64_t at, void *into, size_t size)
{
	return pread(file, into, size, (off_t)at) == (ssize_t)size;
}

bool loaded_original(const struct loaded_library *library, uint64_t address, void *into, size_t size)
{
	for (size_t i = 0; i < library->segment_count; i++) {
		const struct loaded_segment *segment = &library->segments[i];
		uint64_t at = address - segment->address;

		if (address >= segment->address && at < segment->size && size <= segment->size - at)
			return file_read(library->file, segment->offset + at, into, size);
	}
	return false;
}

bool loaded_read(const struct loaded_library *library, uint64_t address, void *into, size_t size)
{
	return process_memory_read(library->memory, address, into, size) ||
	       loaded_original(library, address - library->base, into, size);
}

static void add_segment(struct loaded_library *library, const Elf64_Phdr *s)
{
	library->segments[library->segment_count++] =
		(struct loaded_segment){ s->p_vaddr, s->p_offset, s->p_filesz };
}

/* The mapping gives the process address of one file offset; with the segment that contains it, that gives the base. */
static int read_segments(struct loaded_library *library, const struct process_map *map, struct loaded_segment *dynamic)
{
	Elf64_Phdr segments[LOADED_SEGMENTS_MAX];
	Elf64_Ehdr header;
	bool found = false;

	if (!file_read(library->file, 0, &header, sizeof(header)))
		return -EIO;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phnum > LOADED_SEGMENTS_MAX ||
	    header.e_phentsize != sizeof(segments[0]))
		return -EBADMSG;
	if (!file_read(library->file, header.e_phoff, segments, header.e_phnum * sizeof(segments[0])))
		return -EIO;
	for (int i = 0; i < header.e_phnum; i++) {
		const Elf64_Phdr *s = &segments[i];

		if (s->p_type == PT_LOAD)
			add_segment(library, s);
		if (s->p_type == PT_LOAD && s->p_flags & PF_X && !found &&
		    map->offset < s->p_offset + s->p_filesz &&
		    map->offset + (map->end - map->start) > s->p_offset) {
			library->base = map->start - (s->p_vaddr - s->p_offset + map->offset);
			found = true;
		}
		if (s->p_type == PT_DYNAMIC)
			*dynamic = (struct loaded_segment){ s->p_vaddr, s->p_offset, s->p_memsz };
	}
	return found && dynamic->size ? 0 : -EBADMSG;
}

/* The loader writes addresses where the file has offsets; which of them, differs between loaders. */
static uint64_t absolute(const struct loaded_library *library, uint64_t address)
{
	return address < library->base ? address + library->base : address;
}

static int read_dynamic(struct loaded_library *library, const struct loaded_segment *dynamic)
{
	Elf64_Dyn entries[DYNAMIC_MAX];
	size_t count = dynamic->size / sizeof(entries[0]);

	if (count > DYNAMIC_MAX)
		count = DYNAMIC_MAX;
	if (!loaded_read(library, library->base + dynamic->address, entries, count * sizeof(entries[0])))
		return -EIO;
	for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++) {
		uint64_t value = entries[i].d_un.d_ptr;

		switch (entries[i].d_tag) {
		case DT_SYMTAB: library->symbols = absolute(library, value); break;
		case DT_STRTAB: library->strings = absolute(library, value); break;
		case DT_GNU_HASH: library->hash = absolute(library, value); break;
		case DT_HASH: library->old_hash = absolute(library, value); break;
		case DT_RELA: library->relocations = absolute(library, value); break;
		case DT_RELASZ: library->relocations_size = value; break;
		case DT_RELACOUNT: library->relative_count = value; break;
		case DT_JMPREL: library->plt_relocations = absolute(library, value); break;
		case DT_PLTRELSZ: library->plt_relocations_size = value; break;
		default: break;
		}
	}
	return 0;
}

int loaded_library_read(struct loaded_library *library, const struct process_memory *memory, int file,
			const struct process_map *map)
{
	struct loaded_segment dynamic = { 0 };
	int err;

	memset(library, 0, sizeof(*library));
	library->memory = memory;
	library->file = file;
	err = read_segments(library, map, &dynamic);
	return err ? err : read_dynamic(library, &dynamic);
}

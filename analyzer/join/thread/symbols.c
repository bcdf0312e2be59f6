/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/thread/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/join/thread/libc_names.h"
#include "lib/base/bisect.h"
#include "lib/elf/elf_file.h"
#include "lib/elf/readable_symbol.h"

#define ANY_BYTES 4096 /* range of a symbol without a size */

static void *any_function(void *context, const char *name, size_t length)
{
	return context;
}

static bool same_build_id(const struct elf_file *elf, const char *wanted)
{
	char text[2 * ELF_FILE_BUILD_ID_MAX + 1] = "";
	const uint8_t *id;
	size_t size = elf_file_build_id(elf, &id);

	for (size_t i = 0; i < size; i++)
		snprintf(text + 2 * i, sizeof(text) - 2 * i, "%02x", id[i]);
	return strcmp(text, wanted) == 0;
}

static bool same_stat(const char *path, const struct code_file *file)
{
	struct stat st;

	return file->size && stat(path, &st) == 0 && (uint64_t)st.st_size == file->size &&
	       st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec == file->mtime_ns;
}

/* Opens the file if it is the same as when it was traced; otherwise returns NULL. */
static struct elf_file *open_same(const struct model *model, const struct code_file *file)
{
	const char *path = model_text(model, file->path);
	char error[256];
	struct elf_file *elf;

	if (path[0] != '/')
		return NULL;
	elf = elf_file_open(path, error, sizeof(error));
	if (!elf)
		return NULL;
	if (file->build_id ? same_build_id(elf, model_text(model, file->build_id)) :
			     same_stat(path, file))
		return elf;
	elf_file_close(elf);
	return NULL;
}

/* Returns the function that contains @offset; functions are sorted by offset. */
static const struct elf_symbol *find(const struct elf_symbols *symbols, uint64_t offset)
{
	size_t next = BISECT(i, 0, symbols->count, symbols->symbol[i].offset <= offset);
	const struct elf_symbol *best = NULL;

	/*
	 * Several names of one address follow each other: the first that reaches far enough is used, preferably with a
	 * known size.
	 */
	for (size_t i = next; i > 0; i--) {
		const struct elf_symbol *symbol = &symbols->symbol[i - 1];
		uint64_t into = offset - symbol->offset;

		if (symbol->offset != symbols->symbol[next - 1].offset)
			break;
		if (symbol->size ? into < symbol->size : !best && into < ANY_BYTES)
			best = symbol;
	}
	return best;
}

static uint32_t readable(struct model *model, const char *symbol)
{
	char *text = readable_symbol(symbol);
	uint32_t id = model_string(model, text ? text : symbol);

	free(text);
	return id;
}

static const char *chosen_name(const struct libc_name *names, size_t count, uint64_t offset)
{
	for (size_t i = 0; i < count; i++)
		if (offset >= names[i].first && offset < names[i].end)
			return names[i].name;
	return NULL;
}

static int name_frames(struct model *model, uint32_t file, const struct elf_file *elf,
		       const struct elf_symbols *symbols)
{
	struct libc_name chosen[LIBC_NAMES_MAX];
	size_t chosen_count = libc_names_find(elf, chosen);

	for (uint32_t i = 0; i < model->code_frames.count; i++) {
		struct code_frame *frame = &model->code_frames.row[i];
		const struct elf_symbol *symbol;
		const char *name;

		if (frame->file != file || frame->name)
			continue;
		symbol = find(symbols, frame->offset);
		name = symbol ? symbol->name : chosen_name(chosen, chosen_count, frame->offset);
		if (!name)
			continue;
		frame->name = readable(model, name);
		if (frame->name == INDEX_NONE) {
			frame->name = 0;
			return -ENOMEM;
		}
	}
	return 0;
}

int symbols_resolve(struct model *model)
{
	int err = 0;

	for (uint32_t i = 0; i < model->code_files.count && !err; i++) {
		struct elf_file *elf = open_same(model, &model->code_files.row[i]);
		struct elf_symbols symbols;

		if (!elf)
			continue;
		/* The readable part of a damaged symbol table is valid. */
		err = elf_file_find(elf, any_function, model, &symbols) == -ENOMEM ? -ENOMEM : 0;
		if (!err)
			err = name_frames(model, i, elf, &symbols);
		elf_symbols_free(&symbols);
		elf_file_close(elf);
	}
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/probed_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void *match(void *context, const char *name, size_t length)
{
	return (void *)catalog_match(context, name, length);
}

static bool better(const struct elf_symbol *a, const struct elf_symbol *b)
{
	const struct catalog_function *x = a->match, *y = b->match;

	return x->wildcard != y->wildcard ? !x->wildcard : false;
}

static void choose_instruction(struct probed_function *f, struct elf_file *elf,
			       const struct elf_symbol *symbol, struct instruction_decoder *decoder,
			       uint8_t *code)
{
	size_t want = symbol->size && symbol->size < INSTRUCTION_SCAN_MAX ? symbol->size :
									     INSTRUCTION_SCAN_MAX;
	ssize_t n = elf_file_read(elf, symbol->offset, code, want);
	struct instruction_choice choice = instruction_choose(decoder, code, n > 0 ? n : 0,
							      symbol->size, symbol->offset);

	f->offset = symbol->offset + choice.delta;
	f->class = choice.class;
}

static int add_function(struct probed_file *file, struct elf_file *elf,
			const struct elf_symbol *symbol, struct instruction_decoder *decoder,
			uint8_t *code)
{
	struct probed_function *f = &file->functions[file->count];

	f->name = strdup(symbol->name);
	if (!f->name)
		return -ENOMEM;
	f->entry = symbol->match;
	choose_instruction(f, elf, symbol, decoder, code);
	file->count++;
	return 0;
}

/* Symbols come sorted by offset: the best of each run of equal offsets is taken. */
static int add_functions(struct probed_file *file, struct elf_file *elf,
			 const struct elf_symbols *found, struct instruction_decoder *decoder)
{
	uint8_t *code = malloc(INSTRUCTION_SCAN_MAX);
	int err = 0;

	file->functions = calloc(found->count, sizeof(*file->functions));
	if (!code || !file->functions)
		err = -ENOMEM;
	for (size_t i = 0, next; i < found->count && !err; i = next) {
		const struct elf_symbol *best = &found->symbol[i];

		for (next = i + 1; next < found->count &&
				   found->symbol[next].offset == found->symbol[i].offset;
		     next++)
			if (better(&found->symbol[next], best))
				best = &found->symbol[next];
		if (best->flags & ELF_SYMBOL_IFUNC)
			file->indirect++;
		else
			err = add_function(file, elf, best, decoder, code);
	}
	free(code);
	return err;
}

int probed_file_read(struct probed_file *file, int fd, const char *path,
		     const struct catalogs *catalogs, bool optimized_nop, char *error,
		     size_t error_size)
{
	struct instruction_decoder *decoder = NULL;
	struct elf_symbols found = { 0 };
	const uint8_t *build_id;
	struct elf_file *elf;
	int err;

	memset(file, 0, sizeof(*file));
	error[0] = '\0';
	elf = elf_file_open_fd(fd, path, error, error_size);
	if (!elf)
		return errno == ENOMEM ? -ENOMEM : 0;
	file->build_id_size = elf_file_build_id(elf, &build_id);
	if (file->build_id_size)
		memcpy(file->build_id, build_id, file->build_id_size);
	err = elf_file_find(elf, match, (void *)catalogs, &found);
	if (err == -ENOEXEC)
		err = 0; /* a damaged table: what could be read is in found */
	if (!err && found.count) {
		decoder = instruction_decoder_new(elf_file_machine(elf), optimized_nop);
		err = decoder ? add_functions(file, elf, &found, decoder) : -ENOMEM;
	}
	instruction_decoder_free(decoder);
	elf_symbols_free(&found);
	elf_file_close(elf);
	if (err)
		probed_file_free(file);
	return err;
}

void probed_file_free(struct probed_file *file)
{
	for (size_t i = 0; i < file->count; i++)
		free(file->functions[i].name);
	free(file->functions);
	memset(file, 0, sizeof(*file));
}

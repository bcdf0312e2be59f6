/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/common/probed_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *match(void *context, const char *name, size_t length)
{
	return (void *)catalog_match(context, name, length);
}

/*
 * Of several names for one address: a function rather than an IFUNC, then the
 * name that a catalog gives exactly, then one that other files can see, and one that other parts of this file can.
 */
static bool better(const struct elf_symbol *a, const struct elf_symbol *b)
{
	const struct catalog_function *x = a->match, *y = b->match;

	if ((a->flags ^ b->flags) & ELF_SYMBOL_IFUNC)
		return b->flags & ELF_SYMBOL_IFUNC;
	if (x->wildcard != y->wildcard)
		return !x->wildcard;
	if ((a->flags ^ b->flags) & ELF_SYMBOL_DYNAMIC)
		return a->flags & ELF_SYMBOL_DYNAMIC;
	return (a->flags & ELF_SYMBOL_LOCAL) < (b->flags & ELF_SYMBOL_LOCAL);
}

static struct instruction_choice choose_instruction(struct elf_file *elf,
						    const struct elf_symbol *symbol,
						    struct instruction_decoder *decoder,
						    uint8_t *code)
{
	size_t want = symbol->size && symbol->size < INSTRUCTION_SCAN_MAX ? symbol->size
									  : INSTRUCTION_SCAN_MAX;
	ssize_t n = elf_file_read(elf, symbol->offset, code, want);

	return instruction_choose(decoder, code, n > 0 ? n : 0, symbol->size, symbol->offset);
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
	f->weak = symbol->flags & ELF_SYMBOL_WEAK;
	f->choice = choose_instruction(elf, symbol, decoder, code);
	f->offset = symbol->offset + f->choice.delta;
	file->count++;
	return 0;
}

static int refuse_function(struct probed_file *file, const struct elf_symbol *symbol,
			   enum probed_refusal why)
{
	struct refused_function *grown =
		reallocarray(file->refused, file->refused_count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	file->refused = grown;
	grown += file->refused_count;
	grown->entry = symbol->match;
	grown->offset = symbol->offset;
	grown->why = why;
	grown->name = strdup(symbol->name);
	if (!grown->name)
		return -ENOMEM;
	file->refused_count++;
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

		for (next = i + 1;
		     next < found->count && found->symbol[next].offset == found->symbol[i].offset;
		     next++)
			if (better(&found->symbol[next], best))
				best = &found->symbol[next];
		if (best->flags & ELF_SYMBOL_IFUNC)
			err = refuse_function(file, best, PROBED_IFUNC);
		else if (elf_file_is_go(elf) && strchr(best->name, '.'))
			err = refuse_function(file, best, PROBED_GO);
		else
			err = add_function(file, elf, best, decoder, code);
	}
	free(code);
	return err;
}

static int read_functions(struct probed_file *file, struct elf_file *elf,
			  const struct catalogs *catalogs, bool optimized_nop)
{
	struct instruction_decoder *decoder = NULL;
	struct elf_symbols found = { 0 };
	int err = elf_file_find(elf, match, (void *)catalogs, &found);

	if (err == -ENOEXEC)
		err = 0; /* a damaged table: what could be read is in found */
	if (!err && found.count) {
		decoder = instruction_decoder_new(file->machine, optimized_nop);
		err = decoder ? add_functions(file, elf, &found, decoder) : -ENOMEM;
	}
	instruction_decoder_free(decoder);
	elf_symbols_free(&found);
	return err;
}

int probed_file_read(struct probed_file *file, int fd, const char *path,
		     const struct catalogs *catalogs, bool optimized_nop, char *error,
		     size_t error_size)
{
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
	elf_file_add_debug(elf, ELF_DEBUG_ROOT);
	file->machine = elf_file_machine(elf);
	file->has_symbols = elf_file_has_symbols(elf);
	err = read_functions(file, elf, catalogs, optimized_nop);
	snprintf(error, error_size, "%s", elf_file_error(elf));
	elf_file_close(elf);
	if (err)
		probed_file_free(file);
	return err;
}

static uint64_t first_instruction(const struct probed_function *f)
{
	return f->offset - f->choice.delta;
}

static int by_first_instruction(const void *a, const void *b)
{
	uint64_t x = first_instruction(a), y = first_instruction(b);

	return x < y ? -1 : x > y;
}

static bool is_probed(const struct probed_file *file, uint64_t offset)
{
	for (size_t i = 0; i < file->count; i++)
		if (first_instruction(&file->functions[i]) == offset)
			return true;
	return false;
}

/* The size of a function that no table need name is not known. */
static int add_target(struct probed_file *file, int fd, const struct ifunc_target *target,
		      struct instruction_decoder *decoder, uint8_t *code)
{
	const struct refused_function *refused = &file->refused[target->refused];
	struct probed_function *f = &file->functions[file->count];
	ssize_t n = pread(fd, code, INSTRUCTION_SCAN_MAX, (off_t)target->offset);

	f->name = strdup(refused->name);
	if (!f->name)
		return -ENOMEM;
	f->entry = refused->entry;
	f->choice = instruction_choose(decoder, code, n > 0 ? n : 0, 0, target->offset);
	f->offset = target->offset + f->choice.delta;
	file->count++;
	return 0;
}

static void drop_chosen(struct probed_file *file, const struct ifunc_target *targets, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct refused_function *refused = &file->refused[targets[i].refused];

		free(refused->name);
		refused->name = NULL;
	}
	for (size_t i = 0; i < file->refused_count; i++)
		if (file->refused[i].name)
			file->refused[kept++] = file->refused[i];
	file->refused_count = kept;
}

int probed_file_choose(struct probed_file *file, int fd, const struct ifunc_target *targets,
		       size_t count, bool optimized_nop)
{
	struct instruction_decoder *decoder = instruction_decoder_new(file->machine, optimized_nop);
	struct probed_function *functions =
		reallocarray(file->functions, file->count + count, sizeof(*functions));
	uint8_t *code = malloc(INSTRUCTION_SCAN_MAX);
	int err = functions && code && decoder ? 0 : -ENOMEM;

	if (functions)
		file->functions = functions;
	for (size_t i = 0; i < count && !err; i++)
		if (!is_probed(file, targets[i].offset))
			err = add_target(file, fd, &targets[i], decoder, code);
	if (!err) {
		drop_chosen(file, targets, count);
		qsort(file->functions, file->count, sizeof(*functions), by_first_instruction);
	}
	free(code);
	instruction_decoder_free(decoder);
	return err;
}

int probed_file_copy(struct probed_file *to, const struct probed_file *from)
{
	*to = *from;
	to->functions = calloc(from->count + 1, sizeof(*to->functions));
	to->refused = calloc(from->refused_count + 1, sizeof(*to->refused));
	to->count = to->refused_count = 0;
	if (!to->functions || !to->refused)
		goto fail;
	for (size_t i = 0; i < from->count; i++) {
		to->functions[i] = from->functions[i];
		to->functions[i].name = strdup(from->functions[i].name);
		if (!to->functions[i].name)
			goto fail;
		to->count++;
	}
	for (size_t i = 0; i < from->refused_count; i++) {
		to->refused[i] = from->refused[i];
		to->refused[i].name = strdup(from->refused[i].name);
		if (!to->refused[i].name)
			goto fail;
		to->refused_count++;
	}
	return 0;
fail:
	probed_file_free(to);
	return -ENOMEM;
}

const char *probed_refusal_text(enum probed_refusal why)
{
	switch (why) {
	case PROBED_IFUNC: return "chosen when the library is loaded (IFUNC)";
	case PROBED_GO: return "compiled by Go, which does not bear return probes";
	}
	return "?";
}

void probed_file_free(struct probed_file *file)
{
	for (size_t i = 0; i < file->count; i++)
		free(file->functions[i].name);
	for (size_t i = 0; i < file->refused_count; i++)
		free(file->refused[i].name);
	free(file->functions);
	free(file->refused);
	memset(file, 0, sizeof(*file));
}

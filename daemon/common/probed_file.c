/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/common/probed_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/elf/elf_addresses.h"
#include "lib/elf/elf_extent.h"

struct wanted {
	const struct catalogs *catalogs;
	bool any; /* function that has a name */
};

static void *match(void *context, const char *name, size_t length)
{
	struct wanted *wanted = context;

	wanted->any = true;
	return (void *)catalog_match(wanted->catalogs, name, length);
}

/*
 * Of several names for one address the order is: a function before an IFUNC, then a name that a catalog gives
 * exactly, then a name that is visible to other files, then one that is visible to other parts of this file.
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
	const struct catalog_function *entry = symbol->match;
	size_t want = symbol->size && symbol->size < INSTRUCTION_SCAN_MAX ? symbol->size
									  : INSTRUCTION_SCAN_MAX;
	ssize_t n = elf_file_read(elf, symbol->offset, code, want);

	return instruction_choose(decoder, code, n > 0 ? n : 0, symbol->size, symbol->offset, entry->plain);
}

/* The state of reading one file. */
struct reader {
	struct elf_file *elf;
	struct instruction_decoder *decoder;
	struct exit_finder *finder;
	uint8_t *code; /* INSTRUCTION_SCAN_MAX */
};

static int reader_open(struct reader *r, struct elf_file *elf, bool optimized_nop)
{
	struct code_source source = elf_code_source(elf);

	r->elf = elf;
	r->decoder = instruction_decoder_new(elf_file_machine(elf), optimized_nop);
	r->finder = exit_finder_new(elf_file_machine(elf), &source);
	r->code = malloc(INSTRUCTION_SCAN_MAX);
	return r->decoder && r->finder && r->code ? 0 : -ENOMEM;
}

static void reader_close(struct reader *r)
{
	instruction_decoder_free(r->decoder);
	exit_finder_free(r->finder);
	free(r->code);
}

static const struct function_exit *exit_at(const struct function_exits *exits, uint64_t offset)
{
	for (size_t i = 0; i < exits->count; i++)
		if (exits->exits[i].offset == offset)
			return &exits->exits[i];
	return NULL;
}

/* A place outside of executable segments would be an error of the finder: then no exit is probed. */
static void place_exits(const struct elf_file *elf, struct function_exits *exits)
{
	for (size_t i = 0; i < exits->count; i++)
		if (!elf_file_code_offset(elf, exits->exits[i].address, &exits->exits[i].offset)) {
			function_exits_free(exits);
			exits->doubt = EXITS_CODE;
		}
}

/*
 * Two probes at one instruction could not be distinguished: the entry probe stays at the first
 * instruction. If the function consists of a jump to another one, its probe serves both; of a function
 * that consists of a return only the entry is seen.
 */
static int find_exits(const struct reader *r, struct probed_function *f, uint64_t size)
{
	uint64_t first = f->offset - f->choice.delta, address;
	const struct function_exit *exit;
	int err;

	f->exits.doubt = EXITS_OUTSIDE;
	if (!elf_file_address(r->elf, first, &address))
		return 0;
	err = exit_finder_find(r->finder, address, size, &f->exits);
	if (err)
		return err;
	place_exits(r->elf, &f->exits);
	if (f->choice.delta && exit_at(&f->exits, f->offset)) {
		f->offset = first;
		f->choice = (struct instruction_choice){ .class = INSTRUCTION_STEPPED, .reason = INSTRUCTION_REACH };
	}
	exit = exit_at(&f->exits, f->offset);
	f->exit_at_entry = exit && exit->kind != EXIT_RETURN;
	if (exit && !f->exit_at_entry) {
		function_exits_free(&f->exits);
		f->exits.doubt = EXITS_FORM;
	}
	return 0;
}

/* A set of file offsets. */
struct place_set {
	uint64_t *at;
	size_t count;
};

static int by_place(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool place_set_has(const struct place_set *set, uint64_t place)
{
	return set->count && bsearch(&place, set->at, set->count, sizeof(place), by_place);
}

static size_t exits_of_all(const struct probed_file *file)
{
	size_t count = 0;

	for (size_t i = 0; i < file->count; i++)
		count += file->functions[i].exits.count;
	return count;
}

/* Collects the exits of functions whose returned value is used, including functions that they tail-jump into. */
static void take_value_exits(const struct probed_file *file, struct place_set *values)
{
	for (size_t i = 0; i < file->count; i++) {
		const struct probed_function *f = &file->functions[i];

		for (size_t k = 0; k < f->exits.count && catalog_value_counts(f->entry); k++)
			values->at[values->count++] = f->exits.exits[k].offset;
	}
	qsort(values->at, values->count, sizeof(*values->at), by_place);
}

/* Collects the entries: two probes at one instruction could not be distinguished. */
static void take_entries(const struct probed_file *file, struct place_set *entries)
{
	for (size_t i = 0; i < file->count; i++)
		entries->at[entries->count++] = file->functions[i].offset;
	qsort(entries->at, entries->count, sizeof(*entries->at), by_place);
}

static uint64_t early_place(const struct function_exit *exit)
{
	return exit->offset - (exit->address - exit->early);
}

/* Is the exit the instruction of the entry probe, of a function that only jumps? That probe serves both, as in find_exits(). */
static bool is_at_entry(const struct probed_function *f, const struct function_exit *exit)
{
	return exit->kind != EXIT_RETURN && early_place(exit) == f->offset;
}

static bool stays(const struct function_exit *exit, const struct place_set *values, const struct place_set *entries)
{
	return place_set_has(entries, early_place(exit)) ||
	       (exit->early_sets_value && place_set_has(values, exit->offset));
}

static void exit_early(struct probed_function *f, const struct place_set *values, const struct place_set *entries)
{
	for (size_t i = 0; i < f->exits.count; i++) {
		struct function_exit *exit = &f->exits.exits[i];

		if (!exit->early)
			continue;
		if (is_at_entry(f, exit))
			f->exit_at_entry = true;
		else if (stays(exit, values, entries))
			exit->early = 0;
	}
	function_exits_early(&f->exits);
}

void probed_file_exit_early(struct probed_file *file)
{
	struct place_set values = { calloc(exits_of_all(file) + 1, sizeof(uint64_t)), 0 };
	struct place_set entries = { calloc(file->count + 1, sizeof(uint64_t)), 0 };

	if (values.at && entries.at) {
		take_value_exits(file, &values);
		take_entries(file, &entries);
		for (size_t i = 0; i < file->count; i++)
			if (!file->functions[i].exit_at_entry)
				exit_early(&file->functions[i], &values, &entries);
	}
	free(values.at);
	free(entries.at);
}

static int add_function(struct probed_file *file, const struct reader *r,
			const struct elf_symbol *symbol)
{
	struct probed_function *f = &file->functions[file->count];

	f->name = strdup(symbol->name);
	if (!f->name)
		return -ENOMEM;
	file->count++;
	f->entry = symbol->match;
	f->weak = symbol->flags & ELF_SYMBOL_WEAK;
	f->choice = choose_instruction(r->elf, symbol, r->decoder, r->code);
	f->offset = symbol->offset + f->choice.delta;
	return find_exits(r, f, symbol->size);
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

/* Symbols are sorted by offset: takes the best of each run of equal offsets. */
static int add_functions(struct probed_file *file, const struct reader *r,
			 const struct elf_symbols *found)
{
	int err = 0;

	file->functions = calloc(found->count, sizeof(*file->functions));
	if (!file->functions)
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
		else if (elf_file_is_go(r->elf) && strchr(best->name, '.'))
			err = refuse_function(file, best, PROBED_GO);
		else
			err = add_function(file, r, best);
	}
	return err;
}

static int read_functions(struct probed_file *file, struct elf_file *elf,
			  const struct catalogs *catalogs, bool optimized_nop)
{
	struct wanted wanted = { catalogs, false };
	struct elf_symbols found = { 0 };
	struct reader reader = { 0 };
	int err = elf_file_find(elf, match, &wanted, &found);

	file->nameless = !err && !wanted.any && !elf_file_has_linker(elf);
	if (err == -ENOEXEC)
		err = 0; /* a damaged table: @found has the readable part */
	if (!err && found.count) {
		err = reader_open(&reader, elf, optimized_nop);
		if (!err)
			err = add_functions(file, &reader, &found);
		reader_close(&reader);
	}
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
	file->go = elf_file_is_go(elf);
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
static int add_target(struct probed_file *file, const struct reader *r,
		      const struct ifunc_target *target)
{
	const struct refused_function *refused = &file->refused[target->refused];
	struct probed_function *f = &file->functions[file->count];
	ssize_t n = elf_file_read(r->elf, target->offset, r->code, INSTRUCTION_SCAN_MAX);

	memset(f, 0, sizeof(*f));
	f->name = strdup(refused->name);
	if (!f->name)
		return -ENOMEM;
	file->count++;
	f->entry = refused->entry;
	f->choice = instruction_choose(r->decoder, r->code, n > 0 ? n : 0, 0, target->offset, true);
	f->offset = target->offset + f->choice.delta;
	return find_exits(r, f, 0);
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
	struct probed_function *functions =
		reallocarray(file->functions, file->count + count, sizeof(*functions));
	struct reader reader = { 0 };
	struct elf_file *elf;
	char error[512];
	int err;

	if (!functions)
		return -ENOMEM;
	file->functions = functions;
	elf = elf_file_open_fd(fd, "", error, sizeof(error));
	if (!elf)
		return errno == ENOMEM ? -ENOMEM : 0;
	err = reader_open(&reader, elf, optimized_nop);
	for (size_t i = 0; i < count && !err; i++)
		if (!is_probed(file, targets[i].offset))
			err = add_target(file, &reader, &targets[i]);
	if (!err) {
		drop_chosen(file, targets, count);
		qsort(file->functions, file->count, sizeof(*functions), by_first_instruction);
	}
	reader_close(&reader);
	elf_file_close(elf);
	return err;
}

/*
 * Nothing returns from the entries of a linkage table: to probe them all would cost every call
 * through it.
 */
static bool returns_at_all(const struct function_exits *exits)
{
	for (size_t i = 0; i < exits->count; i++)
		if (exits->exits[i].kind == EXIT_RETURN)
			return true;
	return false;
}

void probed_file_exit_tail_early(const struct probed_file *file, struct function_exits *exits, bool value)
{
	struct place_set entries = { calloc(file->count + 1, sizeof(uint64_t)), 0 };

	if (entries.at) {
		take_entries(file, &entries);
		for (size_t i = 0; i < exits->count; i++) {
			struct function_exit *exit = &exits->exits[i];

			if (place_set_has(&entries, early_place(exit)) || (value && exit->early_sets_value))
				exit->early = 0;
		}
		function_exits_early(exits);
	} else {
		for (size_t i = 0; i < exits->count; i++)
			exits->exits[i].early = 0;
	}
	free(entries.at);
}

int probed_file_exits(int fd, const char *path, uint64_t offset, struct function_exits *exits)
{
	struct elf_file *elf;
	struct reader reader = { 0 };
	uint64_t address, start, end;
	char error[512];
	int err;

	*exits = (struct function_exits){ .doubt = EXITS_OUTSIDE };
	elf = elf_file_open_fd(fd, path, error, sizeof(error));
	if (!elf)
		return errno == ENOMEM ? -ENOMEM : 0;
	err = reader_open(&reader, elf, false);
	if (!err && elf_file_address(elf, offset, &address) &&
	    !elf_file_extent(elf, address, &start, &end))
		err = exit_finder_find(reader.finder, start, end - start, exits);
	place_exits(elf, exits);
	if (!returns_at_all(exits)) {
		function_exits_free(exits);
		exits->doubt = EXITS_NONE;
	}
	reader_close(&reader);
	elf_file_close(elf);
	return err;
}

static int copy_exits(struct function_exits *to, const struct function_exits *from)
{
	if (!from->count)
		return 0;
	to->exits = malloc(from->count * sizeof(*to->exits));
	if (!to->exits) {
		to->count = 0;
		return -ENOMEM;
	}
	memcpy(to->exits, from->exits, from->count * sizeof(*to->exits));
	return 0;
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
		struct probed_function *copy = &to->functions[i];

		*copy = from->functions[i];
		copy->exits.exits = NULL;
		copy->name = strdup(from->functions[i].name);
		to->count++;
		if (!copy->name || copy_exits(&copy->exits, &from->functions[i].exits))
			goto fail;
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

void probed_file_limit(struct probed_file *file, size_t count)
{
	while (file->count > count) {
		struct probed_function *f = &file->functions[--file->count];

		function_exits_free(&f->exits);
		free(f->name);
	}
}

const char *probed_refusal_text(enum probed_refusal why)
{
	switch (why) {
	case PROBED_IFUNC: return "chosen when the library is loaded (IFUNC)";
	case PROBED_GO: return "compiled by Go, whose stacks return probes would damage";
	}
	return "?";
}

void probed_file_free(struct probed_file *file)
{
	for (size_t i = 0; i < file->count; i++) {
		function_exits_free(&file->functions[i].exits);
		free(file->functions[i].name);
	}
	for (size_t i = 0; i < file->refused_count; i++)
		free(file->refused[i].name);
	free(file->functions);
	free(file->refused);
	memset(file, 0, sizeof(*file));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/elf/function_exits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/elf/control_flow.h"
#include "lib/elf/elf_extent.h"

_Static_assert(EXIT_REGISTER_IP == FLOW_REGISTER_IP && EXIT_REGISTER_NONE == FLOW_REGISTER_NONE,
	       "an exit's operand is that of its instruction");

#define FAR_TARGETS_MAX 1024 /* remembered jumps from one piece into others */
#define STUB_INSTRUCTIONS 4 /* of an entry of a procedure linkage table */

/* A piece of code, read from one end to the other. */
struct piece {
	uint64_t start, end;
};

struct exit_finder {
	enum elf_file_machine machine;
	struct code_source source;
	struct flow_decoder *decoder;
	uint8_t *code; /* FUNCTION_BYTES_MAX */
	uint8_t *starts; /* a bit for each byte of the piece: an instruction begins here */
	uint32_t *targets; /* of jumps within the piece, from its start */
	size_t target_count;
	uint32_t last_target; /* the largest of them */
	uint64_t far_targets[FAR_TARGETS_MAX]; /* of jumps out of their pieces */
	size_t far_count; /* may be more than there is room for */
	struct early_exit early;
	struct piece pieces[FUNCTION_PIECES_MAX];
	size_t piece_count;
	uint64_t bytes; /* of all pieces */
	const struct piece *piece; /* that is being read */
	struct function_exits *found;
	int err;
};

struct exit_finder *exit_finder_new(enum elf_file_machine machine, const struct code_source *source)
{
	struct exit_finder *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->machine = machine;
	f->source = *source;
	f->decoder = flow_decoder_new(machine);
	f->code = malloc(FUNCTION_BYTES_MAX);
	f->starts = malloc(FUNCTION_BYTES_MAX / 8 + 1);
	/* No jump is shorter than two bytes. */
	f->targets = malloc(FUNCTION_BYTES_MAX / 2 * sizeof(*f->targets));
	if ((!f->decoder && machine != ELF_FILE_OTHER) || !f->code || !f->starts || !f->targets) {
		exit_finder_free(f);
		return NULL;
	}
	return f;
}

void exit_finder_free(struct exit_finder *f)
{
	if (!f)
		return;
	flow_decoder_free(f->decoder);
	free(f->code);
	free(f->starts);
	free(f->targets);
	free(f);
}

/* ---- Pieces */

static bool inside(const struct piece *piece, uint64_t address)
{
	return address >= piece->start && address < piece->end;
}

static bool is_known(const struct exit_finder *f, uint64_t address)
{
	for (size_t i = 0; i < f->piece_count; i++)
		if (inside(&f->pieces[i], address))
			return true;
	return false;
}

static enum exit_doubt add_piece(struct exit_finder *f, uint64_t start, uint64_t end)
{
	if (end <= start || end - start > FUNCTION_BYTES_MAX)
		return EXITS_SIZE;
	if (f->piece_count == FUNCTION_PIECES_MAX || f->bytes + (end - start) > FUNCTION_BYTES_MAX)
		return EXITS_MANY;
	/* Two that overlap would have the same exits twice. */
	for (size_t i = 0; i < f->piece_count; i++)
		if (start < f->pieces[i].end && f->pieces[i].start < end)
			return EXITS_CODE;
	f->pieces[f->piece_count++] = (struct piece){ start, end };
	f->bytes += end - start;
	return EXITS_CLEAN;
}

/* ---- Exits */

/* Where the jump leads, if that is loaded since; false if it is not known before. */
static bool target_before(const struct early_exit *early, const struct flow_step *step, struct early_pointer *target)
{
	if (step->index != FLOW_REGISTER_NONE || step->base >= 16 || step->base == FLOW_REGISTER_SP)
		return false;
	if (!(early->writes & 1u << step->base))
		return !step->in_memory;
	if (early->pointer.reg != step->base || !early->pointer.loads)
		return false;
	*target = early->pointer;
	if (!step->in_memory)
		return true;
	target->inner = step->displacement;
	return target->loads++ == 1;
}

/* May the earlier instruction be probed instead of the exit? It must give the same information. */
static bool may_be_early(const struct early_exit *early, enum exit_kind kind, const struct flow_step *step,
			 struct early_pointer *target)
{
	if (!early->address)
		return false;
	if (kind == EXIT_RETURN)
		return step->plain;
	return kind == EXIT_JUMP_INDIRECT && target_before(early, step, target);
}

static enum exit_doubt add_exit(struct exit_finder *f, uint64_t address, enum exit_kind kind,
				const struct flow_step *step)
{
	struct function_exits *found = f->found;
	struct early_pointer target = { 0 };
	struct function_exit *grown;
	bool early;

	if (found->count == FUNCTION_EXITS_MAX)
		return EXITS_MANY;
	grown = reallocarray(found->exits, found->count + 1, sizeof(*grown));
	if (!grown) {
		f->err = -ENOMEM;
		return EXITS_MANY;
	}
	found->exits = grown;
	early = may_be_early(&f->early, kind, step, &target);
	grown[found->count++] = (struct function_exit){
		.early = early ? f->early.address : 0,
		.early_below = early ? f->early.below : 0,
		.early_sets_value = kind == EXIT_RETURN && f->early.writes & EARLY_EXIT_VALUE,
		.early_target = target,
		.address = address,
		.kind = kind,
		.plain = step->plain,
		.stepped = step->stepped,
		.loads = step->in_memory,
		.base = step->base,
		.index = step->index,
		.scale = step->scale,
		.displacement = step->displacement,
		.own_start = f->piece->start,
		.own_end = f->piece->end,
	};
	return EXITS_CLEAN;
}

/*
 * Is there a jump through a fixed place in memory, and little before it, as in an entry of a procedure
 * linkage table? Then @step is made that jump, as if it stood at @address.
 */
static bool is_stub(struct exit_finder *f, uint64_t target, uint64_t address,
		    struct flow_step *step)
{
	uint8_t code[64];
	size_t size = f->source.read(f->source.context, target, code, sizeof(code)), at = 0;

	if (f->machine != ELF_FILE_X86_64)
		return false;
	for (int i = 0; i < STUB_INSTRUCTIONS; i++) {
		struct flow_step next =
			flow_decode_apart(f->decoder, code + at, size - at, target + at);
		int64_t displacement;

		if (next.flow == FLOW_INDIRECT && next.in_memory && next.base == FLOW_REGISTER_IP) {
			displacement = next.displacement + (int64_t)(target + at - address);
			next.displacement = displacement;
			next.stepped = step->stepped;
			*step = next;
			return displacement == next.displacement;
		}
		if (next.flow != FLOW_NEXT)
			return false;
		at += next.size;
	}
	return false;
}

/* Handles a jump out of the pieces read so far: to a split-off part of the function, or to another function. */
static enum exit_doubt leave(struct exit_finder *f, uint64_t address, struct flow_step *step)
{
	bool branch = step->flow == FLOW_BRANCH;
	uint64_t start, end;
	enum exit_doubt doubt;

	if (is_stub(f, step->target, address, step))
		return branch ? EXITS_FORM : add_exit(f, address, EXIT_JUMP_INDIRECT, step);
	if (f->source.extent(f->source.context, step->target, &start, &end))
		return EXITS_OUTSIDE;
	doubt = add_piece(f, start, end);
	/*
	 * Conditional jumps are not probed: a probe would not see whether the jump is taken. They mostly lead to
	 * parts of the same function.
	 */
	return doubt || branch ? doubt : add_exit(f, address, EXIT_JUMP, step);
}

/* ---- Instructions before exits */

/* Is @target between the earlier instruction and the exit? Then the exit is also reached without the earlier instruction. */
static bool is_entered(const struct function_exit *exit, uint64_t target)
{
	return target > exit->early && target <= exit->address;
}

/* Drops the earlier instructions of this piece's exits, from @first on, that jumps bypass. */
static void drop_entered(const struct exit_finder *f, size_t first)
{
	for (size_t i = first; i < f->found->count; i++)
		for (size_t k = 0; k < f->target_count; k++)
			if (is_entered(&f->found->exits[i], f->piece->start + f->targets[k]))
				f->found->exits[i].early = 0;
}

static void drop_entered_from_afar(const struct exit_finder *f)
{
	for (size_t i = 0; i < f->found->count; i++)
		for (size_t k = 0; k < f->far_count && f->found->exits[i].early; k++)
			if (f->far_count > FAR_TARGETS_MAX || is_entered(&f->found->exits[i], f->far_targets[k]))
				f->found->exits[i].early = 0;
}

static void note_far(struct exit_finder *f, uint64_t target)
{
	if (inside(f->piece, target))
		return;
	if (f->far_count < FAR_TARGETS_MAX)
		f->far_targets[f->far_count] = target;
	f->far_count++;
}

static void load_early(struct function_exit *exit)
{
	const struct early_pointer *target = &exit->early_target;

	if (!target->loads)
		return;
	exit->loads = target->loads;
	exit->base = target->base;
	exit->displacement = target->outer;
	exit->inner = target->inner;
}

void function_exits_early(struct function_exits *exits)
{
	for (size_t i = 0; i < exits->count; i++) {
		struct function_exit *exit = &exits->exits[i];
		uint64_t up = exit->address - exit->early;

		if (!exit->early)
			continue;
		exit->address -= up;
		exit->offset -= up;
		exit->below = exit->early_below;
		exit->is_early = true;
		load_early(exit);
		exit->plain = false;
		exit->stepped = false;
	}
}

/* ---- Reading a piece */

static bool is_start(const struct exit_finder *f, uint64_t offset)
{
	return f->starts[offset / 8] & 1u << offset % 8;
}

static enum exit_doubt take(struct exit_finder *f, uint64_t address, struct flow_step *step)
{
	switch (step->flow) {
	case FLOW_UNKNOWN: return EXITS_CODE;
	case FLOW_ODD: return EXITS_FORM;
	case FLOW_RETURN: return add_exit(f, address, EXIT_RETURN, step);
	case FLOW_INDIRECT: return add_exit(f, address, EXIT_JUMP_INDIRECT, step);
	case FLOW_JUMP:
	case FLOW_BRANCH:
		note_far(f, step->target);
		return is_known(f, step->target) ? EXITS_CLEAN : leave(f, address, step);
	default: return EXITS_CLEAN;
	}
}

/* Notes a jump within the piece; false if it loads data from there. */
static bool note_target(struct exit_finder *f, const struct piece *piece,
			const struct flow_step *step)
{
	bool jumps = step->flow == FLOW_JUMP || step->flow == FLOW_BRANCH;

	if ((!jumps && !step->reads_code) || !inside(piece, step->target))
		return true;
	if (!jumps)
		return false;
	f->targets[f->target_count++] = step->target - piece->start;
	if (f->targets[f->target_count - 1] > f->last_target)
		f->last_target = f->targets[f->target_count - 1];
	return true;
}

/* Every jump within the piece must lead to an instruction's beginning. */
static enum exit_doubt check_targets(const struct exit_finder *f)
{
	for (size_t i = 0; i < f->target_count; i++)
		if (!is_start(f, f->targets[i]))
			return EXITS_CODE;
	return EXITS_CLEAN;
}

/* The last address of a piece that no jump read so far leads beyond, and the number of exits before it. */
struct last_end {
	bool found;
	uint64_t at; /* from the piece's start */
	size_t exits;
	bool table; /* the targets of some jump are unknown */
};

static void note_end(const struct exit_finder *f, enum flow flow, uint64_t next,
		     struct last_end *end)
{
	end->table |= flow == FLOW_TABLE || flow == FLOW_INDIRECT;
	if (flow != FLOW_JUMP && flow != FLOW_RETURN && flow != FLOW_STOP)
		return;
	if (f->target_count && f->last_target >= next)
		return;
	*end = (struct last_end){ true, next, f->found->count, end->table };
}

static enum exit_doubt read_piece(struct exit_finder *f, const struct piece *piece)
{
	uint64_t size = piece->end - piece->start;
	struct last_end end = { 0 };
	enum exit_doubt doubt = EXITS_CLEAN;
	size_t first = f->found->count;

	f->piece = piece;
	flow_decoder_begin(f->decoder);
	early_exit_begin(&f->early);
	if (f->source.read(f->source.context, piece->start, f->code, size) != size)
		return EXITS_CODE;
	memset(f->starts, 0, size / 8 + 1);
	f->target_count = 0;
	f->last_target = 0;
	for (uint64_t at = 0; at < size && !doubt;) {
		struct flow_step step =
			flow_decode(f->decoder, f->code + at, size - at, piece->start + at);
		uint32_t bytes = step.size;
		enum flow flow = step.flow;

		f->starts[at / 8] |= 1u << at % 8;
		doubt = note_target(f, piece, &step) ? take(f, piece->start + at, &step)
						     : EXITS_CODE;
		if (f->machine == ELF_FILE_X86_64)
			early_exit_follow(&f->early, f->code + at, bytes, piece->start + at);
		at += bytes;
		if (!doubt)
			note_end(f, flow, at, &end);
	}
	drop_entered(f, first);
	/* Data behind the code, as hand-written assembly has it. */
	if (doubt == EXITS_CODE && end.found && !end.table) {
		f->found->count = end.exits;
		return EXITS_CLEAN;
	}
	return doubt ? doubt : check_targets(f);
}

static int by_address(const void *a, const void *b)
{
	const struct function_exit *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

int exit_finder_find(struct exit_finder *f, uint64_t address, uint64_t size,
		     struct function_exits *found)
{
	uint64_t start = address, end = address + size;

	memset(found, 0, sizeof(*found));
	f->found = found;
	f->piece_count = 0;
	f->bytes = 0;
	f->far_count = 0;
	f->err = 0;
	if (f->machine == ELF_FILE_OTHER)
		found->doubt = EXITS_MACHINE;
	else if (!size &&
		 (f->source.extent(f->source.context, address, &start, &end) || start != address))
		found->doubt = EXITS_SIZE;
	else
		found->doubt = add_piece(f, start, end);
	for (size_t i = 0; i < f->piece_count && !found->doubt; i++)
		found->doubt = read_piece(f, &f->pieces[i]);
	drop_entered_from_afar(f);
	if (!found->doubt && !found->count)
		found->doubt = EXITS_NONE;
	if (found->doubt)
		found->count = 0;
	if (found->count)
		qsort(found->exits, found->count, sizeof(*found->exits), by_address);
	if (!found->count || f->err)
		function_exits_free(found);
	return f->err;
}

void function_exits_free(struct function_exits *found)
{
	free(found->exits);
	found->exits = NULL;
	found->count = 0;
}

/* ---- ELF files */

static size_t read_elf(void *context, uint64_t address, void *buffer, size_t size)
{
	uint64_t offset;
	ssize_t n;

	if (!elf_file_code_offset(context, address, &offset))
		return 0;
	n = elf_file_read(context, offset, buffer, size);
	return n > 0 ? n : 0;
}

static int elf_extent(void *context, uint64_t address, uint64_t *start, uint64_t *end)
{
	return elf_file_extent(context, address, start, end);
}

struct code_source elf_code_source(const struct elf_file *file)
{
	return (struct code_source){ read_elf, elf_extent, (void *)file };
}

const char *exit_doubt_text(enum exit_doubt doubt)
{
	switch (doubt) {
	case EXITS_CLEAN: return "";
	case EXITS_MACHINE: return "its machine language is not known";
	case EXITS_SIZE: return "of unknown size, or too large";
	case EXITS_CODE: return "holds what cannot be decoded";
	case EXITS_OUTSIDE: return "jumps to code of unknown size";
	case EXITS_FORM: return "may return in a way that cannot be probed";
	case EXITS_MANY: return "has too many returns";
	case EXITS_NONE: return "never returns";
	}
	return "?";
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function_exits.h - where calls of a function end: its return instructions and its jumps to
 * other functions.
 *
 * A probe there sees the end of a call without touching the stack: at a return instruction, and
 * at a jump with which a function hands its call over to another one (a tail call), the stack
 * pointer is what it was at the function's first instruction. The code is read from one end to the
 * other; parts that the compiler split off (name.cold), and functions that are jumped to directly,
 * are read, too: the call ends at their returns. In doubt nothing is found and the doubt is told.
 */
#ifndef PROFBPF_LIB_ELF_FUNCTION_EXITS_H
#define PROFBPF_LIB_ELF_FUNCTION_EXITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/early_exit.h"
#include "lib/elf/elf_file.h"

#define FUNCTION_EXITS_MAX 256 /* of one function, with those of the code that it jumps to */
#define FUNCTION_PIECES_MAX 12 /* pieces of code that a function jumps to, and itself */
#define FUNCTION_BYTES_MAX (256u << 10) /* of all of them */

enum exit_kind {
	EXIT_RETURN,
	EXIT_JUMP, /* to code whose exits are found, too: goes on, under the same stack pointer */
	EXIT_JUMP_INDIRECT, /* to where a register or a place in memory tells */
};

/* Registers of an indirect jump, numbered as in control_flow.h. */
#define EXIT_REGISTER_IP 32
#define EXIT_REGISTER_NONE 33

struct function_exit {
	uint64_t address; /* of the instruction, in the file's own address space */
	uint64_t offset; /* the same, in the file; left to the caller */
	bool plain; /* of returns: nothing but the return address is taken off the stack */
	enum exit_kind kind;
	bool stepped; /* the kernel single-steps this instruction; else it emulates it */
	/*
	 * Of indirect jumps: to base + index * scale + displacement, or to what lies there, or with two loads to what lies
	 * at @inner of what that points to.
	 */
	uint8_t loads;
	uint8_t base, index, scale;
	int32_t displacement, inner;
	/* Of indirect jumps: what leads to here or further, below own_end, stays in the function and is no exit. */
	uint64_t own_start, own_end;
	/*
	 * An instruction before it that can be probed in its place (early_exit.h), at less cost; 0 = none. The stack pointer
	 * is so many bytes below what it is at the exit there, and the value that is returned may not be set yet.
	 */
	uint64_t early;
	uint32_t early_below;
	bool early_sets_value; /* of returns: between the two */
	struct early_pointer early_target; /* of indirect jumps: where they lead, if it has loads; else as it is at the exit */
	uint32_t below; /* of an exit in whose place that is probed; else 0 */
};

/* Why the ends of a function's calls can't all be seen. */
enum exit_doubt {
	EXITS_CLEAN,
	EXITS_MACHINE, /* its machine language is not known */
	EXITS_SIZE, /* its size is not known, or too large */
	EXITS_CODE, /* some of it can't be decoded, or is jumped into the middle of an instruction */
	EXITS_OUTSIDE, /* it jumps to code of which it is not known where it ends */
	EXITS_FORM, /* it returns in a way that can't be probed */
	EXITS_MANY, /* more exits, or pieces, than the limits above */
	EXITS_NONE, /* it never ends, as far as can be seen */
};

struct function_exits {
	struct function_exit *exits; /* by ascending address */
	size_t count;
	enum exit_doubt doubt; /* EXITS_CLEAN, or the reason for which count is 0 */
};

/* Where the code comes from; addresses are the file's own. */
struct code_source {
	/* Returns how many bytes were read, at most @size. */
	size_t (*read)(void *context, uint64_t address, void *buffer, size_t size);
	/* The piece of code in which @address lies; 0 or a negative errno. */
	int (*extent)(void *context, uint64_t address, uint64_t *start, uint64_t *end);
	void *context;
};

struct exit_finder;

/* exit_finder_new - not shared by threads; NULL without memory. exit_finder_free() may be given NULL. */
struct exit_finder *exit_finder_new(enum elf_file_machine machine,
				    const struct code_source *source);
void exit_finder_free(struct exit_finder *finder);

/* elf_code_source - code and pieces of an ELF file, which must outlive the source's users */
struct code_source elf_code_source(const struct elf_file *file);

/*
 * exit_finder_find - the exits of the function at @address
 *
 * @size: as its symbol tells it; 0 = unknown: then the unwind tables are asked. Returns 0 with
 * @found filled, whose doubt says whether exits were found; to be freed with
 * function_exits_free(). -ENOMEM without memory.
 */
int exit_finder_find(struct exit_finder *finder, uint64_t address, uint64_t size,
		     struct function_exits *found);
void function_exits_free(struct function_exits *found);

/*
 * function_exits_early - from now on the exits are the instructions before them, where there are such
 *
 * Of those @address and @offset tell the new place then, and @below how far the stack pointer is from the exit's own.
 */
void function_exits_early(struct function_exits *exits);

/* exit_doubt_text - in words, such as "of unknown size, or too large"; "" for EXITS_CLEAN */
const char *exit_doubt_text(enum exit_doubt doubt);

#endif /* PROFBPF_LIB_ELF_FUNCTION_EXITS_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function_exits.h - the exits of a function: its return instructions and its jumps to other functions.
 *
 * A probe there sees the end of a call without touching the stack: at a return instruction and at a tail call,
 * the stack pointer is the same as at the function's first instruction. The code is read from one end to the
 * other, together with parts that the compiler split off (name.cold) and functions that are jumped to directly,
 * because the call ends at their returns. In doubt no exit is returned, but the reason.
 */
#ifndef PROFBPF_LIB_ELF_FUNCTION_EXITS_H
#define PROFBPF_LIB_ELF_FUNCTION_EXITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/early_exit.h"
#include "lib/elf/elf_file.h"

#define FUNCTION_EXITS_MAX 256 /* exits of a function, including the code that it jumps to */
#define FUNCTION_PIECES_MAX 12 /* the function itself and the pieces of code that it jumps to */
#define FUNCTION_BYTES_MAX (256u << 10) /* total size of all pieces */

enum exit_kind {
	EXIT_RETURN,
	EXIT_JUMP, /* to code whose exits are found, too: the call continues with the same stack pointer */
	EXIT_JUMP_INDIRECT, /* to an address in a register or in memory */
};

/* Registers of an indirect jump, numbered as in control_flow.h. */
#define EXIT_REGISTER_IP 32
#define EXIT_REGISTER_NONE 33

struct function_exit {
	uint64_t address; /* of the instruction, in the file's own address space */
	uint64_t offset; /* file offset of the instruction; set by the caller */
	bool plain; /* returns: the instruction pops only the return address */
	enum exit_kind kind;
	bool stepped; /* the kernel single-steps this instruction; else it emulates it */
	/*
	 * Target of an indirect jump: base + index * scale + displacement; with one load the word at that address; with two
	 * loads the word at offset @inner behind that pointer.
	 */
	uint8_t loads;
	uint8_t base, index, scale;
	int32_t displacement, inner;
	/* Indirect jumps: a target from own_start up to own_end is in the same function: the jump is no exit. */
	uint64_t own_start, own_end;
	/*
	 * An earlier instruction that can be probed instead, at less cost (early_exit.h); 0 = none. There the stack pointer
	 * is early_below bytes below its value at the exit, and the returned value may not be set yet.
	 */
	uint64_t early;
	uint32_t early_below;
	bool early_sets_value; /* returns: the value is set between the two instructions */
	struct early_pointer early_target; /* indirect jumps: the target if it has loads; else the operands at the exit hold */
	bool is_early; /* the earlier instruction is probed: function_exits_early() */
	uint32_t below; /* early_below if is_early; else 0 */
};

/* Why the ends of a function's calls cannot all be seen. */
enum exit_doubt {
	EXITS_CLEAN,
	EXITS_MACHINE, /* unknown machine */
	EXITS_SIZE, /* unknown size, or too large */
	EXITS_CODE, /* part of it cannot be decoded, or a jump leads into the middle of an instruction */
	EXITS_OUTSIDE, /* it jumps to code whose end is unknown */
	EXITS_FORM, /* it returns in a way that cannot be probed */
	EXITS_MANY, /* more exits, or pieces, than the limits above */
	EXITS_NONE, /* no exit was found: it seems never to return */
};

struct function_exits {
	struct function_exit *exits; /* by ascending address */
	size_t count;
	enum exit_doubt doubt; /* EXITS_CLEAN, or the reason for which count is 0 */
};

/* The source of the code; addresses are in the file's own address space. */
struct code_source {
	/* Returns the number of bytes read, at most @size. */
	size_t (*read)(void *context, uint64_t address, void *buffer, size_t size);
	/* The piece of code that contains @address. Returns 0 or a negative errno. */
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
 * @size: the size of its symbol; 0 = unknown: then the unwind tables give it. Returns 0 with
 * @found filled, whose doubt says whether exits were found; the caller frees it with
 * function_exits_free(). -ENOMEM without memory.
 */
int exit_finder_find(struct exit_finder *finder, uint64_t address, uint64_t size,
		     struct function_exits *found);
void function_exits_free(struct function_exits *found);

/*
 * function_exits_early - replaces exits by their earlier instructions, where there are any
 *
 * Then @address and @offset are those of the earlier instruction, and @below is the distance of the stack pointer from
 * its value at the exit.
 */
void function_exits_early(struct function_exits *exits);

/* exit_doubt_text - in words, such as "of unknown size, or too large"; "" for EXITS_CLEAN */
const char *exit_doubt_text(enum exit_doubt doubt);

#endif /* PROFBPF_LIB_ELF_FUNCTION_EXITS_H */

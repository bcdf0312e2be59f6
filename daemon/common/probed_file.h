/* SPDX-License-Identifier: Apache-2.0 */
/* probed_file.h - the functions of one file that the catalogs select, and where to probe them. */
#ifndef PROFBPF_DAEMON_COMMON_PROBED_FILE_H
#define PROFBPF_DAEMON_COMMON_PROBED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/catalog/catalog.h"
#include "lib/elf/elf_file.h"
#include "lib/elf/function_exits.h"
#include "lib/elf/instruction.h"

struct probed_function {
	const struct catalog_function *entry;
	char *name;
	bool weak; /* ELF_SYMBOL_WEAK */
	uint64_t offset; /* file offset of the probed instruction */
	struct instruction_choice choice; /* .delta: from the function's first instruction to it */
	struct function_exits exits; /* where its calls end, with their offsets in the file */
	bool exit_at_entry; /* the probed instruction is one of the exits */
};

enum probed_refusal {
	/*
	 * The code of an IFUNC symbol picks the real function when the library is
	 * loaded: a probe there would count choices, not calls.
	 */
	PROBED_IFUNC,
	/*
	 * Go moves stacks while functions run, unwinds them by return addresses, and ends
	 * the program at an unknown one, such as that of a return probe.
	 * C code in the same file runs on stacks that are not moved.
	 */
	PROBED_GO,
};

/* A function that the catalogs select and that is not probed. */
struct refused_function {
	const struct catalog_function *entry;
	char *name;
	uint64_t offset; /* file offset of its symbol */
	enum probed_refusal why;
};

struct probed_file {
	struct probed_function *functions; /* by ascending first instruction */
	size_t count;
	struct refused_function *refused;
	size_t refused_count;
	enum elf_file_machine machine;
	uint8_t build_id[ELF_FILE_BUILD_ID_MAX];
	size_t build_id_size;
	bool has_symbols; /* it has a symbol table */
	bool nameless; /* no function in it has a name, and no dynamic linker starts it */
	bool go; /* holds code of the Go compiler */
};

/*
 * probed_file_read - finds the selected functions of an ELF file
 *
 * One entry per address: of several names for the same code the one that a
 * catalog names exactly. @optimized_nop: see instruction_decoder_new().
 * Returns 0, also if no function is selected or the file is no usable ELF file
 * (count 0); -ENOMEM. @error is "" or describes the error in the file; the readable
 * functions of a damaged file are returned as well.
 */
int probed_file_read(struct probed_file *file, int fd, const char *path,
		     const struct catalogs *catalogs, bool optimized_nop, char *error,
		     size_t error_size);

/* A function that a refused IFUNC resolves to. */
struct ifunc_target {
	size_t refused; /* its index in probed_file.refused */
	uint64_t offset; /* file offset of the function's first instruction */
};

/*
 * probed_file_choose - selects @targets in place of the refused functions that resolve to them
 *
 * Targets that are probed already, under any name, are not probed twice. Returns 0, or -ENOMEM: then @file
 * can only be freed.
 */
int probed_file_choose(struct probed_file *file, int fd, const struct ifunc_target *targets,
		       size_t count, bool optimized_nop);

/*
 * probed_file_exits - finds the exits of a piece of code
 *
 * @offset: the file offset of any byte of it; the file's unwind tables give its bounds. For targets of
 * tail jumps. Returns 0 with @exits filled, which the caller frees with function_exits_free();
 * -ENOMEM.
 */
int probed_file_exits(int fd, const char *path, uint64_t offset, struct function_exits *exits);

/*
 * probed_file_exit_early - moves probes of exits to earlier, cheaper instructions, where there are any (early_exit.h)
 *
 * If a function's returned value is read, only where the value is already set there.
 */
void probed_file_exit_early(struct probed_file *file);

/*
 * probed_file_exit_tail_early - the same for targets of tail jumps in @file, as probed_file_exits() finds them
 *
 * Clears function_exit.early of exits that are not moved. @value: the returned value is read of the
 * function that jumped there.
 */
void probed_file_exit_tail_early(const struct probed_file *file, struct function_exits *exits, bool value);

/* probed_file_limit - drops all functions except the first @count */
void probed_file_limit(struct probed_file *file, size_t count);

/* probed_file_copy - makes a deep copy of functions and texts; 0 or -ENOMEM */
int probed_file_copy(struct probed_file *to, const struct probed_file *from);
void probed_file_free(struct probed_file *file);

/* probed_refusal_text - the reason as text, such as "chosen when ..."; a constant */
const char *probed_refusal_text(enum probed_refusal why);

#endif /* PROFBPF_DAEMON_COMMON_PROBED_FILE_H */

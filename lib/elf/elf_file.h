/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf_file.h - reads ELF files: which functions a file defines, and where in the file their code is.
 *
 * Files come from traced processes and are hostile: every offset, size and
 * index is checked, tables beyond ELF_FILE_MAX_* are refused. The file is read,
 * not mapped, because its owner may truncate it meanwhile, which would kill the reader of a mapping with
 * SIGBUS.
 */
#ifndef PROFBPF_LIB_ELF_ELF_FILE_H
#define PROFBPF_LIB_ELF_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ELF_FILE_BUILD_ID_MAX 64 /* bytes */
#define ELF_FILE_MAX_SYMBOLS (16u << 20) /* per table */
#define ELF_FILE_MAX_STRINGS (2047ull << 20) /* bytes per string table */
#define ELF_FILE_MAX_FOUND (1u << 20) /* functions per search */

enum elf_file_machine {
	ELF_FILE_X86_64 = 1,
	ELF_FILE_AARCH64 = 2,
	ELF_FILE_OTHER = 3,
};

struct elf_file;

/*
 * elf_file_open - open an executable or shared library by path
 * elf_file_open_fd - the same for an open descriptor, which is duplicated
 *
 * Only regular, 64-bit, little-endian files of type ET_EXEC or ET_DYN are
 * accepted. @name is used in messages. On failure NULL is returned, @error (of
 * @error_size bytes) says which file, what is wrong and, where there is one, the
 * remedy, and errno is set: ENOEXEC for a file that is no usable ELF file, else
 * what the failing call said. The path of a device or FIFO does not block.
 */
struct elf_file *elf_file_open(const char *path, char *error, size_t error_size);
struct elf_file *elf_file_open_fd(int fd, const char *name, char *error, size_t error_size);

/* elf_file_close - free everything; NULL is fine */
void elf_file_close(struct elf_file *file);

/* elf_file_machine - the machine that the file's code is for */
enum elf_file_machine elf_file_machine(const struct elf_file *file);

/*
 * elf_file_build_id - the GNU build id
 *
 * Points @id at it (owned by @file) and returns its length in bytes, at most
 * ELF_FILE_BUILD_ID_MAX; 0 when the file has none.
 */
size_t elf_file_build_id(const struct elf_file *file, const uint8_t **id);

/* elf_file_is_go - the file says that it holds code of the Go compiler */
bool elf_file_is_go(const struct elf_file *file);

/* elf_file_has_linker - does the file name a dynamic linker, as a dynamically linked program does? */
bool elf_file_has_linker(const struct elf_file *file);

/* elf_file_code_end - the address behind the last executable segment */
uint64_t elf_file_code_end(const struct elf_file *file);

/* elf_symbol.flags */
#define ELF_SYMBOL_IFUNC 0x01 /* the code is a resolver that picks the real function */
#define ELF_SYMBOL_LOCAL 0x02 /* STB_LOCAL: not visible outside the file */
#define ELF_SYMBOL_DYNAMIC 0x04 /* found in .dynsym (else only in .symtab) */
#define ELF_SYMBOL_WEAK 0x08 /* STB_WEAK: in C++ an inline function, of which callers may have copies */

struct elf_symbol {
	char *name; /* without a version suffix */
	uint64_t offset; /* of the first instruction, in the file */
	uint64_t size; /* bytes of code, clamped to its segment; 0 = unknown */
	uint64_t address; /* st_value: address in the file's own address space */
	uint32_t flags; /* ELF_SYMBOL_* */
	void *match; /* what the matcher returned */
};

struct elf_symbols {
	struct elf_symbol *symbol;
	size_t count;
};

/*
 * A matcher is called once for each defined function of each table. @name is NOT
 * NUL-terminated; @length is never 0. A result other than NULL is stored in elf_symbol.match.
 */
typedef void *elf_symbol_matcher(void *context, const char *name, size_t length);

/*
 * elf_file_find - finds all functions that a matcher accepts, in one pass
 *
 * Walks .dynsym and .symtab once each and fills @found, sorted by offset then
 * name; free it with elf_symbols_free(). One entry per (name, offset): a
 * function listed in both tables comes once, aliases come once per name, several
 * versions of a name once per version. Left out: undefined symbols, symbols
 * outside executable segments, and fragments that the compiler split off a
 * function (name.cold, name.part.N). IFUNC resolvers are included and flagged:
 * probing one counts resolutions, not calls.
 *
 * Returns 0, also when nothing matched or the file has no symbol table (see
 * elf_file_has_symbols()); -ENOMEM; -ENOEXEC when a table is damaged: what could
 * be read is in @found even then, and elf_file_error() says what is wrong.
 */
int elf_file_find(struct elf_file *file, elf_symbol_matcher *matcher, void *context,
		  struct elf_symbols *found);
void elf_symbols_free(struct elf_symbols *symbols);

/*
 * elf_file_object - the address of a variable, in the file's own address space
 *
 * Looked for in .dynsym, then .symtab. Returns 0, or -ENOENT if there is none of
 * that name, or as elf_file_find().
 */
int elf_file_object(struct elf_file *file, const char *name, uint64_t *address);

/*
 * elf_file_bias - the difference between a process's addresses and the file's own
 *
 * Computed from one executable mapping: its start and end in the process, and the file offset of its start.
 * Returns 0, or -ENOENT if no executable segment is there.
 */
int elf_file_bias(const struct elf_file *file, uint64_t start, uint64_t end, uint64_t offset,
		  uint64_t *bias);

#define ELF_DEBUG_ROOT "/usr/lib/debug" /* where distributions put symbols of stripped files */

/*
 * elf_file_add_debug - look below @root for the symbols of a stripped file
 *
 * Looks by build id (.build-id/XX/REST.debug), then for the file that .gnu_debuglink names, in the
 * folder of the file's own path, and takes only one that has the same build id, or the checksum that
 * stands there. elf_file_find() then finds its functions, too, where the file itself has their code.
 * Returns whether there is such a file; false, without looking, if the file has a .symtab.
 */
bool elf_file_add_debug(struct elf_file *file, const char *root);

/* elf_file_has_symbols - the file has a .dynsym or a .symtab, or one was found for it */
bool elf_file_has_symbols(const struct elf_file *file);

/* elf_file_error - why the last elf_file_find() failed; "" if it did not */
const char *elf_file_error(const struct elf_file *file);

/*
 * elf_file_read - bytes of the file, such as a function's code
 *
 * Returns how many bytes were read (fewer than @size at the end of the file) or
 * a negative errno.
 */
ssize_t elf_file_read(const struct elf_file *file, uint64_t offset, void *buffer, size_t size);

#endif /* PROFBPF_LIB_ELF_ELF_FILE_H */

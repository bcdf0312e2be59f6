/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog.h - catalogs: which library functions to trace and what their
 * arguments mean. One plain-text file per runtime.
 *
 * Grammar, line by line; words are separated by blanks, # starts a comment:
 *
 *   runtime NAME           first line; name in reports: a-z 0-9 _
 *   family  NAME           runtimes whose layers belong together; default: the runtime
 *   library GLOB...        files worth looking for before they are mapped; a hint only
 *   error   CONVENTION     how the lines below tell an error: nonzero null negative or
 *                          never (where no such line came yet)
 *   vouch   NAME WHY       a reason why functions are plain, which lines below refer to; NAME:
 *                          a-z 0-9 _, WHY: plain English until the end of the line or a #
 *   FUNCTION KIND LAYER [ARGUMENT...]
 *   !PATTERN               do not trace functions that match
 *   driver  NAME...        a driver: its name in /proc/devices, its module's name, or a path
 *                          under /dev; each may hold * and ?
 *   ioctl   COMMAND NAME   what a command of that driver is called
 *
 * FUNCTION is a symbol or a pattern with * in it (not one of the seven words above). KIND is launch copy sync alloc
 * free event collective compile load queue marker stage or other. LAYER is 1 for
 * what applications call, more for what is called below; 1..255.
 * ARGUMENT is ROLE=SOURCE with at most three of
 *   stream bytes copy_kind handle correlation count device blocking value out_handle code thread
 *   task
 * plus at most one name, names=kept or names=changed, error=CONVENTION for this line, and
 * plain=NAME.
 * SOURCE is
 *   N            the argument itself, N = 1..64, floating-point arguments not counted
 *   N[OFFSET]    what is at this byte offset (0..32767) of the pointer argument N, read at entry
 *   N[A][B]      the same through two pointers: what is at byte B of the pointer at byte A
 *   *N           what the pointer argument N points to when the function returns
 *   return       the returned value in full
 * each with an optional :1 :2 :4 or :8, the bytes to keep (default 8). *N or return is
 * possible for one argument of a line.
 *
 * What is launched gets its name from name=N, the C string that is argument N, or
 * name=N[OFFSET], the one whose address is at this byte offset of pointer argument N; or
 * from name=PREFIX*SUFFIX, the part of the function's own name at the *; or from a
 * call that named a handle or an address: a load or compile line with a name and
 * out_handle gives that handle the name, one with a name and code the address of a
 * function in the program that stands for the kernel. A launch line with handle or
 * code looks them up; without a name such a line with out_handle passes on the name
 * of its code or handle. An address that nobody named is looked up in the symbol table.
 * A line with a correlation that a compile call gave out and a launch takes joins the
 * two phases of an operator. A launch line's task is what the device's own records call it, the
 * number of its stream in the low 16 bits and its own in the next: it joins the two. A line with thread and name tells a thread's name.
 *
 * With names=kept the string of name=N[OFFSET] stays as it is as long as there is the
 * object N: a thread that has read it reads it again only after a call of a line
 * with names=changed, the function that makes such objects. Both have to be in one
 * file; where the latter is not probed, or is inline, the string is read each time.
 *
 * plain=NAME is the author's promise, for the reason that the line "vouch NAME WHY" above it
 * in the same file gives: this function is left by returning to its caller, and in no other
 * way. No exception and no longjmp() passes through it, no thread is cancelled or exits in it,
 * it switches to no other stack and calls nothing back that might. Where a function waits for
 * long, threads are cancelled: then it is plain only if its authors never do that. The word
 * permits a return probe, which sees the end of a call cheaply, but replaces the return address
 * on the stack. If the promise is wrong, whatever leaves the function otherwise finds a wrong
 * address there, and the traced program is killed or goes on without its destructors. When in
 * doubt leave the word out. docs/safety.md says how to judge a function.
 *
 * COMMAND is a number (decimal or 0x...), or a letter in quotes and a number of 0..255
 * for the type and number of _IOC(), whatever its direction and size.
 *
 * Symbols are compared with all patterns: a catalog may hold CATALOG_PATTERNS_MAX, of them
 * CATALOG_LEADING_MAX that begin with *, each with CATALOG_STARS_MAX * at most; all
 * catalogs of a session together CATALOGS_PATTERNS_MAX.
 *
 * Within a catalog a line with the exact symbol wins over patterns and
 * exclusions; among those the last one that matches wins. A catalog added later
 * overrides those before it.
 */
#ifndef PROFBPF_DAEMON_CATALOG_CATALOG_H
#define PROFBPF_DAEMON_CATALOG_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/events.h"
#include "bpf/session_maps.h"
#include "proto/trace.pb-c.h"

#define CATALOG_ERRORS_MAX 64
#define CATALOG_TEXT_MAX (4u << 20) /* bytes of one catalog */
#define CATALOG_PATTERNS_MAX 256 /* lines with a * in one catalog */
#define CATALOG_LEADING_MAX 16 /* of them lines that begin with it */
#define CATALOG_STARS_MAX 4 /* in one pattern */
#define CATALOGS_PATTERNS_MAX 1024 /* in all catalogs of a session */

/* names=... of a line */
enum catalog_names_of {
	NAMES_READ, /* nothing said: the name is read at each call */
	NAMES_KEPT,
	NAMES_CHANGED,
};

/* One line that is a function or an exclusion. */
struct catalog_function {
	char *pattern; /* symbol, or pattern with *; without the ! */
	size_t length; /* of pattern */
	bool wildcard; /* pattern holds a * */
	bool exclude; /* !PATTERN: the rest is meaningless */
	Profbpf__Function__Kind kind;
	unsigned int layer; /* 1 = called by applications */
	Profbpf__Function__Error error;
	Profbpf__Function__Role roles[REC_ARGS]; /* of args[0..2]; NOTHING = not recorded */
	struct probe_argument args[REC_ARGS];
	uint8_t string_position; /* 1-based; 0 = none */
	int16_t string_offset; /* where its address is in what the argument points to; -1 = it is the address */
	enum catalog_names_of names;
	const char *plain; /* why it is left only by returning; NULL = nobody vouches for it */
	const char *plain_name; /* of that reason, likewise; both belong to the catalog */
	char *operator_prefix, *operator_suffix; /* name=PREFIX*SUFFIX; NULL = none */
	bool out; /* args[2] is read through its pointer at return */
	bool returned; /* args[2] is the returned value */
	unsigned int line, column; /* of the pattern in its file, 1-based */
	const struct catalog *catalog; /* it belongs to */
};

/* One command of a driver. */
struct catalog_command {
	uint32_t value, mask; /* command number & mask == value */
	char *name;
};

struct catalog_driver {
	char **names; /* globs */
	size_t name_count;
	struct catalog_command *commands;
	size_t command_count;
};

/* A reason why functions are plain. */
struct catalog_vouch {
	char *name, *text;
	unsigned int line; /* that defines it, 1-based */
};

struct catalog {
	char *name; /* file name, as in messages */
	char *runtime;
	char *family;
	char **libraries; /* globs */
	size_t library_count;
	struct catalog_function *functions; /* in file order, exclusions too */
	size_t function_count;
	struct catalog_vouch *vouches; /* in file order */
	size_t vouch_count;
	struct catalog_driver *drivers;
	size_t driver_count;
};

struct catalog_error {
	unsigned int line; /* 1-based; 0 = the file as a whole */
	unsigned int column; /* 1-based, in bytes */
	char *message; /* what was found and what is expected */
};

struct catalog_errors {
	struct catalog_error error[CATALOG_ERRORS_MAX];
	size_t count;
	bool more; /* there were more than CATALOG_ERRORS_MAX */
};

/*
 * catalog_parse - read a catalog from memory
 *
 * @name is used in messages. Reads on after an error so that all are found.
 * Returns NULL if there was one, with @errors filled (no memory: count 0); else
 * the catalog, to be freed with catalog_free(). @errors needs no initialization
 * and must be released with catalog_errors_free() either way.
 */
struct catalog *catalog_parse(const char *name, const char *text, size_t size,
			      struct catalog_errors *errors);
void catalog_free(struct catalog *catalog);

/* What a line, the drivers and the reasons of a catalog own; used by catalog_free() and the parser. */
void catalog_function_clear(struct catalog_function *function);
void catalog_drivers_free(struct catalog *catalog);
void catalog_vouches_free(struct catalog *catalog);

/* catalog_error_add - note an error found at @line and @column; used by the parser */
void __attribute__((format(printf, 4, 5)))
catalog_error_add(struct catalog_errors *errors, unsigned int line, unsigned int column,
		  const char *format, ...);

/*
 * catalog_errors_text - all errors as "NAME:LINE:COLUMN: MESSAGE" lines
 *
 * Allocated, to be freed by the caller; NULL if there is no memory.
 */
char *catalog_errors_text(const struct catalog_errors *errors, const char *name);
void catalog_errors_free(struct catalog_errors *errors);

/* Several catalogs and an index of their functions. */
struct catalogs;

/* catalogs_new - none yet, or NULL without memory; catalogs_free() frees those added, too */
struct catalogs *catalogs_new(void);
void catalogs_free(struct catalogs *catalogs);

/*
 * catalogs_add - add a parsed catalog, which belongs to @catalogs from then on
 *
 * Returns 0, -ENOMEM, or -E2BIG beyond CATALOGS_PATTERNS_MAX (then the catalog still belongs to the caller). Pointers
 * that catalog_match() gave stay valid until catalogs_free().
 */
int catalogs_add(struct catalogs *catalogs, struct catalog *catalog);

/*
 * catalogs_add_text - parse and add
 * catalogs_add_file - read, parse and add one file
 * catalogs_add_directory - add all *.catalog of a directory, in order of name
 *
 * Return 0 or a negative errno: -EINVAL for errors in the text. *@error is set to
 * an allocated message for the user (all errors, each with its line) that the
 * caller frees, or NULL on success or without memory. A directory is added as far
 * as it goes: good files are added even if others have errors.
 */
int catalogs_add_text(struct catalogs *catalogs, const char *name, const char *text, size_t size,
		      char **error);
int catalogs_add_file(struct catalogs *catalogs, const char *path, char **error);
int catalogs_add_directory(struct catalogs *catalogs, const char *path, char **error);

size_t catalogs_count(const struct catalogs *catalogs);
const struct catalog *catalogs_get(const struct catalogs *catalogs, size_t index);

/*
 * catalog_match - what to do with a symbol
 *
 * @symbol need not be NUL-terminated. Returns the line that decides, NULL if the
 * function is not to be traced. Fast: one hash look-up unless patterns begin
 * like @symbol. Does not modify @catalogs.
 */
const struct catalog_function *catalog_match(const struct catalogs *catalogs, const char *symbol,
					     size_t length);

/*
 * catalog_probe_conf - how the BPF programs read this function's arguments
 *
 * PROBE_NAME_KEPT is set where the line allows it; the caller takes it away if the functions with
 * names=changed are not probed.
 */
void catalog_probe_conf(const struct catalog_function *function, struct probe_conf *conf);

/*
 * catalog_operator - what @symbol launches by the line's name=PREFIX*SUFFIX
 *
 * Allocated; NULL if the line has none, the symbol does not match it, or without memory.
 */
char *catalog_operator(const struct catalog_function *function, const char *symbol);

/*
 * catalogs_commands - the ioctl commands of a driver that is known by several names
 *
 * Fills @commands with up to @max and returns how many; those of later catalogs come first.
 */
size_t catalogs_commands(const struct catalogs *catalogs, const char *const *names, size_t count,
			 const struct catalog_command **commands, size_t max);

/* Names as in catalog files; "?" for values that do not exist. */
const char *catalog_kind_name(Profbpf__Function__Kind kind);
const char *catalog_role_name(Profbpf__Function__Role role);

#endif /* PROFBPF_DAEMON_CATALOG_CATALOG_H */

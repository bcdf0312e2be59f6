/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog.h - catalogs: which library functions to trace and what their
 * arguments mean. One plain-text file per runtime.
 *
 * Grammar, line by line; words are separated by blanks, # starts a comment:
 *
 *   runtime NAME           first line; name in reports: a-z 0-9 _
 *   family  NAME           groups runtimes whose layers call each other; default: the runtime
 *   library GLOB...        files worth looking for before they are mapped; a hint only
 *   error   CONVENTION     how functions in the lines below return an error: nonzero null negative or
 *                          never (the default)
 *   vouch   NAME WHY       a reason why functions are plain, for the lines below to refer to; NAME:
 *                          a-z 0-9 _, WHY: plain English until the end of the line or a #
 *   FUNCTION KIND LAYER [ARGUMENT...]
 *   !PATTERN               do not trace functions that match
 *   driver  NAME...        a driver: its name in /proc/devices, its module's name, or a path
 *                          under /dev; each may hold * and ?
 *   ioctl   COMMAND NAME   the name of a command of that driver
 *
 * FUNCTION is a symbol or a pattern with * in it (not one of the seven words above). KIND is launch copy sync alloc
 * free event collective compile load queue marker stage or other. LAYER is 1 for functions that
 * applications call, more for functions that are called by these; 1..255.
 * ARGUMENT is ROLE=SOURCE with at most three of
 *   stream bytes copy_kind handle correlation count device blocking value out_handle code thread
 *   task
 * plus at most one name, names=kept or names=changed, error=CONVENTION for this line, and
 * plain=NAME.
 * SOURCE is
 *   N            the argument itself, N = 1..64, floating-point arguments not counted
 *   N[OFFSET]    the value at this byte offset (0..32767) from the pointer argument N, read at entry
 *   N[A][B]      the same through two pointers: the value at byte B from the pointer at byte A
 *   *N           the value behind the pointer argument N, read when the function returns
 *   return       the returned value in full
 * each with an optional :1 :2 :4 or :8, the bytes to keep (default 8). *N or return is
 * possible for one argument of a line.
 *
 * A launched operation gets its name from name=N, the C string that is argument N, or
 * name=N[OFFSET], the string whose address is at this byte offset from pointer argument N; or
 * from name=PREFIX*SUFFIX, the part of the function's own name at the *; or from a
 * call that named a handle or an address: a load or compile line with a name and
 * out_handle gives that handle the name, one with a name and code the address of a
 * function in the program that stands for the kernel. A launch line with handle or
 * code looks them up; without a name such a line with out_handle passes on the name
 * of its code or handle. An address without a name is looked up in the symbol table.
 * A correlation that a compile call returns and a launch call takes joins the two phases of an
 * operator. A launch line's task is the identity of the task in the device's own records (the number of its
 * stream in the low 16 bits, its own number in the next 16): it joins the call with the record. A line with
 * thread and name gives a thread its name.
 *
 * With names=kept the string of name=N[OFFSET] does not change during the life of the
 * object N: a thread that has read it reads it again only after a call of a function
 * with names=changed, which makes such objects. Both functions must be in the same
 * file; if the latter is not probed, or is inline, the string is read each time.
 *
 * plain=NAME is the author's promise, for the reason in the line "vouch NAME WHY" above it in the same
 * file, that this function ends by returning to its caller and in no other way. No exception and no longjmp()
 * passes through it, no thread is cancelled or exits in it, it does not switch to another stack, and it calls no
 * callback that might. A thread may be cancelled in a function that waits long: such a function is plain only if
 * its authors never cancel threads. The word permits a return probe, which sees the end of a call cheaply, but
 * replaces the return address on the stack. If the promise is wrong, unwinding finds a wrong address there, and the
 * traced program is killed or continues without its destructors. When in doubt leave the word out. docs/safety.md
 * says how to judge a function.
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
#define CATALOG_TEXT_MAX (4u << 20) /* the largest catalog, in bytes */
#define CATALOG_PATTERNS_MAX 256 /* lines with a * in one catalog */
#define CATALOG_LEADING_MAX 16 /* of them lines that begin with it */
#define CATALOG_STARS_MAX 4 /* stars in one pattern */
#define CATALOGS_PATTERNS_MAX 1024 /* in all catalogs of a session */

/* names=... of a line */
enum catalog_names_of {
	NAMES_READ, /* the default: the name is read at each call */
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
	int16_t string_offset; /* offset of its address in the object that the argument points to; -1 = the argument is the address */
	enum catalog_names_of names;
	const char *plain; /* the reason why it ends only by returning; NULL = not plain */
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
	char *message; /* the offending text and the expected one */
};

struct catalog_errors {
	struct catalog_error error[CATALOG_ERRORS_MAX];
	size_t count;
	bool more; /* there were more than CATALOG_ERRORS_MAX */
};

/*
 * catalog_parse - reads a catalog from memory
 *
 * @name is used in messages. Continues after an error, so that all errors are found.
 * Returns NULL if there was an error, with @errors filled (no memory: count 0); else
 * the catalog, to be freed with catalog_free(). @errors needs no initialization
 * and must be released with catalog_errors_free() either way.
 */
struct catalog *catalog_parse(const char *name, const char *text, size_t size,
			      struct catalog_errors *errors);
void catalog_free(struct catalog *catalog);

/* Free the memory of a line, of the drivers, and of the reasons; for catalog_free() and the parser. */
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

/* catalogs_new - an empty set, or NULL without memory; catalogs_free() also frees the added catalogs */
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
 * caller frees, or NULL on success or without memory. Valid files of a directory are
 * added even if others have errors.
 */
int catalogs_add_text(struct catalogs *catalogs, const char *name, const char *text, size_t size,
		      char **error);
int catalogs_add_file(struct catalogs *catalogs, const char *path, char **error);
int catalogs_add_directory(struct catalogs *catalogs, const char *path, char **error);

size_t catalogs_count(const struct catalogs *catalogs);
const struct catalog *catalogs_get(const struct catalogs *catalogs, size_t index);

/*
 * catalog_match - the line for a symbol
 *
 * @symbol need not be NUL-terminated. Returns NULL if the function is not to be traced.
 * Fast: one hash look-up unless patterns begin like @symbol. Does not modify
 * @catalogs.
 */
const struct catalog_function *catalog_match(const struct catalogs *catalogs, const char *symbol,
					     size_t length);

/* catalog_value_counts - is the returned value used: to detect errors by the catalog's convention, or as a recorded argument? */
bool catalog_value_counts(const struct catalog_function *function);

/*
 * catalog_probe_conf - how the BPF programs read this function's arguments
 *
 * PROBE_NAME_KEPT is set where the line allows it; the caller takes it away if the functions with
 * names=changed are not probed.
 */
void catalog_probe_conf(const struct catalog_function *function, struct probe_conf *conf);

/*
 * catalog_operator - the name of the operation that @symbol launches, by the line's name=PREFIX*SUFFIX
 *
 * Allocated; NULL if the line has no such name, the symbol does not match it, or without memory.
 */
char *catalog_operator(const struct catalog_function *function, const char *symbol);

/*
 * catalogs_commands - the ioctl commands of a driver, which may have several names
 *
 * Fills @commands with up to @max commands and returns their number; commands of later catalogs come first.
 */
size_t catalogs_commands(const struct catalogs *catalogs, const char *const *names, size_t count,
			 const struct catalog_command **commands, size_t max);

/* Names as in catalog files; "?" for values that do not exist. */
const char *catalog_kind_name(Profbpf__Function__Kind kind);
const char *catalog_role_name(Profbpf__Function__Role role);

#endif /* PROFBPF_DAEMON_CATALOG_CATALOG_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_text.h - imports device files that a test builds, and checks changes of a file that must not change its
 * meaning.
 */
#ifndef PROFBPF_TESTS_UNIT_IMPORT_TEXT_H
#define PROFBPF_TESTS_UNIT_IMPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/model/model.h"

/*
 * Imports a file called @name from its own folder, without a trace, then finishes and joins the model. *error: of the
 * import.
 */
struct model *import_text(const char *name, const void *text, size_t size, int *error);

/* Does the same with a text whose import must succeed. */
struct model *import_words(const char *name, const char *text);

/* Returns a fact about a device by topic (NULL = any) and name; NULL if the file does not have it. */
const struct device_fact *import_fact(const struct model *model, const char *topic, const char *name);

/* Writes a file into an existing folder. */
void import_write(const char *folder, const char *name, const void *bytes, size_t size);
void import_write_text(const char *folder, const char *name, const char *text);

/*
 * A folder of the test program's own: cmocka's set-up and tear-down; its path; the path of @name in it, valid until the
 * next call; the same for a folder that is made.
 */
int import_root_make(void **state);
int import_root_remove(void **state);
const char *import_root(void);
const char *import_in_root(const char *name);
const char *import_make_folder(const char *name);

/* Imports the file or folder without a trace and finishes the model, without joining; the import must succeed. */
struct model *import_take(const char *path);

/* Returns the busy nanoseconds of a kind of tasks (their union) on device row @device. */
uint64_t import_busy(const struct model *model, uint32_t device, uint8_t kind);

/* Returns the model's tasks as sorted lines of "device stream kind start duration name"; the caller frees them. */
char *import_list(const struct model *model, int64_t shift_ns);

/*
 * import_same - checks that compression, and for a text CRLF, a byte order mark and UTF-16 do not change the result,
 * and that no truncated file makes the importer crash
 * @lines: the file is text in lines.
 */
void import_same(const char *name, const void *text, size_t size, bool lines);

#endif /* PROFBPF_TESTS_UNIT_IMPORT_TEXT_H */

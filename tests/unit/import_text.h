/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_text.h - device files that a test makes, taken in, and what must not change what they say.
 */
#ifndef PROFBPF_TESTS_UNIT_IMPORT_TEXT_H
#define PROFBPF_TESTS_UNIT_IMPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/model/model.h"

/* A file called @name in a folder of its own; taken in alone, finished, joined. *error: of the import. */
struct model *import_text(const char *name, const void *text, size_t size, int *error);

/* The same of a text that must be taken in. */
struct model *import_words(const char *name, const char *text);

/* What a file says of a device, by topic (NULL = whatever) and name; NULL if it does not. */
const struct device_fact *import_fact(const struct model *model, const char *topic, const char *name);

/* A file of a folder that is there already. */
void import_write(const char *folder, const char *name, const void *bytes, size_t size);
void import_write_text(const char *folder, const char *name, const char *text);

/* The file or folder taken in alone and finished, not joined; it must be taken in. */
struct model *import_take(const char *path);

/* Busy nanoseconds of a kind of tasks (their union) on device row @device. */
uint64_t import_busy(const struct model *model, uint32_t device, uint8_t kind);

/* Tasks of the model as "device stream kind start duration name" lines, sorted; freed by the caller. */
char *import_list(const struct model *model, int64_t shift_ns);

/*
 * import_same - the file means the same with CRLF, through gzip; cut anywhere it never crashes
 *
 * @lines: line ends mean nothing, so that CRLF is tried.
 */
void import_same(const char *name, const void *text, size_t size, bool lines);

#endif /* PROFBPF_TESTS_UNIT_IMPORT_TEXT_H */

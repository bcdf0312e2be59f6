/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strings.h - a string interner: each different text gets one small number.
 *
 * Id 0 is the empty text, other ids count up from 1 in the order of their first
 * string_table_add(), so that a writer can send what it has not sent yet by id.
 * Texts are kept in an arena: they never move while the table lives. The hash is
 * seeded at random, so that texts from a hostile file cannot be made to collide.
 * A table is not shared between threads without a lock.
 */
#ifndef PROFBPF_LIB_BASE_STRINGS_H
#define PROFBPF_LIB_BASE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#define STRING_NONE UINT32_MAX /* no id: out of memory, or not found */

struct string_table;

/* string_table_new - a table that holds id 0 only; NULL if there is no memory */
struct string_table *string_table_new(void);

/* string_table_free - free the table and all its texts; NULL is fine */
void string_table_free(struct string_table *table);

/*
 * string_table_add - the id of a text, which is copied if it is new
 *
 * @text need not end in NUL and may contain NULs; it may be NULL if @length is
 * 0. Returns STRING_NONE, and leaves the table as it was, if there is no memory,
 * if @length exceeds UINT32_MAX - 1 or if all ids are taken.
 */
uint32_t string_table_add(struct string_table *table, const char *text, size_t length);

/* string_table_add_text - the same for a NUL-terminated text; NULL is the empty text */
uint32_t string_table_add_text(struct string_table *table, const char *text);

/* string_table_find - the id of a text, or STRING_NONE if the table does not have it */
uint32_t string_table_find(const struct string_table *table, const char *text, size_t length);

/*
 * string_table_get - the text of an id, NUL-terminated, owned by the table
 *
 * Never NULL: an id that the table does not have gives "".
 */
const char *string_table_get(const struct string_table *table, uint32_t id);

/* string_table_length - bytes of the text, without the NUL; 0 for an unknown id */
size_t string_table_length(const struct string_table *table, uint32_t id);

/* string_table_count - ids in use, with id 0: always at least 1 */
uint32_t string_table_count(const struct string_table *table);

/*
 * string_table_clear - forget all texts but id 0
 *
 * Texts obtained earlier become invalid. Used at the start of a segment.
 */
void string_table_clear(struct string_table *table);

#endif /* PROFBPF_LIB_BASE_STRINGS_H */

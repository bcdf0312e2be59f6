/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog_names.h - the words of catalog files, in the order of their enums.
 */
#ifndef PROFBPF_DAEMON_CATALOG_CATALOG_NAMES_H
#define PROFBPF_DAEMON_CATALOG_CATALOG_NAMES_H

#include <stddef.h>

/* A list of words; the index of a word is its enum value. */
struct catalog_words {
	const char *what; /* "kind", for messages */
	const char *const *word;
	size_t count;
	size_t first; /* index of the first word that a catalog may contain */
};

extern const struct catalog_words catalog_kinds;
extern const struct catalog_words catalog_roles;
extern const struct catalog_words catalog_conventions;
extern const struct catalog_words catalog_names_of;

/* catalog_word_find - index of a word of @length bytes, or -1 */
int catalog_word_find(const struct catalog_words *words, const char *text, size_t length);

/*
 * catalog_word_nearest - the word that was probably meant
 *
 * At most two letters wrong, missing or too many; NULL if none is that near.
 */
const char *catalog_word_nearest(const struct catalog_words *words, const char *text,
				 size_t length);

/* catalog_word_list - all words that can be written, separated by blanks */
void catalog_word_list(const struct catalog_words *words, char *list, size_t size);

#endif /* PROFBPF_DAEMON_CATALOG_CATALOG_NAMES_H */

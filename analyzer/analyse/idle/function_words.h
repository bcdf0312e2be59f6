/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function_words.h - the purpose of code in a few words: "garbage collection", "pickling", "page faults".
 *
 * It follows from the names of functions, by the table function_words.txt, which is linked into the program.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_FUNCTION_WORDS_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_FUNCTION_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#define FUNCTION_WORDS_MAX 32

struct function_words;

/* function_words_new - parses the table that is linked into the program; NULL without memory */
struct function_words *function_words_new(void);

/*
 * function_words_parse - makes a table from a text
 *
 * The caller frees the result. Returns NULL without memory (*line is 0), or if the text has an error (*line is
 * the number of the wrong line, from 1).
 */
struct function_words *function_words_parse(const char *text, uint32_t *line);
void function_words_free(struct function_words *words);

/*
 * function_words_find - returns the word for this function of this file, or -1
 *
 * @file may be a path, or "". @innermost: it is the innermost function of a program.
 */
int function_words_find(const struct function_words *words, const char *function, const char *file, bool innermost);

/* Do the functions of a word tell before those that they call? */
bool function_words_is_over(const struct function_words *words, int word);

/* The text of a word, and its remedy; strings live as long as @words. */
const char *function_words_text(const struct function_words *words, int word);
const char *function_words_remedy(const struct function_words *words, int word);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_FUNCTION_WORDS_H */

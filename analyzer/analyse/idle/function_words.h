/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function_words.h - what code is for, in a few words: "garbage collection", "pickling", "page faults".
 *
 * By the names of functions, as function_words.txt has them; that file is part of the program.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_IDLE_FUNCTION_WORDS_H
#define PROFBPF_ANALYZER_ANALYSE_IDLE_FUNCTION_WORDS_H

#include <stdint.h>

#define FUNCTION_WORDS_MAX 32

struct function_words;

/* function_words_new - the table that is part of the program; NULL without memory */
struct function_words *function_words_new(void);

/*
 * function_words_parse - a table out of a text
 *
 * The result belongs to the caller. NULL without memory, or if the text is none: *line is then the number of
 * the line that is wrong, from 1, else 0.
 */
struct function_words *function_words_parse(const char *text, uint32_t *line);
void function_words_free(struct function_words *words);

/* function_words_find - which word is it for this function of this file? -1: none. @file may be a path, or "". */
int function_words_find(const struct function_words *words, const char *function, const char *file);

/* The word itself, and what helps; strings live as long as @words. */
const char *function_words_text(const struct function_words *words, int word);
const char *function_words_remedy(const struct function_words *words, int word);

#endif /* PROFBPF_ANALYZER_ANALYSE_IDLE_FUNCTION_WORDS_H */

/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - a growing list of strings. */
#ifndef PROFBPF_DAEMON_COMMON_WORDS_H
#define PROFBPF_DAEMON_COMMON_WORDS_H

#include <stddef.h>

/* Zeroed: an empty list. */
struct words {
	char **word; /* owned */
	size_t count;
	size_t room;
};

/* words_add - appends a copy of @text; words_addf - appends formatted text. 0 or -ENOMEM. */
int words_add(struct words *words, const char *text);
int words_addf(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* words_add_lines - appends each line of @text that is not empty. 0 or -ENOMEM. */
int words_add_lines(struct words *words, const char *text);

/* words_free - frees all words; the list is empty then */
void words_free(struct words *words);

#endif /* PROFBPF_DAEMON_COMMON_WORDS_H */

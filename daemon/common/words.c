/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/common/words.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes @word over, also when it fails. */
static int append(struct words *words, char *word)
{
	if (!word)
		return -ENOMEM;
	if (words->count == words->room) {
		size_t room = words->room ? 2 * words->room : 8;
		char **larger = reallocarray(words->word, room, sizeof(*larger));

		if (!larger) {
			free(word);
			return -ENOMEM;
		}
		words->word = larger;
		words->room = room;
	}
	words->word[words->count++] = word;
	return 0;
}

int words_add(struct words *words, const char *text)
{
	return append(words, strdup(text));
}

int words_addf(struct words *words, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vasprintf(&text, format, arguments);
	va_end(arguments);
	return append(words, n < 0 ? NULL : text);
}

int words_add_lines(struct words *words, const char *text)
{
	int err = 0;

	while (!err && *text) {
		size_t length = strcspn(text, "\n");

		if (length)
			err = append(words, strndup(text, length));
		text += length;
		text += *text == '\n';
	}
	return err;
}

void words_free(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->word[i]);
	free(words->word);
	memset(words, 0, sizeof(*words));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/fuzzy.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

#define PATTERN_MAX 256 /* longer patterns of a list match nothing */

static bool counts(char c)
{
	/* Bytes of other alphabets count, too. */
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

static const char *skip(const char *text)
{
	while (*text && !counts(*text))
		text++;
	return text;
}

/* Does @text begin with the @length bytes at @word? Compares only characters that count. */
static bool begins_with(const char *text, const char *word, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (!counts(word[i]))
			continue;
		text = skip(text);
		if (tolower((unsigned char)*text) != tolower((unsigned char)word[i]))
			return false;
		text++;
	}
	return true;
}

static bool has_word(const char *text, const char *word, size_t length)
{
	for (text = skip(text);; text = skip(text + 1)) {
		if (begins_with(text, word, length))
			return true;
		if (!*text)
			return false;
	}
}

bool text_fuzzy(const char *text, const char *words)
{
	while (words && *words) {
		size_t length = strcspn(words, " \t");

		if (length && !has_word(text, words, length))
			return false;
		words += length + (words[length] != '\0');
	}
	return true;
}

bool text_in_list(const char *text, const char *list)
{
	if (!list)
		return true;
	while (*list) {
		size_t length = strcspn(list, ",");
		char pattern[PATTERN_MAX];

		if (length < sizeof(pattern)) {
			memcpy(pattern, list, length);
			pattern[length] = '\0';
			if (fnmatch(pattern, text, FNM_CASEFOLD) == 0)
				return true;
		}
		list += length + (list[length] != '\0');
	}
	return false;
}

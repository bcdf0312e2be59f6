/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/function_words.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The table of the source tree; the Makefile has it as a dependency of this file. */
__asm__(".section .rodata\n"
	"function_words_table:\n"
	".incbin \"analyzer/analyse/idle/function_words.txt\"\n"
	".byte 0\n"
	".previous\n");
extern const char function_words_table[] __attribute__((visibility("hidden")));

struct pattern {
	const char *function;
	const char *file; /* NULL: any */
	int word;
	bool innermost; /* only for that one */
};

struct function_words {
	char *text; /* all strings below point into it */
	const char *word[FUNCTION_WORDS_MAX];
	const char *remedy[FUNCTION_WORDS_MAX];
	bool over[FUNCTION_WORDS_MAX];
	int count;
	struct pattern *patterns;
	size_t pattern_count;
};

void function_words_free(struct function_words *words)
{
	if (!words)
		return;
	free(words->patterns);
	free(words->text);
	free(words);
}

static bool add_pattern(struct function_words *words, char *text)
{
	bool innermost = *text == '=';
	struct pattern *bigger;
	char *file;

	text += innermost;
	file = strchr(text, '@');
	bigger = reallocarray(words->patterns, words->pattern_count + 1, sizeof(*bigger));
	if (!bigger)
		return false;
	words->patterns = bigger;
	if (file)
		*file++ = '\0';
	bigger[words->pattern_count++] = (struct pattern){ text, file, words->count - 1, innermost };
	return true;
}

/* Returns the text after @key and blanks, or NULL if the line does not begin with @key or ends after it. */
static const char *after(const char *line, const char *key)
{
	size_t length = strlen(key);

	if (strncmp(line, key, length) || (line[length] != ' ' && line[length] != '\t'))
		return NULL;
	line += length + strspn(line + length, " \t");
	return *line ? line : NULL;
}

/* Returns 0, 1 if the line is wrong, or -1 without memory. */
static int take_line(struct function_words *words, char *line)
{
	const char *value;
	char *rest;

	if (!*line || *line == '#')
		return 0;
	value = after(line, "word");
	if (value && words->count < FUNCTION_WORDS_MAX) {
		words->remedy[words->count] = "";
		words->word[words->count++] = value;
		return 0;
	}
	if (!words->count || value)
		return 1;
	value = after(line, "do");
	if (value) {
		words->remedy[words->count - 1] = value;
		return 0;
	}
	if (!strcmp(line, "over")) {
		words->over[words->count - 1] = true;
		return 0;
	}
	for (char *word = strtok_r(line, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
		if (!add_pattern(words, word))
			return -1;
	return 0;
}

struct function_words *function_words_parse(const char *text, uint32_t *line)
{
	struct function_words *words = calloc(1, sizeof(*words));
	char *next;
	int wrong = 0;

	*line = 0;
	if (!words)
		return NULL;
	words->text = next = strdup(text);
	for (uint32_t number = 1; next && !wrong; number++) {
		char *here = strsep(&next, "\n");

		wrong = take_line(words, here);
		if (wrong > 0)
			*line = number;
	}
	if (words->text && !wrong)
		return words;
	function_words_free(words);
	return NULL;
}

struct function_words *function_words_new(void)
{
	uint32_t line;

	return function_words_parse(function_words_table, &line);
}

int function_words_find(const struct function_words *words, const char *function, const char *file,
			bool innermost)
{
	const char *slash = strrchr(file, '/');

	if (slash)
		file = slash + 1;
	for (size_t i = 0; i < words->pattern_count; i++) {
		const struct pattern *pattern = &words->patterns[i];

		if ((innermost || !pattern->innermost) && fnmatch(pattern->function, function, 0) == 0 &&
		    (!pattern->file || fnmatch(pattern->file, file, 0) == 0))
			return pattern->word;
	}
	return -1;
}

bool function_words_is_over(const struct function_words *words, int word)
{
	return words->over[word];
}

const char *function_words_text(const struct function_words *words, int word)
{
	return words->word[word];
}

const char *function_words_remedy(const struct function_words *words, int word)
{
	return words->remedy[word];
}

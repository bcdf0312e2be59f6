/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/render/shorten.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/view/render/utf8.h"
#include "analyzer/view/render/wrap.h"

#define GROUPS_MAX 8 /* groups of arguments in a name; further ones are unchanged */
#define NAME_SIZE 512
#define LEAST_KEPT 5 /* least columns for arguments that are meaningful */

/* The text between two brackets. */
struct group {
	size_t from, to;
};

struct name {
	const char *text;
	const char *mark;
	struct group group[GROUPS_MAX];
	unsigned int groups;
};

static unsigned int columns_of(const char *text)
{
	return wrap_columns(text, strlen(text));
}

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Returns the length of the operator's name at @text if it contains brackets: 2 for operator()(int). */
static size_t operator_length(const char *text)
{
	static const char *const NAMES[] = { "<=>", "<<=", ">>=", "->*", "()", "[]", "->", "<<", ">>", "<=", ">=", "<", ">" };

	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
		if (!strncmp(text, NAMES[i], strlen(NAMES[i])))
			return strlen(NAMES[i]);
	return 0;
}

/* Is the character part of such a name? */
static bool of_operator(const char *text, size_t at)
{
	static const char WORD[] = "operator";
	const size_t length = sizeof(WORD) - 1;

	for (size_t back = 0; back < 3 && at >= length + back; back++) {
		const char *name = text + at - back;

		if (!memcmp(name - length, WORD, length))
			return back < operator_length(name);
	}
	return false;
}

/* Returns the position of the bracket that closes the one at @open; 0 if there is none. */
static size_t closing(const char *text, size_t open)
{
	int depth = 0;

	for (size_t i = open; text[i]; i++) {
		bool literal = of_operator(text, i) || (text[i] == '>' && text[i - 1] == '-');

		if (strchr("<({[", text[i]) && !literal)
			depth++;
		else if (strchr(">)}]", text[i]) && !literal && --depth == 0)
			return i;
	}
	return 0;
}

/* Arguments directly follow a name: "<module>", "a < b" and "(anonymous namespace)" are not arguments. */
static bool begins_group(const char *text, size_t at)
{
	if (!at || (text[at] != '<' && text[at] != '(') || of_operator(text, at))
		return false;
	return is_letter(text[at - 1]) || of_operator(text, at - 1) || (text[at] == '(' && text[at - 1] == '>');
}

static void find_groups(struct name *name)
{
	for (size_t i = 0; name->text[i] && name->groups < GROUPS_MAX; i++) {
		size_t end = begins_group(name->text, i) ? closing(name->text, i) : 0;

		if (end > i + 1)
			name->group[name->groups++] = (struct group){ i + 1, end };
		i = end ? end : i;
	}
}

/* Returns the length in bytes of the first @columns columns of @text. */
static size_t head(const char *text, unsigned int columns)
{
	size_t bytes = 0;

	while (text[bytes] && wrap_columns(text, bytes + utf8_next(text + bytes)) <= columns)
		bytes += utf8_next(text + bytes) ? utf8_next(text + bytes) : 1;
	return bytes;
}

/* Keeps both ends of the text. */
static void cut_middle(const char *text, unsigned int columns, const char *mark, char *into, size_t size)
{
	unsigned int room = columns > columns_of(mark) ? columns - columns_of(mark) : 0;
	size_t first = head(text, room - room / 2), last = first;

	if (columns_of(text) <= columns) {
		snprintf(into, size, "%s", text);
		return;
	}
	while (text[last] && columns_of(text + last) > room / 2)
		last += utf8_next(text + last) ? utf8_next(text + last) : 1;
	snprintf(into, size, "%.*s%s%s", (int)first, text, columns >= columns_of(mark) ? mark : "", text + last);
}

/*
 * Writes the name from @start on, with @room columns for the arguments in the first brackets, and the mark in all
 * others.
 */
static void write_name(const struct name *name, size_t start, unsigned int room, char *into, size_t size)
{
	size_t used = 0, at = start;

	into[0] = '\0';
	for (unsigned int i = 0; i < name->groups; i++) {
		const struct group *group = &name->group[i];
		char whole[NAME_SIZE], inside[NAME_SIZE];

		if (group->from <= start)
			continue;
		snprintf(whole, sizeof(whole), "%.*s", (int)(group->to - group->from), name->text + group->from);
		cut_middle(whole, room ? room : columns_of(name->mark), name->mark, inside, sizeof(inside));
		used += (size_t)snprintf(into + used, size - used, "%.*s%s", (int)(group->from - at), name->text + at,
					 room ? inside : name->mark);
		if (used >= size)
			return;
		room = 0;
		at = group->to;
	}
	snprintf(into + used, size - used, "%s", name->text + at);
}

static bool in_group(const struct name *name, size_t at)
{
	for (unsigned int i = 0; i < name->groups; i++)
		if (at >= name->group[i].from && at < name->group[i].to)
			return true;
	return false;
}

/* Returns the position of the next part of a qualified name after @start; 0 if there is none. */
static size_t next_part(const struct name *name, size_t start)
{
	for (size_t i = start; name->text[i]; i++)
		if (name->text[i] == ':' && name->text[i + 1] == ':' && !in_group(name, i) && name->text[i + 2])
			return i + 2;
	return 0;
}

/* Returns the beginning of the qualified name, after a return type and a library. */
static size_t first_part(const struct name *name)
{
	size_t part = next_part(name, 0), start = 0;

	for (size_t i = 0; i < part; i++)
		if (name->text[i] == ' ' && !in_group(name, i))
			start = i + 1;
	return start;
}

/* Removes as many namespaces as necessary. Returns false if the name does not fit without any of them. */
static bool without_namespaces(const struct name *name, unsigned int columns, char *into, size_t size)
{
	unsigned int mark = columns_of(name->mark);
	size_t part = first_part(name);
	char rest[NAME_SIZE];

	while ((part = next_part(name, part))) {
		write_name(name, part, 0, rest, sizeof(rest));
		if (columns_of(rest) + mark > columns)
			continue;
		snprintf(into, size, "%s%s", name->mark, rest);
		return true;
	}
	return false;
}

char *shorten(const char *text, unsigned int columns, const char *mark, char *into, size_t size)
{
	struct name name = { .text = text, .mark = mark };
	char least[NAME_SIZE];
	unsigned int left;

	if (columns_of(text) <= columns) {
		snprintf(into, size, "%s", text);
		return into;
	}
	find_groups(&name);
	write_name(&name, 0, 0, least, sizeof(least));
	if (columns_of(least) <= columns) {
		left = columns - columns_of(least) + columns_of(mark);
		write_name(&name, 0, left >= LEAST_KEPT ? left : 0, into, size);
	} else if (!without_namespaces(&name, columns, into, size)) {
		cut_middle(least, columns, mark, into, size);
	}
	return into;
}

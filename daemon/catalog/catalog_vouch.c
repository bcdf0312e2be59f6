/* SPDX-License-Identifier: Apache-2.0 */
/* Reasons why functions are plain, and the lines that refer to them. */
#include "daemon/catalog/catalog_parser.h"

#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\f\v"

/* The rest of the line, without blanks at its ends; blanks in it become spaces. */
static char *rest_of_line(struct parser *parser)
{
	const char *start = parser->cursor, *end = parser->line_end;
	struct token rest;
	char *text;

	while (start < end && strchr(BLANKS, *start))
		start++;
	while (end > start && strchr(BLANKS, end[-1]))
		end--;
	rest = (struct token){ .text = start, .length = end - start };
	text = catalog_copy(parser, &rest);
	for (char *p = text; p && *p; p++)
		if (strchr(BLANKS, *p))
			*p = ' ';
	parser->cursor = parser->line_end;
	return text;
}

static void add_vouch(struct parser *parser, const struct token *name, char *text)
{
	struct catalog *catalog = parser->catalog;
	size_t count = catalog->vouch_count;
	void *vouches = reallocarray(catalog->vouches, count + 1, sizeof(*catalog->vouches));
	void *names;

	if (vouches)
		catalog->vouches = vouches;
	names = reallocarray(parser->vouch_names, count + 1, sizeof(*parser->vouch_names));
	if (names)
		parser->vouch_names = names;
	if (!vouches || !names) {
		parser->no_memory = true;
		free(text);
		return;
	}
	catalog->vouches[count] = (struct catalog_vouch){ .name = catalog_copy(parser, name),
							  .text = text,
							  .line = parser->line };
	parser->vouch_names[count] = catalog->vouches[count].name;
	catalog->vouch_count++;
}

static struct catalog_words vouch_words(const struct parser *parser)
{
	return (struct catalog_words){
		"name that a line \"vouch NAME WHY\" above gives to a reason", parser->vouch_names,
		parser->catalog->vouch_count, 0
	};
}

void catalog_parse_vouch(struct parser *parser)
{
	struct catalog_words known = vouch_words(parser);
	struct token name;
	char *text;
	int same;

	if (!catalog_next_token(parser, &name)) {
		FAIL(parser, name.column,
		     "found the end of the line, expected a name after \"vouch\" and why functions "
		     "are plain, as in \"vouch async returns at once\"");
		return;
	}
	if (!catalog_check_name(parser, &name))
		return;
	same = catalog_word_find(&known, name.text, name.length);
	if (same >= 0) {
		FAIL(parser, name.column,
		     "found %s a second time, it is in line %u already: give the reasons different "
		     "names",
		     QUOTE(&name), parser->catalog->vouches[same].line);
		return;
	}
	text = rest_of_line(parser);
	if (text && !*text) {
		FAIL(parser, (unsigned int)(parser->line_end - parser->line_start) + 1,
		     "found the end of the line, expected after %s why functions are plain, as in "
		     "\"vouch async returns at once\"",
		     QUOTE(&name));
		free(text);
		return;
	}
	if (text)
		add_vouch(parser, &name, text);
}

void catalog_plain_missing(struct parser *parser, const struct token *token)
{
	FAIL(parser, token->column,
	     "found %s without a reason, expected plain=NAME and, above, a line \"vouch NAME WHY\"",
	     QUOTE(token));
}

void catalog_set_plain(struct parser *parser, struct catalog_function *function,
		       const struct token *token, const struct token *value)
{
	struct catalog_words known = vouch_words(parser);
	int index;

	if (function->plain) {
		FAIL(parser, token->column, "found %s, but this line has a reason already",
		     QUOTE(token));
		return;
	}
	if (!value->length) {
		catalog_plain_missing(parser, token);
		return;
	}
	if (!known.count) {
		FAIL(parser, value->column,
		     "found %s, but no line above gives a reason: write \"vouch NAME WHY\" before "
		     "it",
		     QUOTE(value));
		return;
	}
	index = catalog_parse_word(parser, value, &known);
	if (index < 0)
		return;
	function->plain = parser->catalog->vouches[index].text;
	function->plain_name = parser->catalog->vouches[index].name;
}

/* Does the pattern consist only of * and the common prefix of a language's symbols? */
static bool stands_for_anything(const struct catalog_function *function)
{
	static const char *const languages[] = { "", "_Z", "_ZN", "_R", "_RN" };
	size_t letters = strcspn(function->pattern, "*");

	if (!function->wildcard ||
	    function->pattern[letters + strspn(function->pattern + letters, "*")])
		return false;
	for (size_t i = 0; i < sizeof(languages) / sizeof(*languages); i++)
		if (letters == strlen(languages[i]) &&
		    !memcmp(function->pattern, languages[i], letters))
			return true;
	return false;
}

void catalog_check_plain(struct parser *parser, const struct catalog_function *function,
			 const struct token *first)
{
	if (!function->plain || !function->pattern || !stands_for_anything(function))
		return;
	FAIL(parser, first->column,
	     "found plain=%s for %s, expected a pattern that names functions: plain= cannot be "
	     "stated for all functions",
	     function->plain_name, QUOTE(first));
}

void catalog_vouches_free(struct catalog *catalog)
{
	for (size_t i = 0; i < catalog->vouch_count; i++) {
		free(catalog->vouches[i].name);
		free(catalog->vouches[i].text);
	}
	free(catalog->vouches);
}

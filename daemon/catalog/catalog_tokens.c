/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/catalog/catalog_parser.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct quoted catalog_quote(const char *text, size_t length)
{
	struct quoted quoted;
	char *to = quoted.text;

	*to++ = '"';
	for (size_t i = 0; i < length && i < QUOTED_MAX; i++) {
		unsigned char c = text[i];

		to += isprint(c) ? sprintf(to, "%c", c) : sprintf(to, "\\x%02x", c);
	}
	strcpy(to, length > QUOTED_MAX ? "...\"" : "\"");
	return quoted;
}

bool catalog_next_token(struct parser *parser, struct token *token)
{
	const char *p = parser->cursor;

	while (p < parser->line_end && strchr(" \t\r\f\v", *p))
		p++;
	token->text = p;
	token->column = p - parser->line_start + 1;
	while (p < parser->line_end && !strchr(" \t\r\f\v", *p))
		p++;
	token->length = p - token->text;
	parser->cursor = p;
	return token->length > 0;
}

bool catalog_token_is(const struct token *token, const char *word)
{
	return token->length == strlen(word) && memcmp(token->text, word, token->length) == 0;
}

char *catalog_copy(struct parser *parser, const struct token *token)
{
	char *text = strndup(token->text, token->length);

	if (!text)
		parser->no_memory = true;
	return text;
}

int catalog_parse_word(struct parser *parser, const struct token *token,
		       const struct catalog_words *words)
{
	int value = catalog_word_find(words, token->text, token->length);
	const char *nearest;
	char list[256];

	if (value >= 0)
		return value;
	nearest = catalog_word_nearest(words, token->text, token->length);
	catalog_word_list(words, list, sizeof(list));
	FAIL(parser, token->column, "found %s, expected a%s %s: %s%s%s%s", QUOTE(token),
	     strchr("aeiou", words->what[0]) ? "n" : "", words->what, list,
	     nearest ? " (did you mean \"" : "", nearest ?: "", nearest ? "\"?)" : "");
	return -1;
}

long catalog_parse_number(const char **text, const char *end, long max)
{
	long value = 0;

	if (*text == end || !isdigit((unsigned char)**text))
		return -1;
	for (; *text < end && isdigit((unsigned char)**text); (*text)++) {
		value = value * 10 + (**text - '0');
		if (value > max)
			return -1;
	}
	return value;
}

void catalog_expect_end(struct parser *parser)
{
	struct token token;

	if (catalog_next_token(parser, &token))
		FAIL(parser, token.column, "found %s, expected the end of the line", QUOTE(&token));
}

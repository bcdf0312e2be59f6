/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/catalog/catalog_parser.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool catalog_check_name(struct parser *parser, const struct token *name)
{
	for (size_t i = 0; i < name->length; i++) {
		unsigned char c = name->text[i];

		if (islower(c) || isdigit(c) || c == '_')
			continue;
		FAIL(parser, name->column + i,
		     "found %s in %s, expected a name of lower-case "
		     "letters, digits and _",
		     catalog_quote(name->text + i, 1).text, QUOTE(name));
		return false;
	}
	return true;
}

static void parse_name(struct parser *parser, char **to, const char *directive)
{
	struct token token;

	if (!catalog_next_token(parser, &token)) {
		FAIL(parser, token.column,
		     "found the end of the line, expected a name after \"%s\"", directive);
		return;
	}
	if (*to) {
		FAIL(parser, token.column, "found a second \"%s\", but the catalog has one already",
		     directive);
		return;
	}
	if (!catalog_check_name(parser, &token))
		return;
	*to = catalog_copy(parser, &token);
	catalog_expect_end(parser);
}

static void parse_libraries(struct parser *parser)
{
	struct catalog *catalog = parser->catalog;
	struct token token;
	size_t before = catalog->library_count;

	while (catalog_next_token(parser, &token)) {
		char **grown = reallocarray(catalog->libraries, catalog->library_count + 1,
					    sizeof(*grown));

		if (!grown) {
			parser->no_memory = true;
			return;
		}
		catalog->libraries = grown;
		grown[catalog->library_count] = catalog_copy(parser, &token);
		if (!grown[catalog->library_count])
			return;
		catalog->library_count++;
	}
	if (catalog->library_count == before)
		FAIL(parser, token.column,
		     "found the end of the line, expected names of library "
		     "files, as in libOpenCL.so*");
}

static void parse_default_error(struct parser *parser)
{
	struct token token;
	int value;

	if (!catalog_next_token(parser, &token)) {
		FAIL(parser, token.column,
		     "found the end of the line, expected an error convention: "
		     "never nonzero null negative");
		return;
	}
	value = catalog_parse_word(parser, &token, &catalog_conventions);
	if (value >= 0)
		parser->error = value;
	catalog_expect_end(parser);
}

static void parse_line(struct parser *parser)
{
	struct token first;
	const char *comment;

	comment = memchr(parser->line_start, '#', parser->line_end - parser->line_start);
	if (comment)
		parser->line_end = comment;
	if (!catalog_next_token(parser, &first))
		return;
	if (catalog_token_is(&first, "runtime")) {
		parse_name(parser, &parser->catalog->runtime, "runtime");
		parser->begun = true;
		return;
	}
	if (!parser->begun) {
		FAIL(parser, first.column,
		     "found %s, expected \"runtime NAME\" before anything else", QUOTE(&first));
		parser->begun = true;
	}
	if (catalog_token_is(&first, "family"))
		parse_name(parser, &parser->catalog->family, "family");
	else if (catalog_token_is(&first, "library"))
		parse_libraries(parser);
	else if (catalog_token_is(&first, "error"))
		parse_default_error(parser);
	else if (catalog_token_is(&first, "vouch"))
		catalog_parse_vouch(parser);
	else if (catalog_token_is(&first, "driver"))
		catalog_parse_driver(parser);
	else if (catalog_token_is(&first, "ioctl"))
		catalog_parse_ioctl(parser);
	else if (first.text[0] == '!')
		catalog_parse_exclusion(parser, &first);
	else
		catalog_parse_function(parser, &first);
}

static int compare_functions(const void *a, const void *b)
{
	const struct catalog_function *x = *(const struct catalog_function *const *)a;
	const struct catalog_function *y = *(const struct catalog_function *const *)b;
	int order = strcmp(x->pattern, y->pattern);

	return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* A symbol or pattern listed twice in one file is an error: one line would have no effect. */
static void check_duplicates(struct parser *parser)
{
	const struct catalog *catalog = parser->catalog;
	const struct catalog_function **sorted;

	sorted = calloc(catalog->function_count + 1, sizeof(*sorted));
	if (!sorted) {
		parser->no_memory = true;
		return;
	}
	for (size_t i = 0; i < catalog->function_count; i++)
		sorted[i] = &catalog->functions[i];
	qsort(sorted, catalog->function_count, sizeof(*sorted), compare_functions);
	for (size_t i = 1; i < catalog->function_count; i++) {
		const struct catalog_function *function = sorted[i];

		if (strcmp(sorted[i - 1]->pattern, function->pattern) == 0)
			catalog_error_add(parser->errors, function->line, function->column,
					  "found %s a second time, it is in line %u already",
					  catalog_quote(function->pattern, function->length).text,
					  sorted[i - 1]->line);
	}
	free(sorted);
}

static void parse_text(struct parser *parser, size_t size)
{
	while (parser->line_start < parser->text_end && !parser->no_memory) {
		size_t left = parser->text_end - parser->line_start;
		const char *newline = memchr(parser->line_start, '\n', left);
		const char *next = newline ? newline + 1 : parser->text_end;

		parser->line++;
		parser->line_end = newline ?: parser->text_end;
		parser->cursor = parser->line_start;
		parse_line(parser);
		parser->line_start = next;
	}
	if (!parser->catalog->runtime && !parser->errors->count && !parser->no_memory)
		catalog_error_add(parser->errors, 0, 0,
				  "found no line at all, expected \"runtime NAME\" and functions");
	if (parser->kept_line && !parser->names_change)
		catalog_error_add(parser->errors, parser->kept_line, parser->kept_column,
				  "found names=kept, expected a line with names=changed, too: the "
				  "function that makes such objects");
	if (!parser->errors->count && !parser->no_memory)
		check_duplicates(parser);
}

/* A picture or a program given as a catalog deserves one message, not one per line. */
static bool check_text(const char *text, size_t size, struct catalog_errors *errors)
{
	unsigned int line = 1;
	const char *start = text;

	if (size > CATALOG_TEXT_MAX) {
		catalog_error_add(errors, 0, 0, "found %zu bytes, expected a catalog of at most %u",
				  size, CATALOG_TEXT_MAX);
		return false;
	}
	for (const char *p = text; p < text + size; p++) {
		unsigned char c = *p;

		if (c == '\n') {
			line++;
			start = p + 1;
		} else if (c < ' ' && !strchr("\t\r\f\v", c ?: 1)) {
			catalog_error_add(
				errors, line, p - start + 1,
				"found the byte 0x%02x, expected plain text: this is no catalog",
				c);
			return false;
		}
	}
	return true;
}

struct catalog *catalog_parse(const char *name, const char *text, size_t size,
			      struct catalog_errors *errors)
{
	struct catalog *catalog = calloc(1, sizeof(*catalog));
	struct parser parser = {
		.line_start = text,
		.text_end = text + size,
		.catalog = catalog,
		.errors = errors,
		.error = PROFBPF__FUNCTION__ERROR__NEVER,
	};

	memset(errors, 0, sizeof(*errors));
	if (!catalog || !check_text(text, size, errors))
		goto failed;
	catalog->name = strdup(name);
	parse_text(&parser, size);
	if (catalog->runtime && !catalog->family)
		catalog->family = strdup(catalog->runtime);
	if (!catalog->name || !catalog->family || parser.no_memory || errors->count)
		goto failed;
	free(parser.vouch_names);
	return catalog;
failed:
	free(parser.vouch_names);
	catalog_free(catalog);
	return NULL;
}

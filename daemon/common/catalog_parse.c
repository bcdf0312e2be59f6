/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/common/catalog.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/common/catalog_names.h"

#define POSITION_MAX 12
#define OFFSET_MAX 32767
#define LAYER_MAX 255
#define SYMBOL_MAX 1024
#define QUOTED_MAX 40 /* bytes of the text shown in a message */

struct token {
	const char *text;
	size_t length;
	unsigned int column;
};

struct parser {
	const char *cursor, *line_start, *line_end, *text_end;
	unsigned int line;
	struct catalog *catalog;
	struct catalog_errors *errors;
	Profbpf__Function__Error error; /* default of the lines below */
	size_t capacity; /* of catalog->functions */
	bool no_memory, begun;
};

/* Where an argument's value comes from. */
struct value_source {
	struct probe_argument argument;
	bool out;
};

#define FAIL(parser, at, ...) catalog_error_add((parser)->errors, (parser)->line, at, __VA_ARGS__)

/* A piece of the file for a message: short, printable, in quotes. */
struct quoted {
	char text[QUOTED_MAX * 4 + 8];
};

static struct quoted quote(const char *text, size_t length)
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

#define QUOTE(token) (quote((token)->text, (token)->length).text)

static bool next_token(struct parser *parser, struct token *token)
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

static bool token_is(const struct token *token, const char *word)
{
	return token->length == strlen(word) && memcmp(token->text, word, token->length) == 0;
}

static char *copy(struct parser *parser, const struct token *token)
{
	char *text = strndup(token->text, token->length);

	if (!text)
		parser->no_memory = true;
	return text;
}

/* An index into @words, or -1 with the error noted. */
static int parse_word(struct parser *parser, const struct token *token,
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

/* Digits at *@text; -1 if there are none or the number exceeds @max. */
static long parse_number(const char **text, const char *end, long max)
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

/* "N", "N[OFFSET]" or "*N", then perhaps ":WIDTH". */
static bool parse_source(struct parser *parser, const char *text, const char *end,
			 struct value_source *source)
{
	const char *start = text;
	unsigned int column = start - parser->line_start + 1;
	long position, offset = -1, width = 8;

	*source = (struct value_source){ 0 };
	if (text < end && *text == '*') {
		source->out = true;
		text++;
	}
	position = parse_number(&text, end, POSITION_MAX);
	if (position < 1) {
		FAIL(parser, column,
		     "found %s, expected an argument position from 1 to %d, with "
		     "[OFFSET] after it or * before it to read through a pointer",
		     quote(start, end - start).text, POSITION_MAX);
		return false;
	}
	if (text < end && *text == '[') {
		text++;
		offset = parse_number(&text, end, OFFSET_MAX);
		if (offset < 0 || text == end || *text++ != ']') {
			FAIL(parser, column,
			     "found %s, expected an offset from 0 to %d in brackets, "
			     "as in 1[32]",
			     quote(start, end - start).text, OFFSET_MAX);
			return false;
		}
		if (source->out) {
			FAIL(parser, column,
			     "found %s, expected either *N or N[OFFSET]: what is read "
			     "when the function returns has no offset",
			     quote(start, end - start).text);
			return false;
		}
	}
	if (text < end && *text == ':') {
		text++;
		width = parse_number(&text, end, 8);
		if (width != 1 && width != 2 && width != 4 && width != 8) {
			FAIL(parser, column,
			     "found %s, expected a width of 1, 2, 4 or 8 bytes after "
			     "the colon",
			     quote(start, end - start).text);
			return false;
		}
	}
	if (text != end) {
		FAIL(parser, column, "found %s, expected nothing after %s",
		     quote(start, end - start).text, quote(start, text - start).text);
		return false;
	}
	source->argument = (struct probe_argument){ position, width, offset };
	return true;
}

static void set_string(struct parser *parser, struct catalog_function *function,
		       const struct token *token, const char *value)
{
	const char *end = token->text + token->length, *text = value;
	long position = parse_number(&text, end, POSITION_MAX);

	if (function->string_position) {
		FAIL(parser, token->column, "found %s, but this line has a name already",
		     QUOTE(token));
		return;
	}
	if (position < 1 || text != end) {
		FAIL(parser, value - parser->line_start + 1,
		     "found %s, expected the position from 1 to %d of a string argument",
		     quote(value, end - value).text, POSITION_MAX);
		return;
	}
	function->string_position = position;
}

/* What is read at the return goes into the last slot, everything else into the first free one. */
static void set_role(struct parser *parser, struct catalog_function *function,
		     const struct token *token, Profbpf__Function__Role role,
		     const struct value_source *source)
{
	int slot = -1;

	for (int i = 0; i < REC_ARGS; i++) {
		if (function->roles[i] == role) {
			FAIL(parser, token->column, "found %s, but this line has a %s already",
			     QUOTE(token), catalog_role_name(role));
			return;
		}
		if (slot < 0 && !function->roles[i] && (!source->out || i == REC_ARGS - 1))
			slot = i;
	}
	if (slot < 0) {
		FAIL(parser, token->column,
		     function->out && source->out ? "found %s, but only one argument can be read "
						    "when the function returns"
						  : "found %s, but only three arguments of a call "
						    "are recorded (and a name)",
		     QUOTE(token));
		return;
	}
	function->roles[slot] = role;
	function->args[slot] = source->argument;
	function->out |= source->out;
}

static void parse_argument(struct parser *parser, struct catalog_function *function,
			   const struct token *token)
{
	const char *equals = memchr(token->text, '=', token->length);
	const char *end = token->text + token->length;
	struct token key = *token, value;
	struct value_source source;
	int role, convention;

	if (!equals) {
		FAIL(parser, token->column, "found %s, expected ROLE=POSITION, as in stream=1",
		     QUOTE(token));
		return;
	}
	key.length = equals - token->text;
	value.text = equals + 1;
	value.length = end - value.text;
	value.column = value.text - parser->line_start + 1;
	if (token_is(&key, "error")) {
		convention = parse_word(parser, &value, &catalog_conventions);
		if (convention >= 0)
			function->error = convention;
		return;
	}
	role = parse_word(parser, &key, &catalog_roles);
	if (role < 0)
		return;
	if (role == PROFBPF__FUNCTION__ROLE__NAME)
		set_string(parser, function, token, value.text);
	else if (parse_source(parser, value.text, end, &source))
		set_role(parser, function, token, role, &source);
}

static bool parse_pattern(struct parser *parser, struct catalog_function *function,
			  const struct token *token)
{
	for (size_t i = 0; i < token->length; i++) {
		unsigned char c = token->text[i];

		if (isalnum(c) || strchr("_.$*", c))
			continue;
		FAIL(parser, token->column + i,
		     "found %s in %s, expected a symbol: letters, "
		     "digits, _ . $ and * for any characters",
		     quote(token->text + i, 1).text, QUOTE(token));
		return false;
	}
	if (!token->length || isdigit((unsigned char)token->text[0]) ||
	    token->length > SYMBOL_MAX) {
		FAIL(parser, token->column,
		     "found %s, expected a symbol of 1 to %d characters that "
		     "does not begin with a digit",
		     QUOTE(token), SYMBOL_MAX);
		return false;
	}
	function->pattern = copy(parser, token);
	function->length = token->length;
	function->wildcard = memchr(token->text, '*', token->length);
	function->line = parser->line;
	function->column = token->column;
	return function->pattern;
}

static void add_function(struct parser *parser, const struct catalog_function *function)
{
	struct catalog *catalog = parser->catalog;

	if (catalog->function_count == parser->capacity) {
		size_t capacity = parser->capacity ? parser->capacity * 2 : 64;
		void *grown =
			reallocarray(catalog->functions, capacity, sizeof(*catalog->functions));

		if (!grown) {
			parser->no_memory = true;
			free(function->pattern);
			return;
		}
		catalog->functions = grown;
		parser->capacity = capacity;
	}
	catalog->functions[catalog->function_count++] = *function;
}

static void expect_end(struct parser *parser)
{
	struct token token;

	if (next_token(parser, &token))
		FAIL(parser, token.column, "found %s, expected the end of the line", QUOTE(&token));
}

/* "!PATTERN" */
static void parse_exclusion(struct parser *parser, const struct token *first)
{
	struct token pattern = { first->text + 1, first->length - 1, first->column + 1 };
	struct catalog_function function = { .exclude = true, .catalog = parser->catalog };

	if (!parse_pattern(parser, &function, &pattern))
		return;
	add_function(parser, &function);
	expect_end(parser);
}

/* "FUNCTION KIND LAYER [ARGUMENT...]" */
static void parse_function(struct parser *parser, const struct token *first)
{
	struct catalog_function function = { .catalog = parser->catalog, .error = parser->error };
	struct token kind, layer, argument;
	const char *text;
	long number;
	int value;

	if (!next_token(parser, &kind)) {
		FAIL(parser, kind.column,
		     "found the end of the line, expected a kind after %s, as in "
		     "\"%.*s launch 1\"",
		     QUOTE(first), first->length < QUOTED_MAX ? (int)first->length : QUOTED_MAX,
		     first->text);
		return;
	}
	if (!parse_pattern(parser, &function, first))
		return;
	value = parse_word(parser, &kind, &catalog_kinds);
	function.kind = value >= 0 ? value : 0;
	if (!next_token(parser, &layer)) {
		FAIL(parser, layer.column,
		     "found the end of the line, expected a layer: 1 for a "
		     "function that applications call, more for what is called below it");
	} else {
		text = layer.text;
		number = parse_number(&text, layer.text + layer.length, LAYER_MAX);
		if (number < 1 || text != layer.text + layer.length)
			FAIL(parser, layer.column, "found %s, expected a layer from 1 to %d",
			     QUOTE(&layer), LAYER_MAX);
		function.layer = number;
	}
	while (next_token(parser, &argument))
		parse_argument(parser, &function, &argument);
	add_function(parser, &function);
}

static void parse_name(struct parser *parser, char **to, const char *directive)
{
	struct token token;

	if (!next_token(parser, &token)) {
		FAIL(parser, token.column,
		     "found the end of the line, expected a name after \"%s\"", directive);
		return;
	}
	if (*to) {
		FAIL(parser, token.column, "found a second \"%s\", but the catalog has one already",
		     directive);
		return;
	}
	for (size_t i = 0; i < token.length; i++) {
		unsigned char c = token.text[i];

		if (islower(c) || isdigit(c) || c == '_')
			continue;
		FAIL(parser, token.column + i,
		     "found %s in %s, expected a name of lower-case "
		     "letters, digits and _",
		     quote(token.text + i, 1).text, QUOTE(&token));
		return;
	}
	*to = copy(parser, &token);
	expect_end(parser);
}

static void parse_libraries(struct parser *parser)
{
	struct catalog *catalog = parser->catalog;
	struct token token;
	size_t before = catalog->library_count;

	while (next_token(parser, &token)) {
		char **grown = reallocarray(catalog->libraries, catalog->library_count + 1,
					    sizeof(*grown));

		if (!grown) {
			parser->no_memory = true;
			return;
		}
		catalog->libraries = grown;
		grown[catalog->library_count] = copy(parser, &token);
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

	if (!next_token(parser, &token)) {
		FAIL(parser, token.column,
		     "found the end of the line, expected an error convention: "
		     "never nonzero null negative");
		return;
	}
	value = parse_word(parser, &token, &catalog_conventions);
	if (value >= 0)
		parser->error = value;
	expect_end(parser);
}

static void parse_line(struct parser *parser)
{
	struct token first;
	const char *comment;

	comment = memchr(parser->line_start, '#', parser->line_end - parser->line_start);
	if (comment)
		parser->line_end = comment;
	if (!next_token(parser, &first))
		return;
	if (token_is(&first, "runtime")) {
		parse_name(parser, &parser->catalog->runtime, "runtime");
		parser->begun = true;
		return;
	}
	if (!parser->begun) {
		FAIL(parser, first.column,
		     "found %s, expected \"runtime NAME\" before anything else", QUOTE(&first));
		parser->begun = true;
	}
	if (token_is(&first, "family"))
		parse_name(parser, &parser->catalog->family, "family");
	else if (token_is(&first, "library"))
		parse_libraries(parser);
	else if (token_is(&first, "error"))
		parse_default_error(parser);
	else if (first.text[0] == '!')
		parse_exclusion(parser, &first);
	else
		parse_function(parser, &first);
}

static int compare_functions(const void *a, const void *b)
{
	const struct catalog_function *x = *(const struct catalog_function *const *)a;
	const struct catalog_function *y = *(const struct catalog_function *const *)b;
	int order = strcmp(x->pattern, y->pattern);

	return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* A symbol or pattern listed twice in one file is a slip: one line would be dead. */
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
					  quote(function->pattern, function->length).text,
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
	return catalog;
failed:
	catalog_free(catalog);
	return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/catalog/catalog_parser.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define POSITION_MAX 64
#define OFFSET_MAX 32767
#define LAYER_MAX 255
#define SYMBOL_MAX 1024

/* Where an argument's value comes from. */
struct value_source {
	struct probe_argument argument;
	bool out; /* read through a pointer when the function returns */
	bool returned; /* the value that the function returns */
};

/* Parses "[OFFSET]", if it is next; else *@offset is unchanged. Returns false after it has reported an error. */
static bool parse_offset(struct parser *parser, const char *start, const char **text,
			 const char *end, long *offset)
{
	if (*text == end || **text != '[')
		return true;
	++*text;
	*offset = catalog_parse_number(text, end, OFFSET_MAX);
	if (*offset >= 0 && *text < end && *(*text)++ == ']')
		return true;
	FAIL(parser, (unsigned int)(start - parser->line_start) + 1,
	     "found %s, expected an offset from 0 to %d in brackets, as in 1[32]",
	     catalog_quote(start, end - start).text, OFFSET_MAX);
	return false;
}

/* "return", "N", "N[OFFSET]", "N[OFFSET][OFFSET]" or "*N", then perhaps ":WIDTH". */
static bool parse_source(struct parser *parser, const char *text, const char *end,
			 struct value_source *source)
{
	const char *start = text;
	unsigned int column = start - parser->line_start + 1;
	long position, offset = -1, inner = -1, width = 8;

	*source = (struct value_source){ 0 };
	if (text < end && *text == '*') {
		source->out = true;
		text++;
	}
	source->returned = !source->out && end - text >= 6 && !memcmp(text, "return", 6);
	if (source->returned) {
		text += 6;
		position = 0;
	} else {
		position = catalog_parse_number(&text, end, POSITION_MAX);
	}
	if (position < 1 && !source->returned) {
		FAIL(parser, column,
		     "found %s, expected an argument position from 1 to %d, with "
		     "[OFFSET] after it or * before it to read through a pointer, or "
		     "\"return\"",
		     catalog_quote(start, end - start).text, POSITION_MAX);
		return false;
	}
	if (!parse_offset(parser, start, &text, end, &offset) ||
	    (offset >= 0 && !parse_offset(parser, start, &text, end, &inner)))
		return false;
	if (offset >= 0 && (source->out || source->returned)) {
		FAIL(parser, column,
		     "found %s, expected either *N or N[OFFSET]: what is read "
		     "when the function returns has no offset",
		     catalog_quote(start, end - start).text);
		return false;
	}
	if (text < end && *text == ':') {
		text++;
		width = catalog_parse_number(&text, end, 8);
		if (width != 1 && width != 2 && width != 4 && width != 8) {
			FAIL(parser, column,
			     "found %s, expected a width of 1, 2, 4 or 8 bytes after "
			     "the colon",
			     catalog_quote(start, end - start).text);
			return false;
		}
	}
	if (text != end) {
		FAIL(parser, column, "found %s, expected nothing after %s",
		     catalog_quote(start, end - start).text,
		     catalog_quote(start, text - start).text);
		return false;
	}
	source->argument = (struct probe_argument){ position, width, offset, inner };
	return true;
}

/* Parses "N", the position of a string, or a pattern whose * is the name: "aclnn*". */
static void set_name(struct parser *parser, struct catalog_function *function,
		     const struct token *token, const struct token *value)
{
	const char *end = value->text + value->length, *text = value->text;
	long position = catalog_parse_number(&text, end, POSITION_MAX), offset = -1;
	const char *star = memchr(value->text, '*', value->length);

	if (function->string_position || function->operator_prefix) {
		FAIL(parser, token->column, "found %s, but this line has a name already",
		     QUOTE(token));
		return;
	}
	if (position >= 1 && text < end && *text == '[') {
		text++;
		offset = catalog_parse_number(&text, end, OFFSET_MAX);
		/* An invalid offset stays unread and is reported below. */
		if (offset >= 0 && text < end && *text == ']')
			text++;
		else
			text = value->text;
	}
	if (position >= 1 && text == end) {
		function->string_position = position;
		function->string_offset = offset;
		return;
	}
	if (!star || value->length > SYMBOL_MAX || memchr(star + 1, '*', end - star - 1)) {
		FAIL(parser, value->column,
		     "found %s, expected the position from 1 to %d of a string argument, with an "
		     "offset in brackets if the string's address is in what it points to, or the "
		     "function's own name with one * for what is launched, as in aclnn*",
		     QUOTE(value), POSITION_MAX);
		return;
	}
	function->operator_prefix = strndup(value->text, star - value->text);
	function->operator_suffix = strndup(star + 1, end - star - 1);
	if (!function->operator_prefix || !function->operator_suffix)
		parser->no_memory = true;
}

/* A value that is read at the return uses the last slot, any other one the first free slot. */
static void set_role(struct parser *parser, struct catalog_function *function,
		     const struct token *token, Profbpf__Function__Role role,
		     const struct value_source *source)
{
	bool late = source->out || source->returned;
	int slot = -1;

	for (int i = 0; i < REC_ARGS; i++) {
		if (function->roles[i] == role) {
			FAIL(parser, token->column, "found %s, but this line has a %s already",
			     QUOTE(token), catalog_role_name(role));
			return;
		}
		if (slot < 0 && !function->roles[i] && (!late || i == REC_ARGS - 1))
			slot = i;
	}
	if (slot < 0) {
		FAIL(parser, token->column,
		     (function->out || function->returned) && late
			     ? "found %s, but only one argument can be read "
			       "when the function returns"
			     : "found %s, but only three arguments of a call "
			       "are recorded (and a name)",
		     QUOTE(token));
		return;
	}
	function->roles[slot] = role;
	function->args[slot] = source->argument;
	function->out |= source->out;
	function->returned |= source->returned;
}

static void parse_argument(struct parser *parser, struct catalog_function *function,
			   const struct token *token)
{
	const char *equals = memchr(token->text, '=', token->length);
	const char *end = token->text + token->length;
	struct token key = *token, value;
	struct value_source source;
	int role, convention, names;

	if (catalog_token_is(token, "plain")) {
		catalog_plain_missing(parser, token);
		return;
	}
	if (!equals) {
		FAIL(parser, token->column, "found %s, expected ROLE=POSITION, as in stream=1",
		     QUOTE(token));
		return;
	}
	key.length = equals - token->text;
	value.text = equals + 1;
	value.length = end - value.text;
	value.column = value.text - parser->line_start + 1;
	if (catalog_token_is(&key, "error")) {
		convention = catalog_parse_word(parser, &value, &catalog_conventions);
		if (convention >= 0)
			function->error = convention;
		return;
	}
	if (catalog_token_is(&key, "names")) {
		names = catalog_parse_word(parser, &value, &catalog_names_of);
		if (names >= 0)
			function->names = names;
		return;
	}
	if (catalog_token_is(&key, "plain")) {
		catalog_set_plain(parser, function, token, &value);
		return;
	}
	role = catalog_parse_word(parser, &key, &catalog_roles);
	if (role < 0)
		return;
	if (role == PROFBPF__FUNCTION__ROLE__NAME)
		set_name(parser, function, token, &value);
	else if (parse_source(parser, value.text, end, &source))
		set_role(parser, function, token, role, &source);
}

/* Every symbol of every library is compared with the patterns that can begin like it. */
static bool count_pattern(struct parser *parser, const struct token *token)
{
	size_t stars = 0;

	for (size_t i = 0; i < token->length; i++)
		stars += token->text[i] == '*';
	parser->patterns += stars > 0;
	parser->leading += token->length && token->text[0] == '*';
	if (stars > CATALOG_STARS_MAX) {
		FAIL(parser, token->column, "found %s with %zu *, expected at most %d of them",
		     QUOTE(token), stars, CATALOG_STARS_MAX);
		return false;
	}
	if (token->length && token->text[0] == '*' && parser->leading == CATALOG_LEADING_MAX + 1) {
		FAIL(parser, token->column,
		     "found %s, the %dth pattern that begins with *, expected at most %d: every "
		     "symbol of every library is compared with each; begin them with letters",
		     QUOTE(token), CATALOG_LEADING_MAX + 1, CATALOG_LEADING_MAX);
		return false;
	}
	if (stars && parser->patterns == CATALOG_PATTERNS_MAX + 1) {
		FAIL(parser, token->column,
		     "found %s, the %dth pattern with a *, expected at most %d: every symbol of "
		     "every library is compared with them; list functions by their full names",
		     QUOTE(token), CATALOG_PATTERNS_MAX + 1, CATALOG_PATTERNS_MAX);
		return false;
	}
	return true;
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
		     catalog_quote(token->text + i, 1).text, QUOTE(token));
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
	if (!count_pattern(parser, token))
		return false;
	function->pattern = catalog_copy(parser, token);
	function->length = token->length;
	function->wildcard = memchr(token->text, '*', token->length);
	function->line = parser->line;
	function->column = token->column;
	return function->pattern;
}

static void add_function(struct parser *parser, struct catalog_function *function)
{
	struct catalog *catalog = parser->catalog;

	if (catalog->function_count == parser->capacity) {
		size_t capacity = parser->capacity ? parser->capacity * 2 : 64;
		void *grown =
			reallocarray(catalog->functions, capacity, sizeof(*catalog->functions));

		if (!grown) {
			parser->no_memory = true;
			catalog_function_clear(function);
			return;
		}
		catalog->functions = grown;
		parser->capacity = capacity;
	}
	catalog->functions[catalog->function_count++] = *function;
}

/* "!PATTERN" */
void catalog_parse_exclusion(struct parser *parser, const struct token *first)
{
	struct token pattern = { first->text + 1, first->length - 1, first->column + 1 };
	struct catalog_function function = { .exclude = true, .catalog = parser->catalog };
	struct token more;

	if (!parse_pattern(parser, &function, &pattern))
		return;
	add_function(parser, &function);
	if (!catalog_next_token(parser, &more))
		return;
	if (more.length >= 5 && !memcmp(more.text, "plain", 5))
		FAIL(parser, more.column,
		     "found %s, expected the end of the line: a function that is not traced needs no plain=",
		     QUOTE(&more));
	else
		FAIL(parser, more.column, "found %s, expected the end of the line", QUOTE(&more));
}

static void check_operator(struct parser *parser, const struct catalog_function *function,
			   const struct token *first)
{
	char *name;

	if (!function->operator_prefix || !function->operator_suffix || function->wildcard ||
	    !function->pattern)
		return;
	name = catalog_operator(function, function->pattern);
	if (!name)
		FAIL(parser, first->column, "found %s, but name=%s*%s does not match it",
		     QUOTE(first), function->operator_prefix, function->operator_suffix);
	free(name);
}

static void check_names(struct parser *parser, const struct catalog_function *function,
			const struct token *first)
{
	if (function->names != NAMES_KEPT)
		return;
	parser->kept_line = parser->line;
	parser->kept_column = first->column;
	if (!function->string_position || function->string_offset < 0)
		FAIL(parser, first->column,
		     "found names=kept for %s, expected name=N[OFFSET] with it: names of objects "
		     "are kept",
		     QUOTE(first));
}

/* "FUNCTION KIND LAYER [ARGUMENT...]" */
void catalog_parse_function(struct parser *parser, const struct token *first)
{
	struct catalog_function function = { .catalog = parser->catalog, .error = parser->error };
	struct token kind, layer, argument;
	const char *text;
	long number;
	int value;

	if (!catalog_next_token(parser, &kind)) {
		FAIL(parser, kind.column,
		     "found the end of the line, expected a kind after %s, as in "
		     "\"%.*s launch 1\"",
		     QUOTE(first), first->length < QUOTED_MAX ? (int)first->length : QUOTED_MAX,
		     first->text);
		return;
	}
	if (!parse_pattern(parser, &function, first))
		return;
	value = catalog_parse_word(parser, &kind, &catalog_kinds);
	function.kind = value >= 0 ? value : 0;
	if (!catalog_next_token(parser, &layer)) {
		FAIL(parser, layer.column,
		     "found the end of the line, expected a layer: 1 for a "
		     "function that applications call, more for what is called below it");
	} else {
		text = layer.text;
		number = catalog_parse_number(&text, layer.text + layer.length, LAYER_MAX);
		if (number < 1 || text != layer.text + layer.length)
			FAIL(parser, layer.column, "found %s, expected a layer from 1 to %d",
			     QUOTE(&layer), LAYER_MAX);
		function.layer = number;
	}
	while (catalog_next_token(parser, &argument))
		parse_argument(parser, &function, &argument);
	check_operator(parser, &function, first);
	check_names(parser, &function, first);
	catalog_check_plain(parser, &function, first);
	parser->names_change |= function.names == NAMES_CHANGED;
	add_function(parser, &function);
}

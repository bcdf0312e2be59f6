/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog_parser.h - shared by the parts of the catalog parser: catalog_tokens.c splits lines into words,
 * catalog_function.c reads lines of functions, catalog_driver.c lines of drivers, catalog_vouch.c lines of
 * reasons, catalog_parse.c all others.
 */
#ifndef PROFBPF_DAEMON_CATALOG_CATALOG_PARSER_H
#define PROFBPF_DAEMON_CATALOG_CATALOG_PARSER_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/catalog/catalog.h"
#include "daemon/catalog/catalog_names.h"

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
	size_t command_capacity; /* of the last driver's commands */
	size_t patterns, leading; /* lines with a *, and lines that begin with it */
	unsigned int kept_line, kept_column; /* the last with names=kept; 0 = none */
	bool names_change; /* there is a line with names=changed */
	const char **vouch_names; /* of catalog->vouches */
	bool no_memory, begun;
};

#define FAIL(parser, at, ...) catalog_error_add((parser)->errors, (parser)->line, at, __VA_ARGS__)

/* A piece of the file for a message: short, printable, in quotes. */
struct quoted {
	char text[QUOTED_MAX * 4 + 8];
};

/* catalog_quote - the part of @text that fits, as above; QUOTE() of a token, valid in the same expression */
struct quoted catalog_quote(const char *text, size_t length);

#define QUOTE(token) (catalog_quote((token)->text, (token)->length).text)

/* The next word of the line; at its end returns false, with the column after the last word. */
bool catalog_next_token(struct parser *parser, struct token *token);

bool catalog_token_is(const struct token *token, const char *word);

/* An allocated copy; NULL with no_memory set. */
char *catalog_copy(struct parser *parser, const struct token *token);

/* An index into @words, or -1 with the error noted. */
int catalog_parse_word(struct parser *parser, const struct token *token,
		       const struct catalog_words *words);

/* Digits at *@text, which is moved past them; -1 if there are none or the number exceeds @max. */
long catalog_parse_number(const char **text, const char *end, long max);

/* Notes an error if something is left on the line. */
void catalog_expect_end(struct parser *parser);

/* Whether @name is of lower-case letters, digits and _; else the error is noted. */
bool catalog_check_name(struct parser *parser, const struct token *name);

/* "FUNCTION KIND LAYER [ARGUMENT...]" and "!PATTERN" */
void catalog_parse_function(struct parser *parser, const struct token *first);
void catalog_parse_exclusion(struct parser *parser, const struct token *first);

/* "driver NAME..." and "ioctl NUMBER NAME" or "ioctl 'T' NUMBER NAME", after their first word */
void catalog_parse_driver(struct parser *parser);
void catalog_parse_ioctl(struct parser *parser);

/* "vouch NAME WHY", after its first word */
void catalog_parse_vouch(struct parser *parser);

/*
 * catalog_set_plain - "plain=NAME", which is @token, with @value behind the =
 * catalog_plain_missing - "plain" alone
 * catalog_check_plain - once the line that begins with @first is read
 */
void catalog_set_plain(struct parser *parser, struct catalog_function *function,
		       const struct token *token, const struct token *value);
void catalog_plain_missing(struct parser *parser, const struct token *token);
void catalog_check_plain(struct parser *parser, const struct catalog_function *function,
			 const struct token *first);

#endif /* PROFBPF_DAEMON_CATALOG_CATALOG_PARSER_H */

/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options: lists and names. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cli/command_line.h"
#include "analyzer/view/report.h"

static bool append_digit(uint64_t *value, char digit)
{
	return !__builtin_mul_overflow(*value, 10u, value) &&
	       !__builtin_add_overflow(*value, (uint64_t)(digit - '0'), value);
}

bool parse_numbers(const char *text, uint32_t **numbers, uint32_t *count)
{
	uint32_t *list = NULL, used = 0;

	for (;;) {
		unsigned long long value;
		uint32_t *grown;
		char *end;

		if (!isdigit((unsigned char)*text))
			goto bad;
		errno = 0;
		value = strtoull(text, &end, 10);
		if (errno || value == 0 || value > INT32_MAX || (*end && *end != ','))
			goto bad;
		grown = reallocarray(list, used + 1, sizeof(*list));
		if (!grown)
			goto bad;
		list = grown;
		list[used++] = (uint32_t)value;
		if (!*end)
			break;
		text = end + 1;
	}
	*numbers = list;
	*count = used;
	return true;
bad:
	free(list);
	return false;
}

static bool whole_number(const char **text, uint64_t *value)
{
	bool digits = false;

	for (*value = 0; isdigit((unsigned char)**text); (*text)++, digits = true) {
		if (!append_digit(value, **text))
			return false;
	}
	return digits;
}

bool parse_steps(const char *text, uint64_t *first, uint64_t *last)
{
	if (!whole_number(&text, first))
		return false;
	*last = *first;
	if (strncmp(text, "..", 2) == 0) {
		text += 2;
		if (!whole_number(&text, last))
			return false;
	}
	return !*text && *last >= *first;
}

/* Index of a word in a list that ends with NULL; -1 = not in it. */
static int word_of(const char *const *words, const char *text)
{
	for (int i = 0; words[i]; i++) {
		if (strcmp(words[i], text) == 0)
			return i;
	}
	return -1;
}

bool parse_operator_by(const char *text, struct operator_options *options)
{
	static const char *const words[] = { "name", "type", "core", "shape", "scope", NULL };
	int word = word_of(words, text);

	options->by = (enum operator_by)word;
	return word >= 0;
}

bool parse_operator_value(const char *text, struct operator_options *options)
{
	static const char *const words[] = { "sum", "max", "min", "mean", NULL };
	int word = word_of(words, text);

	options->value = (enum operator_value)word;
	return word >= 0;
}

bool parse_operator_order(const char *text, struct operator_options *options)
{
	static const char *const words[] = { "value",	    "name",  "type",	  "count", "total",
					     "mean",	    "min",   "max",	  "flops", "rate",
					     "utilization", "bytes", "bandwidth", NULL };
	int word;

	options->ascending = *text == '+';
	word = word_of(words, text + options->ascending);
	options->order = (enum operator_order)word;
	return word >= 0;
}

bool parse_sections(const char *text, uint32_t *sections)
{
#define SECTION_NAME(NAME, name) #name,
	static const char *const names[] = { SECTIONS(SECTION_NAME, SECTION_NAME) };
#undef SECTION_NAME
	uint32_t found = 0;

	while (*text) {
		size_t length = strcspn(text, ","), i = 0;

		while (i < SECTION_COUNT &&
		       (strlen(names[i]) != length || memcmp(names[i], text, length) != 0))
			i++;
		if (i == SECTION_COUNT)
			return false;
		found |= 1u << i;
		text += length;
		if (*text == ',' && !*++text)
			return false;
	}
	*sections = found;
	return found != 0;
}

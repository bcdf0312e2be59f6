/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/readers/json_literals.h"

#include <string.h>
#include <strings.h>

static bool is_letter(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+';
}

static bool is_literal(const unsigned char *word, size_t length)
{
	static const char *const WORDS[] = { "NaN", "Infinity", "inf" };

	if (length && (*word == '-' || *word == '+')) {
		word++;
		length--;
	}
	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
		if (strlen(WORDS[i]) == length &&
		    strncasecmp(WORDS[i], (const char *)word, length) == 0)
			return true;
	return false;
}

/* Writes a complete word, or its replacement. */
static size_t end_word(struct json_literals *literals, unsigned char *out)
{
	size_t length = literals->length;

	literals->length = 0;
	if (is_literal(literals->word, length)) {
		memcpy(out, "null", 4);
		return 4;
	}
	memcpy(out, literals->word, length);
	return length;
}

size_t json_literals_replace(struct json_literals *literals, const unsigned char *bytes,
			     size_t size, unsigned char *out)
{
	size_t made = 0;

	for (size_t i = 0; i < size; i++) {
		unsigned char c = bytes[i];

		if (!literals->in_text && is_letter(c) && literals->length < JSON_LITERAL_MAX) {
			literals->word[literals->length++] = c;
			continue;
		}
		made += end_word(literals, out + made);
		out[made++] = c;
		if (literals->escaped)
			literals->escaped = false;
		else if (literals->in_text && c == '\\')
			literals->escaped = true;
		else if (c == '"')
			literals->in_text = !literals->in_text;
	}
	return size ? made : end_word(literals, out);
}

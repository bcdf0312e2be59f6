/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/catalog/catalog_names.h"

#include <stdio.h>
#include <string.h>

#include "daemon/catalog/catalog.h"
#include "lib/trace/function_kinds.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NEAREST_MAX 32 /* longer words are not compared */

static const char *const roles[] = {
	[PROFBPF__FUNCTION__ROLE__NOTHING] = "nothing",
	[PROFBPF__FUNCTION__ROLE__STREAM] = "stream",
	[PROFBPF__FUNCTION__ROLE__BYTES] = "bytes",
	[PROFBPF__FUNCTION__ROLE__COPY_KIND] = "copy_kind",
	[PROFBPF__FUNCTION__ROLE__HANDLE] = "handle",
	[PROFBPF__FUNCTION__ROLE__NAME] = "name",
	[PROFBPF__FUNCTION__ROLE__CORRELATION] = "correlation",
	[PROFBPF__FUNCTION__ROLE__COUNT] = "count",
	[PROFBPF__FUNCTION__ROLE__DEVICE] = "device",
	[PROFBPF__FUNCTION__ROLE__BLOCKING] = "blocking",
	[PROFBPF__FUNCTION__ROLE__OUT_HANDLE] = "out_handle",
	[PROFBPF__FUNCTION__ROLE__VALUE] = "value",
	[PROFBPF__FUNCTION__ROLE__CODE] = "code",
	[PROFBPF__FUNCTION__ROLE__THREAD] = "thread",
	[PROFBPF__FUNCTION__ROLE__TASK] = "task",
};

static const char *const conventions[] = {
	[PROFBPF__FUNCTION__ERROR__NEVER] = "never",
	[PROFBPF__FUNCTION__ERROR__NONZERO] = "nonzero",
	[PROFBPF__FUNCTION__ERROR__NULL_] = "null",
	[PROFBPF__FUNCTION__ERROR__NEGATIVE] = "negative",
};

static const char *const names_of[] = {
	[NAMES_READ] = "read",
	[NAMES_KEPT] = "kept",
	[NAMES_CHANGED] = "changed",
};

const struct catalog_words catalog_kinds = { "kind", function_kinds, FUNCTION_KINDS, 0 };
const struct catalog_words catalog_roles = { "role", roles, COUNT(roles), 1 };
const struct catalog_words catalog_conventions = { "error convention", conventions,
						   COUNT(conventions), 0 };
const struct catalog_words catalog_names_of = { "word for names=", names_of, COUNT(names_of), 1 };

int catalog_word_find(const struct catalog_words *words, const char *text, size_t length)
{
	for (size_t i = words->first; i < words->count; i++) {
		if (strlen(words->word[i]) == length && memcmp(words->word[i], text, length) == 0)
			return i;
	}
	return -1;
}

static size_t smallest(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Levenshtein distance, one row at a time. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t row[NEAREST_MAX + 1];

	for (size_t j = 0; j <= b_length; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			size_t above = row[j];

			row[j] = smallest(above + 1, row[j - 1] + 1,
					  diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[b_length];
}

const char *catalog_word_nearest(const struct catalog_words *words, const char *text, size_t length)
{
	const char *nearest = NULL;
	size_t best = 3;

	if (length > NEAREST_MAX)
		return NULL;
	for (size_t i = words->first; i < words->count; i++) {
		size_t word_length = strlen(words->word[i]), d;

		/* Names of reasons are the catalog's own, as long as it likes. */
		if (word_length > NEAREST_MAX)
			continue;
		d = distance(text, length, words->word[i], word_length);
		/* Three letters with two of them wrong are another word. */
		if (d < best && d * 2 < word_length) {
			best = d;
			nearest = words->word[i];
		}
	}
	return nearest;
}

void catalog_word_list(const struct catalog_words *words, char *list, size_t size)
{
	size_t used = 0;

	list[0] = 0;
	for (size_t i = words->first; i < words->count && used < size; i++)
		used += snprintf(list + used, size - used, "%s%s", used ? " " : "", words->word[i]);
}

static const char *word(const struct catalog_words *words, unsigned int value)
{
	return value < words->count ? words->word[value] : "?";
}

const char *catalog_kind_name(Profbpf__Function__Kind kind)
{
	return word(&catalog_kinds, kind);
}

const char *catalog_role_name(Profbpf__Function__Role role)
{
	return word(&catalog_roles, role);
}

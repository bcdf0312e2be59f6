/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/readers/json_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/readers/input_file.h"

/* Reads a whole open file and appends a NUL; *err is 0, or a negative errno with words. */
static char *read_open(struct input_file *file, int *err, char *words, size_t words_size)
{
	size_t part = input_file_part(file), used = 0, capacity = 0;
	char *text = NULL;
	int got = 1;

	while (got > 0 && used < JSON_FILE_MAX) {
		if (used + part >= capacity) {
			char *grown = realloc(text, (used + part) * 2);

			if (!grown)
				break;
			text = grown;
			capacity = (used + part) * 2;
		}
		got = input_file_read(file, text + used, part, words, words_size);
		used += got > 0 ? (size_t)got : 0;
	}
	*err = got;
	if (got > 0 && used >= JSON_FILE_MAX) {
		*err = -EFBIG;
		snprintf(words, words_size, "no file of less than %u MiB", JSON_FILE_MAX >> 20);
	} else if (got > 0) {
		*err = -ENOMEM;
		snprintf(words, words_size, "%s", strerror(ENOMEM));
	}
	if (!*err)
		text[used] = '\0';
	return text;
}

static char *read_text(const char *path, int *err, char *error, size_t error_size)
{
	struct input_file file;
	char words[256], *text = NULL;

	*err = input_file_open(&file, path, words, sizeof(words));
	if (!*err) {
		text = read_open(&file, err, words, sizeof(words));
		input_file_close(&file);
	}
	if (!*err)
		return text;
	snprintf(error, error_size, "%s", words);
	free(text);
	return NULL;
}

/*
 * The place where the text is nested too deeply (*deep) or has too many values; NULL = nowhere. Errors of JSON are
 * not checked.
 */
static const char *too_much(const char *text, bool *deep)
{
	unsigned int depth = 0, values = 1;
	bool quoted = false;

	*deep = false;
	for (; *text; text++) {
		if (quoted && *text == '\\' && text[1])
			text++;
		else if (*text == '"')
			quoted = !quoted;
		else if (!quoted && (*text == '[' || *text == '{') && ++depth > JSON_DEPTH_MAX) {
			*deep = true;
			return text;
		} else if (!quoted && (*text == ',' || *text == '[' || *text == ':') &&
			   ++values > JSON_VALUES_MAX)
			return text;
		else if (!quoted && depth && (*text == ']' || *text == '}'))
			depth--;
	}
	return NULL;
}

yajl_val json_text_tree(const char *text, char *reason, size_t reason_size)
{
	bool deep;
	const char *end = too_much(text, &deep);
	yajl_val tree;

	reason[0] = '\0';
	if (end && deep)
		snprintf(reason, reason_size, "byte %td: nested deeper than %d", end - text,
			 JSON_DEPTH_MAX);
	else if (end)
		snprintf(reason, reason_size,
			 "byte %td: more than %d values, of a file that is read as a whole",
			 end - text, JSON_VALUES_MAX);
	if (end)
		return NULL;
	tree = yajl_tree_parse(text, reason, reason_size);
	reason[strcspn(reason, "\n")] = '\0';
	return tree;
}

yajl_val json_file_read(const char *path, int *err, char *error, size_t error_size)
{
	char *text = read_text(path, err, error, error_size), reason[256] = "";
	yajl_val tree = text ? json_text_tree(text, reason, sizeof(reason)) : NULL;

	free(text);
	if (!tree && !*err) {
		*err = -EBADMSG;
		snprintf(error, error_size, "no JSON that can be taken in: %s", reason);
	}
	return tree;
}

yajl_val json_file_member(yajl_val object, const char *key)
{
	const char *path[] = { key, NULL };

	return yajl_tree_get(object, path, yajl_t_any);
}

int64_t json_file_integer(yajl_val object, const char *key, int64_t otherwise)
{
	yajl_val value = json_file_member(object, key);

	return YAJL_IS_INTEGER(value) ? YAJL_GET_INTEGER(value) : otherwise;
}

const char *json_file_string(yajl_val object, const char *key)
{
	yajl_val value = json_file_member(object, key);

	return YAJL_IS_STRING(value) ? YAJL_GET_STRING(value) : NULL;
}

yajl_val json_file_list(yajl_val object, const char *key)
{
	yajl_val value = json_file_member(object, key);

	return YAJL_IS_ARRAY(value) ? value : NULL;
}

const char *json_file_number(yajl_val value)
{
	return YAJL_IS_NUMBER(value) ? YAJL_GET_NUMBER(value) : NULL;
}

bool json_file_real(yajl_val value, double *number)
{
	const char *text = json_file_number(value);

	if (!text)
		return false;
	*number = strtod(text, NULL);
	return isfinite(*number);
}

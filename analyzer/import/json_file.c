/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/json_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *read_text(const char *path, int *err, char *error, size_t error_size)
{
	FILE *file = fopen(path, "re");
	struct stat status;
	char *text = NULL;
	size_t length;

	if (!file || fstat(fileno(file), &status) != 0) {
		*err = -errno;
		snprintf(error, error_size, "%.300s: %s", path, strerror(-*err));
	} else if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size > JSON_FILE_MAX) {
		*err = -EFBIG;
		snprintf(error, error_size, "%.300s: no file of less than %u MiB", path,
			 JSON_FILE_MAX >> 20);
	} else {
		text = malloc((size_t)status.st_size + 1);
		length = text ? fread(text, 1, (size_t)status.st_size, file) : 0;
		if (text)
			text[length] = '\0';
		*err = text ? 0 : -ENOMEM;
		if (!text)
			snprintf(error, error_size, "out of memory");
	}
	if (file)
		fclose(file);
	return text;
}

yajl_val json_file_read(const char *path, int *err, char *error, size_t error_size)
{
	char *text = read_text(path, err, error, error_size), reason[256] = "";
	yajl_val tree = text ? yajl_tree_parse(text, reason, sizeof(reason)) : NULL;

	free(text);
	if (!tree && !*err) {
		reason[strcspn(reason, "\n")] = '\0';
		*err = -EBADMSG;
		snprintf(error, error_size, "%.300s is no JSON: %s", path, reason);
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

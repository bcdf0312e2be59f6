/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/json_path.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void die(const char *what, const char *path)
{
	fprintf(stderr, "json: %s: %s\n", path, what);
	abort();
}

yajl_val json_parse(const char *text)
{
	char error[512] = "";
	yajl_val root = yajl_tree_parse(text, error, sizeof(error));

	if (!root)
		die(error, "(whole text)");
	return root;
}

yajl_val json_at(yajl_val root, const char *path)
{
	char part[128];

	while (root && *path) {
		size_t length = strcspn(path, ".");
		const char *keys[] = { part, NULL };

		if (length >= sizeof(part))
			die("too long", path);
		memcpy(part, path, length);
		part[length] = '\0';
		if (YAJL_IS_ARRAY(root)) {
			size_t index = strtoul(part, NULL, 10);

			if (!isdigit((unsigned char)part[0]) || index >= root->u.array.len)
				return NULL;
			root = root->u.array.values[index];
		} else {
			root = yajl_tree_get(root, keys, yajl_t_any);
		}
		path += length + (path[length] == '.');
	}
	return root;
}

int64_t json_int(yajl_val root, const char *path)
{
	yajl_val value = json_at(root, path);

	if (!YAJL_IS_INTEGER(value))
		die("not there or no integer", path);
	return YAJL_GET_INTEGER(value);
}

double json_double(yajl_val root, const char *path)
{
	yajl_val value = json_at(root, path);

	if (!YAJL_IS_NUMBER(value))
		die("not there or no number", path);
	return strtod(YAJL_GET_NUMBER(value), NULL);
}

const char *json_string(yajl_val root, const char *path)
{
	yajl_val value = json_at(root, path);

	if (!YAJL_IS_STRING(value))
		die("not there or no string", path);
	return YAJL_GET_STRING(value);
}

bool json_true(yajl_val root, const char *path)
{
	yajl_val value = json_at(root, path);

	if (!YAJL_IS_TRUE(value) && !YAJL_IS_FALSE(value))
		die("not there or no boolean", path);
	return YAJL_IS_TRUE(value);
}

size_t json_length(yajl_val root, const char *path)
{
	yajl_val value = json_at(root, path);

	if (!YAJL_IS_ARRAY(value))
		die("not there or no array", path);
	return value->u.array.len;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/view/page/page_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/view/render/json.h"

#define PATH_SIZE 512

struct tree_writer {
	struct json *json;
	size_t rows;
	char path[PATH_SIZE]; /* path of the current value */
	size_t length;
	struct json *left_out; /* separate output with an open map */
};

static void write_value(struct tree_writer *tree, const char *key, yajl_val value);

/* Paths too long for the buffer are cut: they only show where rows are missing. */
static size_t enter(struct tree_writer *tree, const char *key, size_t index)
{
	size_t before = tree->length, room = PATH_SIZE - before;
	int n = key ? snprintf(tree->path + before, room, before ? ".%s" : "%s", key)
		    : snprintf(tree->path + before, room, ".%zu", index);

	tree->length = n > 0 && (size_t)n < room ? before + (size_t)n : PATH_SIZE - 1;
	return before;
}

static void leave(struct tree_writer *tree, size_t before)
{
	tree->length = before;
	tree->path[before] = '\0';
}

enum thinned { AS_FIRST, AS_SUM, AS_MEAN, AS_MOST };

static enum thinned thinned_as(yajl_val columns, size_t column)
{
	const char *name;

	if (!YAJL_IS_ARRAY(columns) || column >= columns->u.array.len)
		return column == 0 ? AS_FIRST : AS_MOST;
	name = YAJL_GET_STRING(columns->u.array.values[column]);
	if (name && strstr(name, "start_ns"))
		return AS_FIRST;
	return name && strcmp(name, "duration_ns") == 0 ? AS_SUM : AS_MEAN;
}

static yajl_val cell(yajl_val row, size_t column)
{
	return YAJL_IS_ARRAY(row) && column < row->u.array.len ? row->u.array.values[column] : NULL;
}

static void write_thinned(struct tree_writer *tree, yajl_val const *rows, size_t count,
			  enum thinned how, size_t column)
{
	double sum = 0, most = 0;
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		yajl_val value = cell(rows[i], column);

		if (!YAJL_IS_NUMBER(value))
			continue;
		sum += strtod(YAJL_GET_NUMBER(value), NULL);
		if (!known++ || strtod(YAJL_GET_NUMBER(value), NULL) > most)
			most = strtod(YAJL_GET_NUMBER(value), NULL);
	}
	if (!known)
		json_null(tree->json, NULL);
	else if (how == AS_SUM)
		json_decimal(tree->json, NULL, sum);
	else
		json_decimal(tree->json, NULL, how == AS_MOST ? most : sum / (double)known);
}

/* Writes rows of a matrix or pairs, merging every @each of them into one. */
static void write_matrix(struct tree_writer *tree, yajl_val array, yajl_val columns, size_t each)
{
	yajl_val *rows = array->u.array.values;
	size_t count = array->u.array.len;

	for (size_t i = 0; i < count; i += each) {
		size_t group = count - i < each ? count - i : each;
		size_t width = YAJL_IS_ARRAY(rows[i]) ? rows[i]->u.array.len : 0;

		json_array(tree->json, NULL);
		for (size_t column = 0; column < width; column++) {
			enum thinned how = thinned_as(columns, column);

			if (how == AS_FIRST || group == 1)
				write_value(tree, NULL, cell(rows[i], column));
			else
				write_thinned(tree, rows + i, group, how, column);
		}
		json_array_close(tree->json);
	}
}

static void write_array(struct tree_writer *tree, const char *key, yajl_val array, yajl_val columns)
{
	size_t count = array->u.array.len, shown = count < tree->rows ? count : tree->rows;

	/* Column names are never cut: without them the rows mean nothing. */
	if (key && strcmp(key, "columns") == 0)
		shown = count;
	json_array(tree->json, key);
	if (count && YAJL_IS_ARRAY(array->u.array.values[0])) {
		write_matrix(tree, array, columns, (count + tree->rows - 1) / tree->rows);
	} else {
		for (size_t i = 0; i < shown; i++) {
			size_t before = enter(tree, NULL, i);

			write_value(tree, NULL, array->u.array.values[i]);
			leave(tree, before);
		}
		if (shown < count)
			json_u64(tree->left_out, tree->path, count - shown);
	}
	json_array_close(tree->json);
}

static void write_map_content(struct tree_writer *tree, yajl_val map)
{
	static const char *columns_path[] = { "columns", NULL };
	yajl_val columns = yajl_tree_get(map, columns_path, yajl_t_array);

	for (size_t i = 0; i < map->u.object.len; i++) {
		const char *key = map->u.object.keys[i];
		yajl_val value = map->u.object.values[i];
		size_t before = enter(tree, key, 0);

		if (YAJL_IS_ARRAY(value) && strcmp(key, "rows") == 0)
			write_array(tree, key, value, columns);
		else
			write_value(tree, key, value);
		leave(tree, before);
	}
}

static void write_value(struct tree_writer *tree, const char *key, yajl_val value)
{
	if (YAJL_IS_OBJECT(value)) {
		json_map(tree->json, key);
		write_map_content(tree, value);
		json_map_close(tree->json);
	} else if (YAJL_IS_ARRAY(value)) {
		write_array(tree, key, value, NULL);
	} else if (YAJL_IS_STRING(value)) {
		json_text(tree->json, key, YAJL_GET_STRING(value));
	} else if (YAJL_IS_NUMBER(value)) {
		json_number(tree->json, key, YAJL_GET_NUMBER(value));
	} else if (YAJL_IS_TRUE(value) || YAJL_IS_FALSE(value)) {
		json_bool(tree->json, key, YAJL_IS_TRUE(value));
	} else {
		json_null(tree->json, key);
	}
}

static int write_all(struct tree_writer *tree, FILE *out, yajl_val report, FILE *missing,
		     char *const *missing_text)
{
	yajl_val left_out;
	int err;

	tree->left_out = json_new(missing, false);
	tree->json = json_new(out, false);
	if (tree->json)
		json_map(tree->json, NULL);
	if (tree->left_out)
		json_map(tree->left_out, NULL);
	if (tree->json && tree->left_out) {
		write_map_content(tree, report);
		json_map_close(tree->left_out);
	}
	err = tree->left_out ? json_end(tree->left_out) : -ENOMEM;
	left_out = err ? NULL : page_tree_parse(*missing_text);
	if (left_out) {
		tree->rows = SIZE_MAX;
		write_value(tree, "left_out", left_out);
	} else if (!err) {
		err = -ENOMEM;
	}
	yajl_tree_free(left_out);
	if (tree->json) {
		json_map_close(tree->json);
		err = err ? (json_end(tree->json), err) : json_end(tree->json);
	}
	return err;
}

int page_tree_write(FILE *out, yajl_val report, size_t rows)
{
	struct tree_writer tree = { .rows = rows };
	char *text = NULL;
	size_t size = 0;
	FILE *missing = open_memstream(&text, &size);
	int err = missing ? write_all(&tree, out, report, missing, &text) : -ENOMEM;

	if (missing)
		fclose(missing);
	free(text);
	return err;
}

yajl_val page_tree_parse(const char *text)
{
	char error[128];

	return yajl_tree_parse(text, error, sizeof(error));
}

static yajl_val child(yajl_val value, const char *key, size_t length)
{
	if (YAJL_IS_ARRAY(value)) {
		size_t index = strtoul(key, NULL, 10);

		return index < value->u.array.len ? value->u.array.values[index] : NULL;
	}
	for (size_t i = 0; YAJL_IS_OBJECT(value) && i < value->u.object.len; i++) {
		const char *name = value->u.object.keys[i];

		if (strncmp(name, key, length) == 0 && name[length] == '\0')
			return value->u.object.values[i];
	}
	return NULL;
}

yajl_val page_tree_get(yajl_val report, const char *path)
{
	yajl_val value = report;

	while (value && *path) {
		size_t length = strcspn(path, ".");

		value = child(value, path, length);
		path += length + (path[length] == '.');
	}
	return value;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON report described as a JSON Schema, from the views that write it.
 *
 * Only the version is required: unknown values are absent, or null where the type allows it. There may be further
 * keys: in later versions, and where a section writes keys in addition to its views.
 */
#include <errno.h>
#include <string.h>

#include "analyzer/view/sections.h"

#define KEYS_MAX 128 /* in one map */

/* Keys that a map has already: two views of one map may have the same key. */
struct keys {
	const char *names[KEYS_MAX];
	unsigned int count;
};

static bool is_new(struct keys *keys, const char *name)
{
	for (unsigned int i = 0; i < keys->count; i++) {
		if (strcmp(keys->names[i], name) == 0)
			return false;
	}
	if (keys->count < KEYS_MAX)
		keys->names[keys->count++] = name;
	return true;
}

static const char *type_of(const struct column *column)
{
	if (column->unit == UNIT_FLAG)
		return "boolean";
	switch (column_type(column)) {
	case COLUMN_TEXT: return "string";
	case COLUMN_REAL: return "number";
	default: return "integer";
	}
}

/* Writes the type and meaning of a value, among the keys of its open map. */
static void describe(struct json *json, const struct view_place *place, bool nullable)
{
	const char *unit = column_unit_name(place->column);

	if (nullable) {
		json_array(json, "type");
		json_text(json, NULL, type_of(place->column));
		json_text(json, NULL, "null");
		json_array_close(json);
	} else {
		json_text(json, "type", type_of(place->column));
	}
	json_text(json, "title", place->column->heading);
	json_text(json, "description", place->column->meaning);
	if (*unit && place->column->unit != UNIT_FLAG)
		json_text(json, "unit", unit);
}

static void write_column(struct json *json, const struct view_place *place)
{
	json_map(json, view_key(&place->shown));
	describe(json, place, place->shown.how & VIEW_NULL);
	json_map_close(json);
}

static void write_property(struct json *json, const struct view *view, struct keys *keys);

/* Writes the keys of a row into the open "properties". */
static void write_properties(struct json *json, const struct view *view, struct keys *keys)
{
	unsigned int count;
	struct view_place *places = view_places(view, &count);

	if (!places)
		json_fail(json);
	for (unsigned int i = 0; places && i < count; i++) {
		if (!(places[i].shown.how & VIEW_TEXT) && is_new(keys, view_key(&places[i].shown)))
			write_column(json, &places[i]);
	}
	view_places_free(places);
	for (unsigned int i = 0; i < VIEWS_INSIDE && view->inside[i]; i++)
		write_property(json, view->inside[i], keys);
}

static void open_map(struct json *json, const char *key)
{
	json_map(json, key);
	json_text(json, "type", "object");
	json_map(json, "properties");
}

static void close_map(struct json *json)
{
	json_map_close(json);
	json_map_close(json);
}

static void write_array(struct json *json, const char *key, const char *items)
{
	json_map(json, key);
	json_text(json, "type", "array");
	json_map(json, "items");
	json_text(json, "type", items);
	json_map_close(json);
	json_map_close(json);
}

static void write_rows(struct json *json, const struct view *view)
{
	struct keys keys = { .count = 0 };

	json_map(json, view->key);
	json_text(json, "type", "array");
	open_map(json, "items");
	write_properties(json, view, &keys);
	if (view->instead)
		write_properties(json, view->instead, &keys);
	close_map(json);
	json_map_close(json);
}

/* Writes the schema of rows that are arrays, with a value for each column: null if unknown. */
static void write_arrays(struct json *json, const struct view *view, const char *key)
{
	unsigned int count;
	struct view_place *places = view_places(view, &count);

	if (!places)
		json_fail(json);
	json_map(json, key);
	json_text(json, "type", "array");
	json_map(json, "items");
	json_text(json, "type", "array");
	json_array(json, "prefixItems");
	for (unsigned int i = 0; places && i < count; i++) {
		json_map(json, NULL);
		describe(json, &places[i], true);
		json_map_close(json);
	}
	json_array_close(json);
	json_map_close(json);
	json_map_close(json);
	view_places_free(places);
}

static void write_matrix(struct json *json, const struct view *view)
{
	write_array(json, "columns", "string");
	write_arrays(json, view, "rows");
}

/* Writes the schema of an array of values. */
static void write_list(struct json *json, const struct view *view)
{
	unsigned int count;
	struct view_place *places = view_places(view, &count);

	if (places)
		write_array(json, view->key, type_of(places[0].column));
	else
		json_fail(json);
	view_places_free(places);
}

static void write_property(struct json *json, const struct view *view, struct keys *keys)
{
	struct keys inner = { .count = 0 };

	if (!view->key && view->shape == VIEW_ONE) {
		write_properties(json, view, keys);
		return;
	}
	if (!view->key && view->shape == VIEW_MATRIX) {
		write_matrix(json, view);
		return;
	}
	/* A view without a key is only for text. */
	if (!view->key || !is_new(keys, view->key))
		return;
	switch (view->shape) {
	case VIEW_ROWS: write_rows(json, view); break;
	case VIEW_LIST: write_list(json, view); break;
	case VIEW_PAIRS: write_arrays(json, view, view->key); break;
	case VIEW_MATRIX:
		open_map(json, view->key);
		write_matrix(json, view);
		close_map(json);
		break;
	default:
		open_map(json, view->key);
		write_properties(json, view, &inner);
		close_map(json);
	}
}

static void write_section(struct json *json, const struct section *section, struct keys *keys)
{
	struct keys inner = { .count = 0 };

	if (!section->views)
		return;
	if (section->key)
		open_map(json, section->key);
	for (const struct view *const *view = section->views; *view; view++)
		write_property(json, *view, section->key ? &inner : keys);
	if (section->key)
		close_map(json);
}

int report_schema(FILE *out)
{
	struct json *json = json_new(out, true);
	struct keys keys = { .count = 0 };

	if (!json)
		return -ENOMEM;
	json_map(json, NULL);
	json_text(json, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_text(json, "title", "analyzer report --format json");
	json_text(json, "type", "object");
	json_array(json, "required");
	json_text(json, NULL, "schema");
	json_array_close(json);
	json_map(json, "properties");
	json_map(json, "schema");
	json_text(json, "const", REPORT_SCHEMA);
	json_map_close(json);
	for (size_t i = 0; i < SECTION_COUNT; i++)
		write_section(json, sections[i], &keys);
	json_map_close(json);
	json_map_close(json);
	return json_end(json);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/host/json_strings.h"

#include <string.h>

#include <yajl/yajl_parse.h>

#define LEVELS 16
#define PATH_ROOM 512
#define NO_KEY "\n" /* in place of a key that does not fit; no place has it */

struct walk {
	const struct json_strings *strings;
	char path[PATH_ROOM + 2 * LEVELS]; /* of the value that comes next; PATH_ROOM, and a NO_KEY for each level */
	struct {
		size_t base; /* length of the path of the object or array itself */
		bool array;
	} level[LEVELS];
	size_t depth; /* may be larger than LEVELS */
};

static void set_key(struct walk *walk, const void *key, size_t length)
{
	size_t base;

	if (!walk->depth || walk->depth > LEVELS)
		return;
	base = walk->level[walk->depth - 1].base;
	if (base + length + 2 > PATH_ROOM || memchr(key, '\0', length)) {
		key = NO_KEY;
		length = 1;
	}
	if (base)
		walk->path[base++] = '/';
	memcpy(walk->path + base, key, length);
	walk->path[base + length] = '\0';
}

static void begin_value(struct walk *walk)
{
	if (walk->depth && walk->depth <= LEVELS && walk->level[walk->depth - 1].array)
		set_key(walk, "*", 1);
}

static void open_level(struct walk *walk, bool array)
{
	begin_value(walk);
	if (walk->depth < LEVELS) {
		walk->level[walk->depth].base = strlen(walk->path);
		walk->level[walk->depth].array = array;
	}
	walk->depth++;
}

static void close_level(struct walk *walk)
{
	const struct json_strings *strings = walk->strings;

	walk->depth--;
	if (walk->depth >= LEVELS)
		return;
	walk->path[walk->level[walk->depth].base] = '\0';
	if (!walk->level[walk->depth].array && strings->each && !strcmp(walk->path, strings->each))
		strings->ended(strings->context);
}

static int on_string(void *context, const unsigned char *text, size_t length)
{
	struct walk *walk = context;

	begin_value(walk);
	if (walk->depth > LEVELS || memchr(text, '\0', length))
		return 1;
	for (size_t i = 0; i < walk->strings->count; i++) {
		const struct json_place *place = &walk->strings->places[i];

		if (*place->into || length >= place->size || strcmp(place->path, walk->path))
			continue;
		memcpy(place->into, text, length);
		place->into[length] = '\0';
	}
	return 1;
}

static int on_key(void *context, const unsigned char *key, size_t length)
{
	set_key(context, key, length);
	return 1;
}

static int on_map(void *context)
{
	open_level(context, false);
	return 1;
}

static int on_array(void *context)
{
	open_level(context, true);
	return 1;
}

static int on_end(void *context)
{
	close_level(context);
	return 1;
}

bool json_strings_find(const struct json_strings *strings, const char *text, size_t size)
{
	static const yajl_callbacks callbacks = {
		.yajl_string = on_string,
		.yajl_start_map = on_map,
		.yajl_map_key = on_key,
		.yajl_end_map = on_end,
		.yajl_start_array = on_array,
		.yajl_end_array = on_end,
	};
	struct walk walk = { .strings = strings };
	yajl_handle parser = yajl_alloc(&callbacks, NULL, &walk);
	bool whole;

	if (!parser)
		return false;
	whole = yajl_parse(parser, (const unsigned char *)text, size) == yajl_status_ok &&
		yajl_complete_parse(parser) == yajl_status_ok;
	yajl_free(parser);
	return whole;
}

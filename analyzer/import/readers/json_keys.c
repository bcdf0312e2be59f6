/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/readers/json_keys.h"

#include <string.h>

static struct json_key *add(struct json_keys *keys, uint32_t group, const char *text, size_t length)
{
	struct json_key *key = &keys->key[keys->count];
	uint32_t *first;

	if (keys->count == JSON_KEYS_MAX || !length)
		return NULL;
	first = &keys->chain[json_keys_chain(group, text, length)];
	*key = (struct json_key){ text, length, group, JSON_KEY_NONE, JSON_KEY_NONE, false,
				 false, *first };
	*first = keys->count++;
	return key;
}

static struct json_key *find_or_add(struct json_keys *keys, uint32_t group, const char *text,
				    size_t length)
{
	const struct json_key *found = json_keys_find(keys, group, text, length);

	return found ? &keys->key[found - keys->key] : add(keys, group, text, length);
}

/* The next dot that separates keys; a dot followed by a blank is part of a key. */
static const char *point_in(const char *text, const char *end)
{
	const char *point = text;

	while ((point = memchr(point, '.', (size_t)(end - point)))) {
		if (point + 1 < end && point[1] != ' ')
			return point;
		point++;
	}
	return NULL;
}

static void add_wanted(struct json_keys *keys, const char *text, uint32_t wanted)
{
	size_t length = strlen(text);
	bool objects = length > 4 && strcmp(text + length - 4, "[{}]") == 0;
	bool array = objects || (length > 2 && strcmp(text + length - 2, "[]") == 0);
	const char *end = text + length - (objects ? 4 : array ? 2 : 0), *point;
	uint32_t group = 0;
	struct json_key *key;

	for (; (point = point_in(text, end)); text = point + 1) {
		key = find_or_add(keys, group, text, (size_t)(point - text));
		if (!key)
			return;
		if (key->inner == JSON_KEY_NONE)
			key->inner = keys->groups++;
		group = key->inner;
	}
	key = find_or_add(keys, group, text, (size_t)(end - text));
	if (key && key->wanted == JSON_KEY_NONE) {
		key->wanted = wanted;
		key->array = array;
		key->objects = objects;
	}
}

void json_keys_begin(struct json_keys *keys, const char *const *wanted)
{
	keys->count = 0;
	keys->groups = 1;
	memset(keys->chain, 0xff, sizeof(keys->chain));
	for (uint32_t i = 0; wanted[i]; i++)
		add_wanted(keys, wanted[i], i);
}

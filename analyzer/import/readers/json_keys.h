/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_keys.h - the wanted keys of objects and of objects in them, found as they are read.
 *
 * "args.stream" is key stream of the object that key args has, "a. b" one key. Keys of one object are a group: 0 is
 * that of the objects themselves. Most keys of device files are not wanted: those, and all that
 * stands in objects of which nothing is wanted, are passed by after one look.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_JSON_KEYS_H
#define PROFBPF_ANALYZER_IMPORT_READERS_JSON_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define JSON_KEYS_MAX 128 /* parts between points of all wanted keys */
#define JSON_KEY_NONE UINT32_MAX
#define JSON_KEY_CHAINS 256

struct json_key {
	const char *text; /* of the wanted key that it came with; not terminated */
	size_t length;
	uint32_t group; /* that it belongs to */
	uint32_t inner; /* group of the object that it may have, or JSON_KEY_NONE */
	uint32_t wanted; /* which wanted key ends here, or JSON_KEY_NONE */
	bool array; /* wanted as one text */
	bool objects; /* ... also where objects are in it */
	uint32_t next; /* in its chain, or JSON_KEY_NONE */
};

struct json_keys {
	struct json_key key[JSON_KEYS_MAX];
	uint32_t count;
	uint32_t groups;
	uint32_t chain[JSON_KEY_CHAINS]; /* their first keys, or JSON_KEY_NONE */
};

/*
 * json_keys_begin - @wanted, NULL-terminated, must outlive the keys
 *
 * A key that ends in "[]" is wanted as array, one that ends in "[{}]" also if objects are in it. What is beyond JSON_KEYS_MAX is not found.
 */
void json_keys_begin(struct json_keys *keys, const char *const *wanted);

/* Which chain; @length is not 0. The factors keep the keys of Kineto's objects apart. */
static inline uint32_t json_keys_chain(uint32_t group, const char *text, size_t length)
{
	uint32_t ends = (unsigned char)text[0] * 5u + (unsigned char)text[length - 1] * 11u;

	return (uint32_t)(length * 37 + ends + group * 97) % JSON_KEY_CHAINS;
}

/* The key of that text in a group; NULL if nothing of it is wanted. */
static inline const struct json_key *json_keys_find(const struct json_keys *keys, uint32_t group,
						    const char *text, size_t length)
{
	uint32_t at = length ? keys->chain[json_keys_chain(group, text, length)] : JSON_KEY_NONE;

	for (; at != JSON_KEY_NONE; at = keys->key[at].next) {
		const struct json_key *key = &keys->key[at];

		if (key->length == length && key->group == group &&
		    memcmp(key->text, text, length) == 0)
			return key;
	}
	return NULL;
}

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_JSON_KEYS_H */

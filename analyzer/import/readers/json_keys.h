/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_keys.h - looks up the wanted keys of objects and nested objects while a file is read.
 *
 * "args.stream" is key stream of the object under key args; "a. b" is a single key. The keys of one object are a
 * group: group 0 is that of the outer objects. Most keys of device files are not wanted: they, and all objects
 * without wanted keys, are skipped after one look-up.
 */
#ifndef PROFBPF_ANALYZER_IMPORT_READERS_JSON_KEYS_H
#define PROFBPF_ANALYZER_IMPORT_READERS_JSON_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define JSON_KEYS_MAX 128 /* components, separated by dots, of all wanted keys */
#define JSON_KEY_NONE UINT32_MAX
#define JSON_KEY_CHAINS 256

struct json_key {
	const char *text; /* points into the wanted key that added it; not terminated */
	size_t length;
	uint32_t group; /* the group that contains it */
	uint32_t inner; /* group of the object below this key, or JSON_KEY_NONE */
	uint32_t wanted; /* index of the wanted key that ends here, or JSON_KEY_NONE */
	bool array; /* an array here is wanted as one text */
	bool objects; /* ... also if it contains objects */
	uint32_t next; /* next key in the hash chain, or JSON_KEY_NONE */
};

struct json_keys {
	struct json_key key[JSON_KEYS_MAX];
	uint32_t count;
	uint32_t groups;
	uint32_t chain[JSON_KEY_CHAINS]; /* first key of each hash chain, or JSON_KEY_NONE */
};

/*
 * json_keys_begin - @wanted, NULL-terminated, must outlive @keys
 *
 * A key that ends in "[]" is wanted as an array, a key that ends in "[{}]" also if the array contains objects. Keys
 * beyond JSON_KEYS_MAX are not found.
 */
void json_keys_begin(struct json_keys *keys, const char *const *wanted);

/* The hash chain of a key; @length is not 0. The factors avoid collisions of the keys of Kineto's objects. */
static inline uint32_t json_keys_chain(uint32_t group, const char *text, size_t length)
{
	uint32_t ends = (unsigned char)text[0] * 5u + (unsigned char)text[length - 1] * 11u;

	return (uint32_t)(length * 37 + ends + group * 97) % JSON_KEY_CHAINS;
}

/* memcmp() == 0 for @length from 1 to 16 without a call: there are more keys in a file than anything else. */
static inline bool json_keys_same(const char *a, const char *b, size_t length)
{
	uint64_t x[2], y[2];

	if (length >= 8) {
		memcpy(&x[0], a, 8);
		memcpy(&y[0], b, 8);
		memcpy(&x[1], a + length - 8, 8);
		memcpy(&y[1], b + length - 8, 8);
		return x[0] == y[0] && x[1] == y[1];
	}
	for (size_t i = 0; i < length; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* The key with that text in a group; NULL if it is not wanted. */
static inline const struct json_key *json_keys_find(const struct json_keys *keys, uint32_t group,
						    const char *text, size_t length)
{
	uint32_t at = length ? keys->chain[json_keys_chain(group, text, length)] : JSON_KEY_NONE;

	for (; at != JSON_KEY_NONE; at = keys->key[at].next) {
		const struct json_key *key = &keys->key[at];

		if (key->length == length && key->group == group &&
		    (length <= 16 ? json_keys_same(key->text, text, length)
				  : memcmp(key->text, text, length) == 0))
			return key;
	}
	return NULL;
}

#endif /* PROFBPF_ANALYZER_IMPORT_READERS_JSON_KEYS_H */

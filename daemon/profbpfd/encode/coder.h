/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coder.h - numbers the distinct keys in a batch, in order of first appearance.
 *
 * The codes are those of proto/trace.proto: 0 for a key that is new in the batch, n for
 * the n-th key. Used by the writer of a session for each record: it must not cost more
 * than the saved bytes are worth.
 */
#ifndef PROFBPF_DAEMON_PROFBPFD_ENCODE_CODER_H
#define PROFBPF_DAEMON_PROFBPFD_ENCODE_CODER_H

#include <stddef.h>
#include <stdint.h>

#define CODER_WORDS 3

/* A key; unused words are 0. Keys are equal if all bits are. */
struct coder_key {
	uint64_t word[CODER_WORDS];
};

struct coder_slot {
	struct coder_key key;
	uint32_t batch; /* slots of earlier batches are empty */
	uint32_t index;
};

/* All zeros at first. */
struct coder {
	struct coder_slot *slots;
	size_t capacity; /* a power of two */
	uint32_t batch;
	uint32_t count; /* different keys so far */
};

/* coder_start - removes all keys and makes room for @keys distinct ones; 0 or -ENOMEM */
int coder_start(struct coder *coder, size_t keys);
void coder_free(struct coder *coder);

static inline uint64_t coder_hash(const struct coder_key *key)
{
	uint64_t h = key->word[0] * 0x9e3779b97f4a7c15ull;

	h = (h ^ h >> 32 ^ key->word[1]) * 0xff51afd7ed558ccdull;
	h = (h ^ h >> 32 ^ key->word[2]) * 0xc4ceb9fe1a85ec53ull;
	return h ^ h >> 29;
}

/* coder_code - the code of a key, which is added if it is new */
static inline uint32_t coder_code(struct coder *coder, const struct coder_key *key)
{
	struct coder_slot *slot;
	size_t at = coder_hash(key);

	for (;; at++) {
		slot = &coder->slots[at & (coder->capacity - 1)];
		if (slot->batch != coder->batch)
			break;
		if (slot->key.word[0] == key->word[0] && slot->key.word[1] == key->word[1] &&
		    slot->key.word[2] == key->word[2])
			return slot->index + 1;
	}
	slot->key = *key;
	slot->batch = coder->batch;
	slot->index = coder->count++;
	return 0;
}

/* coder_code_word - the same for keys of one word; a batch uses either this or coder_code() */
static inline uint32_t coder_code_word(struct coder *coder, uint64_t word)
{
	uint64_t hash = word * 0x9e3779b97f4a7c15ull;
	struct coder_slot *slot;
	size_t at = hash ^ hash >> 32;

	for (;; at++) {
		slot = &coder->slots[at & (coder->capacity - 1)];
		if (slot->batch != coder->batch)
			break;
		if (slot->key.word[0] == word)
			return slot->index + 1;
	}
	slot->key.word[0] = word;
	slot->batch = coder->batch;
	slot->index = coder->count++;
	return 0;
}

#endif /* PROFBPF_DAEMON_PROFBPFD_ENCODE_CODER_H */

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/rule_numbers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define PLACES (1u << 16) /* size of the hash table: twice the number of rules */
#define MULTIPLIER 0x9e3779b97f4a7c15ull /* 2^64 divided by the golden ratio */

_Static_assert(PLACES == 2 * UNWIND_RULES, "half of the places stay free");

struct rule_numbers {
	struct unwind_rule *rules;
	uint64_t seed[2];
	uint32_t count; /* numbers from this one on were never used */
	uint16_t place[PLACES]; /* hash table of the numbers by the rules' bytes; 0 = free */
	uint16_t unused[UNWIND_RULES]; /* free numbers below count */
	uint32_t unused_count;
	uint32_t tables[UNWIND_RULES]; /* number of tables that use each rule */
	uid_t payer[UNWIND_RULES];
};

struct rule_numbers *rule_numbers_new(struct unwind_rule *rules)
{
	struct rule_numbers *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	if (getrandom(n->seed, sizeof(n->seed), 0) != (ssize_t)sizeof(n->seed)) {
		free(n);
		return NULL;
	}
	n->rules = rules;
	n->count = 1; /* number 0 is UNWIND_POINTERS */
	return n;
}

void rule_numbers_free(struct rule_numbers *n)
{
	free(n);
}

/* Uses a secret seed; else a crafted file could have rules with equal hashes, which would slow down every look-up. */
static uint32_t hash_of(const struct rule_numbers *n, const struct unwind_rule *rule)
{
	uint64_t word[2], hash;

	_Static_assert(sizeof(word) == sizeof(*rule), "a rule is two words");
	memcpy(word, rule, sizeof(word));
	hash = (word[0] ^ n->seed[0]) * MULTIPLIER;
	hash = (hash ^ hash >> 32 ^ word[1] ^ n->seed[1]) * MULTIPLIER;
	return (uint32_t)(hash >> 48);
}

/* Returns the place of the rule, or the free place for it. */
static uint32_t place_of(const struct rule_numbers *n, const struct unwind_rule *rule)
{
	uint32_t place = hash_of(n, rule);

	while (n->place[place] && memcmp(&n->rules[n->place[place]], rule, sizeof(*rule)) != 0)
		place = (place + 1) % PLACES;
	return place;
}

uint16_t rule_numbers_find(const struct rule_numbers *n, const struct unwind_rule *rule)
{
	return n->place[place_of(n, rule)];
}

bool rule_numbers_full(const struct rule_numbers *n)
{
	return !n->unused_count && n->count == UNWIND_RULES;
}

uint16_t rule_numbers_add(struct rule_numbers *n, const struct unwind_rule *rule, uid_t payer)
{
	uint16_t number;

	if (rule_numbers_full(n))
		return 0;
	number = n->unused_count ? n->unused[--n->unused_count] : (uint16_t)n->count++;
	n->rules[number] = *rule;
	n->payer[number] = payer;
	n->place[place_of(n, rule)] = number;
	return number;
}

void rule_numbers_have(struct rule_numbers *n, uint16_t number)
{
	n->tables[number]++;
}

/* Frees a place: moves the following entries, up to the next free place, so that linear probing still finds them. */
static void free_place(struct rule_numbers *n, uint32_t hole)
{
	for (uint32_t at = (hole + 1) % PLACES; n->place[at]; at = (at + 1) % PLACES) {
		uint32_t wanted = hash_of(n, &n->rules[n->place[at]]);

		if ((at - wanted) % PLACES < (at - hole) % PLACES)
			continue;
		n->place[hole] = n->place[at];
		hole = at;
	}
	n->place[hole] = 0;
}

bool rule_numbers_drop(struct rule_numbers *n, uint16_t number, uid_t *payer)
{
	if (--n->tables[number])
		return false;
	*payer = n->payer[number];
	free_place(n, place_of(n, &n->rules[number]));
	n->unused[n->unused_count++] = number;
	return true;
}

bool rule_numbers_move(struct rule_numbers *n, uint16_t number, uid_t from, uid_t to)
{
	if (n->payer[number] != from)
		return false;
	n->payer[number] = to;
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - how many of each kind there are, where rows are millions and kinds are few.
 *
 * To sort the rows in order to count them takes the logarithm of their number of looks at each; this takes one.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_TALLY_H
#define PROFBPF_ANALYZER_ANALYSE_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"
#include "lib/base/map.h"

struct tally_kind {
	uint32_t key;
	uint32_t count; /* of rows */
	uint32_t first; /* of tally_sort(): how many rows there are of all kinds before */
};

/* Zeroed is empty. */
struct tally {
	struct map map; /* key -> kind */
	MODEL_ARRAY(struct tally_kind) kinds; /* in the order in which they came first */
	uint32_t last; /* kind of the row before */
};

/* tally_add - count one more of a kind, any key. False without memory. */
bool tally_add(struct tally *tally, uint32_t key);

/* tally_sort - kinds in ascending order of their keys. Returns false without memory; nothing is added after it. */
bool tally_sort(struct tally *tally);

/* tally_kind_of - the kind of a key that was added */
struct tally_kind *tally_kind_of(struct tally *tally, uint32_t key);

void tally_free(struct tally *tally);

#endif /* PROFBPF_ANALYZER_ANALYSE_TALLY_H */

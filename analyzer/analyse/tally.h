/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - count rows by kind, where rows are millions and kinds are few.
 *
 * Sorting the rows to count them would take log(rows) steps for each row; this takes one.
 */
#ifndef PROFBPF_ANALYZER_ANALYSE_TALLY_H
#define PROFBPF_ANALYZER_ANALYSE_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/model/model.h"
#include "lib/base/map.h"

struct tally_kind {
	uint32_t key;
	uint32_t count; /* number of rows */
	uint32_t first; /* after tally_sort(): number of rows of all smaller kinds */
};

/* Zeroed is empty. */
struct tally {
	struct map map; /* key -> kind */
	MODEL_ARRAY(struct tally_kind) kinds; /* in the order of their first rows */
	uint32_t last; /* kind of the previous row */
};

/* tally_add - count one more row of a kind, any key. Returns false without memory. */
bool tally_add(struct tally *tally, uint32_t key);

/* tally_sort - sort kinds by key. Returns false without memory; nothing may be added afterwards. */
bool tally_sort(struct tally *tally);

/* tally_kind_of - the kind of a key that was added */
struct tally_kind *tally_kind_of(struct tally *tally, uint32_t key);

void tally_free(struct tally *tally);

#endif /* PROFBPF_ANALYZER_ANALYSE_TALLY_H */

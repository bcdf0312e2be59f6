/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/session/wait_shares.h"

#include <stddef.h>
#include <stdlib.h>

#define SECOND_NS 1000000000ull
#define RING 16 /* seconds; more than the sum covers */
#define DEPTH 8 /* calls that may be nested in the next one */

_Static_assert(RING > WAIT_SHARES_S + 1, "the seconds that are added up are in the ring");

struct interval {
	uint64_t start_ns, end_ns;
};

struct row {
	struct wait_key key;
	uint64_t second[RING], ns[RING]; /* the second of each place, and the time waited in it */
	struct interval last[DEPTH];
	unsigned int depth;
	uint64_t end_ns; /* end of the last call */
	bool above;
};

struct wait_shares {
	struct row *rows;
	size_t count;
};

struct wait_shares *wait_shares_new(void)
{
	return calloc(1, sizeof(struct wait_shares));
}

void wait_shares_free(struct wait_shares *shares)
{
	if (!shares)
		return;
	free(shares->rows);
	free(shares);
}

static struct row *row_of(struct wait_shares *shares, const struct wait_key *key)
{
	struct row *larger;

	for (size_t i = 0; i < shares->count; i++) {
		const struct wait_key *other = &shares->rows[i].key;

		if (other->tid == key->tid && other->tgid == key->tgid && other->purpose == key->purpose)
			return &shares->rows[i];
	}
	if (shares->count == WAIT_SHARES_MAX)
		return NULL;
	larger = realloc(shares->rows, (shares->count + 1) * sizeof(*larger));
	if (!larger)
		return NULL;
	shares->rows = larger;
	larger[shares->count] = (struct row){ .key = *key };
	return &larger[shares->count++];
}

/* Adds a call to its seconds, or with @away subtracts it. Seconds older than the ring are ignored. */
static void count(struct row *row, const struct interval *call, bool away)
{
	uint64_t last = call->end_ns / SECOND_NS, first = call->start_ns / SECOND_NS;

	if (last >= RING && first < last - RING + 1)
		first = last - RING + 1;
	for (uint64_t second = first; second <= last; second++) {
		uint64_t from = second * SECOND_NS, to = from + SECOND_NS, *ns = &row->ns[second % RING];

		if (row->second[second % RING] > second)
			continue;
		if (row->second[second % RING] != second)
			*ns = 0;
		row->second[second % RING] = second;
		from = call->start_ns > from ? call->start_ns : from;
		to = call->end_ns < to ? call->end_ns : to;
		if (away)
			*ns -= *ns < to - from ? *ns : to - from;
		else
			*ns += to - from;
	}
}

void wait_shares_add(struct wait_shares *shares, const struct wait_key *key, uint64_t start_ns, uint64_t end_ns)
{
	struct row *row = end_ns > start_ns ? row_of(shares, key) : NULL;
	const struct interval call = { start_ns, end_ns };

	if (!row)
		return;
	while (row->depth && row->last[row->depth - 1].start_ns >= start_ns &&
	       row->last[row->depth - 1].end_ns <= end_ns)
		count(row, &row->last[--row->depth], true);
	if (row->depth == DEPTH) {
		for (unsigned int i = 1; i < DEPTH; i++)
			row->last[i - 1] = row->last[i];
		row->depth--;
	}
	row->last[row->depth++] = call;
	count(row, &call, false);
	row->end_ns = end_ns;
}

bool wait_shares_has_thread(const struct wait_shares *shares, uint32_t purpose, uint32_t tgid)
{
	for (size_t i = 0; i < shares->count; i++) {
		const struct wait_key *key = &shares->rows[i].key;

		if (key->tid && key->tgid == tgid && key->purpose == purpose)
			return true;
	}
	return false;
}

void wait_shares_forget(struct wait_shares *shares, uint32_t tgid)
{
	for (size_t i = 0; i < shares->count; i++)
		if (shares->rows[i].key.tgid == tgid)
			shares->rows[i--] = shares->rows[--shares->count];
}

static double percent_of(const struct row *row, uint64_t now_ns)
{
	uint64_t now = now_ns / SECOND_NS, sum = 0;

	for (unsigned int i = 0; i < RING; i++)
		if (row->second[i] < now && row->second[i] + WAIT_SHARES_S >= now)
			sum += row->ns[i];
	return 100.0 * (double)sum / (double)(WAIT_SHARES_S * SECOND_NS);
}

void wait_shares_look(struct wait_shares *shares, uint32_t purpose, double percent, uint64_t now_ns,
		      void (*above)(void *context, const struct wait_key *key, double percent), void *context)
{
	for (size_t i = 0; i < shares->count; i++) {
		struct row *row = &shares->rows[i];
		double own = percent_of(row, now_ns);

		/* Drops rows without recent calls, of any purpose: the thread or the trigger may be gone. */
		if (row->end_ns + RING * SECOND_NS < now_ns) {
			shares->rows[i--] = shares->rows[--shares->count];
			continue;
		}
		if (row->key.purpose != purpose)
			continue;
		if (own > percent && !row->above)
			above(context, &row->key, own);
		row->above = own > percent;
	}
}

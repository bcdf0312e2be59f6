/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/timeline/crowds.h"

static bool joins(const struct crowds *crowds, uint64_t start_ns, uint64_t end_ns)
{
	const struct crowd *now = &crowds->now;

	return now->count && start_ns >= now->end_ns &&
	       start_ns - now->end_ns < crowds->resolution_ns && end_ns <= now->bound_ns &&
	       end_ns - now->start_ns <= CROWD_LENGTH * crowds->resolution_ns;
}

enum crowd_news crowd_take(struct crowds *crowds, uint64_t start_ns, uint64_t end_ns, uint64_t key,
			   bool whole)
{
	struct crowd *now = &crowds->now;

	crowds->done.count = 0;
	while (crowds->depth && crowds->ends[crowds->depth - 1] <= start_ns)
		crowds->depth--;
	if (!whole && end_ns - start_ns < crowds->resolution_ns) {
		bool inside = now->count && start_ns < now->end_ns && end_ns <= now->end_ns;

		if (inside || joins(crowds, start_ns, end_ns)) {
			now->count++;
			now->in_ns += inside ? 0 : end_ns - start_ns;
			now->alike &= inside || now->key == key;
			now->end_ns = inside ? now->end_ns : end_ns;
			return CROWD_GREW;
		}
		crowds->done = *now;
		*now = (struct crowd){ start_ns, end_ns, end_ns - start_ns,
				       crowds->depth ? crowds->ends[crowds->depth - 1] : UINT64_MAX,
				       key, 1, true };
		return CROWD_BEGAN;
	}
	crowds->done = *now;
	now->count = 0;
	if (crowds->depth < CROWD_DEPTH)
		crowds->ends[crowds->depth++] = end_ns;
	return CROWD_PASSED;
}

void crowd_end(struct crowds *crowds)
{
	crowds->done = crowds->now;
	crowds->now.count = 0;
	crowds->depth = 0;
}

uint64_t crowds_kept(uint64_t ns)
{
	uint64_t kept = ns / 1000000000 * CROWDS_PER_SECOND;

	return kept > CROWDS_KEPT ? kept : CROWDS_KEPT;
}

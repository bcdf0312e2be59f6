/* SPDX-License-Identifier: Apache-2.0 */
/* unwinder_rules.c - looks up the unwind rules of a session's programs for the daemon itself. */
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "daemon/profbpfd/stacks/unwind_store.h"
#include "daemon/profbpfd/stacks/unwinder_private.h"

bool unwinder_known(struct unwinder_session *s, pid_t pid, struct unwind_process *known)
{
	uint32_t key = (uint32_t)pid;
	int map;

	pthread_mutex_lock(&s->unwinder->lock);
	map = s->map;
	pthread_mutex_unlock(&s->unwinder->lock);
	return map >= 0 && !bpf_map_lookup_elem(map, &key, known) && known->count <= UNWIND_MAPPINGS;
}

bool unwinder_rule(struct unwinder_session *s, const struct unwind_process *known, uint64_t address,
		   struct unwind_rule *rule, bool *in_code)
{
	uint32_t low = 0, high = known->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (known->mapping[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	*in_code = low < known->count && address >= known->mapping[low].start;
	return *in_code && unwind_store_rule(s->unwinder->store, &known->mapping[low], address, rule) &&
	       rule->kind != UNWIND_POINTERS;
}

bool unwinder_knows(struct unwinder_session *s, pid_t pid, const struct unwind_process *known)
{
	struct unwind_process *now = malloc(sizeof(*now));
	bool same = now && unwinder_known(s, pid, now) && now->version == known->version;

	free(now);
	return same;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/control/roster_entry.h"

size_t roster_count(const struct roster *roster)
{
	size_t count = 0;

	for (const struct roster_entry *e = roster->first; e; e = e->next)
		count++;
	return count;
}

size_t roster_count_running(const struct roster *roster)
{
	size_t count = 0;

	for (const struct roster_entry *e = roster->first; e; e = e->next)
		count += !e->ended;
	return count;
}

struct quota_use roster_use(const struct roster *roster, uid_t owner)
{
	struct quota_use use = { 0 };

	for (const struct roster_entry *e = roster->first; e; e = e->next) {
		if (e->ended || e->of_recorder || e->owner != owner)
			continue;
		use.sessions++;
		use.memory_bytes += e->memory_bytes;
	}
	return use;
}

/* Skips ended sessions, of which the starter and the waiting clients have been notified. */
struct roster_entry *roster_find(struct roster *roster, uint32_t id)
{
	struct roster_entry *e = roster->first;

	while (e && (e->id != id || e->ended))
		e = e->next;
	return e;
}

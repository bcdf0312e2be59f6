/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/table_shares.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>

#define ROOT 0

struct owner {
	uid_t uid;
	struct table_room has;
	uint64_t free_ns; /* when its whole time is available again */
};

struct table_shares {
	struct table_room all;
	struct table_room root, others; /* room used by root, and by all other owners together */
	void *owners; /* tsearch tree of struct owner, without root */
};

struct table_shares *table_shares_new(const struct table_room *all)
{
	struct table_shares *s = calloc(1, sizeof(*s));

	if (s)
		s->all = *all;
	return s;
}

void table_shares_free(struct table_shares *s)
{
	if (!s)
		return;
	tdestroy(s->owners, free);
	free(s);
}

static int compare(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	return x->uid < y->uid ? -1 : x->uid > y->uid;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Returns the remaining room of one kind. */
static uint64_t left_of(uint64_t all, uint64_t root, uint64_t others, uint64_t own, uid_t uid)
{
	uint64_t reserved = all / 4 > root ? all / 4 : root;

	if (uid == ROOT)
		return minus(all, root + others);
	return minus(minus(all, reserved + others - own) / 2, own);
}

static struct owner *find(const struct table_shares *s, uid_t uid)
{
	const struct owner key = { .uid = uid };
	struct owner *const *found = tfind(&key, &s->owners, compare);

	return found ? *found : NULL;
}

struct table_room table_shares_left(const struct table_shares *s, uid_t uid)
{
	const struct owner *owner = find(s, uid);
	struct table_room own = owner ? owner->has : (struct table_room){ 0 };

	return (struct table_room){
		.words = left_of(s->all.words, s->root.words, s->others.words, own.words, uid),
		.rules = left_of(s->all.rules, s->root.rules, s->others.rules, own.rules, uid),
		.files = left_of(s->all.files, s->root.files, s->others.files, own.files, uid),
	};
}

static void add(struct table_room *to, const struct table_room *room)
{
	to->words += room->words;
	to->rules += room->rules;
	to->files += room->files;
}

static void subtract(struct table_room *from, const struct table_room *room)
{
	from->words -= room->words;
	from->rules -= room->rules;
	from->files -= room->files;
}

static struct owner *owner_of(struct table_shares *s, uid_t uid)
{
	struct owner *new = calloc(1, sizeof(*new)), **found;

	if (!new)
		return NULL;
	new->uid = uid;
	found = tsearch(new, &s->owners, compare);
	if (!found || *found != new)
		free(new);
	return found ? *found : NULL;
}

int table_shares_take(struct table_shares *s, uid_t uid, const struct table_room *room)
{
	struct owner *owner = uid == ROOT ? NULL : owner_of(s, uid);

	if (uid == ROOT) {
		add(&s->root, room);
		return 0;
	}
	if (!owner)
		return -ENOMEM;
	add(&owner->has, room);
	add(&s->others, room);
	return 0;
}

void table_shares_give(struct table_shares *s, uid_t uid, const struct table_room *room)
{
	struct owner *owner = uid == ROOT ? NULL : find(s, uid);

	if (uid == ROOT)
		subtract(&s->root, room);
	if (!owner)
		return;
	subtract(&owner->has, room);
	subtract(&s->others, room);
}

bool table_shares_in_time(const struct table_shares *s, uid_t uid, uint64_t now_ns)
{
	const struct owner *owner = uid == ROOT ? NULL : find(s, uid);

	return !owner || owner->free_ns < now_ns + TABLE_TIME_SHARE * TABLE_TIME_NS;
}

void table_shares_spend(struct table_shares *s, uid_t uid, uint64_t ns, uint64_t now_ns)
{
	struct owner *owner = uid == ROOT ? NULL : find(s, uid);

	if (owner)
		owner->free_ns = (owner->free_ns > now_ns ? owner->free_ns : now_ns) + TABLE_TIME_SHARE * ns;
}

uid_t table_payer(uid_t user, uid_t file_owner)
{
	return user == (uid_t)-1 ? file_owner : user;
}

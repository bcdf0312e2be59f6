/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/profbpfd/stacks/table_shares.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>

#define ROOT 0

struct owner {
	uid_t uid;
	struct table_room has;
};

struct table_shares {
	struct table_room all;
	struct table_room root, others; /* what root has, and all others together */
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

/* Of one kind of room. */
static uint64_t left_of(uint64_t all, uint64_t root, uint64_t others, uint64_t own, uid_t uid)
{
	uint64_t reserved = all / 4 > root ? all / 4 : root;

	if (uid == ROOT)
		return minus(all, root + others);
	return minus(minus(all, reserved + others - own) / 2, own);
}

struct table_room table_shares_left(const struct table_shares *s, uid_t uid)
{
	const struct owner key = { .uid = uid };
	struct owner *const *found = tfind(&key, &s->owners, compare);
	struct table_room own = found ? (*found)->has : (struct table_room){ 0 };

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

	if (!owner) {
		add(&s->root, room);
		return uid == ROOT ? 0 : -ENOMEM;
	}
	add(&owner->has, room);
	add(&s->others, room);
	return 0;
}

uid_t table_payer(uid_t user, uid_t file_owner)
{
	return user == (uid_t)-1 ? file_owner : user;
}

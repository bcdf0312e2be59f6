/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwinder_derive.c - derives rules for code that unwind tables do not cover, only for files in which walks ended:
 * reading the code of a large library takes a second, its unwind table a tenth of that.
 */
#include <errno.h>
#include <search.h>

#include <bpf/bpf.h>

#include "daemon/profbpfd/stacks/unwind_files.h"
#include "daemon/profbpfd/stacks/unwinder_private.h"

#define AGAIN_NS 1000000000ull

/* Returns the previous table of the mapping if it was replaced: the caller releases it after publishing the new one. */
static struct unwind_file *derive_one(struct unwinder *u, struct process *p, size_t place)
{
	struct unwind_file *held = NULL, *before = p->held[place];
	struct unwind_mapping mapping;
	int err = unwind_files_map(u->files, p->pid, &p->maps.map[place].map, UNWIND_DERIVED, p->user, NULL,
				   &mapping, &held);

	p->more[place] = err == -ENOSPC;
	/* Keeps the table without derived rules. */
	if (err || !held || !mapping.pages) {
		p->again_ns = unwinder_now() + AGAIN_NS;
		unwind_files_drop(u->files, held, p->user);
		return NULL;
	}
	p->held[place] = held;
	p->mapping[place] = mapping;
	return before;
}

/* Returns the next wanted mapping from @place on, or maps.count. */
static size_t next_wanted(const struct process *p, size_t place)
{
	while (place < p->maps.count && !p->wanted[place])
		place++;
	return place;
}

static void derive_all(struct unwinder *u, struct unwinder_session *s, struct process *p)
{
	bool go_on = true;

	for (size_t i = next_wanted(p, 0); go_on && i < p->maps.count; i = next_wanted(p, i + 1)) {
		struct unwind_file *before = derive_one(u, p, i);

		p->wanted[i] = false;
		if (!before)
			continue;
		go_on = unwinder_publish(u, s, p);
		unwind_files_drop(u->files, before, p->user);
	}
}

void unwinder_derive(struct unwinder *u, struct unwinder_session *s, pid_t pid)
{
	struct process *p = unwinder_take_process(s, pid);
	uint32_t key = (uint32_t)pid;

	if (!p)
		return;
	p->waits = false;
	s->looked_at = pid;
	s->looked_took_ns = p->took_ns;
	s->dropped = false;
	pthread_mutex_unlock(&u->lock);
	if (right_holds(s->right, pid))
		derive_all(u, s, p);
	pthread_mutex_lock(&u->lock);
	if (s->dropped || !tsearch(p, &s->processes, unwinder_compare)) {
		bpf_map_delete_elem(s->map, &key);
		unwinder_leave_process(u, p);
	}
	s->looked_at = 0;
	pthread_cond_broadcast(&u->done);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyse/idle/same_role.h"

#include <stdlib.h>

#include "analyzer/frameworks/thread_entry.h"
#include "lib/base/map.h"

#define PLACE_PROCESS (1u << 31) /* the place is an index of a process, not of a thread */
#define PLACE_PID (1u << 30) /* the place is a pid */
#define SIDE_BY_SIDE_MAX \
	64 /* maximum number of roles of one name; further threads stand for themselves */

/* A role in which threads of a name follow each other. */
struct role {
	uint32_t first; /* its first thread */
	uint64_t free_ns; /* end of its last thread; UINT64_MAX: that still runs */
	uint32_t next; /* role of the same name, or INDEX_NONE */
};

struct roles {
	const struct model *model;
	uint32_t *entry; /* thread_entries_find() */
	uint32_t *main; /* by process: its main thread */
	uint32_t *first; /* the result, by thread; INDEX_NONE: not determined yet */
	MODEL_ARRAY(struct role) row;
	struct map by_thread_name; /* (place of the process, name) -> role */
	struct map by_process_name; /* (place of the parent, name) -> role */
};

static uint64_t born_ns(const struct thread *thread)
{
	return thread->start_ns ? thread->start_ns : thread->first_ns;
}

static int by_birth(const void *a, const void *b, void *context)
{
	const struct thread *threads = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t p = born_ns(&threads[x]), q = born_ns(&threads[y]);

	if (p != q)
		return p < q ? -1 : 1;
	return x < y ? -1 : x > y;
}

/*
 * Returns the purpose of a thread as a number: from its name and, for Python threads, the function that it runs.
 * Threads without a name of their own all have the name of their process, whatever they do.
 */
static uint32_t purpose(const struct roles *roles, uint32_t index)
{
	uint32_t entry = roles->entry[index], name = roles->model->threads.row[index].name;
	const struct code_frame *frame;

	if (entry >= roles->model->code_frames.count)
		return name;
	frame = &roles->model->code_frames.row[entry];
	return ((name * 0x9e3779b1u + frame->name) * 0x9e3779b1u) ^ frame->source;
}

/* Returns the place of a process; processes that followed each other in the same role have the same place. */
static uint32_t place_of(const struct roles *roles, uint32_t process)
{
	uint32_t main = roles->main[process];

	return main != INDEX_NONE && roles->first[main] != INDEX_NONE ? roles->first[main]
								      : PLACE_PROCESS | process;
}

/* Returns the place of the parent of a thread's process, not 0; 0 if it is not known. */
static uint32_t place_of_parent(const struct roles *roles, const struct thread *thread)
{
	const struct model *model = roles->model;
	uint32_t pid = model->processes.row[thread->process].parent_pid;
	uint32_t parent = thread->parent;

	/* For a process from before the recording only the parent's pid is known. */
	if (parent >= model->threads.count && pid)
		parent = model_thread_at(model, pid, born_ns(thread));
	if (parent < model->threads.count &&
	    model->threads.row[parent].process < model->processes.count)
		return place_of(roles, model->threads.row[parent].process) + 1;
	return pid ? PLACE_PID | pid : 0;
}

/* Returns the map and the key of the roles of a thread; NULL: its name or parent is not known. */
static struct map *key_of(struct roles *roles, uint32_t index, uint64_t *key)
{
	const struct thread *thread = &roles->model->threads.row[index];
	uint32_t what = purpose(roles, index);
	uint32_t place;

	if (!thread->name || thread->process >= roles->model->processes.count)
		return NULL;
	if (roles->model->processes.row[thread->process].pid != thread->tid) {
		*key = (uint64_t)place_of(roles, thread->process) << 32 | what;
		return &roles->by_thread_name;
	}
	place = place_of_parent(roles, thread);
	*key = (uint64_t)place << 32 | what;
	return place ? &roles->by_process_name : NULL;
}

/* Assigns a role to thread @index and returns the role's first thread; INDEX_NONE without memory. */
static uint32_t take(struct roles *roles, uint32_t index)
{
	const struct thread *thread = &roles->model->threads.row[index];
	struct role mine = { .first = index,
			     .free_ns = thread->exit_ns ? thread->exit_ns : UINT64_MAX };
	uint64_t key;
	struct map *map = key_of(roles, index, &key);
	uint32_t count = 0;

	if (!map)
		return index;
	mine.next = map_get(map, key);
	for (uint32_t i = mine.next; i != INDEX_NONE; i = roles->row.row[i].next) {
		struct role *role = &roles->row.row[i];

		if (role->free_ns <= born_ns(thread)) {
			role->free_ns = mine.free_ns;
			return role->first;
		}
		if (++count == SIDE_BY_SIDE_MAX)
			return index;
	}
	if (!map_put(map, key, roles->row.count) || !MODEL_PUSH(&roles->row, mine))
		return INDEX_NONE;
	return index;
}

uint32_t *same_roles_find(const struct model *model)
{
	struct roles roles = { .model = model };
	uint32_t count = model->threads.count;
	uint32_t *order = calloc((size_t)count + 1, sizeof(*order));
	uint32_t *first = indices_none(count);
	bool ok;

	roles.entry = thread_entries_find(model);
	roles.main = indices_none(model->processes.count);
	roles.first = first;
	ok = order && first && roles.entry && roles.main;

	for (uint32_t i = 0; i < count && ok; i++) {
		const struct thread *row = &model->threads.row[i];

		order[i] = i;
		if (row->process < model->processes.count &&
		    model->processes.row[row->process].pid == row->tid)
			roles.main[row->process] = i;
	}
	if (ok && count)
		qsort_r(order, count, sizeof(*order), by_birth, model->threads.row);
	for (uint32_t i = 0; i < count && ok; i++) {
		first[order[i]] = take(&roles, order[i]);
		ok = first[order[i]] != INDEX_NONE;
	}
	map_free(&roles.by_thread_name);
	map_free(&roles.by_process_name);
	free(roles.row.row);
	free(roles.entry);
	free(roles.main);
	free(order);
	if (!ok) {
		free(first);
		return NULL;
	}
	return first;
}

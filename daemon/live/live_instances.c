/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/live/live_instances.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/map.h"

#define DEPTH_MAX 64 /* nesting of iterators */
#define ITERATORS_MAX 16384
#define SETS_MAX 1024
#define NONE UINT32_MAX

/* Addresses end below that bit. */
#define KEY(pid, address) ((address) + ((uint64_t)(pid) << 48))

struct iterator {
	uint32_t pid;
	uint64_t handle, parent;
	uint64_t resource; /* outermost iterators: the resource that the trainer uses; 0 = unknown */
	uint32_t set; /* outermost iterators: index into sets, NONE = not known yet */
	uint32_t path, length; /* outermost iterators: the longest path below it */
};

/* A resource, and its data set. */
struct filled {
	uint64_t key, data;
};

struct set {
	uint32_t pid, number, path;
	uint64_t data; /* address; 0 = not known */
	uint64_t first_ns, last_ns; /* of the calls for it */
};

struct live_instances {
	struct map by_handle; /* -> iterators */
	struct map last_top; /* by thread -> iterators: the outermost iterator that it used last */
	struct map by_resource; /* -> filled */
	struct iterator *iterators;
	struct filled *filled;
	struct set *sets;
	uint32_t iterator_count, filled_count, set_count;
};

bool live_plain_path(const char *path, char *plain, size_t size)
{
	size_t length = 0;

	memset(plain, 0, size);
	for (; *path && length < size - 1; path++) {
		size_t digits = *path == '[' ? strspn(path + 1, "0123456789") : 0;

		if (digits && path[1 + digits] == ']')
			path += 1 + digits;
		else
			plain[length++] = *path;
	}
	return !*path;
}

const char *live_last_name(const char *path)
{
	const char *name = path;

	for (const char *next; (next = strstr(name, "::"));)
		name = next + 2;
	return name;
}

struct live_instances *live_instances_new(void)
{
	struct live_instances *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->iterators = calloc(ITERATORS_MAX, sizeof(*t->iterators));
	t->filled = calloc(ITERATORS_MAX, sizeof(*t->filled));
	t->sets = calloc(SETS_MAX, sizeof(*t->sets));
	if (t->iterators && t->filled && t->sets)
		return t;
	live_instances_free(t);
	return NULL;
}

static void forget_iterators(struct live_instances *t)
{
	map_free(&t->by_handle);
	map_free(&t->last_top);
	map_free(&t->by_resource);
	t->by_handle = t->last_top = t->by_resource = (struct map){ 0 };
	t->iterator_count = t->filled_count = 0;
}

void live_instances_free(struct live_instances *t)
{
	if (!t)
		return;
	forget_iterators(t);
	free(t->iterators);
	free(t->filled);
	free(t->sets);
	free(t);
}

/* An iterator, made if it is new; NULL without memory. Addresses are reused: its parent may have changed. */
static struct iterator *iterator_at(struct live_instances *t, uint32_t pid, uint64_t handle)
{
	uint32_t at = map_get(&t->by_handle, KEY(pid, handle));

	if (at != MAP_NONE)
		return &t->iterators[at];
	if (t->iterator_count == ITERATORS_MAX)
		forget_iterators(t);
	at = t->iterator_count;
	if (!map_put(&t->by_handle, KEY(pid, handle), at))
		return NULL;
	t->iterator_count++;
	t->iterators[at] = (struct iterator){ .pid = pid, .handle = handle, .set = NONE };
	return &t->iterators[at];
}

void live_instances_asked(struct live_instances *t, uint32_t pid, uint32_t tid, uint64_t handle,
			 uint64_t parent)
{
	struct iterator *iterator = handle ? iterator_at(t, pid, handle) : NULL;

	if (!iterator)
		return;
	iterator->parent = parent;
	if (!parent)
		map_put(&t->last_top, tid, (uint32_t)(iterator - t->iterators));
}

void live_instances_fetched(struct live_instances *t, uint32_t pid, uint32_t tid, uint64_t resource)
{
	uint32_t at = map_get(&t->last_top, tid);

	if (at != MAP_NONE && at < t->iterator_count && t->iterators[at].pid == pid)
		t->iterators[at].resource = resource;
}

void live_instances_filled(struct live_instances *t, uint32_t pid, uint64_t resource, uint64_t data)
{
	uint64_t key = KEY(pid, resource);
	uint32_t at = map_get(&t->by_resource, key);

	if (at == MAP_NONE) {
		if (t->filled_count == ITERATORS_MAX)
			forget_iterators(t);
		at = t->filled_count;
		if (!map_put(&t->by_resource, key, at))
			return;
		t->filled_count++;
	}
	t->filled[at] = (struct filled){ key, data };
}

static uint64_t data_of(const struct live_instances *t, const struct iterator *top)
{
	uint32_t at = top->resource ? map_get(&t->by_resource, KEY(top->pid, top->resource))
				    : MAP_NONE;

	return at == MAP_NONE ? 0 : t->filled[at].data;
}

static uint32_t add_set(struct live_instances *t, const struct iterator *top, uint64_t data,
			uint64_t begin_ns)
{
	uint32_t number = 1;

	if (t->set_count == SETS_MAX)
		return NONE;
	for (uint32_t i = 0; i < t->set_count; i++)
		number += t->sets[i].pid == top->pid;
	t->sets[t->set_count] =
		(struct set){ top->pid, number, top->path, data, begin_ns, begin_ns };
	return t->set_count++;
}

/* The set with this data, else one from before the recording that has ended. */
static uint32_t set_with(const struct live_instances *t, const struct iterator *top, uint64_t data,
			 uint64_t begin_ns)
{
	uint32_t before = NONE;

	for (uint32_t i = 0; i < t->set_count; i++) {
		const struct set *set = &t->sets[i];

		if (set->pid != top->pid || set->path != top->path)
			continue;
		if (set->data == data)
			return i;
		if (!set->data && set->last_ns <= begin_ns &&
		    (before == NONE || set->first_ns < t->sets[before].first_ns))
			before = i;
	}
	return before;
}

/* Determined once for an iterator, and again when its resource's data set becomes known. */
static uint32_t find_set(struct live_instances *t, const struct iterator *top, uint64_t begin_ns)
{
	uint64_t data = data_of(t, top);
	uint32_t set = top->set;

	if (set != NONE && (t->sets[set].data == data || !data))
		return set;
	if (data)
		set = set_with(t, top, data, begin_ns);
	/* Its first call may have been passed before the trainer's call around it. */
	if (data && set == NONE && top->set != NONE && !t->sets[top->set].data)
		set = top->set;
	if (set == NONE || !data)
		set = add_set(t, top, data, begin_ns);
	if (set != NONE && data)
		t->sets[set].data = data;
	return set;
}

static struct iterator *top_of(const struct live_instances *t, uint32_t pid, uint64_t handle)
{
	uint32_t at = handle ? map_get(&t->by_handle, KEY(pid, handle)) : MAP_NONE;
	struct iterator *top = NULL;

	for (int depth = 0; at != MAP_NONE && depth < DEPTH_MAX; depth++) {
		top = &t->iterators[at];
		if (!top->parent)
			break;
		at = map_get(&t->by_handle, KEY(pid, top->parent));
	}
	return top && !top->parent ? top : NULL;
}

void live_instances_made(struct live_instances *t, uint32_t pid, uint64_t handle, uint32_t path,
			uint32_t length)
{
	struct iterator *top = top_of(t, pid, handle);

	/* Of paths of equal length always the same one is chosen. */
	if (!top || length < top->length || (length == top->length && path >= top->path))
		return;
	top->path = path;
	top->length = length;
	if (top->set != NONE)
		t->sets[top->set].path = path;
}

uint32_t live_instances_of(struct live_instances *t, uint32_t pid, uint64_t handle,
			  uint64_t begin_ns, uint64_t end_ns)
{
	struct iterator *top = top_of(t, pid, handle);

	if (!top)
		return 0;
	top->set = find_set(t, top, begin_ns);
	if (top->set == NONE)
		return 0;
	if (end_ns > t->sets[top->set].last_ns)
		t->sets[top->set].last_ns = end_ns;
	return t->sets[top->set].number;
}

void live_instances_gone(struct live_instances *t, uint32_t pid)
{
	uint32_t place[SETS_MAX], kept = 0;

	for (uint32_t i = 0; i < t->set_count; i++) {
		place[i] = t->sets[i].pid == pid ? NONE : kept;
		if (place[i] != NONE)
			t->sets[kept++] = t->sets[i];
	}
	if (kept == t->set_count)
		return;
	t->set_count = kept;
	for (uint32_t i = 0; i < t->iterator_count; i++)
		if (t->iterators[i].set != NONE)
			t->iterators[i].set = place[t->iterators[i].set];
}

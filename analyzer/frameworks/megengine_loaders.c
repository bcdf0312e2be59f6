/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds which of a process's MegEngine DataLoaders a batch belongs to.
 *
 * An iterator over a loader has its own worker processes and its own client of the plasma store. The trainer asks that
 * client for the batch with the id under which a worker stored it: this connects client and worker. All workers of an
 * iterator start before its first batch exists: a worker that starts later belongs to another iterator, even if the
 * client's memory is reused. If the workers of an iterator begin when all batches of another one are fetched, and are
 * as many, both are epochs of one loader, as far as this can be determined: unless both were recorded from beginning
 * to end and had different numbers of batches.
 *
 * Workers without any fetched batch belong to the loader of the nearest ancestor that has loaders, if it is the only
 * one. Sources: megengine/data/dataloader.py and megengine/data/tools/_queue.py of MegEngine 1.13.
 */
#include "analyzer/frameworks/megengine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/frameworks/framework.h"
#include "analyzer/frameworks/python_loader.h"
#include "lib/base/map.h"

#define ANCESTORS_MAX 8

/* One iterator, as far as it was recorded. */
struct iterator {
	uint32_t process;
	uint64_t client; /* 0 = unknown */
	uint64_t first_ns, last_ns; /* first and last fetch */
	uint64_t begin_ns; /* start of its first worker; 0 = before the recording, or unknown */
	uint32_t fetches, workers;
	bool from_start, to_end; /* all of its workers began, and ended, during the recording */
	uint32_t loader;
};

/* The properties of a loader that follow from its iterators. */
struct group {
	uint32_t process;
	uint64_t begin_ns, last_ns; /* of its last iterator */
	uint32_t workers;
	uint32_t fetches; /* of an iterator that was recorded completely; 0 = there is none */
	uint32_t most; /* the largest number of fetches of any iterator */
};

struct finder {
	struct megengine *m;
	struct map sealed; /* id of a batch -> process that made it */
	uint32_t *of_worker; /* by process: its iterator, or INDEX_NONE */
	MODEL_ARRAY(struct iterator) iterators; /* sorted by first fetch, within a thread */
	MODEL_ARRAY(struct group) groups; /* one for each loader */
};

/* Returns the main thread of a process. */
static const struct thread *first_thread(const struct model *model, uint32_t process)
{
	for (uint32_t i = 0; i < model->threads.count; i++)
		if (model->threads.row[i].process == process &&
		    model->threads.row[i].tid == model->processes.row[process].pid)
			return &model->threads.row[i];
	return NULL;
}

/* Returns the start of a process; 0 = before the recording. */
static uint64_t began_ns(const struct model *model, uint32_t process)
{
	const struct thread *thread = first_thread(model, process);
	uint64_t ns = thread ? thread->first_ns : 0;

	return ns > model->info.session_start_ns ? ns : 0;
}

static uint32_t latest_of_client(const struct finder *f, uint32_t process, uint64_t client)
{
	for (uint32_t i = f->iterators.count; i-- > 0;)
		if (f->iterators.row[i].process == process && f->iterators.row[i].client == client)
			return i;
	return INDEX_NONE;
}

static uint32_t add_iterator(struct finder *f, const struct call *call, uint64_t client)
{
	struct iterator row = { .process = framework_process(f->m->model, call),
				.client = client,
				.first_ns = call->start_ns,
				.from_start = true,
				.to_end = true };

	return MODEL_PUSH(&f->iterators, row) ? f->iterators.count - 1 : INDEX_NONE;
}

static void add_worker(struct finder *f, uint32_t iterator, uint32_t worker)
{
	struct iterator *of = &f->iterators.row[iterator];
	const struct thread *thread = first_thread(f->m->model, worker);

	f->of_worker[worker] = iterator;
	if (!of->workers++ || began_ns(f->m->model, worker) < of->begin_ns)
		of->begin_ns = began_ns(f->m->model, worker);
	of->from_start &= began_ns(f->m->model, worker) != 0;
	of->to_end &= thread && thread->exit_ns;
}

/* The trainer fetches a batch. */
static int asked(struct finder *f, const struct call *call)
{
	uint64_t id = framework_value(f->m->model, call, PROFBPF__FUNCTION__ROLE__HANDLE);
	uint64_t client = framework_value(f->m->model, call, PROFBPF__FUNCTION__ROLE__CORRELATION);
	uint32_t worker = id ? map_get(&f->sealed, id) : MAP_NONE;
	uint32_t iterator = worker == MAP_NONE ? INDEX_NONE : f->of_worker[worker];
	bool is_new = worker != MAP_NONE && iterator == INDEX_NONE;

	if (iterator == INDEX_NONE)
		iterator = latest_of_client(f, framework_process(f->m->model, call), client);
	if (is_new && iterator != INDEX_NONE &&
	    began_ns(f->m->model, worker) > f->iterators.row[iterator].first_ns)
		iterator = INDEX_NONE;
	if (iterator == INDEX_NONE)
		iterator = add_iterator(f, call, client);
	if (iterator == INDEX_NONE)
		return -ENOMEM;
	if (is_new)
		add_worker(f, iterator, worker);
	f->m->loader_of[call - f->m->model->calls.row] = iterator;
	f->iterators.row[iterator].last_ns = call->end_ns;
	f->iterators.row[iterator].fetches++;
	return 0;
}

static int find_iterators(struct finder *f)
{
	const struct model *model = f->m->model;
	int err = 0;

	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];
		uint64_t id = framework_value(f->m->model, call, PROFBPF__FUNCTION__ROLE__HANDLE);

		if (f->m->what[call->function] == MEGENGINE_SEAL && id &&
		    !map_put(&f->sealed, id, framework_process(f->m->model, call)))
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < model->calls.count && !err; i++)
		if (f->m->what[model->calls.row[i].function] == MEGENGINE_CONTAINS)
			err = asked(f, &model->calls.row[i]);
	return err;
}

static bool whole(const struct iterator *iterator)
{
	return iterator->workers && iterator->from_start && iterator->to_end;
}

static bool may_be(const struct group *group, const struct iterator *iterator)
{
	uint64_t begin_ns = iterator->workers ? iterator->begin_ns : iterator->first_ns;

	if (group->process != iterator->process || group->last_ns > begin_ns)
		return false;
	/* An iterator that was recorded only partly may have had more workers and batches. */
	if (!whole(iterator))
		return iterator->workers <= group->workers &&
		       (!group->fetches || iterator->fetches <= group->fetches);
	return iterator->workers == group->workers && iterator->fetches >= group->most &&
	       (!group->fetches || iterator->fetches == group->fetches);
}

/* Loaders take turns: of the possible loaders the right one is the one whose last epoch began first. */
static uint32_t group_of(struct finder *f, const struct iterator *iterator)
{
	struct group row = { .process = iterator->process };
	uint32_t best = INDEX_NONE;

	for (uint32_t g = 0; g < f->groups.count; g++)
		if (may_be(&f->groups.row[g], iterator) &&
		    (best == INDEX_NONE || f->groups.row[g].begin_ns < f->groups.row[best].begin_ns))
			best = g;
	if (best == INDEX_NONE && !MODEL_PUSH(&f->groups, row))
		return INDEX_NONE;
	return best == INDEX_NONE ? f->groups.count - 1 : best;
}

static int by_first(const void *a, const void *b, void *finder)
{
	const struct finder *f = finder;
	const struct iterator *x = &f->iterators.row[*(const uint32_t *)a];
	const struct iterator *y = &f->iterators.row[*(const uint32_t *)b];

	return x->first_ns < y->first_ns ? -1 : x->first_ns > y->first_ns;
}

static int find_loaders(struct finder *f)
{
	uint32_t *order = malloc(((size_t)f->iterators.count + 1) * sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->iterators.count; i++)
		order[i] = i;
	qsort_r(order, f->iterators.count, sizeof(*order), by_first, f);
	for (uint32_t n = 0; n < f->iterators.count; n++) {
		struct iterator *iterator = &f->iterators.row[order[n]];
		struct group *group;

		iterator->loader = group_of(f, iterator);
		if (iterator->loader == INDEX_NONE) {
			free(order);
			return -ENOMEM;
		}
		group = &f->groups.row[iterator->loader];
		group->begin_ns = iterator->first_ns;
		group->last_ns = iterator->last_ns;
		if (iterator->fetches > group->most)
			group->most = iterator->fetches;
		if (iterator->workers > group->workers)
			group->workers = iterator->workers;
		if (whole(iterator))
			group->fetches = iterator->fetches;
	}
	free(order);
	return 0;
}

/* Returns the only loader of a process; *@any: the process has a loader. */
static uint32_t only_loader(const struct finder *f, uint32_t process, bool *any)
{
	uint32_t only = INDEX_NONE;

	*any = false;
	for (uint32_t g = 0; g < f->groups.count; g++) {
		if (f->groups.row[g].process != process)
			continue;
		only = *any ? INDEX_NONE : g;
		*any = true;
	}
	return only;
}

/* Returns the loader that a worker works for, INDEX_NONE if unknown. */
static uint32_t served(const struct finder *f, uint32_t worker)
{
	uint32_t process = worker;

	if (f->of_worker[worker] != INDEX_NONE)
		return f->iterators.row[f->of_worker[worker]].loader;
	for (int i = 0; i < ANCESTORS_MAX; i++) {
		uint32_t only;
		bool any;

		process = loader_parent(f->m->model, process);
		if (process == INDEX_NONE)
			break;
		only = only_loader(f, process, &any);
		if (any)
			return only;
	}
	return INDEX_NONE;
}

static int fill(struct finder *f)
{
	struct megengine *m = f->m;

	for (uint32_t g = 0; g < f->groups.count; g++) {
		struct megengine_loader row = { .process = f->groups.row[g].process };

		if (!MODEL_PUSH(&m->loaders, row))
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < m->model->calls.count; i++) {
		const struct call *call = &m->model->calls.row[i];

		if (m->loader_of[i] != INDEX_NONE)
			m->loader_of[i] = f->iterators.row[m->loader_of[i]].loader;
		else if (m->what[call->function] == MEGENGINE_SEAL)
			m->loader_of[i] = served(f, framework_process(f->m->model, call));
	}
	return 0;
}

int megengine_loaders_find(struct megengine *m)
{
	struct finder f = { .m = m };
	size_t size = ((size_t)m->model->processes.count + 1) * sizeof(*f.of_worker);
	int err;

	f.of_worker = malloc(size);
	if (!f.of_worker)
		return -ENOMEM;
	memset(f.of_worker, 0xff, size);
	err = find_iterators(&f);
	if (!err)
		err = find_loaders(&f);
	if (!err)
		err = fill(&f);
	free(f.of_worker);
	free(f.iterators.row);
	free(f.groups.row);
	map_free(&f.sealed);
	return err;
}

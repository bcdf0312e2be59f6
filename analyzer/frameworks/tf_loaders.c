/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds which data set of its process a call of tf.data belongs to.
 *
 * Paths do not identify it: two data sets built in the same way have the same paths. But each call has the iterator's
 * address, and the address of its parent iterator, which is 0 for the outermost one. At the top, the trainer's call
 * for a batch has the address of the resource that holds the iterators, and the call that filled the resource has the
 * address of the data set. A loop over a data set fills a new resource in each epoch: the resources of one data set
 * are one loader. Memory is reused, so each relation is valid from some instant on, until the next call about the same
 * address.
 *
 * A resource that was filled before recording began has an unknown data set: the one that is built in the same way and
 * used only after it, as epochs are; if there are several, the one whose turn it is, as far as this can be determined.
 * A data set that is used meanwhile is another one. Calls whose parents were not recorded belong to the only data set
 * that is built in the same way.
 *
 * Sources: tensorflow/core/framework/dataset.h (IteratorBase), kernels/data/iterator_ops.cc of TensorFlow 2.21.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/frameworks/framework.h"
#include "analyzer/frameworks/tf_data.h"
#include "lib/base/bisect.h"

/* The parent of the iterator at an address, from an instant on. */
struct iterator {
	uint32_t process;
	uint64_t handle, ts_ns, parent;
};

/* A resource from one data set to the next; or calls without a known resource. */
struct use {
	uint32_t process;
	uint64_t resource; /* address; without a resource, address of the highest known iterator */
	uint64_t from_ns; /* 0: filled before recording began */
	uint64_t data; /* address of the data set; 0 = unknown */
	uint64_t first_ns, last_ns; /* of the fetches; if there are none, of the calls */
	bool fetched, called;
	uint32_t path; /* deepest path that it uses, string id */
	uint32_t last_text; /* last path that occurred */
	uint32_t group; /* index of the first use of the same data set; INDEX_NONE = unknown as yet */
	uint32_t loader;
};

/* The outermost iterator of a use. */
struct top {
	uint32_t process;
	uint64_t handle, from_ns;
	uint32_t use;
};

struct finder {
	struct tf_data *tf;
	MODEL_ARRAY(struct iterator) iterators; /* sorted by process, address and time */
	MODEL_ARRAY(struct use) uses; /* uses of resources first, sorted by process, address and time */
	MODEL_ARRAY(struct top) tops; /* sorted by process, address and time */
	uint32_t resources; /* number of uses of resources */
	struct map strays; /* process and address -> use without a resource */
	uint32_t *order; /* uses with calls, sorted by their beginning */
	uint32_t order_count;
};

#define IN_ORDER(a, b) ((a) < (b) ? -1 : (a) > (b))

static int in_order(uint32_t process, uint64_t address, uint64_t ts_ns, uint32_t other_process,
		    uint64_t other_address, uint64_t other_ns)
{
	if (process != other_process)
		return IN_ORDER(process, other_process);
	return address != other_address ? IN_ORDER(address, other_address)
					: IN_ORDER(ts_ns, other_ns);
}

static int by_iterator(const void *a, const void *b)
{
	const struct iterator *x = a, *y = b;

	return in_order(x->process, x->handle, x->ts_ns, y->process, y->handle, y->ts_ns);
}

static int by_resource(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return in_order(x->process, x->resource, x->from_ns, y->process, y->resource, y->from_ns);
}

static int by_top(const void *a, const void *b)
{
	const struct top *x = a, *y = b;

	return in_order(x->process, x->handle, x->from_ns, y->process, y->handle, y->from_ns);
}

#define HANDLE PROFBPF__FUNCTION__ROLE__HANDLE
#define PARENT PROFBPF__FUNCTION__ROLE__CORRELATION
#define DATA PROFBPF__FUNCTION__ROLE__VALUE

static bool add_call(struct finder *f, const struct call *call)
{
	struct iterator iterator = { .process = framework_process(f->tf->model, call),
				     .ts_ns = call->start_ns };
	struct use use = { .process = iterator.process, .group = INDEX_NONE };

	iterator.handle = use.resource = framework_value(f->tf->model, call, HANDLE);
	if (!iterator.handle)
		return true;
	switch (f->tf->what[call->function]) {
	case TF_GET_NEXT:
		iterator.parent = framework_value(f->tf->model, call, PARENT);
		return MODEL_PUSH(&f->iterators, iterator);
	case TF_SET:
		use.from_ns = call->start_ns;
		use.data = framework_value(f->tf->model, call, DATA);
		break;
	case TF_FETCH: break; /* it may be filled already: the use is dropped if it remains unused */
	default: return true;
	}
	if (f->uses.count && by_resource(&f->uses.row[f->uses.count - 1], &use) == 0)
		return true;
	return MODEL_PUSH(&f->uses, use);
}

/* Of successive rows with the same content only the first is kept. */
static void tidy(struct finder *f)
{
	uint32_t kept = 0;

	if (f->iterators.count)
		qsort(f->iterators.row, f->iterators.count, sizeof(*f->iterators.row), by_iterator);
	for (uint32_t i = 0; i < f->iterators.count; i++) {
		const struct iterator *row = &f->iterators.row[i];
		const struct iterator *last = kept ? &f->iterators.row[kept - 1] : NULL;

		if (!last || last->process != row->process || last->handle != row->handle ||
		    last->parent != row->parent)
			f->iterators.row[kept++] = *row;
	}
	f->iterators.count = kept;
	kept = 0;
	if (f->uses.count)
		qsort(f->uses.row, f->uses.count, sizeof(*f->uses.row), by_resource);
	for (uint32_t i = 0; i < f->uses.count; i++)
		if (!kept || by_resource(&f->uses.row[kept - 1], &f->uses.row[i]) != 0)
			f->uses.row[kept++] = f->uses.row[i];
	f->uses.count = f->resources = kept;
}

/* Returns the use of a resource at an instant, or INDEX_NONE. */
static uint32_t use_at(const struct finder *f, uint32_t process, uint64_t resource, uint64_t ts_ns)
{
	const struct use wanted = { .process = process, .resource = resource, .from_ns = ts_ns };
	uint32_t next =
		BISECT(i, 0, f->resources, by_resource(&f->uses.row[i], &wanted) <= 0);
	const struct use *use = next ? &f->uses.row[next - 1] : NULL;

	return use && use->process == process && use->resource == resource ? next - 1 : INDEX_NONE;
}

/*
 * Returns the use for an iterator whose resource is unknown, by the iterator's address; adds it if it is new.
 * INDEX_NONE without memory.
 */
static uint32_t stray_of(struct finder *f, uint32_t process, uint64_t address)
{
	uint64_t key = address + ((uint64_t)process << 48);
	uint32_t use = map_get(&f->strays, key);
	struct use row = { .process = process, .resource = address, .group = INDEX_NONE };

	if (use != MAP_NONE)
		return use;
	use = f->uses.count;
	return MODEL_PUSH(&f->uses, row) && map_put(&f->strays, key, use) ? use : INDEX_NONE;
}

/* Records a call in its use. */
static void note(struct finder *f, uint32_t use, const struct call *call)
{
	struct use *of = &f->uses.row[use];
	bool fetch = f->tf->what[call->function] == TF_FETCH;
	const char *path = model_text(f->tf->model, call->text), *deepest;
	size_t length = strlen(path);

	if (!of->called || (fetch && !of->fetched)) {
		of->first_ns = call->start_ns;
		of->last_ns = call->end_ns;
	} else if (fetch || !of->fetched) {
		of->first_ns = call->start_ns < of->first_ns ? call->start_ns : of->first_ns;
		of->last_ns = call->end_ns > of->last_ns ? call->end_ns : of->last_ns;
	}
	of->called = true;
	of->fetched |= fetch;
	if (fetch || call->text == of->last_text)
		return;
	of->last_text = call->text;
	deepest = model_text(f->tf->model, of->path);
	if (length > strlen(deepest) ||
	    (length == strlen(deepest) && strcmp(path, deepest) < 0))
		of->path = call->text;
}

static bool add_top(struct finder *f, uint32_t use, const struct call *call)
{
	struct top top = { .process = f->uses.row[use].process,
			   .from_ns = f->uses.row[use].from_ns,
			   .use = use };
	uint64_t parent = framework_value(f->tf->model, call, PARENT);

	top.handle = parent ? parent : framework_value(f->tf->model, call, HANDLE);
	if (!top.handle || (f->tops.count && f->tops.row[f->tops.count - 1].use == use &&
			    f->tops.row[f->tops.count - 1].handle == top.handle))
		return true;
	return MODEL_PUSH(&f->tops, top);
}

/* GetNext() calls of a fetch on its own thread belong to its use, and identify the outermost iterator. */
static int take_fetches(struct finder *f)
{
	const struct model *model = f->tf->model;
	const struct call *fetch = NULL, *outermost = NULL;
	uint32_t use = INDEX_NONE;

	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];
		uint8_t what = f->tf->what[call->function];

		if (fetch && !tf_encloses(fetch, call))
			fetch = outermost = NULL;
		if (what == TF_FETCH && !fetch) {
			fetch = call;
			use = use_at(f, framework_process(f->tf->model, call),
				     framework_value(f->tf->model, call, HANDLE),
				     call->start_ns);
			if (use == INDEX_NONE)
				use = stray_of(f, framework_process(f->tf->model, call), 0);
			if (use == INDEX_NONE)
				return -ENOMEM;
		}
		if (!fetch || (what != TF_FETCH && what != TF_GET_NEXT))
			continue;
		f->tf->loader_of[i] = use;
		note(f, use, call);
		if (what == TF_GET_NEXT && !outermost) {
			outermost = call;
			if (!add_top(f, use, call))
				return -ENOMEM;
		}
	}
	if (f->tops.count)
		qsort(f->tops.row, f->tops.count, sizeof(*f->tops.row), by_top);
	return 0;
}

/* Returns the iterator known at an address at an instant, or else the first one known after it; or NULL. */
static const struct iterator *iterator_at(const struct finder *f, uint32_t process, uint64_t handle,
					  uint64_t ts_ns)
{
	const struct iterator wanted = { .process = process, .handle = handle, .ts_ns = ts_ns };
	uint32_t next = BISECT(i, 0, f->iterators.count,
			       by_iterator(&f->iterators.row[i], &wanted) <= 0);
	const struct iterator *row = &f->iterators.row[next];

	if (next && row[-1].process == process && row[-1].handle == handle)
		return &row[-1];
	return next < f->iterators.count && row->process == process && row->handle == handle ? row
											     : NULL;
}

static uint32_t use_of_top(const struct finder *f, uint32_t process, uint64_t handle, uint64_t ts_ns)
{
	const struct top wanted = { .process = process, .handle = handle, .from_ns = ts_ns };
	uint32_t next = BISECT(i, 0, f->tops.count, by_top(&f->tops.row[i], &wanted) <= 0);
	const struct top *top = next ? &f->tops.row[next - 1] : NULL;

	return top && top->process == process && top->handle == handle ? top->use : INDEX_NONE;
}

/* Follows the parents of a call up to the outermost iterator and returns its use; INDEX_NONE without memory. */
static uint32_t use_above(struct finder *f, const struct call *call)
{
	uint32_t process = framework_process(f->tf->model, call), use;
	uint64_t handle = framework_value(f->tf->model, call, HANDLE);
	uint64_t parent = framework_value(f->tf->model, call, PARENT);

	for (int depth = 0; parent && depth < TF_DEPTH_MAX; depth++) {
		const struct iterator *above = iterator_at(f, process, parent, call->start_ns);

		handle = parent;
		parent = above ? above->parent : 0;
	}
	use = handle ? use_of_top(f, process, handle, call->start_ns) : INDEX_NONE;
	return use != INDEX_NONE ? use : stray_of(f, process, handle);
}

/* Handles calls of threads that prefetch; the calls inside these belong to the same use. */
static int take_others(struct finder *f)
{
	const struct model *model = f->tf->model;
	const struct call *outermost = NULL;
	uint32_t use = INDEX_NONE;

	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];

		if (f->tf->what[call->function] != TF_GET_NEXT ||
		    f->tf->loader_of[i] != INDEX_NONE)
			continue;
		if (!outermost || !tf_encloses(outermost, call)) {
			outermost = call;
			use = use_above(f, call);
		}
		if (use == INDEX_NONE)
			return -ENOMEM;
		f->tf->loader_of[i] = use;
		note(f, use, call);
	}
	return 0;
}

static uint64_t begins(const struct use *use)
{
	return use->from_ns ? use->from_ns : use->first_ns;
}

/* Are they built in the same way, as far as both were recorded? -1 without memory. */
static int alike(const struct finder *f, const struct use *a, const struct use *b)
{
	char *x, *y;
	size_t length;
	int is = -1;

	if (a->path == b->path)
		return 1;
	x = tf_plain_path(model_text(f->tf->model, a->path));
	y = tf_plain_path(model_text(f->tf->model, b->path));
	if (x && y) {
		length = strlen(x) < strlen(y) ? strlen(x) : strlen(y);
		is = strncmp(x, y, length) == 0 && (!x[length] || x[length] == ':') &&
		     (!y[length] || y[length] == ':');
	}
	free(x);
	free(y);
	return is;
}

/* Groups uses with a known data set. */
static int group_known(struct finder *f)
{
	struct map first = { 0 };
	int err = 0;

	for (uint32_t n = 0; n < f->order_count && !err; n++) {
		struct use *use = &f->uses.row[f->order[n]];
		uint64_t key = use->data + ((uint64_t)use->process << 48);
		uint32_t known = use->data ? map_get(&first, key) : MAP_NONE;
		int same = known == MAP_NONE ? 0 : alike(f, &f->uses.row[known], use);

		if (!use->data)
			continue;
		use->group = same > 0 ? known : f->order[n];
		if (same < 0 || (!same && !map_put(&first, key, f->order[n])))
			err = -ENOMEM;
	}
	map_free(&first);
	return err;
}

/* Was the use over before the first use of that group began? */
static bool may_precede(const struct finder *f, const struct use *use, uint32_t group)
{
	return group != INDEX_NONE && begins(&f->uses.row[group]) >= use->last_ns;
}

/* Does another use in that group, also from before the recording, overlap in time? */
static bool is_taken(const struct finder *f, const struct use *use, uint32_t group)
{
	for (uint32_t n = 0; n < f->order_count; n++) {
		const struct use *other = &f->uses.row[f->order[n]];

		if (other != use && other->group == group && !other->data &&
		    other->first_ns < use->last_ns && use->first_ns < other->last_ns)
			return true;
	}
	return false;
}

/* Returns the number of known groups in @list, a list of uses in order; *@last is the last of them. */
static uint32_t distinct(const struct finder *f, const uint32_t *list, uint32_t count, uint32_t *last)
{
	uint32_t groups = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct use *use = &f->uses.row[list[i]];

		/* The first use of a data set represents it. */
		if (use->data && use->group == list[i]) {
			groups++;
			*last = list[i];
		}
	}
	return groups;
}

/*
 * Finds the group of a use in @list, the uses built in the same way in the order of their beginning. Their groups take
 * turns, so the next use of the same group is as many uses later as there are groups. Otherwise the only group.
 */
static uint32_t whose_turn(const struct finder *f, const uint32_t *list, uint32_t count, uint32_t at)
{
	const struct use *use = &f->uses.row[list[at]];
	uint32_t last = INDEX_NONE, groups = distinct(f, list, count, &last);
	uint32_t group = groups && groups < count - at ? f->uses.row[list[at + groups]].group
						       : INDEX_NONE;

	if (may_precede(f, use, group) && !is_taken(f, use, group))
		return group;
	return groups == 1 && may_precede(f, use, last) && !is_taken(f, use, last) ? last
										   : INDEX_NONE;
}

/* Groups resources that were filled before recording began. */
static int group_unknown(struct finder *f)
{
	uint32_t *list = malloc(((size_t)f->order_count + 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	for (uint32_t n = 0; n < f->order_count; n++) {
		struct use *use = &f->uses.row[f->order[n]];
		uint32_t count = 0, at = 0;

		if (use->group != INDEX_NONE || f->order[n] >= f->resources)
			continue;
		for (uint32_t k = 0; k < f->order_count; k++) {
			const struct use *other = &f->uses.row[f->order[k]];
			int same = other->process == use->process ? alike(f, other, use) : 0;

			if (same < 0) {
				free(list);
				return -ENOMEM;
			}
			if (k == n)
				at = count;
			if (same && f->order[k] < f->resources)
				list[count++] = f->order[k];
		}
		use->group = whose_turn(f, list, count, at);
		if (use->group == INDEX_NONE)
			use->group = f->order[n];
	}
	free(list);
	return 0;
}

/* Groups calls with unknown parents. */
static int group_strays(struct finder *f)
{
	for (uint32_t use = f->resources; use < f->uses.count; use++) {
		uint32_t only = INDEX_NONE, count = 0;

		for (uint32_t n = 0; n < f->order_count; n++) {
			const struct use *first = &f->uses.row[f->order[n]];
			int same;

			if (first->group != f->order[n] || f->order[n] >= f->resources ||
			    first->process != f->uses.row[use].process)
				continue;
			same = alike(f, first, &f->uses.row[use]);
			if (same < 0)
				return -ENOMEM;
			if (same && count++ == 0)
				only = f->order[n];
		}
		f->uses.row[use].group = count == 1 ? only : use;
	}
	return 0;
}

static int by_beginning(const void *a, const void *b, void *finder)
{
	const struct finder *f = finder;
	const struct use *x = &f->uses.row[*(const uint32_t *)a];
	const struct use *y = &f->uses.row[*(const uint32_t *)b];

	if (begins(x) != begins(y))
		return IN_ORDER(begins(x), begins(y));
	return IN_ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

static int group(struct finder *f)
{
	int err;

	f->order = malloc(((size_t)f->uses.count + 1) * sizeof(*f->order));
	if (!f->order)
		return -ENOMEM;
	for (uint32_t use = 0; use < f->uses.count; use++)
		if (f->uses.row[use].called)
			f->order[f->order_count++] = use;
	qsort_r(f->order, f->order_count, sizeof(*f->order), by_beginning, f);
	err = group_known(f);
	if (!err)
		err = group_unknown(f);
	return err ? err : group_strays(f);
}

/* Makes a pipeline for each group, in the order of their first use. */
static int make_loaders(struct finder *f)
{
	struct tf_data *tf = f->tf;

	for (uint32_t use = 0; use < f->uses.count; use++)
		f->uses.row[use].loader = INDEX_NONE;
	for (uint32_t n = 0; n < f->order_count; n++) {
		struct use *of = &f->uses.row[f->order[n]], *first = &f->uses.row[of->group];
		struct tf_loader loader = { .process = of->process,
					    .pipeline = tf->pipelines->list.count };

		if (first->loader == INDEX_NONE) {
			first->loader = tf->loaders.count;
			if (!pipeline_add(tf->pipelines, FRAMEWORK_TF_DATA.name, of->process) ||
			    !MODEL_PUSH(&tf->loaders, loader))
				return -ENOMEM;
		}
		of->loader = first->loader;
	}
	for (uint32_t i = 0; i < tf->model->calls.count; i++)
		if (tf->loader_of[i] != INDEX_NONE)
			tf->loader_of[i] = f->uses.row[tf->loader_of[i]].loader;
	return 0;
}

int tf_loaders_find(struct tf_data *tf)
{
	struct finder f = { .tf = tf };
	size_t size = ((size_t)tf->model->calls.count + 1) * sizeof(*tf->loader_of);
	int err = 0;

	tf->loader_of = malloc(size);
	if (!tf->loader_of)
		return -ENOMEM;
	memset(tf->loader_of, 0xff, size);
	for (uint32_t i = 0; i < tf->model->calls.count && !err; i++)
		if (tf->what[tf->model->calls.row[i].function])
			err = add_call(&f, &tf->model->calls.row[i]) ? 0 : -ENOMEM;
	if (!err) {
		tidy(&f);
		err = take_fetches(&f);
	}
	if (!err)
		err = take_others(&f);
	if (!err)
		err = group(&f);
	if (!err)
		err = make_loaders(&f);
	free(f.iterators.row);
	free(f.uses.row);
	free(f.tops.row);
	free(f.order);
	map_free(&f.strays);
	return err;
}

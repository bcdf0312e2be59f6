/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts the rows of a model. Rows arrive in batches of one CPU each, which are
 * already in order, so most of the work is to distribute them by thread (or CPU)
 * and to find that nothing is left to sort.
 */
#include "analyzer/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/bisect.h"
#include "lib/base/sort_rows.h"

typedef int compare_fn(const void *a, const void *b);

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_call_start(const void *a, const void *b)
{
	const struct call *x = a, *y = b;
	int order = compare_u64(x->start_ns, y->start_ns);

	if (order == 0)
		order = (int)x->depth - (int)y->depth;
	return order ? order : compare_u64(y->end_ns, x->end_ns);
}

static int by_ioctl_start(const void *a, const void *b)
{
	return compare_u64(((const struct ioctl_call *)a)->start_ns,
			   ((const struct ioctl_call *)b)->start_ns);
}

static int by_switch_time(const void *a, const void *b)
{
	return compare_u64(((const struct cpu_switch *)a)->ts_ns,
			   ((const struct cpu_switch *)b)->ts_ns);
}

static int by_wake_time(const void *a, const void *b)
{
	return compare_u64(((const struct wake *)a)->ts_ns, ((const struct wake *)b)->ts_ns);
}

static int by_account_time(const void *a, const void *b)
{
	return compare_u64(((const struct account *)a)->ts_ns, ((const struct account *)b)->ts_ns);
}

static int by_sample_time(const void *a, const void *b)
{
	return compare_u64(((const struct stack_sample *)a)->ts_ns,
			   ((const struct stack_sample *)b)->ts_ns);
}

static int by_host_stat_time(const void *a, const void *b)
{
	return compare_u64(((const struct host_stat *)a)->ts_ns,
			   ((const struct host_stat *)b)->ts_ns);
}

/*
 * The sort order of one array: first a small key (thread, CPU) at a fixed offset
 * in the row, then a comparison among rows of the same key.
 */
struct order {
	size_t size;
	size_t key_offset;
	size_t key_size; /* 2 or 4 bytes */
	compare_fn *compare;
};

static uint32_t key_of(const struct order *order, const char *row)
{
	uint32_t wide;
	uint16_t narrow;

	if (order->key_size == sizeof(narrow)) {
		memcpy(&narrow, row + order->key_offset, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, row + order->key_offset, sizeof(wide));
	return wide;
}

typedef bool settle_fn(void *context, void *row, bool again);

/* Rows that are dealt out. */
struct dealing {
	void **rows;
	uint32_t *count;
	uint32_t *capacity;
	settle_fn *settle; /* NULL: they are settled */
	bool settles_key;
	void *context;
	uint32_t *start; /* by key + 1: where its next row goes; in the end by key where its rows begin */
	uint32_t dropped;
	bool in_order; /* by their keys, and none is dropped */
};

#define SETTLED_MAX 64 /* bytes of rows that are settled */

/* The row as it will be, in @copy if it is to be settled; NULL if it is dropped. */
static const char *settled(const struct dealing *of, const struct order *order, const char *row,
			   bool again, char *copy)
{
	if (!of->settle)
		return row;
	memcpy(copy, row, order->size);
	return of->settle(of->context, copy, again) ? copy : NULL;
}

/* Counts the rows of each key. A key of @keys or above makes it fail. */
static bool count_keys(struct dealing *of, const struct order *order, uint32_t keys)
{
	const char *from = *of->rows;
	char copy[SETTLED_MAX];
	uint32_t before = 0;

	of->in_order = true;
	for (uint32_t i = 0; i < *of->count; i++) {
		const char *row = from + i * order->size;
		uint32_t key;

		if (of->settles_key)
			row = settled(of, order, row, false, copy);
		if (!row) {
			of->dropped++;
			of->in_order = false;
			continue;
		}
		key = key_of(order, row);
		if (key >= keys)
			return false;
		of->start[key + 2]++;
		of->in_order = of->in_order && key >= before;
		before = key;
	}
	for (uint32_t key = 2; key < keys + 2; key++)
		of->start[key] += of->start[key - 1];
	return true;
}

/* Rows in order stay where they are. */
static bool place_rows(struct dealing *of, const struct order *order)
{
	char *from = *of->rows, *to = from;
	char copy[SETTLED_MAX];

	if (!of->in_order)
		to = reallocarray(NULL, *of->count, order->size);
	if (!to)
		return false;
	for (uint32_t i = 0; i < *of->count; i++) {
		const char *row = settled(of, order, from + i * order->size, true, copy);

		if (row)
			memcpy(to + of->start[key_of(order, row) + 1]++ * order->size, row,
			       order->size);
	}
	if (!of->in_order) {
		free(from);
		*of->capacity = *of->count;
	}
	*of->rows = to;
	*of->count -= of->dropped;
	return true;
}

/*
 * deal - stable counting sort by key, then by @order->compare within each key
 *
 * On success *@first (owned by the caller) has the index of each key's first row; it has @keys + 1 entries.
 */
static bool deal(struct dealing *of, const struct order *order, uint32_t keys, uint32_t **first)
{
	bool ok;

	of->start = calloc((size_t)keys + 2, sizeof(*of->start));
	ok = of->start && count_keys(of, order, keys);
	if (ok && of->in_order && !of->settle)
		memmove(of->start, of->start + 1, ((size_t)keys + 1) * sizeof(*of->start));
	else if (ok && *of->count)
		ok = place_rows(of, order);
	for (uint32_t key = 0; ok && *of->count && key < keys; key++)
		sort_rows((char *)*of->rows + of->start[key] * order->size,
			  of->start[key + 1] - of->start[key], order->size, order->compare);
	if (ok)
		*first = of->start;
	else
		free(of->start);
	return ok;
}

#define ORDER(type, key, by)                                             \
	{                                                                \
		.size = sizeof(type), .key_offset = offsetof(type, key), \
		.key_size = sizeof(((type *)0)->key), .compare = by      \
	}

/* The rows of a MODEL_ARRAY. */
#define DEALING(array)                                                                  \
	{                                                                               \
		.rows = (void **)&(array)->row, .count = &(array)->count,               \
		.capacity = &(array)->capacity                                          \
	}

#define SETTLED_BY(array, by, key, settling)                                            \
	{                                                                               \
		.rows = (void **)&(array)->row, .count = &(array)->count,               \
		.capacity = &(array)->capacity, .settle = (settling) ? (settling)->by : NULL, \
		.settles_key = (settling) && (settling)->by && (key),                   \
		.context = (settling) ? (settling)->context : NULL                      \
	}

_Static_assert(sizeof(struct call) <= SETTLED_MAX && sizeof(struct ioctl_call) <= SETTLED_MAX &&
		       sizeof(struct cpu_switch) <= SETTLED_MAX,
	       "rows are settled in a copy");

static bool index_calls(struct model *model, const struct model_settling *settling)
{
	static const struct order by_start = ORDER(struct call, thread, by_call_start);
	static const struct order ioctls_by_start =
		ORDER(struct ioctl_call, thread, by_ioctl_start);
	struct dealing calls = SETTLED_BY(&model->calls, call, true, settling);
	struct dealing ioctls = SETTLED_BY(&model->ioctls, ioctl, true, settling);
	struct model_index *index = &model->index;
	uint32_t threads = model->threads.count;

	free(index->calls);
	free(index->ioctls);
	index->calls = NULL;
	index->ioctls = NULL;
	return deal(&calls, &by_start, threads, &index->calls) &&
	       deal(&ioctls, &ioctls_by_start, threads, &index->ioctls);
}

static bool sort_by_key(struct model *model, const struct model_settling *settling)
{
	static const struct order by_cpu = ORDER(struct cpu_switch, cpu, by_switch_time);
	static const struct order by_thread = ORDER(struct account, thread, by_account_time);
	struct dealing switches = SETTLED_BY(&model->switches, cpu_switch, false, settling);
	struct dealing accounts = DEALING(&model->accounts);
	uint32_t *first = NULL, cpus = 0;

	for (uint32_t i = 0; i < model->switches.count; i++)
		if (model->switches.row[i].cpu >= cpus)
			cpus = model->switches.row[i].cpu + 1u;
	if (!deal(&switches, &by_cpu, cpus, &first))
		return false;
	free(first);
	first = NULL;
	if (!deal(&accounts, &by_thread, model->threads.count, &first))
		return false;
	free(first);
	return true;
}

static int by_counter(const void *a, const void *b)
{
	const struct counter *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return compare_u64(x->ts_ns, y->ts_ns);
}

static int by_interrupt(const void *a, const void *b)
{
	const struct interrupt *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return compare_u64(x->ts_ns, y->ts_ns);
}

/* Interrupts of one thread do not overlap, so they are in order of their end, too. */
uint32_t model_interrupt_after(const struct model *model, uint32_t thread, uint64_t ts_ns)
{
	const struct interrupt *rows = model->interrupts.row;

	return BISECT(i, 0, model->interrupts.count,
		      rows[i].thread < thread ||
			      (rows[i].thread == thread && rows[i].ts_ns + rows[i].dur_ns <= ts_ns));
}

static int by_fault(const void *a, const void *b)
{
	const struct major_fault *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return compare_u64(x->end_ns, y->end_ns);
}

static int by_block_request(const void *a, const void *b)
{
	const struct block_request *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return compare_u64(x->end_ns, y->end_ns);
}

static int by_cpu_stat(const void *a, const void *b)
{
	const struct cpu_stat *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return compare_u64(x->ts_ns, y->ts_ns);
}

static int by_process_stat(const void *a, const void *b)
{
	const struct process_stat *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return compare_u64(x->ts_ns, y->ts_ns);
}

static int by_cgroup_stat(const void *a, const void *b)
{
	const struct cgroup_stat *x = a, *y = b;

	if (x->cgroup != y->cgroup)
		return x->cgroup < y->cgroup ? -1 : 1;
	return compare_u64(x->ts_ns, y->ts_ns);
}

bool model_index_settled(struct model *model, const struct model_settling *settling)
{
	if (!model_index_threads(model) || !index_calls(model, settling) ||
	    !sort_by_key(model, settling))
		return false;
	SORT_ARRAY(&model->counters, by_counter);
	SORT_ARRAY(&model->interrupts, by_interrupt);
	SORT_ARRAY(&model->wakes, by_wake_time);
	SORT_ARRAY(&model->faults, by_fault);
	SORT_ARRAY(&model->block_requests, by_block_request);
	SORT_ARRAY(&model->stack_samples, by_sample_time);
	SORT_ARRAY(&model->cpu_stats, by_cpu_stat);
	SORT_ARRAY(&model->host_stats, by_host_stat_time);
	SORT_ARRAY(&model->process_stats, by_process_stat);
	SORT_ARRAY(&model->cgroup_stats, by_cgroup_stat);
	return true;
}

bool model_index(struct model *model)
{
	return model_index_settled(model, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting of a model's rows. Rows arrive in batches of one CPU each, which are
 * in order by themselves, so that most of the work is to deal them out by
 * thread (or CPU) and to find that nothing is left to sort.
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
 * What one array is sorted by: first a small key (thread, CPU) found at a fixed
 * place in the row, then a comparison among rows of the same key.
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

/*
 * deal - stable counting sort by key, then by @order->compare within each key
 *
 * A key of @keys or above makes it fail. On success *@first (owned by the caller) tells where
 * each key's rows begin; it has @keys + 1 entries.
 */
static bool deal(void **rows, uint32_t count, uint32_t capacity, const struct order *order,
		 uint32_t keys, uint32_t **first)
{
	uint32_t *start = calloc((size_t)keys + 2, sizeof(*start));
	char *from = *rows, *to = NULL;

	if (!start)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t key = key_of(order, from + i * order->size);

		if (key >= keys) {
			free(start);
			return false;
		}
		start[key + 2]++;
	}
	for (uint32_t key = 2; key < keys + 2; key++)
		start[key] += start[key - 1];
	if (count) {
		to = reallocarray(NULL, capacity, order->size);
		if (!to) {
			free(start);
			return false;
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		const char *row = from + i * order->size;
		uint32_t place = start[key_of(order, row) + 1]++;

		memcpy(to + place * order->size, row, order->size);
	}
	for (uint32_t key = 0; count && key < keys; key++)
		sort_rows(to + start[key] * order->size, start[key + 1] - start[key], order->size,
			  order->compare);
	if (count) {
		free(*rows);
		*rows = to;
	}
	*first = start;
	return true;
}

#define ORDER(type, key, by)                                             \
	{                                                                \
		.size = sizeof(type), .key_offset = offsetof(type, key), \
		.key_size = sizeof(((type *)0)->key), .compare = by      \
	}

#define DEAL(array, order, keys, first) \
	deal((void **)&(array)->row, (array)->count, (array)->capacity, order, keys, first)

static bool index_calls(struct model *model)
{
	static const struct order calls = ORDER(struct call, thread, by_call_start);
	static const struct order ioctls = ORDER(struct ioctl_call, thread, by_ioctl_start);
	struct model_index *index = &model->index;
	uint32_t threads = model->threads.count;

	free(index->calls);
	free(index->ioctls);
	index->calls = NULL;
	index->ioctls = NULL;
	return DEAL(&model->calls, &calls, threads, &index->calls) &&
	       DEAL(&model->ioctls, &ioctls, threads, &index->ioctls);
}

static bool sort_by_key(struct model *model)
{
	static const struct order switches = ORDER(struct cpu_switch, cpu, by_switch_time);
	static const struct order accounts = ORDER(struct account, thread, by_account_time);
	uint32_t *first = NULL, cpus = 0;

	for (uint32_t i = 0; i < model->switches.count; i++)
		if (model->switches.row[i].cpu >= cpus)
			cpus = model->switches.row[i].cpu + 1u;
	if (!DEAL(&model->switches, &switches, cpus, &first))
		return false;
	free(first);
	first = NULL;
	if (!DEAL(&model->accounts, &accounts, model->threads.count, &first))
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

/* Those of one thread do not overlap: they are in order of their end, too. */
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

bool model_index(struct model *model)
{
	if (!model_index_threads(model) || !index_calls(model) || !sort_by_key(model))
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

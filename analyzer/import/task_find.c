/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/task_find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE_NS 1000 /* maximum difference of start times, exclusive */
#define NEAR_MAX 4096 /* tasks near an instant that are compared */

static uint64_t start_of(const struct task_find *find, uint32_t place)
{
	return find->import->model->tasks.row[find->by_start.row[place]].start_ns;
}

static int by_start(const void *a, const void *b, void *tasks)
{
	const struct device_task *x = (struct device_task *)tasks + *(const uint32_t *)a;
	const struct device_task *y = (struct device_task *)tasks + *(const uint32_t *)b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

int task_find_begin(struct task_find *find, struct import *import)
{
	const struct model *model = import->model;

	find->import = import;
	for (uint32_t i = import->first_task; i < model->tasks.count; i++) {
		if (!MODEL_PUSH(&find->by_start, i) || !MODEL_PUSH(&find->found, 0))
			return -ENOMEM;
	}
	if (find->by_start.count)
		qsort_r(find->by_start.row, find->by_start.count, sizeof(*find->by_start.row),
			by_start, model->tasks.row);
	return 0;
}

void task_find_free(struct task_find *find)
{
	free(find->by_start.row);
	free(find->found.row);
	*find = (struct task_find){ 0 };
}

static bool has_numbers(const struct model *model, const struct device_task *task,
			const struct task_wanted *wanted)
{
	const struct task_detail *detail = model_task_detail(model, task);

	return wanted->stream != UINT64_MAX && wanted->task != UINT64_MAX && detail &&
	       task->stream == wanted->stream && detail->task_id == wanted->task;
}

static bool is_of_device(const struct model *model, const struct device_task *task,
			 const struct task_wanted *wanted)
{
	return wanted->device == UINT64_MAX ||
	       model->devices.row[task->device].id == wanted->device;
}

static bool is_wanted(const struct task_find *find, uint32_t place,
		      const struct task_wanted *wanted)
{
	const struct model *model = find->import->model;
	const struct device_task *task = &model->tasks.row[find->by_start.row[place]];

	return !find->found.row[place] && is_of_device(model, task, wanted) &&
	       (task->name == wanted->name || has_numbers(model, task, wanted));
}

/* The first place whose task does not begin before @ns. */
static uint32_t place_at(const struct task_find *find, uint64_t ns)
{
	uint32_t low = 0, high = find->by_start.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (start_of(find, middle) < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t task_find(struct task_find *find, const struct task_wanted *wanted)
{
	uint64_t from = wanted->start_ns < TOLERANCE_NS ? 0 : wanted->start_ns - TOLERANCE_NS + 1;
	uint32_t best = INDEX_NONE;
	uint64_t least = TOLERANCE_NS;

	uint32_t first = place_at(find, from);

	for (uint32_t place = first; place < find->by_start.count && place - first < NEAR_MAX;
	     place++) {
		uint64_t start = start_of(find, place);
		uint64_t apart = start > wanted->start_ns ? start - wanted->start_ns
							  : wanted->start_ns - start;

		if (start > wanted->start_ns && apart >= least)
			break;
		if (apart < least && is_wanted(find, place, wanted)) {
			best = place;
			least = apart;
		}
	}
	if (best == INDEX_NONE)
		return INDEX_NONE;
	find->found.row[best] = 1;
	return find->by_start.row[best];
}

static uint64_t numbers_key(uint64_t device, uint64_t stream, uint64_t task)
{
	return (device * 0x9e3779b97f4a7c15u ^ stream) * 0x9e3779b97f4a7c15u ^ task;
}

int task_chains_make(struct task_chains *chains, const struct task_find *find)
{
	const struct model *model = find->import->model;

	for (uint32_t i = 0; i < find->by_start.count; i++) {
		if (!MODEL_PUSH(&chains->next, INDEX_NONE))
			return -ENOMEM;
	}
	/* From the last to the first, so that chains are in the order of time. */
	for (uint32_t place = find->by_start.count; place-- > 0;) {
		const struct device_task *task = &model->tasks.row[find->by_start.row[place]];
		const struct task_detail *detail = model_task_detail(model, task);
		uint64_t key;

		if (!detail || detail->task_id == MODEL_ID_NONE)
			continue;
		key = numbers_key(model->devices.row[task->device].id, task->stream,
				  detail->task_id);
		chains->next.row[place] = map_get(&chains->first, key);
		if (!map_put(&chains->first, key, place))
			return -ENOMEM;
	}
	return 0;
}

void task_chains_free(struct task_chains *chains)
{
	map_free(&chains->first);
	free(chains->next.row);
	*chains = (struct task_chains){ 0 };
}

uint32_t task_chains_next(const struct task_chains *chains, const struct task_find *find,
			  const struct task_wanted *wanted, uint32_t after)
{
	const struct model *model = find->import->model;
	uint32_t place = after == INDEX_NONE
				 ? map_get(&chains->first, numbers_key(wanted->device,
								       wanted->stream,
								       wanted->task))
				 : chains->next.row[after];

	while (place < find->by_start.count) {
		const struct device_task *task = &model->tasks.row[find->by_start.row[place]];

		if (is_of_device(model, task, wanted) && has_numbers(model, task, wanted))
			return place;
		place = chains->next.row[place];
	}
	return INDEX_NONE;
}

struct task_detail task_detail_unknown(void)
{
	return (struct task_detail){ .task_id = MODEL_ID_NONE,
				     .context_id = MODEL_ID_NONE,
				     .model_id = MODEL_ID_NONE,
				     .step = MODEL_ID_NONE,
				     .blocks = INDEX_NONE,
				     .mix_blocks = INDEX_NONE };
}

static uint32_t detail_hash(const struct task_detail *detail)
{
	uint64_t words[sizeof(*detail) / sizeof(uint64_t)], hash = 0;

	_Static_assert(sizeof(words) == sizeof(*detail), "the words are all of the detail");
	memcpy(words, detail, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(hash >> 32);
}

/* @shared: @detail with the flag. */
static bool is_row(const struct task_detail *row, const struct task_detail *detail,
		   const struct task_detail *shared)
{
	return memcmp(row, row->known & TASK_DETAIL_SHARED ? shared : detail, sizeof(*row)) == 0;
}

bool task_detail_put(struct model *model, struct recent_details *recent, struct device_task *task,
		     const struct task_detail *detail)
{
	uint32_t *at = &recent->row[detail_hash(detail) % RECENT_DETAILS];
	struct task_detail *row = *at ? &model->task_details.row[*at - 1] : NULL;
	struct task_detail shared = *detail;

	shared.known |= TASK_DETAIL_SHARED;
	if (row && is_row(row, detail, &shared)) {
		*row = shared;
		task->detail = *at;
		return true;
	}
	if (!MODEL_PUSH(&model->task_details, *detail))
		return false;
	task->detail = *at = model->task_details.count;
	return true;
}

struct task_detail *task_detail_of(struct model *model, struct device_task *task)
{
	struct task_detail own = task_detail_unknown();

	if (task->detail) {
		own = model->task_details.row[task->detail - 1];
		if (!(own.known & TASK_DETAIL_SHARED))
			return &model->task_details.row[task->detail - 1];
		own.known &= ~TASK_DETAIL_SHARED;
	}
	if (!MODEL_PUSH(&model->task_details, own))
		return NULL;
	task->detail = model->task_details.count;
	return &model->task_details.row[task->detail - 1];
}

bool task_detail_add_metrics(struct model *model, struct task_detail *detail,
			     const struct task_metric *metrics, uint32_t count)
{
	uint32_t first = model->task_metrics.count;

	if (!count)
		return true;
	for (uint32_t i = 0; i < detail->metric_count; i++) {
		struct task_metric old = model->task_metrics.row[detail->first_metric + i];

		if (!MODEL_PUSH(&model->task_metrics, old))
			return false;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (!MODEL_PUSH(&model->task_metrics, metrics[i]))
			return false;
	}
	detail->first_metric = first;
	detail->metric_count += count;
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/timeline/task_order.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/strings.h"

/* The identity of a stream; handles of different devices may be equal. */
struct stream_key {
	uint64_t stream;
	uint32_t device;
	uint32_t zero; /* no padding: keys are compared as bytes */
};

struct stream {
	struct stream_key key;
	uint32_t number; /* in order of appearance */
	uint32_t tasks;
	uint32_t first; /* index of its first task in the new order */
};

/* The state while tasks are grouped by stream; tasks of one stream keep their order. */
struct dealer {
	const struct model *model;
	struct string_table *numbers; /* stream_key -> number + 1 */
	uint32_t *number; /* by task; INDEX_NONE = left out */
	struct stream *streams;
	uint32_t count;
	uint32_t capacity;
};

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_key(const void *a, const void *b)
{
	const struct stream *x = a, *y = b;
	int order = compare(x->key.device, y->key.device);

	return order ? order : compare(x->key.stream, y->key.stream);
}

static int by_number(const void *a, const void *b)
{
	return compare(((const struct stream *)a)->number, ((const struct stream *)b)->number);
}

static bool number_task(struct dealer *dealer, uint32_t row)
{
	const struct device_task *task = &dealer->model->tasks.row[row];
	struct stream_key key = { .stream = task->stream, .device = task->device };
	uint32_t number;

	dealer->number[row] = INDEX_NONE;
	if (task->device >= dealer->model->devices.count || task->flags & MODEL_TASK_UNTIMED)
		return true;
	number = string_table_add(dealer->numbers, (const char *)&key, sizeof(key));
	if (number == STRING_NONE)
		return false;
	number--;
	if (number == dealer->count) {
		if (dealer->count == dealer->capacity &&
		    !model_grow((void **)&dealer->streams, &dealer->capacity, dealer->count,
				sizeof(*dealer->streams)))
			return false;
		dealer->streams[dealer->count++] = (struct stream){ .key = key, .number = number };
	}
	dealer->streams[number].tasks++;
	dealer->number[row] = number;
	return true;
}

static uint32_t deal(struct dealer *dealer, uint32_t *order)
{
	uint32_t count = 0;

	if (dealer->count)
		qsort(dealer->streams, dealer->count, sizeof(*dealer->streams), by_key);
	for (uint32_t i = 0; i < dealer->count; i++) {
		dealer->streams[i].first = count;
		count += dealer->streams[i].tasks;
	}
	if (dealer->count)
		qsort(dealer->streams, dealer->count, sizeof(*dealer->streams), by_number);
	for (uint32_t i = 0; i < dealer->model->tasks.count; i++) {
		if (dealer->number[i] != INDEX_NONE)
			order[dealer->streams[dealer->number[i]].first++] = i;
	}
	return count;
}

uint32_t *task_order(const struct model *model, uint32_t *count)
{
	struct dealer dealer = { .model = model, .numbers = string_table_new() };
	uint32_t *order = malloc(((size_t)model->tasks.count + 1) * sizeof(*order));
	bool fine;

	*count = 0;
	dealer.number = malloc(((size_t)model->tasks.count + 1) * sizeof(*dealer.number));
	fine = order && dealer.number && dealer.numbers;
	for (uint32_t i = 0; fine && i < model->tasks.count; i++)
		fine = number_task(&dealer, i);
	if (fine) {
		*count = deal(&dealer, order);
	} else {
		free(order);
		order = NULL;
	}
	string_table_free(dealer.numbers);
	free(dealer.number);
	free(dealer.streams);
	return order;
}

uint32_t task_order_device_end(const struct model *model, const uint32_t *order, uint32_t count,
			       uint32_t first)
{
	const struct device_task *tasks = model->tasks.row;
	uint32_t end = first;

	while (end < count && tasks[order[end]].device == tasks[order[first]].device)
		end++;
	return end;
}

static int by_value(const void *a, const void *b)
{
	return compare(*(const uint64_t *)a, *(const uint64_t *)b);
}

static void sort_instants(uint64_t *instants, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		if (instants[i - 1] > instants[i]) {
			qsort(instants, count, sizeof(*instants), by_value);
			return;
		}
	}
}

static uint64_t accepted_at(const struct device_task *task)
{
	if (task->enqueue_ns && task->enqueue_ns <= task->end_ns)
		return task->enqueue_ns;
	if (task->queued_ns && task->queued_ns <= task->end_ns)
		return task->queued_ns;
	return task->start_ns;
}

struct task_queue_step *task_queue_compute(const struct model *model, const uint32_t *order,
					   uint32_t count, uint32_t *steps)
{
	struct task_queue_step *step = malloc((2 * (size_t)count + 1) * sizeof(*step));
	uint64_t *begins = malloc(((size_t)count + 1) * sizeof(*begins));
	uint64_t *ends = malloc(((size_t)count + 1) * sizeof(*ends));
	uint32_t begun = 0, ended = 0;

	*steps = 0;
	if (!step || !begins || !ends) {
		free(step);
		step = NULL;
		goto cleanup;
	}
	for (uint32_t i = 0; i < count; i++) {
		begins[i] = accepted_at(&model->tasks.row[order[i]]);
		ends[i] = model->tasks.row[order[i]].end_ns;
	}
	sort_instants(begins, count);
	sort_instants(ends, count);
	while (ended < count) {
		uint64_t ns = begun < count && begins[begun] < ends[ended] ? begins[begun]
									   : ends[ended];

		while (begun < count && begins[begun] == ns)
			begun++;
		while (ended < count && ends[ended] == ns)
			ended++;
		step[(*steps)++] =
			(struct task_queue_step){ .ns = ns, .depth = (int64_t)begun - ended };
	}
cleanup:
	free(begins);
	free(ends);
	return step;
}

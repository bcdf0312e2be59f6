/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/task_sort.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/map.h"

#define STREAMS_MAX 1024 /* rows of more are sorted by comparing them */

static int by_start(const void *a, const void *b, void *context)
{
	const struct device_task *tasks = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (tasks[x].start_ns != tasks[y].start_ns)
		return tasks[x].start_ns < tasks[y].start_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int by_stream(const void *a, const void *b, void *context)
{
	const struct device_task *tasks = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (tasks[x].stream != tasks[y].stream)
		return tasks[x].stream < tasks[y].stream ? -1 : 1;
	return x < y ? -1 : x > y;
}

void tasks_sort_by_start(const struct model *model, uint32_t *rows, uint32_t count)
{
	qsort_r(rows, count, sizeof(*rows), by_start, model->tasks.row);
}

/* The rows of one stream, and the index for the next of them. */
struct lane {
	uint64_t stream;
	uint32_t count;
	uint32_t next;
};

struct lanes {
	struct lane lane[STREAMS_MAX];
	struct map known; /* stream -> lane */
	uint32_t count;
};

/* Returns NULL if there are too many lanes, or without memory. @last: the lane of the previous row, mostly the same one. */
static struct lane *lane_of(struct lanes *lanes, uint64_t stream, struct lane *last)
{
	uint32_t index;

	if (last && last->stream == stream)
		return last;
	index = map_get(&lanes->known, stream);
	if (index != MAP_NONE)
		return &lanes->lane[index];
	if (lanes->count == STREAMS_MAX || !map_put(&lanes->known, stream, lanes->count))
		return NULL;
	lanes->lane[lanes->count] = (struct lane){ .stream = stream };
	return &lanes->lane[lanes->count++];
}

static int by_number(const void *a, const void *b)
{
	const struct lane *x = a, *y = b;

	return x->stream < y->stream ? -1 : x->stream > y->stream;
}

/* Rows that are in order of their index need not be compared: a task may lie in a file. */
static bool find_lanes(const struct model *model, const uint32_t *rows, uint32_t count,
		       struct lanes *lanes)
{
	struct lane *lane = NULL;
	uint32_t next = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (i && rows[i] <= rows[i - 1])
			return false;
		lane = lane_of(lanes, model->tasks.row[rows[i]].stream, lane);
		if (!lane)
			return false;
		lane->count++;
	}
	qsort(lanes->lane, lanes->count, sizeof(lanes->lane[0]), by_number);
	for (uint32_t i = 0; i < lanes->count; i++) {
		lanes->lane[i].next = next;
		next += lanes->lane[i].count;
		if (!map_put(&lanes->known, lanes->lane[i].stream, i))
			return false;
	}
	return true;
}

static bool deal(const struct model *model, uint32_t *rows, uint32_t count, struct lanes *lanes)
{
	uint32_t *copy = malloc(((size_t)count + 1) * sizeof(*copy));
	struct lane *lane = NULL;

	if (!copy)
		return false;
	memcpy(copy, rows, (size_t)count * sizeof(*copy));
	for (uint32_t i = 0; i < count; i++) {
		lane = lane_of(lanes, model->tasks.row[copy[i]].stream, lane);
		rows[lane->next++] = copy[i];
	}
	free(copy);
	return true;
}

void tasks_sort_by_stream(const struct model *model, uint32_t *rows, uint32_t count)
{
	struct lanes lanes;
	bool dealt;

	lanes.known = (struct map){ 0 };
	lanes.count = 0;
	dealt = find_lanes(model, rows, count, &lanes);
	if (dealt && lanes.count > 1)
		dealt = deal(model, rows, count, &lanes);
	map_free(&lanes.known);
	if (!dealt)
		qsort_r(rows, count, sizeof(*rows), by_stream, model->tasks.row);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/amd/rocprof_arrows.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base/bisect.h"
#include "lib/base/sort_rows.h"

#define LOOK_MAX 256 /* calls or arrows that one arrow is compared with; farther ones are ignored */

void rocprof_arrows_free(struct rocprof_arrows *arrows)
{
	free(arrows->calls.row);
	free(arrows->tasks.row);
	free(arrows->starts.row);
	free(arrows->ends.row);
}

static int compare(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

static uint64_t middle(const struct arrow_place *call)
{
	return call->ts_us + call->dur_us / 2;
}

static int by_middle(const void *a, const void *b)
{
	const struct arrow_place *x = a, *y = b;
	int order = compare(x->lane, y->lane);

	if (!order)
		order = compare(middle(x), middle(y));
	return order ? order : compare(x->id, y->id);
}

static int by_start(const void *a, const void *b)
{
	const struct arrow_place *x = a, *y = b;
	int order = compare(x->section, y->section);

	if (!order)
		order = compare(x->lane, y->lane);
	if (!order)
		order = compare(x->ts_us, y->ts_us);
	return order ? order : compare(x->id, y->id);
}

static int by_id(const void *a, const void *b)
{
	return compare(((const struct arrow_place *)a)->id, ((const struct arrow_place *)b)->id);
}

/* The first task, of those that start in the same microsecond, that no arrow leads to yet. */
static struct rocm_task *task_at(struct rocprof_arrows *arrows, struct rocm_rows *rocm,
				 const struct arrow_place *end)
{
	struct arrow_place *tasks = arrows->tasks.row;
	const struct arrow_place wanted = { .section = end->section, .lane = end->lane, .ts_us = end->ts_us };
	uint32_t first = BISECT(i, 0, arrows->tasks.count, by_start(&tasks[i], &wanted) < 0), at;

	if (first == arrows->tasks.count)
		return NULL;
	at = first + tasks[first].led_to;
	if (at >= arrows->tasks.count || tasks[at].section != end->section || tasks[at].lane != end->lane ||
	    tasks[at].ts_us != end->ts_us)
		return NULL;
	tasks[first].led_to++;
	return &rocm->tasks.row[tasks[at].id];
}

/* Is the call of a kind that can have made the task? */
static bool makes(const struct rocm_rows *rocm, const struct arrow_place *call, const struct rocm_task *task)
{
	const char *name = model_text(rocm->import->model, rocm->calls.row[call->id].name);
	bool copies = task->kind == PROFBPF__DEVICE_TASKS__KIND__COPY ||
		      task->kind == PROFBPF__DEVICE_TASKS__KIND__FILL;

	return copies == (call_kind_of_name(name) == PROFBPF__FUNCTION__KIND__COPY);
}

/* The first call of a thread whose middle is not before @us. */
static uint32_t first_call(const struct rocprof_arrows *arrows, uint64_t lane, uint64_t us)
{
	const struct arrow_place wanted = { .lane = lane, .ts_us = us };

	return BISECT(i, 0, arrows->calls.count, by_middle(&arrows->calls.row[i], &wanted) < 0);
}

/* An arrow with both ends, and the task and call at them. */
struct arrow {
	const struct arrow_place *start, *end;
	struct rocm_task *task;
	struct arrow_place *call; /* NULL = unknown */
};

/*
 * The call in whose middle the arrow begins, or, if it begins where its task does, the call in which it begins; or
 * NULL.
 */
static struct arrow_place *call_at(struct rocprof_arrows *arrows, const struct rocm_rows *rocm,
				   const struct arrow *arrow)
{
	const struct arrow_place *start = arrow->start;
	struct arrow_place *calls = arrows->calls.row;
	bool middles = start->ts_us != arrow->end->ts_us;
	uint32_t from = first_call(arrows, start->lane, start->ts_us), i;

	for (i = from; i < arrows->calls.count && i - from < LOOK_MAX; i++) {
		if (calls[i].lane != start->lane || calls[i].ts_us > start->ts_us ||
		    (middles && middle(&calls[i]) != start->ts_us))
			return NULL;
		if (!calls[i].led_to && (middles || makes(rocm, &calls[i], arrow->task)))
			return &calls[i];
	}
	return NULL;
}

/* The only remaining call from @from_us to before @to_us; NULL if there is none, or several. */
static struct arrow_place *only_call(struct rocprof_arrows *arrows, const struct rocm_rows *rocm,
				     const struct arrow *arrow, uint64_t from_us, uint64_t to_us)
{
	struct arrow_place *calls = arrows->calls.row, *found = NULL;
	uint32_t from = first_call(arrows, arrow->start->lane, from_us), i;

	for (i = from; i < arrows->calls.count && calls[i].lane == arrow->start->lane &&
		       middle(&calls[i]) < to_us;
	     i++) {
		if (i - from >= LOOK_MAX)
			return NULL;
		if (calls[i].led_to || !makes(rocm, &calls[i], arrow->task))
			continue;
		if (found)
			return NULL;
		found = &calls[i];
	}
	return found;
}

/*
 * The nearest arrow before (@step -1) or after (1) this one, from the same thread to the same section, with a known
 * call; or NULL.
 */
static const struct arrow *neighbour(const struct arrow *row, uint32_t count, uint32_t at, int step,
				     bool *too_far)
{
	const struct arrow *arrow = &row[at];

	for (uint32_t i = at + (uint32_t)step, seen = 0; i < count; i += (uint32_t)step) {
		if (row[i].end->section != arrow->end->section)
			break;
		if (row[i].call && row[i].start->lane == arrow->start->lane)
			return &row[i];
		if (++seen == LOOK_MAX) {
			*too_far = true;
			break;
		}
	}
	return NULL;
}

static struct arrow_place *call_between(struct rocprof_arrows *arrows, const struct rocm_rows *rocm,
					const struct arrow *row, uint32_t count, uint32_t at)
{
	bool too_far = false;
	const struct arrow *before = neighbour(row, count, at, -1, &too_far);
	const struct arrow *after = neighbour(row, count, at, 1, &too_far);
	uint64_t from_us = row[at].start->ts_us;

	if (too_far)
		return NULL;
	if (before && middle(before->call) > from_us)
		from_us = middle(before->call);
	return only_call(arrows, rocm, &row[at], from_us, after ? middle(after->call) : UINT64_MAX);
}

static void join(struct rocm_rows *rocm, struct arrow *arrow)
{
	struct rocm_call *call = &rocm->calls.row[arrow->call->id];

	arrow->call->led_to = 1;
	if (!call->correlation)
		call->correlation = arrow->start->id + 1;
	if (!arrow->task->correlation)
		arrow->task->correlation = call->correlation;
}

/* Collects arrows with both ends and a task, in the order of their ids. */
static uint32_t find_arrows(struct rocprof_arrows *arrows, struct rocm_rows *rocm, struct arrow *row)
{
	uint32_t count = 0, at = 0;

	for (uint32_t i = 0; i < arrows->starts.count; i++) {
		const struct arrow_place *start = &arrows->starts.row[i];
		struct rocm_task *task;

		while (at < arrows->ends.count && arrows->ends.row[at].id < start->id)
			at++;
		if (at == arrows->ends.count || arrows->ends.row[at].id != start->id)
			continue;
		task = task_at(arrows, rocm, &arrows->ends.row[at]);
		if (task)
			row[count++] = (struct arrow){ start, &arrows->ends.row[at], task, NULL };
	}
	return count;
}

int rocprof_arrows_join(struct rocprof_arrows *arrows, struct rocm_rows *rocm)
{
	struct arrow *row = calloc((size_t)arrows->starts.count + 1, sizeof(*row));
	uint32_t count;

	if (!row)
		return -ENOMEM;
	SORT_ARRAY(&arrows->calls, by_middle);
	SORT_ARRAY(&arrows->tasks, by_start);
	SORT_ARRAY(&arrows->starts, by_id);
	SORT_ARRAY(&arrows->ends, by_id);
	count = find_arrows(arrows, rocm, row);
	for (uint32_t i = 0; i < count; i++) {
		row[i].call = call_at(arrows, rocm, &row[i]);
		if (row[i].call)
			join(rocm, &row[i]);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (row[i].call)
			continue;
		row[i].call = call_between(arrows, rocm, row, count, i);
		if (row[i].call)
			join(rocm, &row[i]);
	}
	free(row);
	return 0;
}

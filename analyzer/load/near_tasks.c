/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/near_tasks.h"

#include <stdlib.h>

#include "analyzer/join/clock/device_clock.h"
#include "lib/trace/clocks.h"
#include "proto/trace.pb-c.h"

#define BESIDE_NS 1000000000ull

/*
 * Do calls contain the numbers of their tasks? Then all tasks are needed to find the right one among tasks with the
 * same number.
 */
static bool goes_by_numbers(const struct model *model)
{
	for (uint32_t i = 0; i < model->functions.count; i++) {
		const struct function *function = &model->functions.row[i];

		for (int k = 0; k < 3; k++)
			if (function->roles[k] == PROFBPF__FUNCTION__ROLE__TASK)
				return true;
	}
	return false;
}

struct task_edges near_tasks_begin(struct load_window *window, uint32_t device)
{
	struct model *model = window->model;
	const uint8_t clock = model->devices.row[device].clock;
	struct task_edges edges = { .device = device };

	if (!window->wanted || window->all_calls || !window_has(window, 0, UINT64_MAX) ||
	    !window->session_start_ns || goes_by_numbers(model))
		return edges;
	edges.from_ns = window->from_ns > BESIDE_NS ? window->from_ns - BESIDE_NS : 0;
	edges.to_ns = window->to_ns < UINT64_MAX - BESIDE_NS ? window->to_ns + BESIDE_NS : UINT64_MAX;
	edges.known = device_clock_from_monotonic(model, clock, edges.from_ns, &edges.device_from_ns);
	edges.device_to_ns = UINT64_MAX;
	if (edges.known && edges.to_ns != UINT64_MAX)
		edges.known = device_clock_from_monotonic(model, clock, edges.to_ns,
							  &edges.device_to_ns);
	return edges;
}

static struct device_task *row_of(struct near_tasks *near, uint32_t device, bool before)
{
	while (near->before.count <= device)
		if (!MODEL_PUSH(&near->before, (struct device_task){ 0 }))
			return NULL;
	while (near->after.count <= device)
		if (!MODEL_PUSH(&near->after, (struct device_task){ 0 }))
			return NULL;
	return before ? &near->before.row[device] : &near->after.row[device];
}

static bool is_nearer(bool before, const struct device_task *task, const struct device_task *known)
{
	if (!known->end_ns)
		return true;
	if (before)
		return task->end_ns > known->end_ns;
	return task->start_ns != known->start_ns ? task->start_ns < known->start_ns
						 : task->enqueue_ns < known->enqueue_ns;
}

bool near_tasks_takes(struct near_tasks *near, struct load_window *window,
		      const struct task_edges *edges, const struct device_task *task)
{
	const bool timed = !(task->flags & MODEL_TASK_UNTIMED);
	struct device_task *known;
	bool before, after;

	if (!edges->known || !task->enqueue_ns)
		return true;
	before = task->enqueue_ns < edges->from_ns && (!timed || task->end_ns < edges->device_from_ns);
	after = task->enqueue_ns > edges->to_ns && (!timed || task->start_ns > edges->device_to_ns);
	if (!before && !after)
		return true;
	near->any_far = true;
	window->model->survey.tasks++;
	if (!timed)
		return false;
	known = row_of(near, edges->device, before);
	if (!known)
		window->no_memory = true;
	else if (is_nearer(before, task, known))
		*known = *task;
	return false;
}

bool near_tasks_finish(struct near_tasks *near, struct model *model)
{
	for (uint32_t i = 0; i < near->before.count; i++) {
		const struct device_task *rows[] = { &near->before.row[i], &near->after.row[i] };

		for (int k = 0; k < 2; k++) {
			if (!rows[k]->end_ns)
				continue;
			if (!MODEL_PUSH(&model->tasks, *rows[k]))
				return false;
			model->survey.tasks--;
		}
	}
	return true;
}

/* The range by which the wall clock was set forward and back. */
static uint64_t wall_clock_moved(const struct model *model)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (size_t i = 0; i < clock_table_count(model->clocks); i++) {
		const struct clock_snapshot *at = clock_table_get(model->clocks, i);
		uint64_t ahead = at->realtime_ns - at->monotonic_ns;

		if (!at->realtime_ns)
			continue;
		least = ahead < least ? ahead : least;
		most = ahead > most ? ahead : most;
	}
	return least < most ? most - least : 0;
}

bool near_tasks_doubtful(const struct near_tasks *near, const struct model *model)
{
	if (near->any_far && goes_by_numbers(model))
		return true;
	for (uint32_t i = 0; near->any_far && i < model->devices.count; i++)
		if (model->devices.row[i].clock == PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME)
			return wall_clock_moved(model) > BESIDE_NS / 2;
	return false;
}

void near_tasks_free(struct near_tasks *near)
{
	free(near->before.row);
	free(near->after.row);
}

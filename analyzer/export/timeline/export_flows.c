/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/timeline/export_flows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bisect.h"

#define SCOPES_BACK 1024 /* the most ended scopes of a thread that are searched */

/* Is the beginning of [start, end) shown? */
static bool begins_inside(const struct export_window *window, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t shown_ns = start_ns;
	bool cut;

	return export_clip(window, &shown_ns, &end_ns, &cut) && shown_ns == start_ns;
}

/* Returns the host scope of a device file in which a task was launched, if the file has no runtime call for it. */
static uint32_t scope_of(const struct model *model, const struct device_task *task)
{
	const struct call *calls = model->calls.row;
	uint32_t first, count, at;

	if (!task->enqueue_ns || task->thread >= model->threads.count)
		return INDEX_NONE;
	count = model_thread_calls(model, task->thread, &first);
	at = BISECT(i, first, first + count, calls[i].start_ns <= task->enqueue_ns);
	for (uint32_t back = 0; at-- > first && back < SCOPES_BACK; back++) {
		uint32_t function = calls[at].function;

		if (calls[at].end_ns <= task->enqueue_ns || function >= model->functions.count)
			continue;
		return model->functions.row[function].scope ? at : INDEX_NONE;
	}
	return INDEX_NONE;
}

static void judge(struct export_flows *flows, uint32_t task, uint32_t from,
		  const struct export_options *options, const struct export_window *window,
		  const bool *chosen)
{
	const struct model *model = flows->model;
	const struct device_task *row = &model->tasks.row[task];
	const struct call *call = &model->calls.row[from];

	if (row->flags & MODEL_TASK_UNTIMED || row->device >= model->devices.count ||
	    !chosen[call->thread] ||
	    !export_process(model, options, model->devices.row[row->device].process) ||
	    !begins_inside(window, call->start_ns, call->end_ns) ||
	    !begins_inside(window, row->start_ns, row->end_ns))
		return;
	if (row->start_ns < call->start_ns)
		flows->backward++;
	else
		flows->shown[task] = true;
}

int export_flows_init(struct export_flows *flows, const struct model *model,
		      const struct export_options *options, const struct export_window *window,
		      const bool *chosen)
{
	*flows = (struct export_flows){ .model = model };
	flows->first_task = indices_none(model->calls.count);
	flows->next_task = malloc(((size_t)model->tasks.count + 1) * sizeof(uint32_t));
	flows->shown = calloc((size_t)model->tasks.count + 1, sizeof(bool));
	if (!flows->first_task || !flows->next_task || !flows->shown)
		return -ENOMEM;
	for (uint32_t i = model->tasks.count; i-- > 0;) {
		uint32_t call = model->tasks.row[i].call;

		flows->next_task[i] = INDEX_NONE;
		if (call >= model->calls.count)
			call = scope_of(model, &model->tasks.row[i]);
		if (call >= model->calls.count)
			continue;
		flows->next_task[i] = flows->first_task[call];
		flows->first_task[call] = i;
		judge(flows, i, call, options, window, chosen);
	}
	return 0;
}

void export_flows_free(struct export_flows *flows)
{
	free(flows->first_task);
	free(flows->next_task);
	free(flows->shown);
	*flows = (struct export_flows){ 0 };
}

static uint32_t shown_from(const struct export_flows *flows, uint32_t task)
{
	while (task != INDEX_NONE && !flows->shown[task])
		task = flows->next_task[task];
	return task;
}

uint32_t export_flow_first(const struct export_flows *flows, const struct call *call)
{
	return shown_from(flows, flows->first_task[call - flows->model->calls.row]);
}

uint32_t export_flow_next(const struct export_flows *flows, uint32_t task)
{
	return shown_from(flows, flows->next_task[task]);
}

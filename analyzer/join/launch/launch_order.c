/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/launch/launch_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/join/launch/call_kind.h"
#include "analyzer/join/clock/device_clock.h"
#include "analyzer/join/launch/launch_streams.h"
#include "analyzer/join/launch/launched_names.h"
#include "lib/base/map.h"

#define EARLY_NS \
	100000 /* a task may seem to start this much before its launch: up to 84 us were measured */
#define ANCHORED_NS 10000000 /* the same for a counter that was read once, at the beginning */

static int compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static bool same_stream(const struct item *a, const struct item *b)
{
	return a->process == b->process && a->stream == b->stream;
}

static int find_unknown(struct order *order)
{
	const struct model *model = order->model;
	uint64_t ignored;

	order->unknown = calloc((size_t)model->devices.count + 1, sizeof(*order->unknown));
	if (!order->unknown)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->devices.count; i++)
		order->unknown[i] = !model->devices.row[i].own_clock &&
				    !device_clock_to_monotonic(model, model->devices.row[i].clock,
							       model->info.session_start_ns,
							       &ignored);
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];

		if (task->enqueue_ns && !(task->flags & MODEL_TASK_BY_ORDER) &&
		    task->device < model->devices.count)
			order->unknown[task->device] = false;
	}
	return 0;
}

/* Returns the only process that launches anything on streams; INDEX_NONE if there are several. */
static uint32_t only_process(const struct side *calls)
{
	for (uint32_t i = 1; i < calls->count; i++) {
		if (calls->items[i].process != calls->items[0].process)
			return INDEX_NONE;
	}
	return calls->count ? calls->items[0].process : INDEX_NONE;
}

/* Is the launch of the task unknown, so that its place in its stream must identify it? */
static bool is_left(const struct order *order, const struct device_task *task)
{
	return task->call == INDEX_NONE && !task->enqueue_ns &&
	       !(task->flags & MODEL_TASK_NUMBERED) && task->stream != MODEL_ID_NONE &&
	       task->device < order->model->devices.count &&
	       order->unknown[task->device] == order->first;
}

static bool any_left(const struct order *order)
{
	for (uint32_t i = 0; i < order->model->tasks.count; i++)
		if (is_left(order, &order->model->tasks.row[i]))
			return true;
	return false;
}

static int collect_tasks(struct order *order)
{
	const struct model *model = order->model;
	uint32_t only = only_process(&order->calls);
	struct side *side = &order->tasks;

	side->items = calloc((size_t)model->tasks.count + 1, sizeof(*side->items));
	if (!side->items)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];
		uint32_t process;

		if (!is_left(order, task))
			continue;
		process = model->devices.row[task->device].process;
		side->items[side->count++] = (struct item){
			.process = process == INDEX_NONE ? only : process,
			.row = i,
			.stream = task->stream,
			.ts_ns = task->queued_ns ? task->queued_ns : task->start_ns,
		};
	}
	return 0;
}

static int collect_calls(struct order *order)
{
	const struct model *model = order->model;
	struct side *side = &order->calls;

	side->items = calloc((size_t)model->calls.count + 1, sizeof(*side->items));
	if (!side->items)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];
		uint64_t stream;

		if (!call_is_launch(model, call) || call->flags & MODEL_CALL_ERROR ||
		    call->task != INDEX_NONE || call->thread >= model->threads.count ||
		    !call_stream(model, call, &stream))
			continue;
		side->items[side->count++] = (struct item){
			.process = model->threads.row[call->thread].process,
			.row = i,
			.stream = stream,
			.ts_ns = call->start_ns,
		};
	}
	return 0;
}

static int group_items(struct side *side)
{
	side->groups = calloc((size_t)side->count + 1, sizeof(*side->groups));
	if (!side->groups)
		return -ENOMEM;
	if (side->count)
		qsort(side->items, side->count, sizeof(*side->items), compare);
	for (uint32_t first = 0, end; first < side->count; first = end) {
		end = first;
		while (end < side->count && same_stream(&side->items[first], &side->items[end]))
			end++;
		side->groups[side->group_count++] = (struct group){ .first = first, .end = end };
	}
	return 0;
}

static bool is_copy(uint8_t kind)
{
	return kind == PROFBPF__DEVICE_TASKS__KIND__COPY ||
	       kind == PROFBPF__DEVICE_TASKS__KIND__FILL;
}

/*
 * Returns the instant by which all tasks of the call had ended: the return of the next call that waited for its
 * stream.
 */
static uint64_t done_at(const struct order *order, const struct item *item)
{
	uint32_t next = sync_calls_find(&order->syncs, item->process, item->stream,
					order->model->calls.row[item->row].end_ns);
	const struct sync_call *sync = &order->syncs.row[next];

	return next < order->syncs.count && sync->process == item->process &&
			       sync->stream == item->stream
		       ? sync->end_ns
		       : UINT64_MAX;
}

/* Graphs are identified by their handles. */
static uint64_t handle_of(const struct model *model, const struct call *call)
{
	const struct function *function = call_function(model, call);

	for (int i = 0; i < 3; i++) {
		if (function->roles[i] == PROFBPF__FUNCTION__ROLE__HANDLE)
			return call->args[i];
	}
	return 0;
}

/* Returns -ENOMEM or 0. Group numbers begin with 0 in each stream. */
static int prepare_call(const struct order *order, uint32_t index, struct map *handles)
{
	const struct model *model = order->model;
	const struct call *call = &model->calls.row[order->calls.items[index].row];
	struct align_call *row = &order->align_calls[index];
	uint64_t handle = handle_of(model, call);

	*row = (struct align_call){
		.start_ns = call->start_ns,
		.done_ns = done_at(order, &order->calls.items[index]),
		.group = ALIGN_NONE,
		.copies = call_function(model, call)->kind == PROFBPF__FUNCTION__KIND__COPY,
		.name = call_launches(model, call) ? call->text : 0,
	};
	call_task_range(model, call, &row->least, &row->most);
	if (row->least == 0 || row->most == 1 || !handle)
		return 0;
	row->group = map_get(handles, handle);
	if (row->group != MAP_NONE)
		return 0;
	row->group = handles->count;
	return map_put(handles, handle, row->group) ? 0 : -ENOMEM;
}

static int prepare(struct order *order)
{
	size_t tasks = order->tasks.count, calls = order->calls.count;
	int err = 0;

	order->align_tasks = calloc(tasks + 1, sizeof(*order->align_tasks));
	order->align_calls = calloc(calls + 1, sizeof(*order->align_calls));
	order->task_call = calloc(tasks + 1, sizeof(*order->task_call));
	order->earliest = calloc(tasks + calls + 1, sizeof(*order->earliest));
	order->latest = calloc(tasks + calls + 1, sizeof(*order->latest));
	order->pairs = calloc((size_t)order->tasks.group_count + 1, sizeof(*order->pairs));
	if (!order->align_tasks || !order->align_calls || !order->task_call || !order->earliest ||
	    !order->latest || !order->pairs)
		return -ENOMEM;
	for (uint32_t i = 0; i < tasks; i++) {
		const struct device_task *task =
			&order->model->tasks.row[order->tasks.items[i].row];

		order->align_tasks[i] = (struct align_task){ task->start_ns, task->end_ns,
							     task->name, task->type,
							     is_copy(task->kind) };
	}
	for (uint32_t g = 0; g < order->calls.group_count && !err; g++) {
		struct map handles = { 0 };

		for (uint32_t i = order->calls.groups[g].first;
		     i < order->calls.groups[g].end && !err; i++)
			err = prepare_call(order, i, &handles);
		map_free(&handles);
	}
	return err;
}

static uint32_t device_of(const struct order *order, const struct group *task)
{
	return order->model->tasks.row[order->tasks.items[task->first].row].device;
}

bool order_one_device(const struct order *order, const struct group *task)
{
	for (uint32_t i = task->first; i < task->end; i++) {
		if (order->model->tasks.row[order->tasks.items[i].row].device !=
		    device_of(order, task))
			return false;
	}
	return true;
}

/* Does every name of the calls occur among the tasks? If not, the two sides name different things. */
static int compare_names(struct alignment *a)
{
	struct map known = { 0 };
	bool ok = true;

	a->names = true;
	for (uint32_t i = 0; i < a->task_count && ok; i++)
		ok = map_put(&known, a->tasks[i].name, 1) && map_put(&known, a->tasks[i].type, 1);
	for (uint32_t i = 0; i < a->call_count && ok; i++)
		a->names &= a->calls[i].most > 1 || !a->calls[i].name ||
			    map_get(&known, a->calls[i].name) != MAP_NONE;
	map_free(&known);
	return ok ? 0 : -ENOMEM;
}

static struct align_clock clock_of(const struct order *order, uint32_t device)
{
	const struct device *row = &order->model->devices.row[device];
	struct align_clock clock = { .error_ns = UINT64_MAX };

	if (!order->first)
		clock.error_ns = row->anchored_once && !row->own_clock ? ANCHORED_NS : EARLY_NS;
	return clock;
}

/*
 * Are the tasks exactly those of the calls? They are if the process began during the recording, or if a call waited
 * for the stream before any of the tasks ran.
 */
static bool is_whole(const struct order *order, const struct group *task, const struct group *call)
{
	const struct model *model = order->model;
	const struct item *item = &order->calls.items[call->first];
	uint64_t first_ns = order->align_tasks[task->first].start_ns;
	uint32_t sync = sync_calls_find(&order->syncs, item->process, item->stream, 0);

	if (model->processes.row[item->process].start_ns > model->info.session_start_ns)
		return true;
	return !order->first && sync < order->syncs.count &&
	       order->syncs.row[sync].process == item->process &&
	       order->syncs.row[sync].stream == item->stream &&
	       order->syncs.row[sync].end_ns + EARLY_NS < first_ns;
}

int order_make_pair(const struct order *order, const struct group *task, const struct group *call,
		     struct launch_pair *pair)
{
	*pair = (struct launch_pair){ .device = device_of(order, task) };
	pair->alignment = (struct alignment){
		.calls = order->align_calls + call->first,
		.tasks = order->align_tasks + task->first,
		.call_count = call->end - call->first,
		.task_count = task->end - task->first,
		.clock = clock_of(order, pair->device),
		.calls_lost = order->calls_lost,
		.tasks_lost = order->tasks_lost,
		.whole = is_whole(order, task, call),
		.task_call = order->task_call + task->first,
		.earliest = order->earliest + order->used,
		.latest = order->latest + order->used,
	};
	return compare_names(&pair->alignment);
}

int order_add_pair(struct order *order, const struct group *task, const struct group *call)
{
	struct launch_pair *pair = &order->pairs[order->pair_count++];
	int err = order_make_pair(order, task, call, pair);
	const struct alignment *a = &pair->alignment;

	order->used += a->call_count > a->task_count ? a->call_count : a->task_count;
	return err;
}

/* Pairs streams that have the same number on both sides. */
static int pair_same(struct order *order)
{
	const struct side *tasks = &order->tasks, *calls = &order->calls;
	uint32_t k = 0;
	int err = 0;

	for (uint32_t i = 0; i < tasks->group_count && !err; i++) {
		struct group *task = &tasks->groups[i];
		const struct item *item = &tasks->items[task->first];

		while (k < calls->group_count &&
		       !same_stream(&calls->items[calls->groups[k].first], item) &&
		       compare(&calls->items[calls->groups[k].first], item) < 0)
			k++;
		if (k == calls->group_count ||
		    !same_stream(&calls->items[calls->groups[k].first], item))
			continue;
		task->paired = calls->groups[k].paired = true;
		if (order_one_device(order, task))
			err = order_add_pair(order, task, &calls->groups[k]);
		else
			order->ambiguous += task->end - task->first;
		k++;
	}
	return err;
}

static void connect(struct order *order, uint32_t task_row, uint32_t call_row)
{
	struct device_task *task = &order->model->tasks.row[task_row];
	struct call *call = &order->model->calls.row[call_row];

	task->call = call_row;
	order->joined++;
	if (call->task == INDEX_NONE)
		call->task = task_row;
	if (!order->first)
		return;
	task->thread = call->thread;
	task->enqueue_ns = call->start_ns;
	task->enqueue_dur_ns = call->end_ns - call->start_ns;
	task->flags |= MODEL_TASK_BY_ORDER;
}

static void connect_pair(struct order *order, const struct launch_pair *pair)
{
	const struct alignment *a = &pair->alignment;
	const struct item *tasks = order->tasks.items + (a->tasks - order->align_tasks);
	const struct item *calls = order->calls.items + (a->calls - order->align_calls);
	struct device *device = &order->model->devices.row[pair->device];

	if (!pair->aligned) {
		order->ambiguous += a->task_count;
		return;
	}
	for (uint32_t i = 0; i < a->task_count; i++) {
		if (a->task_call[i] == ALIGN_UNSURE)
			order->ambiguous++;
		else if (a->task_call[i] != ALIGN_NONE)
			connect(order, tasks[i].row, calls[a->task_call[i]].row);
	}
	if (device->process == INDEX_NONE)
		device->process = calls->process;
}

static int by_device(const void *a, const void *b)
{
	const struct launch_pair *x = a, *y = b;

	return x->device < y->device ? -1 : x->device > y->device;
}

static int join_pairs(struct order *order)
{
	struct launch_pair *pairs = order->pairs;
	int err = 0;

	if (order->pair_count)
		qsort(pairs, order->pair_count, sizeof(*pairs), by_device);
	for (uint32_t first = 0, end; first < order->pair_count && !err; first = end) {
		end = first;
		while (end < order->pair_count && pairs[end].device == pairs[first].device)
			end++;
		err = launch_clock_align(pairs + first, end - first);
	}
	for (uint32_t i = 0; i < order->pair_count && !err; i++)
		connect_pair(order, &pairs[i]);
	return err;
}

static void find_losses(struct order *order)
{
	const struct model *model = order->model;

	order->calls_lost = !launches_complete(model);
	for (uint32_t i = 0; i < model->sources.count; i++) {
		const struct source_loss *source = &model->sources.row[i];

		if (strcmp(model_text(model, source->name), "device") == 0)
			order->tasks_lost |= source->produced != source->delivered;
	}
}

static int run(struct order *order)
{
	int err = find_unknown(order);

	if (err || !any_left(order))
		return err;
	find_losses(order);
	err = collect_calls(order);
	if (!err)
		err = collect_tasks(order);
	if (err || !order->tasks.count || !order->calls.count)
		return err;
	err = launched_names_find(order->model);
	if (!err)
		err = sync_calls_collect(order->model, &order->syncs);
	if (!err)
		err = group_items(&order->tasks);
	if (!err)
		err = group_items(&order->calls);
	if (!err)
		err = prepare(order);
	if (!err)
		err = pair_same(order);
	if (!err)
		err = launch_streams_pair(order);
	return err ? err : join_pairs(order);
}

static int run_and_free(struct order *order)
{
	int err = run(order);

	free(order->tasks.items);
	free(order->tasks.groups);
	free(order->calls.items);
	free(order->calls.groups);
	free(order->align_tasks);
	free(order->align_calls);
	free(order->task_call);
	free(order->earliest);
	free(order->latest);
	free(order->pairs);
	free(order->syncs.row);
	free(order->unknown);
	return err;
}

int launch_order_join_first(struct model *model, uint64_t *ambiguous)
{
	struct order order = { .model = model, .first = true };
	int err;

	calls_forget_tasks(model);
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		if (model->tasks.row[i].flags & MODEL_TASK_BY_ID)
			model->calls.row[model->tasks.row[i].call].task = i;
	}
	err = run_and_free(&order);
	*ambiguous = order.ambiguous;
	return err;
}

int launch_order_join(struct model *model, struct launch_join *join)
{
	struct order order = { .model = model };
	int err = run_and_free(&order);

	join->by_order += order.joined;
	join->ambiguous += order.ambiguous;
	return err;
}

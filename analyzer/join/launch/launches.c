/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/join/launch/launches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/join/launch/call_kind.h"
#include "analyzer/join/launch/launch_correlation.h"
#include "analyzer/join/launch/launch_order.h"

/* More than the nesting that capture keeps; deeper calls of hostile files are ignored. */
#define OPEN_CALLS_MAX 64

/* Calls of one thread that began at or before the current instant, outermost first. */
struct open_calls {
	uint32_t call[OPEN_CALLS_MAX];
	uint32_t count;
};

/*
 * A call of which only the entry was recorded may continue until its thread makes another call: work submitted
 * meanwhile is assigned to it. @latest: the thread's last call that had begun.
 */
static bool may_be_open(const struct call *call, bool latest, uint64_t now_ns)
{
	return call->end_ns >= now_ns || (latest && call->flags & MODEL_CALL_ENTRY);
}

static void drop_ended(const struct model *model, struct open_calls *open, uint64_t now_ns)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < open->count; i++) {
		if (may_be_open(&model->calls.row[open->call[i]], i + 1 == open->count, now_ns))
			open->call[kept++] = open->call[i];
	}
	open->count = kept;
}

static bool same_family(const struct model *model, uint32_t a, uint32_t b)
{
	const struct function *x = call_function(model, &model->calls.row[a]);
	const struct function *y = call_function(model, &model->calls.row[b]);

	return x && y && x->family == y->family;
}

/*
 * Returns the launching call among the open ones at @now_ns, or INDEX_NONE. Unless @strict, includes calls that end
 * exactly at the instant.
 */
static uint32_t pick(const struct model *model, const struct open_calls *open, uint64_t now_ns,
		     bool strict)
{
	uint32_t inner = INDEX_NONE, outer = INDEX_NONE, submits = INDEX_NONE;

	for (uint32_t i = open->count; i-- > 0;) {
		const struct call *call = &model->calls.row[open->call[i]];

		if (!call_is_runtime(model, call) ||
		    (strict && call->end_ns == now_ns && call->start_ns < now_ns))
			continue;
		if (inner == INDEX_NONE)
			inner = open->call[i];
		if (!same_family(model, open->call[i], inner))
			continue;
		outer = open->call[i];
		if (function_submits(call_function(model, call)))
			submits = outer;
	}
	return submits != INDEX_NONE ? submits : outer;
}

/* Two calls that meet at the instant qualify equally; the call that begins there is chosen. */
static uint32_t choose(const struct model *model, const struct open_calls *open, uint64_t now_ns,
		       bool *ambiguous)
{
	uint32_t strict = pick(model, open, now_ns, true);
	uint32_t lenient = pick(model, open, now_ns, false);

	*ambiguous = strict != INDEX_NONE && strict != lenient;
	return strict != INDEX_NONE ? strict : lenient;
}

/* Tasks are sorted by their enqueue: the first one becomes the call's task. */
static void connect(struct model *model, uint32_t task, uint32_t call)
{
	model->tasks.row[task].call = call;
	if (model->calls.row[call].task == INDEX_NONE)
		model->calls.row[call].task = task;
}

/* Joins the tasks[0..count) of one thread, sorted by enqueue instant, with its calls. */
static void join_thread(struct model *model, const uint32_t *tasks, uint32_t count,
			struct launch_join *join)
{
	struct open_calls open = { .count = 0 };
	uint32_t next, end;

	end = model_thread_calls(model, model->tasks.row[tasks[0]].thread, &next);
	end += next;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t now_ns = model->tasks.row[tasks[i]].enqueue_ns;
		bool ambiguous;
		uint32_t call;

		while (next < end && model->calls.row[next].start_ns <= now_ns) {
			if (open.count == OPEN_CALLS_MAX)
				drop_ended(model, &open, model->calls.row[next].start_ns);
			if (open.count < OPEN_CALLS_MAX)
				open.call[open.count++] = next;
			next++;
		}
		drop_ended(model, &open, now_ns);
		call = choose(model, &open, now_ns, &ambiguous);
		if (call == INDEX_NONE)
			continue;
		connect(model, tasks[i], call);
		join->by_enqueue++;
		join->ambiguous += ambiguous;
	}
}

static int by_enqueue(const void *a, const void *b, void *context)
{
	const struct device_task *tasks = context;
	const struct device_task *x = &tasks[*(const uint32_t *)a];
	const struct device_task *y = &tasks[*(const uint32_t *)b];

	if (x->enqueue_ns != y->enqueue_ns)
		return x->enqueue_ns < y->enqueue_ns ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

static bool goes_by_enqueue(const struct model *model, const struct device_task *task)
{
	return task->call == INDEX_NONE && task->thread < model->threads.count && task->enqueue_ns &&
	       !(task->flags & MODEL_TASK_NUMBERED);
}

/* Deals the tasks out to their threads: those of thread i are order[next[i - 1]..next[i]) afterwards. */
static void deal_to_threads(const struct model *model, uint32_t *order, uint32_t *next)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < model->tasks.count; i++)
		if (goes_by_enqueue(model, &model->tasks.row[i]))
			next[model->tasks.row[i].thread]++;
	for (uint32_t i = 0; i < model->threads.count; i++) {
		const uint32_t of_thread = next[i];

		next[i] = count;
		count += of_thread;
	}
	for (uint32_t i = 0; i < model->tasks.count; i++)
		if (goes_by_enqueue(model, &model->tasks.row[i]))
			order[next[model->tasks.row[i].thread]++] = i;
}

/*
 * Joins tasks whose thread and enqueue instant are known, thread by thread: a thread's tasks are mostly in order, those of
 * several threads alternate.
 */
static int join_by_enqueue(struct model *model, struct launch_join *join)
{
	uint32_t *order = malloc(((size_t)model->tasks.count + 1) * sizeof(*order));
	uint32_t *next = calloc((size_t)model->threads.count + 1, sizeof(*next)), first = 0;

	if (!order || !next) {
		free(order);
		free(next);
		return -ENOMEM;
	}
	deal_to_threads(model, order, next);
	for (uint32_t i = 0; i < model->threads.count; first = next[i++]) {
		if (next[i] == first)
			continue;
		qsort_r(order + first, next[i] - first, sizeof(*order), by_enqueue, model->tasks.row);
		join_thread(model, order + first, next[i] - first, join);
	}
	free(order);
	free(next);
	return 0;
}

static bool has_device(const struct model *model, uint32_t thread)
{
	uint32_t process = thread < model->threads.count ? model->threads.row[thread].process
							 : INDEX_NONE;

	for (uint32_t i = 0; i < model->devices.count; i++) {
		if (model->devices.row[i].process == process)
			return true;
	}
	return false;
}

static bool is_outside(const struct model *model, uint64_t ts_ns)
{
	return ts_ns < model->info.session_start_ns ||
	       (model->info.session_end_ns && ts_ns > model->info.session_end_ns);
}

/* Device layers are read slightly longer than calls are traced; device files cover whole jobs. */
static bool outside_session(const struct model *model, const struct device_task *task,
			    bool complete)
{
	if (task->call != INDEX_NONE)
		return false;
	/* Includes tasks launched while probes were being attached. */
	if (complete && task->flags & MODEL_TASK_EDGE)
		return true;
	if (task->enqueue_ns)
		return is_outside(model, task->enqueue_ns);
	return task->flags & MODEL_TASK_NUMBERED && is_outside(model, task->start_ns);
}

static void count_tasks(const struct model *model, struct launch_join *join)
{
	bool complete = launches_complete(model);

	for (uint32_t i = 0; i < model->tasks.count; i++) {
		join->by_id += (model->tasks.row[i].flags & MODEL_TASK_BY_ID) != 0;
		join->by_order += (model->tasks.row[i].flags & MODEL_TASK_BY_ORDER) != 0;
		if (outside_session(model, &model->tasks.row[i], complete))
			join->tasks_outside++;
		else
			join->tasks++;
	}
	join->matched = join->by_id + join->by_correlation + join->by_enqueue + join->by_order;
	join->unmatched_tasks = join->tasks - join->matched;
}

static void count_launches(const struct model *model, struct launch_join *join)
{
	uint32_t thread = INDEX_NONE;
	bool profiled = false;

	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *call = &model->calls.row[i];

		if (!call_is_launch(model, call))
			continue;
		if (call->thread != thread) {
			thread = call->thread;
			profiled = has_device(model, thread);
		}
		if (call->flags & MODEL_CALL_ERROR) {
			join->failed_launches++;
			continue;
		}
		join->launches++;
		if (!profiled)
			join->unprofiled_launches++;
		else if (call->task == INDEX_NONE && !(call->flags & MODEL_CALL_SHARED))
			join->unmatched_launches++;
	}
}

/* Adds launches that are only counted, which happened outside the part whose rows are kept. */
static void add_counted(const struct model *model, struct launch_join *join)
{
	for (uint32_t i = 0; i < model->counted_calls.count; i++) {
		const struct counted_call *row = &model->counted_calls.row[i];

		if (row->unsure || !call_is_launch(model, &row->call))
			continue;
		if (row->call.flags & MODEL_CALL_ERROR) {
			join->failed_launches += row->count;
			continue;
		}
		join->launches += row->count;
		if (has_device(model, row->call.thread))
			join->unmatched_launches += row->count;
		else
			join->unprofiled_launches += row->count;
	}
}

bool launches_counted(const struct model *model)
{
	for (uint32_t i = 0; i < model->counted_calls.count; i++) {
		const struct counted_call *row = &model->counted_calls.row[i];

		if (row->unsure && call_is_launch(model, &row->call))
			return false;
	}
	return true;
}

int launches_join(struct model *model, struct launch_join *join)
{
	int error;

	*join = (struct launch_join){ 0 };
	calls_forget_tasks(model);
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		if (model->tasks.row[i].flags & (MODEL_TASK_BY_ID | MODEL_TASK_BY_ORDER))
			connect(model, i, model->tasks.row[i].call);
		else
			model->tasks.row[i].call = INDEX_NONE;
	}
	error = launch_correlation_join(model, &join->by_correlation);
	if (!error)
		error = join_by_enqueue(model, join);
	if (!error)
		error = launch_order_join(model, join);
	if (error)
		return error;
	count_tasks(model, join);
	count_launches(model, join);
	add_counted(model, join);
	return 0;
}

const char *launch_join_method(const struct launch_join *join)
{
	if (join->by_id)
		return join->by_correlation || join->by_enqueue || join->by_order
			       ? "numbers of stream and task, else instant or order"
			       : "numbers of stream and task";
	if (join->by_correlation)
		return join->by_enqueue || join->by_order ? "correlation, else instant or order"
							  : "correlation";
	if (join->by_enqueue && join->by_order)
		return "enqueue instant within the call, else order within the stream";
	if (join->by_order)
		return "order within the stream";
	return join->by_enqueue ? "enqueue instant within the call" : "none";
}

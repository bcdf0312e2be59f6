/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/amd/rocm_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/import/task_find.h"

#include "lib/base/bisect.h"

void rocm_rows_begin(struct rocm_rows *rocm, struct import *import, const char *source,
		     uint8_t clock)
{
	*rocm = (struct rocm_rows){ .import = import, .source = source, .clock = clock };
	import_rows_begin(&rocm->rows, import);
}

void rocm_rows_free(struct rocm_rows *rocm)
{
	import_rows_free(&rocm->rows);
	import_tracks_free(&rocm->tracks);
	map_free(&rocm->agent_rows);
	free(rocm->agents.row);
	free(rocm->calls.row);
	free(rocm->tasks.row);
	free(rocm->memory.row);
	free(rocm->counters.row);
}

const struct rocm_agent *rocm_agent_of(const struct rocm_rows *rocm, uint64_t key)
{
	uint32_t row = map_get(&rocm->agent_rows, key);

	return row == MAP_NONE ? NULL : &rocm->agents.row[row];
}

int rocm_agent(struct rocm_rows *rocm, uint64_t key, const struct rocm_agent *agent)
{
	uint32_t row = map_get(&rocm->agent_rows, key);

	if (row != MAP_NONE) {
		rocm->agents.row[row] = *agent;
		return 0;
	}
	if (!MODEL_PUSH(&rocm->agents, *agent) ||
	    !map_put(&rocm->agent_rows, key, rocm->agents.count - 1))
		return -ENOMEM;
	return 0;
}

bool rocm_is_cpu(const struct rocm_rows *rocm, uint64_t key)
{
	const struct rocm_agent *agent = rocm_agent_of(rocm, key);

	return agent && !agent->gpu;
}

uint8_t rocm_kernel_kind(const char *name)
{
	/* The runtime also copies and fills with its own kernels. */
	if (strncmp(name, "__amd_rocclr_copy", 17) == 0)
		return PROFBPF__DEVICE_TASKS__KIND__COPY;
	if (strncmp(name, "__amd_rocclr_fill", 17) == 0)
		return PROFBPF__DEVICE_TASKS__KIND__FILL;
	return is_communication_name(name) ? PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION
					   : PROFBPF__DEVICE_TASKS__KIND__KERNEL;
}

static bool possible(uint64_t start_ns, uint64_t end_ns)
{
	return start_ns && end_ns >= start_ns && end_ns <= INT64_MAX;
}

enum { TRACK_QUEUE, TRACK_STREAM, TRACK_THREAD };

int rocm_call(struct rocm_rows *rocm, const struct rocm_call *call)
{
	int err;

	if (!possible(call->start_ns, call->end_ns))
		return import_finding(rocm->import, "runtime calls without usable times: start or duration "
						    "is missing or no number (if there are many, the "
						    "profiler lost events: record less at a time)",
				      model_text(rocm->import->model, call->name));
	err = import_track(rocm->import, &rocm->tracks, TRACK_THREAD, call->pid, call->tid);
	if (err)
		return err;
	return MODEL_PUSH(&rocm->calls, *call) ? 0 : -ENOMEM;
}

int rocm_task(struct rocm_rows *rocm, const struct rocm_task *task)
{
	int err;

	if (!possible(task->start_ns, task->end_ns))
		return import_finding(rocm->import, "device tasks without usable times: start or duration is "
						    "missing or no number (if there are many, the profiler "
						    "lost events: record less at a time)",
				      model_text(rocm->import->model, task->name));
	err = import_track(rocm->import, &rocm->tracks, TRACK_QUEUE, task->agent, task->queue);
	if (!err)
		err = import_track(rocm->import, &rocm->tracks, TRACK_STREAM, task->agent, task->stream);
	if (err)
		return err;
	return MODEL_PUSH(&rocm->tasks, *task) ? 0 : -ENOMEM;
}

static int by_correlation(const void *a, const void *b)
{
	const struct rocm_call *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->correlation != y->correlation)
		return x->correlation < y->correlation ? -1 : 1;
	/* Of nested calls the outer one comes first. */
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

static const struct rocm_call *launch_of(const struct rocm_rows *rocm, const struct rocm_task *task)
{
	const struct rocm_call wanted = { .pid = task->pid,
					  .correlation = task->correlation,
					  .end_ns = UINT64_MAX };
	const struct rocm_call *calls = rocm->calls.row;
	uint32_t at = BISECT(i, 0, rocm->calls.count, by_correlation(&calls[i], &wanted) < 0);

	if (!task->correlation || at == rocm->calls.count || calls[at].pid != task->pid ||
	    calls[at].correlation != task->correlation)
		return NULL;
	return &calls[at];
}

static int put_call(struct rocm_rows *rocm, const struct rocm_call *from)
{
	struct model *model = rocm->import->model;
	const char *name = model_text(model, from->name);
	struct call call = { .start_ns = from->start_ns,
			     .end_ns = from->end_ns,
			     .args = { from->correlation },
			     .task = INDEX_NONE };
	uint8_t kind = is_communication_name(name) ? PROFBPF__FUNCTION__KIND__COLLECTIVE
						   : call_kind_of_name(name);

	call.thread = import_thread(&rocm->rows, from->pid, from->tid, from->start_ns);
	call.function = import_function(&rocm->rows, model_text(model, from->runtime), name, kind);
	if (call.thread == INDEX_NONE || call.function == INDEX_NONE ||
	    !MODEL_PUSH(&model->calls, call))
		return -ENOMEM;
	return 0;
}

static uint32_t device_row(struct rocm_rows *rocm, const struct rocm_task *task)
{
	const struct rocm_agent *agent = rocm_agent_of(rocm, task->agent);
	uint64_t number = agent ? agent->number : task->agent;
	const char *name = agent ? model_text(rocm->import->model, agent->name) : "";
	uint32_t process = task->pid ? import_process(&rocm->rows, task->pid) : INDEX_NONE;

	return import_device(&rocm->rows, number, process, *name ? name : "unnamed", "gpu",
			     rocm->source, rocm->clock);
}

static int by_task(const void *a, const void *b)
{
	const struct rocm_counter *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Adds the counters of row @row of tasks; *@next is moved behind them. */
static bool add_counters(struct rocm_rows *rocm, uint32_t row, uint32_t *next,
			 struct device_task *task)
{
	struct model *model = rocm->import->model;

	for (; *next < rocm->counters.count && rocm->counters.row[*next].task == row; (*next)++) {
		const struct rocm_counter *from = &rocm->counters.row[*next];
		const struct task_metric metric = { from->name, from->value };
		struct task_detail *detail = task_detail_of(model, task);

		if (!detail || !task_detail_add_metrics(model, detail, &metric, 1))
			return false;
	}
	return true;
}

static int put_task(struct rocm_rows *rocm, uint32_t row, bool streams, uint32_t *next_counter)
{
	const struct rocm_task *from = &rocm->tasks.row[row];
	struct model *model = rocm->import->model;
	const struct rocm_call *launch = launch_of(rocm, from);
	struct device_task task = { .start_ns = from->start_ns,
				    .end_ns = from->end_ns,
				    .stream = streams ? from->stream : from->queue,
				    .bytes = from->bytes,
				    .correlation = from->correlation,
				    .thread = INDEX_NONE,
				    .call = INDEX_NONE,
				    .name = from->name,
				    .kind = from->kind };
	uint64_t enqueue_ns = launch ? launch->start_ns : from->dispatch_ns;
	uint64_t tid = launch ? launch->tid : from->tid;

	task.device = device_row(rocm, from);
	if (task.device == INDEX_NONE)
		return -ENOMEM;
	if (enqueue_ns)
		task.enqueue_ns = import_host_time(&rocm->rows, rocm->clock, enqueue_ns);
	if (launch)
		task.enqueue_dur_ns = launch->end_ns - launch->start_ns;
	if (task.enqueue_ns && tid && from->pid)
		task.thread = import_thread(&rocm->rows, from->pid, tid, task.enqueue_ns);
	if (!add_counters(rocm, row, next_counter, &task))
		return -ENOMEM;
	return MODEL_PUSH(&model->tasks, task) ? 0 : -ENOMEM;
}

/* Numbers GPUs that have no number in the file, in its order. */
static void number_agents(struct rocm_rows *rocm)
{
	uint64_t next = 0;

	for (uint32_t i = 0; i < rocm->agents.count; i++) {
		struct rocm_agent *agent = &rocm->agents.row[i];

		if (agent->number == UINT64_MAX)
			agent->number = agent->gpu ? next : UINT32_MAX;
		if (agent->gpu && agent->number >= next)
			next = agent->number + 1;
	}
}

int rocm_finish(struct rocm_rows *rocm)
{
	bool streams = false;
	uint32_t counter = 0;
	int err = 0;

	number_agents(rocm);
	if (rocm->calls.count)
		qsort(rocm->calls.row, rocm->calls.count, sizeof(*rocm->calls.row), by_correlation);
	if (rocm->counters.count)
		qsort(rocm->counters.row, rocm->counters.count, sizeof(*rocm->counters.row),
		      by_task);
	for (uint32_t i = 0; i < rocm->calls.count && !err && rocm->import->alone; i++)
		err = put_call(rocm, &rocm->calls.row[i]);
	for (uint32_t i = 0; i < rocm->tasks.count && !streams; i++)
		streams = rocm->tasks.row[i].stream != 0;
	for (uint32_t i = 0; i < rocm->tasks.count && !err; i++)
		err = put_task(rocm, i, streams, &counter);
	if (!err)
		err = rocm_put_memory(rocm);
	if (!err && !rocm->tasks.count)
		err = import_finding(rocm->import,
				     "no device tasks: nothing is known of any device (record with rocprofv3 "
				     "--kernel-trace --memory-copy-trace)", NULL);
	return err;
}

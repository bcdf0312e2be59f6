/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads and processes. Each Tasks row is an event of one thread id at one instant; in order of
 * time the rows give the lives of all threads.
 */
#include "analyzer/load/loader_private.h"

#include <stdlib.h>
#include <string.h>

#include "proto/trace.pb-c.h"
#include "lib/trace/column.h"

/*
 * Start times of one life may differ a little: some come from /proc, which counts in hundredths of
 * a second of another clock.
 */
#define SAME_LIFE_NS 1000000000ull

struct building {
	struct loader *loader;
	struct model *model;
	struct map threads; /* tid -> latest row */
	struct map processes; /* pid -> latest row */
};

static bool tasks_fit(const Profbpf__Tasks *tasks, size_t *rows)
{
	return COLUMN_ROWS(rows, tasks->n_ts_ns, tasks->n_tid, tasks->n_tgid, tasks->n_parent_tgid,
			   tasks->n_parent_tid, tasks->n_event, tasks->n_exit_code,
			   tasks->n_start_ns, tasks->n_name, tasks->n_cmdline, tasks->n_exe,
			   tasks->n_flags) == 0;
}

bool load_tasks(struct loader *loader, const struct pbt_packet *packet)
{
	Profbpf__Tasks *tasks =
		profbpf__tasks__unpack(&loader->arena.allocator, packet->size, packet->body);
	struct session *session = loader_session(loader);
	struct task_row row = { 0 };
	size_t rows;

	if (!tasks || !tasks_fit(tasks, &rows))
		return false;
	for (size_t i = 0; i < rows; i++) {
		uint32_t event = COLUMN_AT(tasks, event, i);

		row.ts_ns += (uint64_t)COLUMN_AT(tasks, ts_ns, i);
		row.tid = COLUMN_AT(tasks, tid, i);
		row.tgid = COLUMN_AT(tasks, tgid, i);
		row.parent_tgid = COLUMN_AT(tasks, parent_tgid, i);
		row.parent_tid = COLUMN_AT(tasks, parent_tid, i);
		row.event = (uint8_t)event;
		row.exit_code = COLUMN_AT(tasks, exit_code, i);
		row.start_ns = COLUMN_AT(tasks, start_ns, i);
		row.name = loader_string(loader, COLUMN_AT(tasks, name, i));
		row.cmdline = loader_string(loader, COLUMN_AT(tasks, cmdline, i));
		row.exe = loader_string(loader, COLUMN_AT(tasks, exe, i));
		row.flags = (uint8_t)COLUMN_AT(tasks, flags, i);
		if (!loader_knows(loader, event, PROFBPF__TASKS__EVENT__DROPPED))
			continue;
		if (row.tid == 0 || row.tgid == 0) {
			loader->model->bad_rows++;
			continue;
		}
		if (!MODEL_PUSH(&loader->task_rows, row)) {
			loader->no_memory = true;
			return false;
		}
		if (row.ts_ns > session->last_ns)
			session->last_ns = row.ts_ns;
	}
	return true;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Does the row belong to the life that began at @thread->start_ns? */
static bool same_life(const struct thread *thread, const struct task_row *row)
{
	if (thread->start_ns && row->start_ns)
		return apart(thread->start_ns, row->start_ns) < SAME_LIFE_NS &&
		       (row->event != PROFBPF__TASKS__EVENT__FORK ||
			thread->start_ns == row->start_ns);
	if (row->event == PROFBPF__TASKS__EVENT__FORK)
		return false;
	return !thread->exit_ns || row->ts_ns <= thread->exit_ns;
}

static uint32_t add_process(struct building *building, uint32_t pid)
{
	struct process process = { .pid = pid };

	if (!map_put(&building->processes, pid, building->model->processes.count) ||
	    !MODEL_PUSH(&building->model->processes, process))
		return INDEX_NONE;
	return building->model->processes.count - 1;
}

/* Returns the process of a new thread. A new main thread begins a new process. */
static uint32_t process_of(struct building *building, const struct task_row *row)
{
	uint32_t index = map_get(&building->processes, row->tgid);
	const struct process *process;

	if (index == MAP_NONE)
		return add_process(building, row->tgid);
	process = &building->model->processes.row[index];
	if (row->tid == row->tgid && (process->start_ns || process->exit_ns))
		return add_process(building, row->tgid);
	return index;
}

static void begin_process(struct building *building, uint32_t index, const struct task_row *row)
{
	struct process *process = &building->model->processes.row[index];
	uint32_t parent;

	if (row->tid != row->tgid || process->start_ns)
		return;
	process->start_ns = row->start_ns ? row->start_ns : row->ts_ns;
	if (row->event != PROFBPF__TASKS__EVENT__FORK)
		return;
	parent = map_get(&building->processes, row->parent_tgid);
	if (parent != MAP_NONE && parent != index) {
		process->cmdline = building->model->processes.row[parent].cmdline;
		process->exe = building->model->processes.row[parent].exe;
	}
}

static uint32_t add_thread(struct building *building, const struct task_row *row)
{
	uint64_t session_start = building->model->info.session_start_ns;
	struct thread thread = {
		.tid = row->tid,
		.start_ns = row->start_ns,
		.first_ns = row->ts_ns,
		.parent = INDEX_NONE,
	};

	thread.process = process_of(building, row);
	if (thread.process == INDEX_NONE)
		return INDEX_NONE;
	begin_process(building, thread.process, row);
	if (row->event == PROFBPF__TASKS__EVENT__FORK) {
		if (row->parent_tid)
			thread.parent = map_get(&building->threads, row->parent_tid);
	} else if (row->start_ns && row->start_ns < row->ts_ns) {
		thread.first_ns = row->start_ns;
		if (thread.first_ns < session_start && session_start <= row->ts_ns)
			thread.first_ns = session_start;
	}
	if (!map_put(&building->threads, row->tid, building->model->threads.count) ||
	    !MODEL_PUSH(&building->model->threads, thread))
		return INDEX_NONE;
	return building->model->threads.count - 1;
}

static void end_thread(struct thread *thread, struct process *process, const struct task_row *row)
{
	bool leader = row->tid == row->tgid;

	thread->exit_ns = row->ts_ns;
	if (leader)
		process->exit_code = row->exit_code;
	/* The main thread may exit before the other threads. */
	if (leader || process->exit_ns)
		process->exit_ns = row->ts_ns;
}

static void apply(struct thread *thread, struct process *process, const struct task_row *row)
{
	bool leader = row->tid == row->tgid;

	if (row->name) {
		thread->name = row->name;
		if (row->event == PROFBPF__TASKS__EVENT__RENAME)
			thread->named_ns = row->ts_ns;
		if (leader || !process->name)
			process->name = row->name;
	}
	if (row->event == PROFBPF__TASKS__EVENT__EXEC || row->cmdline)
		process->cmdline = row->cmdline;
	if (row->event == PROFBPF__TASKS__EVENT__EXEC || row->exe)
		process->exe = row->exe;
	/* The parent that started the process: if the parent exits, later rows name the process that adopts it. */
	if (row->parent_tgid && leader && !process->parent_pid)
		process->parent_pid = row->parent_tgid;
	thread->target |= row->flags & PROFBPF__TASKS__FLAG__TARGET;
	process->target |= row->flags & PROFBPF__TASKS__FLAG__TARGET;
	thread->kernel |= (row->flags & PROFBPF__TASKS__FLAG__KERNEL) != 0;
	process->kernel |= (row->flags & PROFBPF__TASKS__FLAG__KERNEL) != 0;
	if (!thread->start_ns)
		thread->start_ns = row->start_ns;
	if (row->ts_ns > thread->last_ns)
		thread->last_ns = row->ts_ns;
	if (row->event == PROFBPF__TASKS__EVENT__EXIT) {
		end_thread(thread, process, row);
	} else if (row->event == PROFBPF__TASKS__EVENT__DROPPED) {
		thread->dropped_ns = row->ts_ns;
	} else if (row->event == PROFBPF__TASKS__EVENT__EXEC && thread->exit_ns) {
		/* Another thread called exec: it takes over the main thread's id and life. */
		thread->exit_ns = 0;
		process->exit_ns = 0;
	}
}

static bool apply_row(struct building *building, const struct task_row *row)
{
	struct model *model = building->model;
	uint32_t index = map_get(&building->threads, row->tid);

	if (index == MAP_NONE || !same_life(&model->threads.row[index], row))
		index = add_thread(building, row);
	if (index == INDEX_NONE)
		return false;
	apply(&model->threads.row[index], &model->processes.row[model->threads.row[index].process],
	      row);
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct task_row *x = a, *y = b;

	return x->ts_ns < y->ts_ns ? -1 : x->ts_ns > y->ts_ns;
}

/* Adds threads that only other rows name: only their ids are known. */
static bool add_unannounced(struct building *building)
{
	struct loader *loader = building->loader;
	struct model *model = building->model;

	for (uint32_t i = 0; i < loader->tids.count; i++) {
		const struct tid_info *info = &loader->tids.row[i];
		struct thread thread = {
			.tid = info->tid,
			.process = INDEX_NONE,
			.first_ns = info->first_ns,
			.last_ns = info->last_ns,
			.parent = INDEX_NONE,
		};

		if (map_get(&building->threads, info->tid) != MAP_NONE)
			continue;
		/* Without its process a thread could be the result of a wrong id. */
		if (!info->tgid)
			continue;
		thread.process = map_get(&building->processes, info->tgid);
		if (thread.process == MAP_NONE)
			thread.process = add_process(building, info->tgid);
		if (thread.process == INDEX_NONE || !MODEL_PUSH(&model->threads, thread))
			return false;
	}
	return true;
}

/* Adds processes that have only counts. */
static bool add_counted(struct building *building)
{
	struct model *model = building->model;

	for (uint32_t i = 0; i < model->short_calls.count; i++) {
		const struct short_calls *row = &model->short_calls.row[i];

		if (row->count && row->process && map_get(&building->processes, row->process) == MAP_NONE &&
		    add_process(building, row->process) == INDEX_NONE)
			return false;
	}
	return true;
}

/* Finds thread ids with a single life, and the last instant of each life. */
static void link_tids(struct loader *loader)
{
	struct model *model = loader->model;

	for (uint32_t i = 0; i < loader->tids.count; i++) {
		struct tid_info *info = &loader->tids.row[i];
		uint32_t first = model_thread_at(model, info->tid, 0);
		uint32_t last = model_thread_at(model, info->tid, UINT64_MAX);

		info->thread = first == last ? last : INDEX_NONE;
		if (last == INDEX_NONE)
			continue;
		if (info->last_ns > model->threads.row[last].last_ns)
			model->threads.row[last].last_ns = info->last_ns;
	}
}

static bool mark_targets(struct loader *loader)
{
	struct model *model = loader->model;
	struct map targets = { 0 };
	bool ok = true;

	for (uint32_t i = 0; ok && i < model->info.target_count; i++)
		ok = map_put(&targets, model->info.targets[i], 1);
	for (uint32_t i = 0; ok && i < model->processes.count; i++)
		model->processes.row[i].target |= map_get(&targets, model->processes.row[i].pid) !=
						  MAP_NONE;
	for (uint32_t i = 0; ok && i < model->threads.count; i++)
		model->threads.row[i].target |=
			model->processes.row[model->threads.row[i].process].target;
	map_free(&targets);
	return ok;
}

bool load_threads(struct loader *loader)
{
	struct building building = { .loader = loader, .model = loader->model };
	bool ok = true;

	if (loader->task_rows.count)
		qsort(loader->task_rows.row, loader->task_rows.count,
		      sizeof(*loader->task_rows.row), by_time);
	for (uint32_t i = 0; ok && i < loader->task_rows.count; i++)
		ok = apply_row(&building, &loader->task_rows.row[i]);
	ok = ok && add_unannounced(&building) && add_counted(&building) && model_index_threads(loader->model) &&
	     mark_targets(loader);
	if (ok)
		link_tids(loader);
	map_free(&building.threads);
	map_free(&loader->process_map);
	loader->process_map = building.processes;
	return ok;
}

uint32_t loader_thread_at(const struct loader *loader, uint32_t tid, uint64_t ts_ns)
{
	uint32_t index = tid ? loader_tid_row(loader, tid) : MAP_NONE;

	if (index == MAP_NONE)
		return INDEX_NONE;
	if (loader->tids.row[index].thread != INDEX_NONE)
		return loader->tids.row[index].thread;
	return model_thread_at(loader->model, tid, ts_ns);
}

uint32_t loader_process_at(const struct loader *loader, uint32_t pid, uint64_t ts_ns)
{
	uint32_t thread = model_thread_at(loader->model, pid, ts_ns);

	/* The main thread's life identifies the process among those with the same pid. */
	if (thread != INDEX_NONE) {
		uint32_t process = loader->model->threads.row[thread].process;

		if (loader->model->processes.row[process].pid == pid)
			return process;
	}
	return map_get(&loader->process_map, pid);
}

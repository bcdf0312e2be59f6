/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the model: the host's half. */
#include "analyzer/analyse/ioctl.h"
#include "analyzer/write/tables/tables.h"
#include "proto/trace.pb-c.h"
#include "lib/function_kinds.h"

static void put_info(struct rows *rows, const struct tables *of)
{
	const struct trace_info *info = &of->model->info;

	rows_table(rows, "trace",
		   "hostname TEXT, kernel TEXT, arch TEXT, cpus INTEGER, start_ns INTEGER, "
		   "end_ns INTEGER, start_realtime_ns INTEGER, producer TEXT, topics TEXT");
	rows_text(rows, model_text(of->model, info->hostname));
	rows_text(rows, model_text(of->model, info->kernel));
	rows_text(rows, model_text(of->model, info->arch));
	rows_known(rows, info->cpus, info->cpus);
	rows_u64(rows, info->start_ns);
	rows_u64(rows, info->end_ns);
	rows_known(rows, info->start_realtime_ns, info->start_realtime_ns);
	rows_text(rows, model_text(of->model, info->producer));
	rows_text(rows, model_text(of->model, info->topics));
	rows_end(rows);
}

static void put_processes(struct rows *rows, const struct tables *of)
{
	const struct model *model = of->model;

	rows_table(rows, "processes",
		   "process INTEGER, pid INTEGER, parent_pid INTEGER, name TEXT, cmdline TEXT, "
		   "target INTEGER, start_ns INTEGER, exit_ns INTEGER");
	for (uint32_t i = 0; i < model->processes.count; i++) {
		const struct process *row = &model->processes.row[i];

		rows_u64(rows, i);
		rows_u64(rows, row->pid);
		rows_known(rows, row->parent_pid, row->parent_pid);
		rows_text(rows, model_text(model, row->name));
		rows_text(rows, model_text(model, row->cmdline));
		rows_u64(rows, row->target);
		rows_known(rows, row->start_ns, row->start_ns);
		rows_known(rows, row->exit_ns, row->exit_ns);
		rows_end(rows);
	}
}

static void put_threads(struct rows *rows, const struct tables *of)
{
	const struct model *model = of->model;

	rows_table(rows, "threads",
		   "thread INTEGER, tid INTEGER, process INTEGER, name TEXT, target INTEGER, "
		   "first_ns INTEGER, last_ns INTEGER, exit_ns INTEGER");
	for (uint32_t i = 0; i < model->threads.count; i++) {
		const struct thread *row = &model->threads.row[i];

		if (!of->threads[i])
			continue;
		rows_u64(rows, i);
		rows_u64(rows, row->tid);
		rows_index(rows, row->process);
		rows_text(rows, model_text(model, row->name));
		rows_u64(rows, row->target);
		rows_u64(rows, row->first_ns);
		rows_u64(rows, row->last_ns);
		rows_known(rows, row->exit_ns, row->exit_ns);
		rows_end(rows);
	}
}

static void put_functions(struct rows *rows, const struct tables *of)
{
	const struct model *model = of->model;

	rows_table(
		rows, "functions",
		"function INTEGER, runtime TEXT, family TEXT, name TEXT, symbol TEXT, file TEXT, "
		"kind TEXT, layer INTEGER");
	for (uint32_t i = 0; i < model->functions.count; i++) {
		const struct function *row = &model->functions.row[i];

		if (!row->name)
			continue;
		rows_u64(rows, i);
		rows_text(rows, model_text(model, row->runtime));
		rows_text(rows, model_text(model, row->family));
		rows_text(rows, model_text(model, row->name));
		rows_text(rows, model_text(model, row->symbol));
		rows_text(rows, model_text(model, row->file));
		rows_text(rows, function_kind_name(row->kind));
		rows_u64(rows, row->layer);
		rows_end(rows);
	}
}

static bool wanted(const struct tables *of, uint32_t thread)
{
	return thread < of->model->threads.count && of->threads[thread];
}

static void put_calls(struct rows *rows, const struct tables *of)
{
	const struct model *model = of->model;

	rows_table(rows, "calls",
		   "call INTEGER, thread INTEGER, function INTEGER, start_ns INTEGER, "
		   "end_ns INTEGER, depth INTEGER, open INTEGER, left_call INTEGER, "
		   "end_unknown INTEGER, error INTEGER, inner_call INTEGER, returned INTEGER, text "
		   "TEXT, argument1 INTEGER, argument2 INTEGER, "
		   "argument3 INTEGER, task INTEGER");
	for (uint32_t i = 0; i < model->calls.count; i++) {
		const struct call *row = &model->calls.row[i];

		if (!wanted(of, row->thread))
			continue;
		rows_u64(rows, i);
		rows_u64(rows, row->thread);
		rows_u64(rows, row->function);
		rows_u64(rows, row->start_ns);
		rows_known(rows, !(row->flags & MODEL_CALL_END_UNKNOWN), row->end_ns);
		rows_u64(rows, row->depth);
		rows_u64(rows, (row->flags & MODEL_CALL_OPEN) != 0);
		rows_u64(rows, (row->flags & MODEL_CALL_LEFT) != 0);
		rows_u64(rows, (row->flags & MODEL_CALL_ENTRY) != 0);
		rows_u64(rows, (row->flags & MODEL_CALL_ERROR) != 0);
		rows_u64(rows, (row->flags & MODEL_CALL_INNER) != 0);
		rows_known(rows, !(row->flags & MODEL_CALL_NOT_RETURNED), row->ret);
		rows_text(rows, model_text(model, row->text));
		for (int k = 0; k < 3; k++)
			rows_u64(rows, row->args[k]);
		rows_index(rows, row->task);
		rows_end(rows);
	}
}

static void put_ioctls(struct rows *rows, const struct tables *of)
{
	const struct model *model = of->model;
	char command[64];

	rows_table(rows, "ioctls",
		   "thread INTEGER, device TEXT, driver TEXT, command TEXT, number INTEGER, "
		   "start_ns INTEGER, end_ns INTEGER, open INTEGER, returned INTEGER, began_before "
		   "INTEGER");
	for (uint32_t i = 0; i < model->ioctls.count; i++) {
		const struct ioctl_call *row = &model->ioctls.row[i];
		const struct driver *driver = &model->drivers.row[row->driver];

		if (!wanted(of, row->thread))
			continue;
		rows_u64(rows, row->thread);
		rows_text(rows, model_text(model, driver->device));
		rows_text(rows, model_text(model, driver->driver));
		rows_text(rows, ioctl_command_name(model, row->driver, row->cmd, command,
						   sizeof(command)));
		rows_u64(rows, row->cmd);
		rows_u64(rows, row->start_ns);
		rows_u64(rows, row->end_ns);
		rows_u64(rows, (row->flags & MODEL_CALL_OPEN) != 0);
		if (row->flags & (MODEL_CALL_OPEN | MODEL_IOCTL_UNSEEN))
			rows_known(rows, false, 0);
		else
			rows_i64(rows, row->ret);
		rows_u64(rows, (row->flags & MODEL_IOCTL_BEFORE) != 0);
		rows_end(rows);
	}
}

static const char *state_name(uint8_t state)
{
	static const char *const names[] = { "unknown", "running", "runnable",
					     "asleep",	"disk",	   "stopped" };

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

/* What threads did, without holes. "other": who had the CPU, or who woke it. */
static void put_states(struct rows *rows, const struct tables *of)
{
	const struct model *model = of->model;

	rows_table(rows, "states",
		   "thread INTEGER, start_ns INTEGER, end_ns INTEGER, state TEXT, cpu INTEGER, "
		   "syscall INTEGER, other INTEGER");
	for (uint32_t i = 0; i < model->timelines.count; i++) {
		const struct timeline *timeline = &model->timelines.row[i];

		for (uint32_t k = 0; k < timeline->count && of->threads[i]; k++) {
			const struct span *row = &model->spans.row[timeline->first + k];
			bool on_cpu = row->state == STATE_RUNNING || row->state == STATE_RUNNABLE;

			rows_u64(rows, i);
			rows_u64(rows, row->start_ns);
			rows_u64(rows, row->end_ns);
			rows_text(rows, state_name(row->state));
			rows_known(rows, on_cpu, row->cpu);
			rows_known(rows, !on_cpu && row->syscall >= 0, (uint64_t)row->syscall);
			rows_index(rows, row->other);
			rows_end(rows);
		}
	}
}

/* Interrupts that took the CPU from a target's thread; one may have been in the other. */
static void put_interrupts(struct rows *rows, const struct tables *of)
{
	const struct model *model = of->model;

	rows_table(rows, "interrupts",
		   "thread INTEGER, cpu INTEGER, start_ns INTEGER, end_ns INTEGER, hard INTEGER, "
		   "soft INTEGER, timer INTEGER");
	for (uint32_t i = 0; i < model->interrupts.count; i++) {
		const struct interrupt *row = &model->interrupts.row[i];

		if (!wanted(of, row->thread))
			continue;
		rows_u64(rows, row->thread);
		rows_u64(rows, row->cpu);
		rows_u64(rows, row->ts_ns);
		rows_u64(rows, row->ts_ns + row->dur_ns);
		rows_u64(rows, (row->flags & PROFBPF__WAKES__FLAG__HARDIRQ) != 0);
		rows_u64(rows, (row->flags & PROFBPF__WAKES__FLAG__SOFTIRQ) != 0);
		rows_u64(rows, (row->flags & PROFBPF__WAKES__FLAG__TIMER) != 0);
		rows_end(rows);
	}
}

void tables_model(struct rows *rows, const struct tables *of)
{
	put_info(rows, of);
	put_processes(rows, of);
	put_threads(rows, of);
	put_functions(rows, of);
	put_calls(rows, of);
	put_ioctls(rows, of);
	put_states(rows, of);
	put_interrupts(rows, of);
}

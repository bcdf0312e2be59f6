/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the report: disks, page faults, advice, samples; readings of the host and of groups. */
#include "analyzer/analyse/block_io.h"
#include "analyzer/analyse/bottleneck.h"
#include "analyzer/analyse/faults.h"
#include "analyzer/analyse/python.h"
#include "analyzer/analyse/stacks.h"
#include "analyzer/write/tables/tables.h"

static void put_block(struct rows *rows, const struct tables *of, const struct block_results *block)
{
	rows_table(rows, "block_io",
		   "device TEXT, process INTEGER, operation TEXT, count INTEGER, bytes INTEGER, "
		   "failed INTEGER, queued_ns INTEGER, slept_ns INTEGER, total_ns INTEGER, "
		   "max_ns INTEGER");
	for (uint32_t i = 0; i < block->row_count; i++) {
		const struct block_usage *row = &block->rows[i];
		const struct driver *driver = &of->model->drivers.row[row->driver];

		rows_text(rows, model_text(of->model, driver->device));
		rows_index(rows, row->process);
		rows_text(rows, block_operation_name(row->operation));
		rows_u64(rows, row->latency.count);
		rows_u64(rows, row->bytes);
		rows_u64(rows, row->failed);
		rows_u64(rows, row->wait_ns);
		rows_u64(rows, row->slept_ns);
		rows_u64(rows, row->latency.total_ns);
		rows_known(rows, row->latency.has_max, row->latency.max_ns);
		rows_end(rows);
	}
}

static void put_faults(struct rows *rows, const struct tables *of,
		       const struct fault_results *faults)
{
	rows_table(rows, "major_faults",
		   "process INTEGER, file TEXT, count INTEGER, slept INTEGER, total_ns INTEGER, "
		   "max_ns INTEGER");
	for (uint32_t i = 0; i < faults->row_count; i++) {
		const struct fault_usage *row = &faults->rows[i];

		rows_index(rows, row->process);
		rows_text(rows, model_text(of->model, row->file));
		rows_u64(rows, row->count);
		rows_u64(rows, row->slept);
		rows_u64(rows, row->total_ns);
		rows_u64(rows, row->max_ns);
		rows_end(rows);
	}
}

static void put_advice(struct rows *rows, const struct advice_results *advice)
{
	rows_table(rows, "advice",
		   "id TEXT, severity TEXT, title TEXT, evidence TEXT, remedy TEXT");
	for (uint32_t i = 0; i < advice->advice_count; i++) {
		const struct advice *row = &advice->list[i];

		rows_text(rows, row->id);
		rows_text(rows, row->severity);
		rows_text(rows, row->title);
		rows_text(rows, row->evidence);
		rows_text(rows, row->remedy);
		rows_end(rows);
	}
}

static void put_stacks(struct rows *rows, const struct tables *of,
		       const struct stack_results *stacks)
{
	rows_table(rows, "stack_functions",
		   "name TEXT, file TEXT, self_samples INTEGER, total_samples INTEGER");
	for (uint32_t i = 0; i < stacks->function_count; i++) {
		const struct stack_function *row = &stacks->functions[i];

		rows_text(rows, model_text(of->model, row->name));
		rows_text(rows, model_text(of->model, row->file));
		rows_u64(rows, row->self);
		rows_u64(rows, row->total);
		rows_end(rows);
	}
}

static void put_python(struct rows *rows, const struct tables *of,
		       const struct python_results *python)
{
	rows_table(rows, "python_functions",
		   "process INTEGER, name TEXT, file TEXT, line INTEGER, samples INTEGER, "
		   "samples_on_cpu INTEGER, samples_with_gil INTEGER");
	for (uint32_t i = 0; i < python->function_count; i++) {
		const struct python_function *row = &python->functions[i];

		rows_index(rows, row->process);
		rows_text(rows, model_text(of->model, row->name));
		rows_text(rows, model_text(of->model, row->file));
		rows_known(rows, row->line, row->line);
		rows_u64(rows, row->samples);
		rows_known(rows, python->states_known, row->running);
		rows_u64(rows, row->locked);
		rows_end(rows);
	}
}

static void put_counters(struct rows *rows, const struct tables *of)
{
	rows_table(rows, "host_counters", "name TEXT, cpu INTEGER, ts_ns INTEGER, value INTEGER");
	for (uint32_t i = 0; i < of->model->counters.count; i++) {
		const struct counter *row = &of->model->counters.row[i];

		rows_text(rows, model_text(of->model, row->name));
		rows_index(rows, row->cpu);
		rows_u64(rows, row->ts_ns);
		rows_u64(rows, row->value);
		rows_end(rows);
	}
}

static void put_groups(struct rows *rows, const struct tables *of)
{
	const struct model *model = of->model;

	rows_table(rows, "cgroup_readings",
		   "path TEXT, ts_ns INTEGER, quota_ns INTEGER, period_ns INTEGER, "
		   "periods INTEGER, throttled_periods INTEGER, throttled_ns INTEGER, "
		   "usage_ns INTEGER");
	for (uint32_t i = 0; i < model->cgroup_stats.count; i++) {
		const struct cgroup_stat *row = &model->cgroup_stats.row[i];
		bool quota = row->flags & MODEL_CGROUP_QUOTA;
		bool throttling = row->flags & MODEL_CGROUP_THROTTLING;

		rows_text(rows, model_text(model, model->cgroups.row[row->cgroup].path));
		rows_u64(rows, row->ts_ns);
		rows_known(rows, quota && row->quota_ns, row->quota_ns);
		rows_known(rows, quota, row->period_ns);
		rows_known(rows, throttling, row->periods);
		rows_known(rows, throttling, row->throttled_periods);
		rows_known(rows, throttling, row->throttled_ns);
		rows_known(rows, row->flags & MODEL_CGROUP_USAGE, row->usage_ns);
		rows_end(rows);
	}
}

void tables_more(struct rows *rows, const struct tables *of)
{
	const struct results *results = of->results;

	if (results->block)
		put_block(rows, of, results->block);
	if (results->faults)
		put_faults(rows, of, results->faults);
	if (results->advice)
		put_advice(rows, results->advice);
	if (results->stacks)
		put_stacks(rows, of, results->stacks);
	if (results->python)
		put_python(rows, of, results->python);
	put_counters(rows, of);
	put_groups(rows, of);
}

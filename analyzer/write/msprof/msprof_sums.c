/* SPDX-License-Identifier: Apache-2.0 */
/* op_statistic, api_statistic, step_trace: sums and steps. */
#include <inttypes.h>

#include "analyzer/write/msprof/msprof.h"

/* Of operators with a type, or else by what kind of work they are. */
static const char *core_of(const struct operator_usage *row)
{
	switch (row->core) {
	case CORE_AICORE: return "AI_CORE";
	case CORE_AICPU: return "AI_CPU";
	case CORE_HOSTCPU: return "HOST_CPU";
	case CORE_COMMUNICATION: return "COMMUNICATION";
	default: return "N/A";
	}
}

static bool is_operator(const struct operator_usage *row)
{
	return row->kind == PROFBPF__DEVICE_TASKS__KIND__KERNEL ||
	       row->kind == PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION;
}

static void put_type(const struct msprof *msprof, struct csv_file *csv,
		     const struct operator_usage *row, uint64_t all_ns)
{
	csv_format(csv, "%u", msprof->model->devices.row[msprof->device].id);
	csv_text(csv, operator_type(msprof->model, row));
	csv_text(csv, core_of(row));
	csv_format(csv, "%" PRIu64, row->count);
	csv_us(csv, row->total_ns);
	csv_us(csv, row->min_ns);
	csv_us(csv, row->total_ns / row->count);
	csv_us(csv, row->max_ns);
	csv_format(csv, "%.3f", all_ns ? 100.0 * (double)row->total_ns / (double)all_ns : 0.0);
	csv_end_row(csv);
}

int msprof_op_statistic(const struct msprof *msprof)
{
	const struct device_results *devices = msprof->results->devices;
	uint64_t all_ns = 0;
	struct csv_file csv;
	int err = msprof_open(msprof, &csv, "op_statistic",
			      "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),"
			      "Avg Time(us),Max Time(us),Ratio(%)");

	if (err)
		return err;
	for (uint32_t i = 0; i < devices->types.count; i++) {
		if (devices->types.rows[i].device == msprof->device &&
		    is_operator(&devices->types.rows[i]))
			all_ns += devices->types.rows[i].total_ns;
	}
	for (uint32_t i = 0; i < devices->types.count; i++) {
		if (devices->types.rows[i].device == msprof->device &&
		    is_operator(&devices->types.rows[i]))
			put_type(msprof, &csv, &devices->types.rows[i], all_ns);
	}
	return csv_close(&csv);
}

/* Calls of the device's process; of none in particular they go to the first device. */
static bool is_of_device(const struct msprof *msprof, const struct api_statistic_row *row)
{
	uint32_t process = msprof->model->devices.row[msprof->device].process;

	if (row->process == INDEX_NONE || process == INDEX_NONE)
		return msprof->first;
	return row->process == process;
}

static void put_us(struct csv_file *csv, uint64_t ns)
{
	if (ns != UINT64_MAX)
		csv_us(csv, ns);
	else
		csv_text(csv, "N/A");
}

int msprof_api_statistic(const struct msprof *msprof)
{
	const struct api_statistic_results *api = msprof->results->api_statistic;
	struct csv_file csv;
	int err = msprof_open(msprof, &csv, "api_statistic",
			      "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),"
			      "Variance");

	if (err)
		return err;
	for (uint32_t i = 0; api && i < api->count; i++) {
		const struct api_statistic_row *row = &api->rows[i];

		if (!is_of_device(msprof, row))
			continue;
		csv_text(&csv, "host");
		csv_text(&csv, row->level);
		msprof_text(&csv, model_text(msprof->model, row->name));
		csv_us(&csv, row->total_ns);
		csv_format(&csv, "%" PRIu64, row->count);
		csv_us(&csv, row->total_ns / row->count);
		put_us(&csv, row->min_ns);
		put_us(&csv, row->max_ns);
		if (row->variance >= 0)
			csv_format(&csv, "%.3f", row->variance);
		else
			csv_text(&csv, "N/A");
		csv_end_row(&csv);
	}
	return csv_close(&csv);
}

static void put_ns(struct csv_file *csv, bool known, int64_t ns)
{
	if (known)
		csv_format(csv, "%.3f", (double)ns / 1000);
	else
		csv_text(csv, "N/A");
}

/* Collectives that begin in a step; written if @csv is there. Steps come in order: *@next goes on. */
static uint32_t put_reduces(const struct msprof *msprof, struct csv_file *csv,
			    const struct device_step_row *row, uint32_t *next)
{
	const struct model *model = msprof->model;
	uint32_t count = 0;

	while (*next < model->tasks.count && (model->tasks.row[*next].device != msprof->device ||
					      model->tasks.row[*next].start_ns < row->fp_start_ns))
		(*next)++;
	for (uint32_t i = *next; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];

		if (task->device != msprof->device || task->start_ns >= row->end_ns)
			break;
		if (task->kind != PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION ||
		    task->flags & MODEL_TASK_UNTIMED)
			continue;
		count++;
		if (!csv)
			continue;
		msprof_instant(msprof, csv, task->start_ns);
		csv_us(csv, task->end_ns - task->start_ns);
	}
	return count;
}

static void put_step(const struct msprof *msprof, struct csv_file *csv,
		     const struct device_step_row *row, uint32_t *next)
{
	csv_format(csv, "%u", msprof->model->devices.row[msprof->device].id);
	csv_format(csv, "%" PRIu64, row->number);
	msprof_instant(msprof, csv, row->fp_start_ns);
	msprof_instant(msprof, csv, row->bp_end_ns);
	msprof_instant(msprof, csv, row->end_ns);
	csv_us(csv, row->end_ns - row->start_ns);
	put_ns(csv, row->bp_end_ns, row->fp_bp_ns);
	put_ns(csv, row->bp_end_ns, row->tail_ns);
	put_ns(csv, !row->first, row->gap_ns);
	csv_text(csv, "N/A"); /* Model ID */
	put_reduces(msprof, csv, row, next);
	csv_end_row(csv);
}

static const struct device_step_trace *trace_of(const struct msprof *msprof)
{
	const struct device_step_results *steps = msprof->results->device_steps;

	for (uint32_t i = 0; steps && i < steps->count; i++) {
		if (steps->traces[i].device == msprof->device && steps->traces[i].count)
			return &steps->traces[i];
	}
	return NULL;
}

/* Rows have as many pairs of columns for reductions as they need; the header names the most. */
int msprof_step_trace(const struct msprof *msprof)
{
	const struct device_step_trace *trace = trace_of(msprof);
	uint32_t reduces = 0, next = 0;
	struct csv_file csv;
	int err;

	if (!trace)
		return 0;
	err = msprof_open(msprof, &csv, "step_trace", NULL);
	if (err)
		return err;
	for (uint32_t i = 0; i < trace->count; i++) {
		uint32_t count = put_reduces(msprof, NULL, &trace->rows[i], &next);

		reduces = count > reduces ? count : reduces;
	}
	fputs("Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),"
	      "FP to BP Time(us),Iteration Refresh(us),Data Aug Bound(us),Model ID",
	      csv.out);
	for (uint32_t i = 0; i < reduces; i++)
		fputs(",Reduce Start(us),Reduce Duration(us)", csv.out);
	fputc('\n', csv.out);
	next = 0;
	for (uint32_t i = 0; i < trace->count; i++)
		put_step(msprof, &csv, &trace->rows[i], &next);
	return csv_close(&csv);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* op_summary and task_time: a row per task. */
#include <inttypes.h>

#include "analyzer/analyse/cluster/communication.h"
#include "analyzer/export/layouts/msprof/msprof.h"

#define METRICS_MAX 64

/* Counter columns: all counters that any task of the device has. */
struct metric_columns {
	uint32_t names[METRICS_MAX]; /* strings */
	uint32_t count;
};

static void put_id(struct csv_file *csv, bool known, uint64_t id)
{
	if (known && id != MODEL_ID_NONE)
		csv_format(csv, "%" PRIu64, id);
	else
		csv_text(csv, "N/A");
}

static void put_blocks(struct csv_file *csv, const struct task_detail *detail, uint32_t blocks)
{
	put_id(csv, detail && blocks != INDEX_NONE, blocks);
}

static void put_detail(struct csv_file *csv, const struct model *model,
		       const struct task_detail *detail)
{
	const uint32_t none = 0;
	const uint32_t *const texts[] = {
		detail ? &detail->input_shapes : &none,	 detail ? &detail->input_types : &none,
		detail ? &detail->input_formats : &none, detail ? &detail->output_shapes : &none,
		detail ? &detail->output_types : &none,	 detail ? &detail->output_formats : &none,
	};

	put_blocks(csv, detail, detail ? detail->blocks : 0);
	put_blocks(csv, detail, detail ? detail->mix_blocks : 0);
	msprof_text(csv, detail ? model_text(model, detail->hf32) : NULL);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		msprof_text(csv, model_text(model, *texts[i]));
	put_id(csv, detail, detail ? detail->context_id : 0);
}

static void find_metrics(const struct msprof *msprof, struct metric_columns *columns)
{
	const struct model *model = msprof->model;

	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];
		const struct task_detail *detail = model_task_detail(model, task);

		if (task->device != msprof->device || !detail)
			continue;
		for (uint32_t k = 0; k < detail->metric_count; k++) {
			uint32_t name = model->task_metrics.row[detail->first_metric + k].name,
				 at = 0;

			while (at < columns->count && columns->names[at] != name)
				at++;
			if (at == columns->count && at < METRICS_MAX)
				columns->names[columns->count++] = name;
		}
	}
}

static void put_metrics(struct csv_file *csv, const struct model *model,
			const struct task_detail *detail, const struct metric_columns *columns)
{
	for (uint32_t i = 0; i < columns->count; i++) {
		const struct task_metric *metric = NULL;

		for (uint32_t k = 0; detail && k < detail->metric_count && !metric; k++) {
			metric = &model->task_metrics.row[detail->first_metric + k];
			metric = metric->name == columns->names[i] ? metric : NULL;
		}
		if (metric)
			csv_format(csv, "%.10g", metric->value);
		else
			csv_text(csv, "N/A");
	}
}

static void put_operator(const struct msprof *msprof, struct csv_file *csv,
			 const struct device_task *task, uint64_t before_ns,
			 const struct metric_columns *columns)
{
	const struct model *model = msprof->model;
	const struct task_detail *detail = model_task_detail(model, task);
	bool alone = task->kind != PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION;
	char operation[128];

	csv_format(csv, "%u", model->devices.row[msprof->device].id);
	put_id(csv, alone && detail, detail ? detail->model_id : 0);
	put_id(csv, alone && detail, detail ? detail->task_id : 0);
	put_id(csv, alone, task->stream);
	msprof_text(csv, model_text(model, task->name));
	if (task->type || alone)
		msprof_text(csv, model_text(model, task->type));
	else
		csv_text(csv, communication_name(model_text(model, task->name), operation,
						 sizeof(operation)));
	msprof_text(csv, detail ? model_text(model, detail->state) : NULL);
	csv_text(csv, msprof_core(model, task));
	msprof_instant(msprof, csv, task->start_ns);
	csv_us(csv, task->end_ns - task->start_ns);
	csv_us(csv, before_ns && task->start_ns > before_ns ? task->start_ns - before_ns : 0);
	put_detail(csv, model, detail);
	put_metrics(csv, model, detail, columns);
	csv_end_row(csv);
}

bool msprof_is_timed(const struct msprof *msprof, const struct device_task *task)
{
	return task->device == msprof->device && !(task->flags & MODEL_TASK_UNTIMED) &&
	       task->end_ns >= task->start_ns && task->start_ns >= msprof->results->from_ns &&
	       task->start_ns < msprof->results->to_ns;
}

static bool is_operator(const struct device_task *task)
{
	return task->kind == PROFBPF__DEVICE_TASKS__KIND__KERNEL ||
	       task->kind == PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION;
}

/* A task's wait is the time since the end of the previous operator. */
int msprof_op_summary(const struct msprof *msprof)
{
	const struct model *model = msprof->model;
	struct metric_columns columns = { 0 };
	uint64_t before_ns = 0;
	struct csv_file csv;
	int err = msprof_open(msprof, &csv, "op_summary", NULL);

	if (err)
		return err;
	find_metrics(msprof, &columns);
	fputs("Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,"
	      "Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Num,Mix Block Num,"
	      "HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,"
	      "Output Data Types,Output Formats,Context ID",
	      csv.out);
	csv.inside = true;
	for (uint32_t i = 0; i < columns.count; i++)
		csv_text(&csv, model_text(model, columns.names[i]));
	csv_end_row(&csv);
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct device_task *task = &model->tasks.row[i];

		if (!msprof_is_timed(msprof, task) || !is_operator(task))
			continue;
		put_operator(msprof, &csv, task, before_ns, &columns);
		before_ns = task->end_ns;
	}
	return csv_close(&csv);
}

static void put_task(const struct msprof *msprof, struct csv_file *csv,
		     const struct device_task *task)
{
	const struct model *model = msprof->model;
	const struct task_detail *detail = model_task_detail(model, task);

	csv_format(csv, "%u", model->devices.row[msprof->device].id);
	msprof_text(csv, model_text(model, task->name));
	csv_text(csv, msprof_core(model, task));
	put_id(csv, true, task->stream);
	put_id(csv, detail, detail ? detail->task_id : 0);
	csv_us(csv, task->end_ns - task->start_ns);
	msprof_instant(msprof, csv, task->start_ns);
	msprof_instant(msprof, csv, task->end_ns);
	csv_end_row(csv);
}

int msprof_task_time(const struct msprof *msprof)
{
	const struct model *model = msprof->model;
	struct csv_file csv;
	int err = msprof_open(msprof, &csv, "task_time",
			      "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),"
			      "task_start(us),task_stop(us)");

	if (err)
		return err;
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		if (msprof_is_timed(msprof, &model->tasks.row[i]))
			put_task(msprof, &csv, &model->tasks.row[i]);
	}
	return csv_close(&csv);
}

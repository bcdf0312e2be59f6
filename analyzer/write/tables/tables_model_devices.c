/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the model: devices and what files told of them. */
#include "analyzer/analyse/operators.h"
#include "analyzer/write/export_filter.h"
#include "analyzer/write/tables/tables.h"

static void put_devices(struct rows *rows, const struct tables *of)
{
	const struct model *model = of->model;

	rows_table(
		rows, "devices",
		"device INTEGER, id INTEGER, name TEXT, kind TEXT, source TEXT, process INTEGER, "
		"rank INTEGER");
	for (uint32_t i = 0; i < model->devices.count; i++) {
		const struct device *row = &model->devices.row[i];

		rows_u64(rows, i);
		rows_u64(rows, row->id);
		rows_text(rows, model_text(model, row->name));
		rows_text(rows, model_text(model, row->kind));
		rows_text(rows, model_text(model, row->source));
		rows_index(rows, row->process);
		rows_known(rows, row->has_rank, row->rank);
		rows_end(rows);
	}
}

/* Is a task of one of the wanted processes? */
static bool wanted(const struct tables *of, uint32_t task)
{
	uint32_t device = of->model->tasks.row[task].device;

	return device < of->model->devices.count &&
	       export_process(of->model, of->options, of->model->devices.row[device].process);
}

static void put_task(struct rows *rows, const struct model *model, uint32_t i)
{
	const struct device_task *row = &model->tasks.row[i];
	bool timed = !(row->flags & MODEL_TASK_UNTIMED);

	rows_u64(rows, i);
	rows_index(rows, row->device);
	rows_id(rows, row->stream);
	rows_text(rows, model_text(model, row->name));
	rows_text(rows, task_kind_name(row->kind));
	rows_text(rows, model_text(model, row->type));
	rows_text(rows, model_text(model, row->core));
	rows_known(rows, row->enqueue_ns, row->enqueue_ns);
	rows_known(rows, row->queued_ns, row->queued_ns);
	rows_known(rows, row->submit_ns, row->submit_ns);
	rows_known(rows, timed, row->start_ns);
	rows_known(rows, timed, row->end_ns);
	rows_known(rows, row->bytes, row->bytes);
	rows_known(rows, row->correlation, row->correlation);
	rows_index(rows, row->thread);
	rows_index(rows, row->call);
	rows_i64(rows, row->status);
	rows_end(rows);
}

static void put_tasks(struct rows *rows, const struct tables *of)
{
	rows_table(rows, "tasks",
		   "task INTEGER, device INTEGER, stream INTEGER, name TEXT, kind TEXT, type TEXT, "
		   "core TEXT, enqueue_ns INTEGER, queued_ns INTEGER, submit_ns INTEGER, "
		   "start_ns INTEGER, end_ns INTEGER, bytes INTEGER, correlation INTEGER, "
		   "thread INTEGER, call INTEGER, status INTEGER");
	for (uint32_t i = 0; i < of->model->tasks.count; i++) {
		if (wanted(of, i))
			put_task(rows, of->model, i);
	}
}

static void put_figure(struct rows *rows, bool known, double value)
{
	if (known)
		rows_real(rows, value);
	else
		rows_null(rows);
}

static void put_details(struct rows *rows, const struct tables *of)
{
	const struct model *model = of->model;

	rows_table(rows, "task_details",
		   "task INTEGER, task_id INTEGER, context_id INTEGER, model_id INTEGER, "
		   "step INTEGER, blocks INTEGER, mix_blocks INTEGER, state TEXT, "
		   "input_shapes TEXT, input_types TEXT, input_formats TEXT, output_shapes TEXT, "
		   "output_types TEXT, output_formats TEXT, flops REAL, moved_bytes REAL, "
		   "utilization_percent REAL");
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct task_detail *row = model_task_detail(model, &model->tasks.row[i]);

		if (!row || !wanted(of, i))
			continue;
		rows_u64(rows, i);
		rows_id(rows, row->task_id);
		rows_id(rows, row->context_id);
		rows_id(rows, row->model_id);
		rows_id(rows, row->step);
		rows_index(rows, row->blocks);
		rows_index(rows, row->mix_blocks);
		rows_text(rows, model_text(model, row->state));
		rows_text(rows, model_text(model, row->input_shapes));
		rows_text(rows, model_text(model, row->input_types));
		rows_text(rows, model_text(model, row->input_formats));
		rows_text(rows, model_text(model, row->output_shapes));
		rows_text(rows, model_text(model, row->output_types));
		rows_text(rows, model_text(model, row->output_formats));
		put_figure(rows, row->known & MODEL_DETAIL_FLOPS, row->flops);
		put_figure(rows, row->known & MODEL_DETAIL_MOVED, row->moved_bytes);
		put_figure(rows, row->known & MODEL_DETAIL_UTILIZATION, row->utilization);
		rows_end(rows);
	}
}

static void put_metrics(struct rows *rows, const struct tables *of)
{
	const struct model *model = of->model;

	rows_table(rows, "task_metrics", "task INTEGER, metric TEXT, value REAL");
	for (uint32_t i = 0; i < model->tasks.count; i++) {
		const struct task_detail *row = model_task_detail(model, &model->tasks.row[i]);

		if (!row || !wanted(of, i))
			continue;
		for (uint32_t k = 0; k < row->metric_count; k++) {
			const struct task_metric *metric =
				&model->task_metrics.row[row->first_metric + k];

			rows_u64(rows, i);
			rows_text(rows, model_text(model, metric->name));
			rows_real(rows, metric->value);
			rows_end(rows);
		}
	}
}

static void put_links(struct rows *rows, const struct tables *of)
{
	const struct model *model = of->model;

	rows_table(rows, "link_uses",
		   "device INTEGER, operation TEXT, source INTEGER, destination INTEGER, "
		   "transport TEXT, wait INTEGER, count INTEGER, bytes INTEGER, ns INTEGER");
	for (uint32_t i = 0; i < model->link_uses.count; i++) {
		const struct link_use *row = &model->link_uses.row[i];

		rows_index(rows, row->device);
		rows_text(rows, model_text(model, row->operation));
		rows_index(rows, row->source);
		rows_index(rows, row->destination);
		rows_text(rows, model_text(model, row->transport));
		rows_u64(rows, row->wait);
		rows_u64(rows, row->count);
		rows_u64(rows, row->bytes);
		rows_u64(rows, row->ns);
		rows_end(rows);
	}
}

static void put_memory(struct rows *rows, const struct tables *of)
{
	const struct model *model = of->model;

	rows_table(rows, "memory_records",
		   "ts_ns INTEGER, device INTEGER, host INTEGER, component TEXT, address INTEGER, "
		   "bytes INTEGER, allocated INTEGER, reserved INTEGER");
	for (uint32_t i = 0; i < model->memory_records.count; i++) {
		const struct memory_record *row = &model->memory_records.row[i];

		rows_u64(rows, row->ts_ns);
		rows_u64(rows, row->device);
		rows_u64(rows, (row->flags & MODEL_MEMORY_HOST) != 0);
		rows_text(rows, model_text(model, row->component));
		rows_known(rows, row->address, row->address);
		if (row->flags & MODEL_MEMORY_CHANGE)
			rows_i64(rows, row->bytes);
		else
			rows_null(rows);
		rows_known(rows, row->flags & MODEL_MEMORY_ALLOCATED, row->allocated);
		rows_known(rows, row->flags & MODEL_MEMORY_RESERVED, row->reserved);
		rows_end(rows);
	}
}

static void put_findings(struct rows *rows, const struct tables *of)
{
	const struct model *model = of->model;

	rows_table(rows, "device_files",
		   "file INTEGER, path TEXT, format TEXT, devices INTEGER, tasks INTEGER, "
		   "calls INTEGER");
	for (uint32_t i = 0; i < model->imports.count; i++) {
		const struct imported_file *row = &model->imports.row[i];

		rows_u64(rows, i);
		rows_text(rows, model_text(model, row->path));
		rows_text(rows, model_text(model, row->format));
		rows_u64(rows, row->devices);
		rows_u64(rows, row->tasks);
		rows_u64(rows, row->calls);
		rows_end(rows);
	}
	rows_table(rows, "findings", "file INTEGER, what TEXT, count INTEGER, example TEXT");
	for (uint32_t i = 0; i < model->findings.count; i++) {
		const struct import_finding *row = &model->findings.row[i];

		rows_u64(rows, row->file);
		rows_text(rows, model_text(model, row->what));
		rows_u64(rows, row->count);
		rows_text(rows, model_text(model, row->example));
		rows_end(rows);
	}
}

void tables_model_devices(struct rows *rows, const struct tables *of)
{
	put_devices(rows, of);
	put_tasks(rows, of);
	put_details(rows, of);
	put_metrics(rows, of);
	put_links(rows, of);
	put_memory(rows, of);
	put_findings(rows, of);
}

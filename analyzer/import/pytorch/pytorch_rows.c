/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/pytorch/pytorch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/import/pipeline_stage.h"
#include "analyzer/model/model_reserve.h"
#include "lib/base/bisect.h"
#include "lib/base/sort_rows.h"

#define CLOCK PROFBPF__DEVICE_CLOCK__CLOCK_REALTIME

/* Raises the base so that the earliest instant is at least 1: 0 stands for "not reported". */
static void raise_base(struct pytorch *file)
{
	int64_t first_ns = INT64_MAX;

	IMPORT_EARLIEST(&file->tasks, &first_ns);
	IMPORT_EARLIEST(&file->calls, &first_ns);
	IMPORT_EARLIEST(&file->scopes, &first_ns);
	/* Damaged files have arbitrary numbers, so the sum may overflow. */
	if (first_ns != INT64_MAX && (__int128)first_ns + file->base_ns < 1) {
		if (__builtin_sub_overflow(1, first_ns, &file->base_ns))
			file->base_ns = INT64_MAX;
		import_finding(file->import,
			       "times before the epoch: all were moved so that the first is 1 ns",
			       NULL);
	}
}

bool pytorch_instants(const struct pytorch *file, int64_t start_ns, int64_t dur_ns, uint64_t *from,
		      uint64_t *to)
{
	return import_instants_of(start_ns, dur_ns, file->base_ns, from, to);
}

static int by_correlation(const void *a, const void *b)
{
	const struct host_call *x = a, *y = b;

	if (x->correlation != y->correlation)
		return x->correlation < y->correlation ? -1 : 1;
	/* Of a runtime call and the driver call nested in it the outer one comes first. */
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->dur_ns > y->dur_ns ? -1 : x->dur_ns < y->dur_ns;
}

static int by_number(const void *a, const void *b)
{
	const struct pytorch_operator *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static const struct host_call *call_of(const struct pytorch *file, uint64_t correlation)
{
	const struct host_call *calls = file->calls.row;
	uint32_t at = BISECT(i, 0, file->calls.count, calls[i].correlation < correlation);

	if (!correlation || at == file->calls.count || calls[at].correlation != correlation)
		return NULL;
	return &calls[at];
}

static const struct pytorch_operator *operator_of(const struct pytorch *file, uint64_t number)
{
	const struct pytorch_operator *rows = file->operators.row;
	uint32_t at = BISECT(i, 0, file->operators.count, rows[i].number < number);

	return number && at < file->operators.count && rows[at].number == number ? &rows[at] : NULL;
}

static int put_call(struct pytorch *file, const struct host_call *from)
{
	struct model *model = file->import->model;
	const struct pytorch_common *common = &file->commons.row[from->common];
	const char *name = model_text(model, common->name);
	struct call call = { .args = { from->correlation }, .task = INDEX_NONE };

	if (!pytorch_instants(file, from->start_ns, from->dur_ns, &call.start_ns, &call.end_ns))
		return import_finding(file->import, "runtime calls outside of any time: they end before they "
						    "begin, or begin before the file's clock does", name);
	call.thread = import_thread(&file->rows, (uint32_t)common->place, common->track, call.start_ns);
	call.function = import_known_function(&file->rows, common->name);
	if (call.function == INDEX_NONE)
		call.function = import_function(&file->rows, common->runtime, name,
						call_kind_of_name(name));
	if (call.thread == INDEX_NONE || call.function == INDEX_NONE ||
	    !MODEL_PUSH(&model->calls, call))
		return -ENOMEM;
	return 0;
}

/* @launch: of the call that launched a task of the device; NULL = unknown. */
static uint32_t device_row(struct pytorch *file, uint64_t device, const struct pytorch_common *launch)
{
	uint32_t name = map_get(&file->device_names, device);
	uint32_t process = launch ? import_process(&file->rows, (uint32_t)launch->place) : INDEX_NONE;
	uint32_t row =
		import_device(&file->rows, device, process,
			      name == MAP_NONE ? "unnamed" : model_text(file->import->model, name),
			      "gpu", "pytorch", CLOCK);

	if (row == INDEX_NONE)
		return row;
	if (file->import->model->devices.row[row].process == INDEX_NONE)
		file->import->model->devices.row[row].process = process;
	file->import->model->devices.row[row].has_rank = file->has_rank;
	file->import->model->devices.row[row].rank = file->rank;
	return row;
}

static void set_stages(struct pytorch *file, uint32_t first_device)
{
	struct model *model = file->import->model;

	for (uint32_t i = first_device; i < model->devices.count; i++)
		for (uint32_t k = 0; k < file->pipelines.count; k++)
			pipeline_stage_of_list(&model->devices.row[i],
					       model_text(model, file->pipelines.row[k]));
}

static bool add_detail(struct pytorch *file, const struct gpu_task *from, struct device_task *task)
{
	struct model *model = file->import->model;
	const struct pytorch_common *common = &file->commons.row[from->common];
	const struct pytorch_operator *operator = operator_of(file, from->external);
	struct task_detail detail = { .task_id = MODEL_ID_NONE,
				      .context_id = MODEL_ID_NONE,
				      .model_id = MODEL_ID_NONE,
				      .step = MODEL_ID_NONE,
				      .blocks = INDEX_NONE,
				      .mix_blocks = INDEX_NONE,
				      .group = common->group,
				      .collective = common->collective,
				      .members = common->members,
				      .metric_count = common->metric_count };

	if (operator) {
		task->type = operator->name;
		detail.input_shapes = operator->shapes;
		detail.input_types = operator->types;
	}
	if (common->type)
		detail.input_types = common->type;
	if (!detail.group && !detail.collective && !detail.input_shapes && !detail.input_types &&
	    !detail.metric_count)
		return true;
	detail.first_metric = common->metric_count ? model->task_metrics.count : 0;
	for (uint32_t i = 0; i < common->metric_count; i++)
		if (!MODEL_PUSH(&model->task_metrics, file->metrics.row[from->first_metric + i]))
			return false;
	return task_detail_put(model, &file->details, task, &detail);
}

static int put_task(struct pytorch *file, const struct gpu_task *from)
{
	struct model *model = file->import->model;
	const struct pytorch_common *common = &file->commons.row[from->common], *caller = NULL;
	const struct host_call *launch = call_of(file, from->correlation);
	struct device_task task = { .stream = common->track,
				    .bytes = from->bytes,
				    .correlation = from->correlation,
				    .thread = INDEX_NONE,
				    .call = INDEX_NONE,
				    .name = common->name,
				    .kind = (uint8_t)common->kind };
	uint64_t start_ns, end_ns;

	if (!pytorch_instants(file, from->start_ns, from->dur_ns, &task.start_ns, &task.end_ns))
		return import_finding(file->import, "device tasks outside of any time: they end before they "
						    "begin, or begin before the file's clock does",
				      model_text(model, common->name));
	if (launch)
		caller = &file->commons.row[launch->common];
	task.device = device_row(file, common->place, caller);
	if (task.device == INDEX_NONE)
		return -ENOMEM;
	if (launch && pytorch_instants(file, launch->start_ns, launch->dur_ns, &start_ns, &end_ns)) {
		task.enqueue_ns = import_host_time(&file->rows, CLOCK, start_ns);
		task.enqueue_dur_ns = end_ns - start_ns;
		task.thread = import_thread(&file->rows, (uint32_t)caller->place, caller->track, task.enqueue_ns);
	}
	if (!add_detail(file, from, &task))
		return -ENOMEM;
	return MODEL_PUSH(&model->tasks, task) ? 0 : -ENOMEM;
}

/* @own_devices: the file has devices, and the mark is of one of them. */
static int put_mark(struct pytorch *file, const struct pytorch_mark *from, bool own_devices)
{
	struct step_mark mark = { .number = from->number,
				  .device = INDEX_NONE,
				  .file = own_devices ? file->import->file + 1 : 0 };
	uint64_t start_ns, end_ns;

	if (!pytorch_instants(file, from->start_ns, from->dur_ns, &start_ns, &end_ns))
		return 0;
	mark.start_ns = import_host_time(&file->rows, CLOCK, start_ns);
	mark.end_ns = import_host_time(&file->rows, CLOCK, end_ns);
	mark.process = import_process(&file->rows, from->pid);
	if (!mark.start_ns || !mark.end_ns)
		return 0;
	return MODEL_PUSH(&file->import->model->step_marks, mark) ? 0 : -ENOMEM;
}

static int put_memory(struct pytorch *file, const struct pytorch_memory *from)
{
	struct memory_record record = from->record;
	uint64_t ts_ns, same;

	if (!pytorch_instants(file, from->start_ns, 0, &ts_ns, &same))
		return import_finding(file->import, "memory records outside of any time: they end before "
						    "they begin, or begin before the file's clock does", NULL);
	record.ts_ns = import_host_time(&file->rows, CLOCK, ts_ns);
	record.process = import_process(&file->rows, from->pid);
	if (!record.ts_ns)
		return import_finding(file->import, "memory records outside of the trace: no clock snapshot "
						    "of the recording reaches them (give the device file of "
						    "the same run)", NULL);
	return MODEL_PUSH(&file->import->model->memory_records, record) ? 0 : -ENOMEM;
}

/* Room for all rows at once: rows that outgrow the memory would be copied to a file. */
static int make_room(struct pytorch *file)
{
	struct model *model = file->import->model;

	return (!file->import->alone || MODEL_RESERVE(&model->calls, file->calls.count)) &&
			       MODEL_RESERVE(&model->tasks, file->tasks.count)
		       ? 0
		       : -ENOMEM;
}

int pytorch_put_rows(struct pytorch *file)
{
	uint32_t first_device = file->import->model->devices.count;
	int err = make_room(file);

	SORT_ARRAY(&file->calls, by_correlation);
	/* Of operators with the same number the first is used: sorting keeps their order. */
	SORT_ARRAY(&file->operators, by_number);
	raise_base(file);
	for (uint32_t i = 0; i < file->calls.count && !err && file->import->alone; i++)
		err = put_call(file, &file->calls.row[i]);
	for (uint32_t i = 0; i < file->tasks.count && !err; i++)
		err = put_task(file, &file->tasks.row[i]);
	set_stages(file, first_device);
	for (uint32_t i = 0; i < file->marks.count && !err; i++)
		err = put_mark(file, &file->marks.row[i],
			       file->import->model->devices.count > first_device);
	if (!err)
		err = pytorch_put_scopes(file, first_device);
	if (!err)
		err = pass_arrows_put(&file->rows, &file->arrows, file->base_ns);
	for (uint32_t i = 0; i < file->memory.count && !err; i++)
		err = put_memory(file, &file->memory.row[i]);
	if (!err && !file->tasks.count)
		err = import_finding(file->import,
				     "no device tasks: nothing is known of any device (record with the "
				     "device's ProfilerActivity, such as CUDA)", NULL);
	return err;
}

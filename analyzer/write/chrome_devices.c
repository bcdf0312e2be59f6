/* SPDX-License-Identifier: Apache-2.0 */
/* Devices as processes, their streams as threads; more than one where tasks overlap. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/write/chrome_trace.h"
#include "analyzer/write/lanes.h"
#include "analyzer/write/task_order.h"

struct devices_writer {
	struct chrome_trace *trace;
	struct lanes lanes;
	uint32_t device;
	uint32_t pid; /* as which the device is shown */
};

static void write_task(struct devices_writer *devices, uint32_t row, const char *stream_name)
{
	struct chrome_trace *trace = devices->trace;
	struct chrome_writer *writer = &trace->writer;
	const struct device_task *task = &trace->model->tasks.row[row];
	uint64_t start_ns = task->start_ns, end_ns = task->end_ns, ended_ns;
	struct lane *lane;
	bool cut;

	if (!export_clip(&trace->window, &start_ns, &end_ns, &cut))
		return;
	lane = lanes_place(&devices->lanes, start_ns, end_ns);
	if (!lane) {
		trace->not_placed++;
		return;
	}
	if (!lane->track)
		lane->track = chrome_add_row(trace, devices->pid, stream_name);
	while (lane_pop(lane, start_ns, &ended_ns))
		;
	lane_push(lane, end_ns);
	chrome_event(writer, 'X', export_task_name(trace->model, task),
		     export_task_category(task->kind), devices->pid, (uint32_t)lane->track);
	chrome_time(writer, start_ns);
	chrome_duration(writer, end_ns - start_ns);
	if (task->enqueue_ns && task->start_ns >= task->enqueue_ns)
		chrome_arg_uint(writer, export_arg_name(ARG_QUEUE_DELAY_NS),
				task->start_ns - task->enqueue_ns);
	if (task->bytes)
		chrome_arg_uint(writer, export_arg_name(ARG_BYTES), task->bytes);
	if (task->correlation)
		chrome_arg_uint(writer, export_arg_name(ARG_CORRELATION), task->correlation);
	if (task->status < 0)
		chrome_arg_int(writer, export_arg_name(ARG_STATUS), task->status);
	if (cut)
		chrome_arg_true(writer, export_arg_name(ARG_CUT));
	chrome_event_end(writer);
	if (trace->flows.shown[row]) {
		chrome_event(writer, 'f', "launch", "launch", devices->pid, (uint32_t)lane->track);
		chrome_id(writer, export_flow_id(row));
		chrome_time(writer, start_ns);
		chrome_raw(writer, "\"bp\":\"e\"");
		chrome_event_end(writer);
	}
}

static int write_queue(struct devices_writer *devices, const uint32_t *order, uint32_t count)
{
	struct chrome_trace *trace = devices->trace;
	uint32_t steps;
	struct task_queue_step *step = task_queue_compute(trace->model, order, count, &steps);

	if (!step)
		return -ENOMEM;
	for (uint32_t i = 0; i < steps; i++) {
		if (!export_instant(&trace->window, step[i].ns))
			continue;
		chrome_event(&trace->writer, 'C', "Tasks queued or running", NULL, devices->pid, 0);
		chrome_time(&trace->writer, step[i].ns);
		chrome_arg_int(&trace->writer, "tasks", step[i].depth);
		chrome_event_end(&trace->writer);
	}
	free(step);
	return 0;
}

static int write_device(struct devices_writer *devices, const uint32_t *order, uint32_t count)
{
	struct chrome_trace *trace = devices->trace;
	const struct device_task *tasks = trace->model->tasks.row;
	char name[EXPORT_NAME_SIZE];
	uint32_t end;

	devices->pid = CHROME_DEVICES_PID + devices->device;
	export_device_name(trace->model, devices->device, name, sizeof(name));
	chrome_name_process(trace, devices->pid, name, devices->pid);
	if (write_queue(devices, order, count) != 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i = end) {
		for (end = i; end < count && tasks[order[end]].stream == tasks[order[i]].stream;)
			end++;
		export_stream_name(trace->model, devices->device, tasks[order[i]].stream, name,
				   sizeof(name));
		lanes_clear(&devices->lanes);
		for (uint32_t k = i; k < end; k++)
			write_task(devices, order[k], name);
	}
	return 0;
}

int chrome_write_devices(struct chrome_trace *trace)
{
	const struct model *model = trace->model;
	struct devices_writer devices = { .trace = trace };
	uint32_t count, end, *order = task_order(model, &count);
	int error = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; !error && i < count; i = end) {
		devices.device = model->tasks.row[order[i]].device;
		for (end = i; end < count && model->tasks.row[order[end]].device == devices.device;)
			end++;
		if (export_process(model, trace->options,
				   model->devices.row[devices.device].process))
			error = write_device(&devices, order + i, end - i);
	}
	lanes_free(&devices.lanes);
	free(order);
	return error;
}

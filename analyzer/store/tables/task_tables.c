/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: devices, their tasks, and details from device files about single tasks, transfers and allocations. */
#include "analyzer/analyse/device/operators.h"
#include "analyzer/store/define_table.h"
#include "analyzer/export/export_filter.h"

#define DEVICE_COLUMNS(COLUMN)                                                                    \
	COLUMN(device, ROW, "device", "this row", cell_u64(at->index))                            \
	COLUMN(id, NUMBER, "device", "its number in the runtime or file",                         \
	       cell_u64(row->id))                                                                 \
	COLUMN(name, TEXT, "name", "its name", cell_string(model, row->name))                     \
	COLUMN(kind, TEXT, "kind", "npu, gpu, cpu", cell_string(model, row->kind))                \
	COLUMN(source, TEXT, "source", "the source of its data", cell_string(model, row->source)) \
	COLUMN(process, ROW, "process", "the process whose runtime reported it: a row of "        \
					"processes",                                              \
	       cell_index(row->process))                                                          \
	COLUMN(rank, NUMBER, "rank", "rank of its process in a distributed job",                  \
	       cell_known(row->has_rank, row->rank))                                              \
	COLUMN(file, ROW, "file", "the source: a row of device_files; NULL: the trace",           \
	       cell_known(row->file, row->file - 1))

static bool next_device(struct table_cursor *at)
{
	return CURSOR_ROWS(at, at->of->model->devices);
}

DEFINE_TABLE(devices, struct device, DEVICE_COLUMNS, next_device, "an accelerator", .keyed = true,
	     .sections = SECTION_TRACE, .rows = LOAD_CALLS | LOAD_TASKS);

/* Does a task belong to one of the requested processes and to the requested time? */
static bool wanted_task(const struct table_cursor *at, const struct device_task *task)
{
	const struct model *model = at->of->model;
	bool timed = !(task->flags & MODEL_TASK_UNTIMED);

	return task->device < model->devices.count &&
	       export_process(model, at->of->options, model->devices.row[task->device].process) &&
	       table_wants_instant(at, timed ? task->start_ns : task->enqueue_ns);
}

#define TASK_TIMED (!(row->flags & MODEL_TASK_UNTIMED))

#define TASK_COLUMNS(COLUMN)                                                                       \
	COLUMN(task, ROW, "task", "this row", cell_u64(at->index))                                 \
	COLUMN(device, ROW, "device", "the device that ran it: a row of devices",                  \
	       cell_index(row->device))                                                            \
	COLUMN(stream, NUMBER, "stream", "its stream or queue", cell_id(row->stream))              \
	COLUMN(name, TEXT, "name", "its name", cell_string(model, row->name))                      \
	COLUMN(kind, TEXT, "kind", "kernel, copy, communication, sync and so on",                  \
	       cell_text(task_kind_name(row->kind)))                                               \
	COLUMN(type, TEXT, "type", "type of the operator", cell_string(model, row->type))          \
	COLUMN(core, TEXT, "core", "the core that ran it, according to the file",                  \
	       cell_string(model, row->core))                                                      \
	COLUMN(enqueue_ns, INSTANT, "enqueued", "when the host passed it to the runtime",          \
	       cell_not_0(row->enqueue_ns))                                                        \
	COLUMN(queued_ns, INSTANT, "queued", "when the runtime put it into its queue",             \
	       cell_not_0(row->queued_ns))                                                         \
	COLUMN(submit_ns, INSTANT, "submitted", "when the runtime passed it to the device",        \
	       cell_not_0(row->submit_ns))                                                         \
	COLUMN(start_ns, INSTANT, "start", "when it began on the device",                          \
	       cell_known(TASK_TIMED, row->start_ns))                                              \
	COLUMN(end_ns, INSTANT, "end", "when it ended there", cell_known(TASK_TIMED, row->end_ns)) \
	COLUMN(bytes, BYTES, "bytes", "bytes that it copied", cell_not_0(row->bytes))              \
	COLUMN(correlation, NUMBER, "correlation", "the runtime's number of the launch",           \
	       cell_not_0(row->correlation))                                                       \
	COLUMN(thread, ROW, "thread", "the launching thread: a row of threads",                    \
	       cell_index(row->thread))                                                            \
	COLUMN(call, ROW, "call", "the call that launched it: a row of calls",                     \
	       cell_index(row->call))                                                              \
	COLUMN(status, STATUS, "status", "its status at the end, from the runtime",                \
	       cell_i64(row->status))

static bool next_task(struct table_cursor *at)
{
	while (CURSOR_ROWS(at, at->of->model->tasks)) {
		if (wanted_task(at, at->row))
			return true;
	}
	return false;
}

DEFINE_TABLE(tasks, struct device_task, TASK_COLUMNS, next_task,
	     "a piece of work of a device: a kernel, a copy, a collective", .keyed = true,
	     .sections = SECTION_TRACE, .rows = LOAD_CALLS | LOAD_TASKS);

#define DETAIL_COLUMNS(COLUMN)                                                                    \
	COLUMN(task, ROW, "task", "a row of tasks", cell_u64(at->index))                          \
	COLUMN(task_id, NUMBER, "task id", "the device's number of it", cell_id(row->task_id))    \
	COLUMN(context_id, NUMBER, "context", "number of the part of a mixed task",               \
	       cell_id(row->context_id))                                                          \
	COLUMN(model_id, NUMBER, "model", "the graph that it belongs to", cell_id(row->model_id)) \
	COLUMN(step, NUMBER, "step", "the file's number of its step", cell_id(row->step))         \
	COLUMN(blocks, COUNT, "blocks", "cores that it ran on", cell_index(row->blocks))          \
	COLUMN(mix_blocks, COUNT, "mixed blocks", "cores of the other kind that it ran on",       \
	       cell_index(row->mix_blocks))                                                       \
	COLUMN(state, TEXT, "shape kind", "static or dynamic shapes",                             \
	       cell_string(model, row->state))                                                    \
	COLUMN(input_shapes, TEXT, "input shapes", "as the file has them",                        \
	       cell_string(model, row->input_shapes))                                             \
	COLUMN(input_types, TEXT, "input types", "as the file has them",                          \
	       cell_string(model, row->input_types))                                              \
	COLUMN(input_formats, TEXT, "input formats", "as the file has them",                      \
	       cell_string(model, row->input_formats))                                            \
	COLUMN(output_shapes, TEXT, "output shapes", "as the file has them",                      \
	       cell_string(model, row->output_shapes))                                            \
	COLUMN(output_types, TEXT, "output types", "as the file has them",                        \
	       cell_string(model, row->output_types))                                             \
	COLUMN(output_formats, TEXT, "output formats", "as the file has them",                    \
	       cell_string(model, row->output_formats))                                           \
	COLUMN(flops, REAL, "operations", "floating-point operations of it",                      \
	       cell_known_real(row->known &MODEL_DETAIL_FLOPS, row->flops))                       \
	COLUMN(moved_bytes, REAL, "moved", "bytes that it read and wrote",                        \
	       cell_known_real(row->known &MODEL_DETAIL_MOVED, row->moved_bytes))                 \
	COLUMN(utilization_percent, PERCENT, "utilization",                                       \
	       "of the operations that its core could have done",                                 \
	       cell_known_real(row->known &MODEL_DETAIL_UTILIZATION, row->utilization))           \
	COLUMN(collective, TEXT, "collective", "its name in the framework",                       \
	       cell_string(model, row->collective))                                               \
	COLUMN(group_size, COUNT, "group size", "ranks that take part in it",                     \
	       cell_not_0(row->members))                                                          \
	COLUMN(hf32, TEXT, "HF32", "may it compute in HF32, according to the file?",              \
	       cell_string(model, row->hf32))

static bool next_detail(struct table_cursor *at)
{
	const struct model *model = at->of->model;

	while (CURSOR_ROWS(at, model->tasks)) {
		const struct device_task *task = at->row;

		at->row = model_task_detail(model, task);
		if (at->row && wanted_task(at, task))
			return true;
	}
	return false;
}

DEFINE_TABLE(task_details, struct task_detail, DETAIL_COLUMNS, next_detail,
	     "data of a device file about a task besides its times", .keyed = true,
	     .sections = SECTION_TRACE, .rows = LOAD_CALLS | LOAD_TASKS);

#define METRIC_COLUMNS(COLUMN)                                                   \
	COLUMN(task, ROW, "task", "a row of tasks", cell_u64(at->index))         \
	COLUMN(metric, TEXT, "metric", "the counter's name, as the file has it", \
	       cell_string(model, row->name))                                    \
	COLUMN(value, REAL, "value", "its value", cell_real(row->value))

static bool next_metric(struct table_cursor *at)
{
	const struct model *model = at->of->model;

	CURSOR_OUTER(at, model->tasks.count)
	{
		const struct device_task *task = &model->tasks.row[at->i];
		const struct task_detail *detail = model_task_detail(model, task);

		if (detail && wanted_task(at, task) &&
		    cursor_part(at, task, model->task_metrics.row, detail->first_metric,
				detail->metric_count, sizeof(*model->task_metrics.row)))
			return true;
	}
	return false;
}

DEFINE_TABLE(task_metrics, struct task_metric, METRIC_COLUMNS, next_metric,
	     "the value of one of the device's counters for a task", .keyed = true,
	     .sections = SECTION_TRACE, .rows = LOAD_CALLS | LOAD_TASKS);

#define LINK_COLUMNS(COLUMN)                                                                       \
	COLUMN(device, ROW, "device", "the device: a row of devices", cell_index(row->device))     \
	COLUMN(operation, TEXT, "operation", "the collective", cell_string(model, row->operation)) \
	COLUMN(source, NUMBER, "from", "rank that sent", cell_index(row->source))                  \
	COLUMN(destination, NUMBER, "to", "rank that received", cell_index(row->destination))      \
	COLUMN(transport, TEXT, "transport", "HCCS, RDMA, SDMA, LOCAL",                            \
	       cell_string(model, row->transport))                                                 \
	COLUMN(wait, FLAG, "wait", "did it only wait for other ranks?", cell_flag(row->wait))      \
	COLUMN(count, COUNT, "transfers", "transfers or waits", cell_u64(row->count))              \
	COLUMN(bytes, BYTES, "bytes", "bytes that were moved", cell_u64(row->bytes))               \
	COLUMN(ns, NS, "time", "time that this took", cell_u64(row->ns))

static bool next_link(struct table_cursor *at)
{
	return CURSOR_ROWS(at, at->of->model->link_uses);
}

DEFINE_TABLE(link_uses, struct link_use, LINK_COLUMNS, next_link,
	     "bytes that a collective moved over a link, or its wait there",
	     .sections = SECTION_TRACE, .rows = LOAD_CALLS | LOAD_TASKS);

#define RECORD_COLUMNS(COLUMN)                                                             \
	COLUMN(ts_ns, INSTANT, "time", "when", cell_u64(row->ts_ns))                       \
	COLUMN(device, NUMBER, "device", "the file's number of it", cell_u64(row->device)) \
	COLUMN(host, FLAG, "host", "is it memory of the host?",                            \
	       cell_flag(row->flags &MODEL_MEMORY_HOST))                                   \
	COLUMN(component, TEXT, "component", "the allocator: PTA, GE",                     \
	       cell_string(model, row->component))                                         \
	COLUMN(address, NUMBER, "address", "of the block", cell_not_0(row->address))       \
	COLUMN(bytes, STATUS, "bytes", "bytes allocated; negative: released",              \
	       cell_known_i64(row->flags &MODEL_MEMORY_CHANGE, row->bytes))                \
	COLUMN(allocated, BYTES, "allocated", "in use by then",                            \
	       cell_known(row->flags &MODEL_MEMORY_ALLOCATED, row->allocated))             \
	COLUMN(reserved, BYTES, "reserved", "held by the allocator",                       \
	       cell_known(row->flags &MODEL_MEMORY_RESERVED, row->reserved))

static bool next_record(struct table_cursor *at)
{
	while (CURSOR_ROWS(at, at->of->model->memory_records)) {
		const struct memory_record *row = at->row;

		if (table_wants_instant(at, row->ts_ns))
			return true;
	}
	return false;
}

DEFINE_TABLE(memory_records, struct memory_record, RECORD_COLUMNS, next_record,
	     "an allocation, release or reading of memory in a device file",
	     .sections = SECTION_TRACE, .rows = LOAD_CALLS | LOAD_TASKS);

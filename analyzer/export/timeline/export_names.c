/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export/timeline/export_names.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyzer/join/launch/launched_names.h"

/* Runtimes number streams from 0; anything beyond this is a pointer. */
#define STREAM_NUMBER_MAX 65535

static const char *const arg_names[EXPORT_ARGS] = {
	[ARG_STREAM] = "stream",
	[ARG_BYTES] = "bytes",
	[ARG_COPY_KIND] = "copy_kind",
	[ARG_CORRELATION] = "correlation",
	[ARG_COUNT] = "count",
	[ARG_DEVICE] = "device",
	[ARG_BLOCKING] = "blocking",
	[ARG_VALUE] = "value",
	[ARG_TEXT] = "text",
	[ARG_LAUNCHED] = "launched",
	[ARG_RET] = "ret",
	[ARG_STATUS] = "status",
	[ARG_OPEN] = "open",
	[ARG_LEFT] = "left",
	[ARG_END_UNKNOWN] = "end_unknown",
	[ARG_CUT] = "cut",
	[ARG_COMMAND] = "command",
	[ARG_QUEUE_DELAY_NS] = "queue_delay_ns",
	[ARG_WHO] = "who",
	[ARG_DETAIL] = "detail",
	[ARG_GAP_NS] = "gap_ns",
	[ARG_SYSCALL] = "syscall",
	[ARG_OBJECT] = "object",
	[ARG_WOKEN_BY] = "woken_by",
	[ARG_SECTOR] = "sector",
	[ARG_LATENCY_NS] = "latency_ns",
	[ARG_FAILED] = "failed",
	[ARG_TYPE] = "type",
	[ARG_CORE] = "core",
	[ARG_INPUT_SHAPES] = "input_shapes",
	[ARG_INPUT_TYPES] = "input_types",
	[ARG_OUTPUT_SHAPES] = "output_shapes",
};

const char *export_arg_name(enum export_arg arg)
{
	return arg < EXPORT_ARGS ? arg_names[arg] : "";
}

enum export_arg export_arg_of_role(uint8_t role)
{
	switch (role) {
	case PROFBPF__FUNCTION__ROLE__STREAM: return ARG_STREAM;
	case PROFBPF__FUNCTION__ROLE__BYTES: return ARG_BYTES;
	case PROFBPF__FUNCTION__ROLE__COPY_KIND: return ARG_COPY_KIND;
	case PROFBPF__FUNCTION__ROLE__CORRELATION: return ARG_CORRELATION;
	case PROFBPF__FUNCTION__ROLE__COUNT: return ARG_COUNT;
	case PROFBPF__FUNCTION__ROLE__DEVICE: return ARG_DEVICE;
	case PROFBPF__FUNCTION__ROLE__BLOCKING: return ARG_BLOCKING;
	case PROFBPF__FUNCTION__ROLE__VALUE: return ARG_VALUE;
	default: return EXPORT_ARGS;
	}
}

enum export_arg export_arg_of_text(const struct model *model, const struct call *call)
{
	return call_launches(model, call) ? ARG_LAUNCHED : ARG_TEXT;
}

bool export_arg_is_handle(enum export_arg arg)
{
	return arg == ARG_STREAM || arg == ARG_DEVICE || arg == ARG_COMMAND;
}

const char *export_task_category(uint8_t kind)
{
	static const char *const names[] = {
		[PROFBPF__DEVICE_TASKS__KIND__OTHER] = "device",
		[PROFBPF__DEVICE_TASKS__KIND__KERNEL] = "kernel",
		[PROFBPF__DEVICE_TASKS__KIND__COPY] = "device_copy",
		[PROFBPF__DEVICE_TASKS__KIND__FILL] = "device_fill",
		[PROFBPF__DEVICE_TASKS__KIND__MAP] = "device_map",
		[PROFBPF__DEVICE_TASKS__KIND__SYNC] = "device_sync",
		[PROFBPF__DEVICE_TASKS__KIND__COMMUNICATION] = "communication",
	};

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "device";
}

const char *export_ioctl_name(const struct model *model, const struct ioctl_call *ioctl, char *into,
			      size_t size)
{
	uint32_t name = model_command_name(model, ioctl->driver, ioctl->cmd);
	const char *driver = "";

	if (ioctl->driver < model->drivers.count) {
		const struct driver *row = &model->drivers.row[ioctl->driver];

		driver = model_text(model, row->driver ? row->driver : row->device);
	}
	if (name) {
		snprintf(into, size, "ioctl %s %s", driver, model_text(model, name));
		return into;
	}
	snprintf(into, size, "ioctl %s 0x%" PRIx32, *driver ? driver : "unknown driver",
		 ioctl->cmd);
	return into;
}

const char *export_device_name(const struct model *model, uint32_t device, char *into, size_t size)
{
	const struct device *row = &model->devices.row[device];

	if (row->name)
		snprintf(into, size, "%s", model_text(model, row->name));
	else
		snprintf(into, size, "device %" PRIu32, row->id);
	return into;
}

const char *export_stream_name(const struct model *model, uint32_t device, uint64_t stream,
			       char *into, size_t size)
{
	uint32_t process = model->devices.row[device].process;
	char owner[EXPORT_NAME_SIZE / 2], name[64];

	if (stream <= STREAM_NUMBER_MAX)
		snprintf(name, sizeof(name), "Stream %" PRIu64, stream);
	else if (stream != MODEL_ID_NONE)
		snprintf(name, sizeof(name), "Stream 0x%" PRIx64, stream);
	else
		snprintf(name, sizeof(name), "No stream");
	if (process >= model->processes.count)
		snprintf(into, size, "%s", name);
	else
		snprintf(into, size, "%s (%s %" PRIu32 ")", name,
			 export_process_name(model, process, owner, sizeof(owner)),
			 model->processes.row[process].pid);
	return into;
}

/* snprintf() may split a character; the writers repair that, here the text is only cut. */
const char *export_thread_name(const struct model *model, uint32_t thread, uint32_t tid, char *into,
			       size_t size)
{
	if (thread < model->threads.count && model->threads.row[thread].name)
		snprintf(into, size, "%s", model_text(model, model->threads.row[thread].name));
	else if (tid == 0)
		snprintf(into, size, "swapper");
	else
		snprintf(into, size, "thread %" PRIu32, tid);
	return into;
}

const char *export_process_name(const struct model *model, uint32_t process, char *into,
				size_t size)
{
	const struct process *row = &model->processes.row[process];

	if (row->name)
		snprintf(into, size, "%s", model_text(model, row->name));
	else
		snprintf(into, size, "process %" PRIu32, row->pid);
	return into;
}

const char *export_function_name(const struct model *model, uint32_t function, char *into,
				 size_t size)
{
	if (function < model->functions.count && model->functions.row[function].name)
		snprintf(into, size, "%s", model_text(model, model->functions.row[function].name));
	else
		snprintf(into, size, "function %" PRIu32, function);
	return into;
}

const char *export_loss_text(const struct model *model, const struct source_loss *source,
			     uint32_t reason, char *into, size_t size)
{
	snprintf(into, size, "%s: %" PRIu64 " records lost: %s", model_text(model, source->name),
		 source->reasons[reason].count, model_text(model, source->reasons[reason].reason));
	return into;
}

const char *export_task_name(const struct model *model, const struct device_task *task)
{
	const char *name = model_text(model, task->name);

	return *name ? name : export_task_category(task->kind);
}

void export_task_texts(const struct model *model, const struct device_task *task,
		       struct export_text texts[EXPORT_TASK_TEXTS])
{
	const struct task_detail *detail = model_task_detail(model, task);

	texts[0] = (struct export_text){ ARG_TYPE, task->type };
	texts[1] = (struct export_text){ ARG_CORE, task->core };
	texts[2] = (struct export_text){ ARG_INPUT_SHAPES, detail ? detail->input_shapes : 0 };
	texts[3] = (struct export_text){ ARG_INPUT_TYPES, detail ? detail->input_types : 0 };
	texts[4] = (struct export_text){ ARG_OUTPUT_SHAPES, detail ? detail->output_shapes : 0 };
}

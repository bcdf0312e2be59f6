/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl_task.c - one command, from its enqueue to its end.
 *
 * Each followed command has an event: the program's, to which the layer keeps a
 * reference, or an event of the layer. The runtime calls back when the command is
 * complete; then the layer reads its times, writes the task and releases the event.
 */
#include "device/opencl.h"

#include <stdlib.h>
#include <time.h>

/* The data of a command until it ends. */
struct pending {
	struct stream_task slot;
	bool judging;
	struct clock_reading before, after;
};

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

bool opencl_task_begin(struct opencl_task *task, cl_command_queue queue, cl_event *event)
{
	uint64_t now;
	int device;

	if (!stream_writer_live(opencl_layer.writer, &now) || !queue)
		return false;
	device = opencl_queue_device(queue);
	if (device < 0)
		return false;
	task->slot = (struct stream_task){
		.stream = (uint64_t)(uintptr_t)queue,
		.tid = stream_writer_tid(opencl_layer.writer),
		.device = (uint32_t)device,
	};
	task->own = NULL;
	task->owned = event == NULL;
	task->event = event ? event : &task->own;
	task->judging = opencl_device_wants_clock(device, now);
	if (task->judging)
		clock_reading_take(&task->before);
	/* Read last, so that the duration of the call does not include the layer's own time. */
	task->slot.enqueue_ns = monotonic_ns();
	return true;
}

void opencl_task_end(struct opencl_task *task)
{
	task->slot.enqueue_dur_ns = monotonic_ns() - task->slot.enqueue_ns;
	if (task->judging)
		clock_reading_take(&task->after);
}

static bool read_time(cl_event event, cl_profiling_info which, uint64_t *ns)
{
	cl_ulong value = 0;

	if (opencl_layer.next.clGetEventProfilingInfo(event, which, sizeof(value), &value, NULL) !=
	    CL_SUCCESS)
		return false;
	*ns = value;
	return true;
}

/* Writes a command that has ended; status is CL_COMPLETE or an error. */
static void publish(struct pending *pending, cl_event event, cl_int status)
{
	struct stream_task *slot = &pending->slot;
	bool timed;

	slot->status = status < 0 ? status : 0;
	timed = read_time(event, CL_PROFILING_COMMAND_QUEUED, &slot->queued_ns);
	timed &= read_time(event, CL_PROFILING_COMMAND_SUBMIT, &slot->submit_ns);
	timed &= read_time(event, CL_PROFILING_COMMAND_START, &slot->start_ns);
	timed &= read_time(event, CL_PROFILING_COMMAND_END, &slot->end_ns);
	timed &= slot->start_ns != 0 && slot->end_ns != 0;
	if (!timed && slot->status == 0) {
		stream_writer_untimed(opencl_layer.writer);
		return;
	}
	if (pending->judging && slot->queued_ns)
		opencl_device_judge_clock((int)slot->device, &pending->before, &pending->after,
					  slot->queued_ns);
	stream_writer_put(opencl_layer.writer, slot);
}

static void CL_CALLBACK completed(cl_event event, cl_int status, void *data)
{
	struct pending *pending = data;

	publish(pending, event, status);
	opencl_layer.next.clReleaseEvent(event);
	free(pending);
}

/* Returns whether a blocking command has really ended. */
static bool has_ended(cl_event event, cl_int *status)
{
	return opencl_layer.next.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
						sizeof(*status), status, NULL) == CL_SUCCESS &&
	       *status <= CL_COMPLETE;
}

void opencl_task_follow(struct opencl_task *task, enum stream_kind kind, const char *name,
			uint64_t bytes, bool blocking)
{
	struct pending now, *later;
	cl_event event = *task->event;
	cl_int status;

	if (!event)
		return;
	task->slot.kind = kind;
	if (!task->slot.name)
		task->slot.name = stream_writer_name(opencl_layer.writer, name);
	task->slot.bytes = bytes;
	task->slot.correlation = stream_writer_begin(opencl_layer.writer);
	now = (struct pending){ task->slot, task->judging, task->before, task->after };
	if (blocking && has_ended(event, &status)) {
		publish(&now, event, status);
		if (task->owned)
			opencl_layer.next.clReleaseEvent(event);
		return;
	}
	if (!task->owned && opencl_layer.next.clRetainEvent(event) != CL_SUCCESS) {
		stream_writer_untimed(opencl_layer.writer);
		return;
	}
	later = malloc(sizeof(*later));
	if (later)
		*later = now;
	if (!later || opencl_layer.next.clSetEventCallback(event, CL_COMPLETE, completed, later) !=
			      CL_SUCCESS) {
		stream_writer_untimed(opencl_layer.writer);
		opencl_layer.next.clReleaseEvent(event);
		free(later);
	}
}

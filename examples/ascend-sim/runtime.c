/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.c - libruntime.so of the simulated Ascend: numbers tasks and sends them to the driver.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel.h"
#include "runtime.h"

#define SQE_TYPE_AICORE 0
#define SQE_TYPE_AICPU 1
#define SQE_TYPE_EVENT_RECORD 4
#define SQE_TYPE_EVENT_WAIT 5
#define SQE_TYPE_SDMA 11
#define COPY_START_NS 5000
#define COPY_BYTES_PER_NS 20 /* GB/s */
#define RT_ERROR_TIMEOUT 107020

static __thread const struct sim_call *current_call;

SIM_EXPORT void sim_set_call(const struct sim_call *call)
{
	current_call = call;
}

static uint8_t sqe_type(enum sim_kind kind)
{
	switch (kind) {
	case SIM_AICPU: return SQE_TYPE_AICPU;
	case SIM_COPY:
	case SIM_COLLECTIVE: return SQE_TYPE_SDMA;
	case SIM_RECORD: return SQE_TYPE_EVENT_RECORD;
	case SIM_WAIT: return SQE_TYPE_EVENT_WAIT;
	default: return SQE_TYPE_AICORE;
	}
}

SIM_EXPORT int sim_submit(struct sim_stream *stream, const struct sim_task *task)
{
	struct sim_sqe sqe = { .type = sqe_type(task->kind),
			       .block_dim = (uint16_t)task->blocks,
			       .rt_stream_id = stream->id };
	struct halTaskSendInfo info = { .sqId = stream->id,
					.sqe_addr = (uint8_t *)&sqe,
					.sqe_num = 1 };
	int err;

	sqe.task = sim_task_new(task);
	if (!sqe.task)
		return 207001;
	if (current_call) {
		sqe.task->connection = current_call->connection;
		sqe.task->call = current_call->name;
	}
	/* Tasks of a stream go to the device in the order of their numbers. */
	pthread_mutex_lock(&stream->send_lock);
	sqe.task_id = stream->next_number++;
	while ((err = halSqTaskSend(0, &info)) != 0)
		usleep(100);
	pthread_mutex_unlock(&stream->send_lock);
	return err;
}

SIM_EXPORT int rtKernelLaunch(const void *stub, uint32_t blocks, void *args, uint32_t args_size,
			      void *sm_desc, void *stream)
{
	const struct sim_kernel *kernel = stub;
	struct sim_task task = { .kind = SIM_KERNEL,
				 .core = "AI_CORE",
				 .blocks = blocks,
				 .set_ns = (uint64_t)blocks * sim_device.block_ns };

	snprintf(task.name, sizeof(task.name), "%s", kernel->name);
	snprintf(task.type, sizeof(task.type), "%s", kernel->type);
	return sim_submit(stream, &task);
}

/* Launches a kernel on the device's own CPUs; @args is a struct sim_channel from which it takes an element, or NULL. */
SIM_EXPORT int rtCpuKernelLaunchWithFlag(const void *so, const void *name, uint32_t blocks,
					 const void *args, void *sm_desc, void *stream,
					 uint32_t flags)
{
	struct sim_task task = { .kind = SIM_AICPU,
				 .core = "AI_CPU",
				 .blocks = blocks,
				 .channel = (struct sim_channel *)args,
				 .set_ns = (uint64_t)blocks * sim_device.block_ns };

	snprintf(task.name, sizeof(task.name), "%s", (const char *)name);
	snprintf(task.type, sizeof(task.type), "%s", (const char *)name);
	return sim_submit(stream, &task);
}

SIM_EXPORT int rtMemcpy(void *to, uint64_t to_size, const void *from, uint64_t bytes, uint32_t kind)
{
	if (bytes > to_size)
		return 107000;
	memmove(to, from, bytes);
	return 0;
}

SIM_EXPORT int rtMemcpyAsync(void *to, uint64_t to_size, const void *from, uint64_t bytes,
			     uint32_t kind, void *stream)
{
	static const char *const KINDS[] = { "host to host", "host to device", "device to host",
					     "device to device" };
	struct sim_task task = { .kind = SIM_COPY,
				 .name = "MEMCPY_ASYNC",
				 .core = "MEMCPY_ASYNC",
				 .bytes = bytes,
				 .direction = kind,
				 .set_ns = COPY_START_NS + bytes / COPY_BYTES_PER_NS };

	if (bytes > to_size)
		return 107000;
	snprintf(task.type, sizeof(task.type), "%s", kind < 4 ? KINDS[kind] : "other");
	/* Copied data is never checked, so it may arrive before its task runs. */
	memmove(to, from, bytes);
	return sim_submit(stream, &task);
}

SIM_EXPORT int rtStreamSynchronizeWithTimeout(void *stream, int32_t timeout_ms)
{
	return sim_stream_wait(stream, timeout_ms) ? RT_ERROR_TIMEOUT : 0;
}

SIM_EXPORT int rtStreamSynchronize(void *stream)
{
	return sim_stream_wait(stream, -1) ? RT_ERROR_TIMEOUT : 0;
}

SIM_EXPORT int rtDeviceSynchronize(void)
{
	for (uint32_t i = 0; i < sim_device.stream_count; i++)
		sim_stream_wait(sim_device.streams[i], -1);
	return 0;
}

SIM_EXPORT int rtEventRecord(void *event, void *stream)
{
	struct sim_task task = {
		.kind = SIM_RECORD, .name = "EVENT_RECORD", .core = "EVENT_RECORD", .event = event
	};

	__atomic_add_fetch(&task.event->recorded, 1, __ATOMIC_RELAXED);
	return sim_submit(stream, &task);
}

SIM_EXPORT int rtStreamWaitEvent(void *stream, void *event)
{
	struct sim_task task = {
		.kind = SIM_WAIT, .name = "EVENT_WAIT", .core = "EVENT_WAIT", .event = event
	};

	task.round = __atomic_load_n(&task.event->recorded, __ATOMIC_RELAXED);
	return sim_submit(stream, &task);
}

SIM_EXPORT int rtEventSynchronize(void *event)
{
	return sim_event_wait(event);
}

SIM_EXPORT int rtMalloc(void **memory, uint64_t bytes, uint32_t type, uint16_t module)
{
	return halMemAlloc(memory, bytes, 0);
}

SIM_EXPORT int rtFree(void *memory)
{
	return halMemFree(memory);
}

/* Marks a training step: tag 1 = forward pass begins, 2 = backward pass ended, 255 = step ended. */
SIM_EXPORT int rtProfilerTraceEx(uint64_t id, uint64_t model, uint16_t tag, void *stream)
{
	struct sim_task task = { .kind = SIM_TRACE,
				 .name = "PROFILER_TRACE_EX",
				 .core = "PROFILER_TRACE_EX",
				 .tag = tag };

	return sim_submit(stream, &task);
}

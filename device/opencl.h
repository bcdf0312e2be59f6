/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl.h - internals of the OpenCL layer (libprofbpf-opencl.so), which the OpenCL
 * loader puts between a program and its drivers when OPENCL_LAYERS names it.
 *
 *   opencl.c          entry points for the loader, set-up, overridden functions
 *   opencl_enqueue.c  one function per clEnqueue...
 *   opencl_task.c     follows one command from its enqueue to its end
 *   opencl_queue.c    queues: forces profiling on and hides this from the program
 *   opencl_device.c   devices and their clocks
 *   opencl_kernel.c   names of kernels
 *
 * The layer holds none of its locks while it calls a driver: drivers hold locks of
 * their own when they call back.
 */
#ifndef PROFBPF_DEVICE_OPENCL_H
#define PROFBPF_DEVICE_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_layer.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/clock_judge.h"
#include "device/stream_writer.h"

#define OPENCL_SOURCE "opencl-layer"

/*
 * The state of the layer, a single global instance: OpenCL's functions have no
 * parameter for it, and the loader initialises a layer once.
 */
struct opencl_layer {
	struct _cl_icd_dispatch next; /* the functions below the layer; NULL where missing */
	struct stream_writer *writer;
};

extern struct opencl_layer opencl_layer;

/* Each adds the overrides of one file to the table for the loader. */
void opencl_enqueue_override(struct _cl_icd_dispatch *table);
void opencl_queue_override(struct _cl_icd_dispatch *table);
void opencl_kernel_override(struct _cl_icd_dispatch *table);

/* Overrides a function if the layer below has it. */
#define OPENCL_OVERRIDE(table, function, replacement)    \
	do {                                             \
		if (opencl_layer.next.function)          \
			(table)->function = replacement; \
	} while (0)

/* Called around fork(): take and release each file's lock. */
void opencl_queue_lock(void);
void opencl_queue_unlock(void);
void opencl_device_lock(void);
void opencl_device_unlock(void);
void opencl_kernel_lock(void);
void opencl_kernel_unlock(void);

/* Returns the index of a device in the stream; -1 if its commands cannot be followed. */
int opencl_device_index(cl_device_id device);

/* Returns whether the device's clock is not known yet. now_ns is CLOCK_MONOTONIC. */
bool opencl_device_wants_clock(int device, uint64_t now_ns);

/* Adds a command that was enqueued between two readings and has the timestamp queued_ns of the device. */
void opencl_device_judge_clock(int device, const struct clock_reading *before,
			       const struct clock_reading *after, uint64_t queued_ns);

/* Returns the device of a queue like opencl_device_index(). The queue may be unknown. */
int opencl_queue_device(cl_command_queue queue);

/* Returns the offset of a kernel's name in the stream's arena. */
uint32_t opencl_kernel_name(cl_kernel kernel);

/*
 * A command while it passes through the layer, on the enqueuing function's stack.
 * The program gets its event through task.event as without the layer.
 */
struct opencl_task {
	struct stream_task slot;
	cl_event *event; /* passed to the function below */
	cl_event own; /* used if the program asks for no event */
	bool owned;
	bool judging; /* before and after are set: the device's clock is not known yet */
	struct clock_reading before, after;
};

/*
 * Called before the command is passed down; event is the program's argument.
 * Returns false if no reader listens: the caller passes the command on unchanged and drops the task.
 */
bool opencl_task_begin(struct opencl_task *task, cl_command_queue queue, cl_event *event);

/* Called right after the command was passed down, also if that failed. */
void opencl_task_end(struct opencl_task *task);

/*
 * Called after opencl_task_end() if the runtime accepted the command: writes it to the
 * stream when it ends, or now if it has ended (blocking). name is the command's name,
 * used if task->slot.name is still 0.
 */
void opencl_task_follow(struct opencl_task *task, enum stream_kind kind, const char *name,
			uint64_t bytes, bool blocking);

#endif /* PROFBPF_DEVICE_OPENCL_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl.h - inside of the OpenCL layer (libprofbpf-opencl.so), which the OpenCL
 * loader puts between a program and its drivers when OPENCL_LAYERS names it.
 *
 *   opencl.c          entry points of the loader, set-up, what is overridden
 *   opencl_enqueue.c  one function per clEnqueue...
 *   opencl_task.c     follows one command from its enqueue to its end
 *   opencl_queue.c    queues: forces profiling on, hides that it did
 *   opencl_device.c   devices and their clocks
 *   opencl_kernel.c   names of kernels
 *
 * No lock of the layer is held while a driver is called: drivers hold locks of
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
 * What the layer knows. There is one: OpenCL's functions have no place to pass
 * it, and the loader initialises a layer once.
 */
struct opencl_layer {
	struct _cl_icd_dispatch next; /* the functions below the layer; NULL where missing */
	struct stream_writer *writer;
};

extern struct opencl_layer opencl_layer;

/* Fills the overrides of one file into the table that the loader gets. */
void opencl_enqueue_override(struct _cl_icd_dispatch *table);
void opencl_queue_override(struct _cl_icd_dispatch *table);
void opencl_kernel_override(struct _cl_icd_dispatch *table);

/* Overrides a function that the layer below has. */
#define OPENCL_OVERRIDE(table, function, replacement)    \
	do {                                             \
		if (opencl_layer.next.function)          \
			(table)->function = replacement; \
	} while (0)

/* Around fork(): take and give back each file's lock. */
void opencl_queue_lock(void);
void opencl_queue_unlock(void);
void opencl_device_lock(void);
void opencl_device_unlock(void);
void opencl_kernel_lock(void);
void opencl_kernel_unlock(void);

/* Index of a device in the stream; -1 if its commands can't be followed. */
int opencl_device_index(cl_device_id device);

/* Does the device's clock still have to be found out? now_ns is CLOCK_MONOTONIC. */
bool opencl_device_wants_clock(int device, uint64_t now_ns);

/* A command stamped queued_ns by the device was enqueued between two readings. */
void opencl_device_judge_clock(int device, const struct clock_reading *before,
			       const struct clock_reading *after, uint64_t queued_ns);

/* Device of a queue, as opencl_device_index(). The queue needn't be known. */
int opencl_queue_device(cl_command_queue queue);

/* Offset of a kernel's name in the stream's arena. */
uint32_t opencl_kernel_name(cl_kernel kernel);

/*
 * One command on its way through the layer; lives on the enqueuing function's
 * stack. The program gets its event through task.event as it would have.
 */
struct opencl_task {
	struct stream_task slot;
	cl_event *event; /* to be passed down */
	cl_event own; /* where the program wants none */
	bool owned;
	bool judging; /* before and after are filled: the device's clock is sought */
	struct clock_reading before, after;
};

/*
 * Called before the command is passed down; event is what the program gave.
 * False: nobody wants to know, pass it down as it is and forget the task.
 */
bool opencl_task_begin(struct opencl_task *task, cl_command_queue queue, cl_event *event);

/* Called right after it was passed down, whatever came of it. */
void opencl_task_end(struct opencl_task *task);

/*
 * Called after that if the runtime took the command: it's written to the stream
 * when it ends, or now if it has ended (blocking). name is that of the command,
 * used if task->slot.name is still 0.
 */
void opencl_task_follow(struct opencl_task *task, enum stream_kind kind, const char *name,
			uint64_t bytes, bool blocking);

#endif /* PROFBPF_DEVICE_OPENCL_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl.c - the entry points of the layer for the OpenCL loader.
 *
 * On any error here the program must run as without the layer: the loader gets
 * the table of the functions below unchanged.
 */
#include "device/opencl.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* How long a program that exits waits for the last completion callbacks. */
#define EXIT_DRAIN_NS 20000000ull

struct opencl_layer opencl_layer;

static struct _cl_icd_dispatch overrides;

EXPORT CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info param_name,
						      size_t param_value_size, void *param_value,
						      size_t *param_value_size_ret)
{
	static const char name[] = "profbpf";
	static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
	const void *value;
	size_t size;

	switch (param_name) {
	case CL_LAYER_API_VERSION:
		value = &version;
		size = sizeof(version);
		break;
	case CL_LAYER_NAME:
		value = name;
		size = sizeof(name);
		break;
	default: return CL_INVALID_VALUE;
	}
	if (param_value && param_value_size < size)
		return CL_INVALID_VALUE;
	if (param_value)
		memcpy(param_value, value, size);
	if (param_value_size_ret)
		*param_value_size_ret = size;
	return CL_SUCCESS;
}

static void before_fork(void)
{
	opencl_queue_lock();
	opencl_kernel_lock();
	opencl_device_lock();
	stream_writer_lock(opencl_layer.writer);
}

static void after_fork(void)
{
	stream_writer_unlock(opencl_layer.writer);
	opencl_device_unlock();
	opencl_kernel_unlock();
	opencl_queue_unlock();
}

/* Returns whether the table has all functions that the layer itself calls. */
static bool complete(const struct _cl_icd_dispatch *next)
{
	return next->clGetDeviceInfo && next->clGetCommandQueueInfo && next->clGetKernelInfo &&
	       next->clGetEventInfo && next->clGetEventProfilingInfo && next->clSetEventCallback &&
	       next->clRetainEvent && next->clReleaseEvent;
}

static bool set_up(cl_uint num_entries, const struct _cl_icd_dispatch *target)
{
	size_t size = (size_t)num_entries * sizeof(void *);

	memcpy(&opencl_layer.next, target,
	       size < sizeof(opencl_layer.next) ? size : sizeof(opencl_layer.next));
	if (!complete(&opencl_layer.next))
		return false;
	opencl_layer.writer = stream_writer_create(OPENCL_SOURCE, STREAM_WRITER_SLOTS);
	if (!opencl_layer.writer)
		return false;
	if (pthread_atfork(before_fork, after_fork, after_fork) != 0) {
		stream_writer_destroy(opencl_layer.writer);
		opencl_layer.writer = NULL;
		return false;
	}
	opencl_enqueue_override(&overrides);
	opencl_queue_override(&overrides);
	opencl_kernel_override(&overrides);
	return true;
}

EXPORT CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint num_entries,
						   const cl_icd_dispatch *target_dispatch,
						   cl_uint *num_entries_ret,
						   const cl_icd_dispatch **layer_dispatch_ret)
{
	static atomic_flag once = ATOMIC_FLAG_INIT;
	cl_uint ours = sizeof(overrides) / sizeof(void *);

	if (!target_dispatch || !num_entries_ret || !layer_dispatch_ret)
		return CL_INVALID_VALUE;
	/* A second loader in the process (a bundled libOpenCL) has other functions below. */
	if (atomic_flag_test_and_set(&once) || !set_up(num_entries, target_dispatch)) {
		*num_entries_ret = num_entries;
		*layer_dispatch_ret = target_dispatch;
		return CL_SUCCESS;
	}
	/* For a NULL in the table, loaders use the function below the layer. */
	*num_entries_ret = ours < num_entries ? ours : num_entries;
	*layer_dispatch_ret = &overrides;
	return CL_SUCCESS;
}

/*
 * A driver may report the end of a command from a thread of its own, after the
 * program's clFinish() returned. Waits a moment for it if a reader's lease runs.
 */
__attribute__((destructor)) static void at_exit(void)
{
	if (opencl_layer.writer)
		stream_writer_drain(opencl_layer.writer, EXIT_DRAIN_NS);
}

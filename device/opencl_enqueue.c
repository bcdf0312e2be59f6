/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl_enqueue.c - the functions that submit work to a device.
 *
 * clEnqueueBarrier and clEnqueueWaitForEvents of OpenCL 1.0 are not here, because
 * they have no event; nor are the Direct3D functions.
 */
#include "device/opencl.h"

/* Returns the bytes of a region that the runtime has accepted. */
static uint64_t volume(const size_t *region)
{
	return region ? (uint64_t)region[0] * region[1] * region[2] : 0;
}

static uint64_t pixels(cl_mem image, const size_t *region)
{
	size_t size = 0;

	if (!opencl_layer.next.clGetImageInfo ||
	    opencl_layer.next.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof(size), &size,
					     NULL) != CL_SUCCESS)
		return 0;
	return volume(region) * size;
}

static uint64_t memory_sizes(cl_uint count, const cl_mem *objects)
{
	uint64_t total = 0;
	size_t size;
	cl_uint i;

	for (i = 0; objects && opencl_layer.next.clGetMemObjectInfo && i < count; i++) {
		size = 0;
		opencl_layer.next.clGetMemObjectInfo(objects[i], CL_MEM_SIZE, sizeof(size), &size,
						     NULL);
		total += size;
	}
	return total;
}

static uint64_t sum(cl_uint count, const size_t *sizes)
{
	uint64_t total = 0;
	cl_uint i;

	for (i = 0; sizes && i < count; i++)
		total += sizes[i];
	return total;
}

#define WAIT cl_uint waits, const cl_event *wait_list, cl_event *event

/*
 * Defines enqueue_FUNCTION. The name of the task (0: the function's name), its bytes
 * and whether it blocked are evaluated after the runtime accepted the command; "..."
 * are the arguments to pass on before the event.
 */
#define ENQUEUE(function, kind, label, bytes, blocking, params, ...)                      \
	static cl_int CL_API_CALL enqueue_##function params                               \
	{                                                                                 \
		struct opencl_task task;                                                  \
		cl_int result;                                                            \
                                                                                          \
		if (!opencl_task_begin(&task, queue, event))                              \
			return opencl_layer.next.clEnqueue##function(__VA_ARGS__, event); \
		result = opencl_layer.next.clEnqueue##function(__VA_ARGS__, task.event);  \
		opencl_task_end(&task);                                                   \
		if (result == CL_SUCCESS) {                                               \
			task.slot.name = (label);                                         \
			opencl_task_follow(&task, kind, #function, bytes, blocking);      \
		}                                                                         \
		return result;                                                            \
	}

ENQUEUE(NDRangeKernel, STREAM_KERNEL, opencl_kernel_name(kernel), 0, false,
	(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
	 const size_t *global, const size_t *local, WAIT),
	queue, kernel, dims, offset, global, local, waits, wait_list)

ENQUEUE(Task, STREAM_KERNEL, opencl_kernel_name(kernel), 0, false,
	(cl_command_queue queue, cl_kernel kernel, WAIT), queue, kernel, waits, wait_list)

ENQUEUE(NativeKernel, STREAM_KERNEL, 0, 0, false,
	(cl_command_queue queue, void(CL_CALLBACK *function)(void *), void *args, size_t args_size,
	 cl_uint count, const cl_mem *objects, const void **places, WAIT),
	queue, function, args, args_size, count, objects, places, waits, wait_list)

ENQUEUE(ReadBuffer, STREAM_COPY, 0, size, blocking,
	(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
	 void *host, WAIT),
	queue, buffer, blocking, offset, size, host, waits, wait_list)

ENQUEUE(WriteBuffer, STREAM_COPY, 0, size, blocking,
	(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
	 const void *host, WAIT),
	queue, buffer, blocking, offset, size, host, waits, wait_list)

ENQUEUE(ReadBufferRect, STREAM_COPY, 0, volume(region), blocking,
	(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *origin,
	 const size_t *host_origin, const size_t *region, size_t row, size_t slice, size_t host_row,
	 size_t host_slice, void *host, WAIT),
	queue, buffer, blocking, origin, host_origin, region, row, slice, host_row, host_slice,
	host, waits, wait_list)

ENQUEUE(WriteBufferRect, STREAM_COPY, 0, volume(region), blocking,
	(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *origin,
	 const size_t *host_origin, const size_t *region, size_t row, size_t slice, size_t host_row,
	 size_t host_slice, const void *host, WAIT),
	queue, buffer, blocking, origin, host_origin, region, row, slice, host_row, host_slice,
	host, waits, wait_list)

ENQUEUE(CopyBuffer, STREAM_COPY, 0, size, false,
	(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
	 size_t size, WAIT),
	queue, from, to, from_offset, to_offset, size, waits, wait_list)

ENQUEUE(CopyBufferRect, STREAM_COPY, 0, volume(region), false,
	(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
	 const size_t *to_origin, const size_t *region, size_t from_row, size_t from_slice,
	 size_t to_row, size_t to_slice, WAIT),
	queue, from, to, from_origin, to_origin, region, from_row, from_slice, to_row, to_slice,
	waits, wait_list)

ENQUEUE(FillBuffer, STREAM_FILL, 0, size, false,
	(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size,
	 size_t offset, size_t size, WAIT),
	queue, buffer, pattern, pattern_size, offset, size, waits, wait_list)

ENQUEUE(ReadImage, STREAM_COPY, 0, pixels(image, region), blocking,
	(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
	 const size_t *region, size_t row, size_t slice, void *host, WAIT),
	queue, image, blocking, origin, region, row, slice, host, waits, wait_list)

ENQUEUE(WriteImage, STREAM_COPY, 0, pixels(image, region), blocking,
	(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
	 const size_t *region, size_t row, size_t slice, const void *host, WAIT),
	queue, image, blocking, origin, region, row, slice, host, waits, wait_list)

ENQUEUE(FillImage, STREAM_FILL, 0, pixels(image, region), false,
	(cl_command_queue queue, cl_mem image, const void *color, const size_t origin[3],
	 const size_t region[3], WAIT),
	queue, image, color, origin, region, waits, wait_list)

ENQUEUE(CopyImage, STREAM_COPY, 0, pixels(from, region), false,
	(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
	 const size_t *to_origin, const size_t *region, WAIT),
	queue, from, to, from_origin, to_origin, region, waits, wait_list)

ENQUEUE(CopyImageToBuffer, STREAM_COPY, 0, pixels(from, region), false,
	(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *origin, const size_t *region,
	 size_t offset, WAIT),
	queue, from, to, origin, region, offset, waits, wait_list)

ENQUEUE(CopyBufferToImage, STREAM_COPY, 0, pixels(to, region), false,
	(cl_command_queue queue, cl_mem from, cl_mem to, size_t offset, const size_t *origin,
	 const size_t *region, WAIT),
	queue, from, to, offset, origin, region, waits, wait_list)

ENQUEUE(UnmapMemObject, STREAM_MAP, 0, 0, false,
	(cl_command_queue queue, cl_mem object, void *mapped, WAIT), queue, object, mapped, waits,
	wait_list)

ENQUEUE(MigrateMemObjects, STREAM_COPY, 0, memory_sizes(count, objects), false,
	(cl_command_queue queue, cl_uint count, const cl_mem *objects, cl_mem_migration_flags flags,
	 WAIT),
	queue, count, objects, flags, waits, wait_list)

ENQUEUE(MarkerWithWaitList, STREAM_SYNC, 0, 0, false, (cl_command_queue queue, WAIT), queue, waits,
	wait_list)

ENQUEUE(BarrierWithWaitList, STREAM_SYNC, 0, 0, false, (cl_command_queue queue, WAIT), queue, waits,
	wait_list)

ENQUEUE(SVMFree, STREAM_OTHER, 0, 0, false,
	(cl_command_queue queue, cl_uint count, void **pointers,
	 void(CL_CALLBACK *function)(cl_command_queue, cl_uint, void **, void *), void *data, WAIT),
	queue, count, pointers, function, data, waits, wait_list)

ENQUEUE(SVMMemcpy, STREAM_COPY, 0, size, blocking,
	(cl_command_queue queue, cl_bool blocking, void *to, const void *from, size_t size, WAIT),
	queue, blocking, to, from, size, waits, wait_list)

ENQUEUE(SVMMemFill, STREAM_FILL, 0, size, false,
	(cl_command_queue queue, void *to, const void *pattern, size_t pattern_size, size_t size,
	 WAIT),
	queue, to, pattern, pattern_size, size, waits, wait_list)

ENQUEUE(SVMMap, STREAM_MAP, 0, size, blocking,
	(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void *pointer, size_t size,
	 WAIT),
	queue, blocking, flags, pointer, size, waits, wait_list)

ENQUEUE(SVMUnmap, STREAM_MAP, 0, 0, false, (cl_command_queue queue, void *pointer, WAIT), queue,
	pointer, waits, wait_list)

ENQUEUE(SVMMigrateMem, STREAM_COPY, 0, sum(count, sizes), false,
	(cl_command_queue queue, cl_uint count, const void **pointers, const size_t *sizes,
	 cl_mem_migration_flags flags, WAIT),
	queue, count, pointers, sizes, flags, waits, wait_list)

#define OBJECTS (cl_command_queue queue, cl_uint count, const cl_mem *objects, WAIT)

ENQUEUE(AcquireGLObjects, STREAM_SYNC, 0, 0, false, OBJECTS, queue, count, objects, waits,
	wait_list)
ENQUEUE(ReleaseGLObjects, STREAM_SYNC, 0, 0, false, OBJECTS, queue, count, objects, waits,
	wait_list)
ENQUEUE(AcquireEGLObjectsKHR, STREAM_SYNC, 0, 0, false, OBJECTS, queue, count, objects, waits,
	wait_list)
ENQUEUE(ReleaseEGLObjectsKHR, STREAM_SYNC, 0, 0, false, OBJECTS, queue, count, objects, waits,
	wait_list)

/* A call without an event is an error; the runtime below must still report it. */
static cl_int CL_API_CALL enqueue_Marker(cl_command_queue queue, cl_event *event)
{
	struct opencl_task task;
	cl_int result;

	if (!event || !opencl_task_begin(&task, queue, event))
		return opencl_layer.next.clEnqueueMarker(queue, event);
	result = opencl_layer.next.clEnqueueMarker(queue, event);
	opencl_task_end(&task);
	if (result == CL_SUCCESS)
		opencl_task_follow(&task, STREAM_SYNC, "Marker", 0, false);
	return result;
}

static void *CL_API_CALL enqueue_MapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
					   cl_map_flags flags, size_t offset, size_t size, WAIT,
					   cl_int *errcode_ret)
{
	struct opencl_task task;
	cl_int result = CL_SUCCESS;
	void *mapped;

	if (!opencl_task_begin(&task, queue, event))
		return opencl_layer.next.clEnqueueMapBuffer(queue, buffer, blocking, flags, offset,
							    size, waits, wait_list, event,
							    errcode_ret);
	mapped = opencl_layer.next.clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size,
						      waits, wait_list, task.event, &result);
	opencl_task_end(&task);
	if (result == CL_SUCCESS && mapped)
		opencl_task_follow(&task, STREAM_MAP, "MapBuffer", size, blocking);
	if (errcode_ret)
		*errcode_ret = result;
	return mapped;
}

static void *CL_API_CALL enqueue_MapImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
					  cl_map_flags flags, const size_t *origin,
					  const size_t *region, size_t *row, size_t *slice, WAIT,
					  cl_int *errcode_ret)
{
	struct opencl_task task;
	cl_int result = CL_SUCCESS;
	void *mapped;

	if (!opencl_task_begin(&task, queue, event))
		return opencl_layer.next.clEnqueueMapImage(queue, image, blocking, flags, origin,
							   region, row, slice, waits, wait_list,
							   event, errcode_ret);
	mapped = opencl_layer.next.clEnqueueMapImage(queue, image, blocking, flags, origin, region,
						     row, slice, waits, wait_list, task.event,
						     &result);
	opencl_task_end(&task);
	if (result == CL_SUCCESS && mapped)
		opencl_task_follow(&task, STREAM_MAP, "MapImage", pixels(image, region), blocking);
	if (errcode_ret)
		*errcode_ret = result;
	return mapped;
}

#define OVERRIDE(function) OPENCL_OVERRIDE(table, clEnqueue##function, enqueue_##function)

void opencl_enqueue_override(struct _cl_icd_dispatch *table)
{
	OVERRIDE(NDRangeKernel);
	OVERRIDE(Task);
	OVERRIDE(NativeKernel);
	OVERRIDE(ReadBuffer);
	OVERRIDE(WriteBuffer);
	OVERRIDE(ReadBufferRect);
	OVERRIDE(WriteBufferRect);
	OVERRIDE(CopyBuffer);
	OVERRIDE(CopyBufferRect);
	OVERRIDE(FillBuffer);
	OVERRIDE(ReadImage);
	OVERRIDE(WriteImage);
	OVERRIDE(FillImage);
	OVERRIDE(CopyImage);
	OVERRIDE(CopyImageToBuffer);
	OVERRIDE(CopyBufferToImage);
	OVERRIDE(UnmapMemObject);
	OVERRIDE(MigrateMemObjects);
	OVERRIDE(MarkerWithWaitList);
	OVERRIDE(BarrierWithWaitList);
	OVERRIDE(SVMFree);
	OVERRIDE(SVMMemcpy);
	OVERRIDE(SVMMemFill);
	OVERRIDE(SVMMap);
	OVERRIDE(SVMUnmap);
	OVERRIDE(SVMMigrateMem);
	OVERRIDE(AcquireGLObjects);
	OVERRIDE(ReleaseGLObjects);
	OVERRIDE(AcquireEGLObjectsKHR);
	OVERRIDE(ReleaseEGLObjectsKHR);
	OVERRIDE(Marker);
	OVERRIDE(MapBuffer);
	OVERRIDE(MapImage);
}

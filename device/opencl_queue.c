/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl_queue.c - makes every queue measure its commands' times, without the
 * program seeing it: queries return the properties that the program asked for,
 * and times only for commands in queues that it made with profiling.
 *
 * A driver may use the handle of a released queue again, and events may outlive
 * their queue. So a released queue is remembered until its handle is used again
 * or RETIRED_MAX others were released after it.
 */
#include "device/opencl.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define PROPERTIES_MAX 64 /* the most key and value pairs in a property list */
#define RETIRED_MAX 1024

struct queue {
	cl_command_queue handle; /* key in the tree */
	TAILQ_ENTRY(queue) retired; /* while references is 0 */
	uint32_t references; /* the program's own */
	int device;
	bool forced; /* profiling is on, but the program did not ask for it */
	size_t asked_size; /* bytes of asked */
	cl_queue_properties asked[]; /* the program's list, as CL_QUEUE_PROPERTIES_ARRAY */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *queues; /* tsearch tree, under lock */
static TAILQ_HEAD(, queue) retired = TAILQ_HEAD_INITIALIZER(retired);
static unsigned int retired_count;

void opencl_queue_lock(void)
{
	pthread_mutex_lock(&lock);
}

void opencl_queue_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static int compare(const void *a, const void *b)
{
	uintptr_t left = (uintptr_t)((const struct queue *)a)->handle;
	uintptr_t right = (uintptr_t)((const struct queue *)b)->handle;

	return left < right ? -1 : left > right;
}

/* Called with the lock held. */
static struct queue *find(cl_command_queue handle)
{
	struct queue key = { .handle = handle };
	struct queue *const *found = tfind(&key, &queues, compare);

	return found ? *found : NULL;
}

/* Called with the lock held. */
static void forget(struct queue *queue)
{
	if (queue->references == 0) {
		TAILQ_REMOVE(&retired, queue, retired);
		retired_count--;
	}
	tdelete(queue, &queues, compare);
	free(queue);
}

/* Remembers a new queue in place of any earlier one with its handle. */
static void remember(struct queue *queue)
{
	struct queue *old;

	pthread_mutex_lock(&lock);
	old = find(queue->handle);
	if (old)
		forget(old);
	if (!tsearch(queue, &queues, compare))
		free(queue);
	pthread_mutex_unlock(&lock);
}

static struct queue *queue_new(cl_device_id device, bool forced, const cl_queue_properties *asked,
			       size_t asked_count)
{
	size_t size = asked_count * sizeof(*asked);
	struct queue *queue = calloc(1, sizeof(*queue) + size);

	if (!queue)
		return NULL;
	queue->references = 1;
	queue->device = opencl_device_index(device);
	queue->forced = forced;
	queue->asked_size = size;
	if (size)
		memcpy(queue->asked, asked, size);
	return queue;
}

static cl_command_queue CL_API_CALL create(cl_context context, cl_device_id device,
					   cl_command_queue_properties properties,
					   cl_int *errcode_ret)
{
	bool force = !(properties & CL_QUEUE_PROFILING_ENABLE);
	cl_command_queue handle = NULL;
	struct queue *queue;

	if (force) {
		handle = opencl_layer.next.clCreateCommandQueue(
			context, device, properties | CL_QUEUE_PROFILING_ENABLE, errcode_ret);
		force = handle != NULL;
	}
	if (!handle)
		handle = opencl_layer.next.clCreateCommandQueue(context, device, properties,
								errcode_ret);
	if (!handle)
		return NULL;
	queue = queue_new(device, force, NULL, 0);
	if (queue) {
		queue->handle = handle;
		remember(queue);
	}
	return handle;
}

/*
 * Copies a property list with profiling added to out, which has room for
 * 2 * PROPERTIES_MAX + 3. Returns the number of entries of @list with its final 0
 * (0 for NULL), or -1 if the caller must pass the list on unchanged.
 */
static int add_profiling(const cl_queue_properties *list, cl_queue_properties *out)
{
	int n = 0, place = -1;

	for (; list && list[n]; n += 2) {
		if (n >= 2 * PROPERTIES_MAX)
			return -1;
		out[n] = list[n];
		out[n + 1] = list[n + 1];
		if (list[n] == CL_QUEUE_PROPERTIES)
			place = n + 1;
	}
	if (place < 0) {
		out[n] = CL_QUEUE_PROPERTIES;
		out[n + 1] = CL_QUEUE_PROFILING_ENABLE;
		out[n + 2] = 0;
	} else {
		/* The host cannot query events of a queue on the device. */
		if (out[place] & (CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_ON_DEVICE))
			return -1;
		out[place] |= CL_QUEUE_PROFILING_ENABLE;
		out[n] = 0;
	}
	return list ? n + 1 : 0;
}

static cl_command_queue CL_API_CALL create_with_properties(cl_context context, cl_device_id device,
							   const cl_queue_properties *properties,
							   cl_int *errcode_ret)
{
	cl_queue_properties forced[2 * PROPERTIES_MAX + 3];
	int count = add_profiling(properties, forced);
	cl_command_queue handle = NULL;
	struct queue *queue = NULL;

	if (count >= 0)
		handle = opencl_layer.next.clCreateCommandQueueWithProperties(context, device,
									      forced, errcode_ret);
	if (handle) {
		queue = queue_new(device, true, properties, (size_t)count);
	} else {
		handle = opencl_layer.next.clCreateCommandQueueWithProperties(
			context, device, properties, errcode_ret);
		if (handle)
			queue = queue_new(device, false, NULL, 0);
	}
	if (queue) {
		queue->handle = handle;
		remember(queue);
	}
	return handle;
}

static cl_int CL_API_CALL retain(cl_command_queue handle)
{
	cl_int result = opencl_layer.next.clRetainCommandQueue(handle);
	struct queue *queue;

	if (result != CL_SUCCESS)
		return result;
	pthread_mutex_lock(&lock);
	queue = find(handle);
	if (queue && queue->references > 0)
		queue->references++;
	pthread_mutex_unlock(&lock);
	return result;
}

static cl_int CL_API_CALL release(cl_command_queue handle)
{
	struct queue *queue;

	/* Before the driver's release: after it the driver may give the handle to another queue. */
	pthread_mutex_lock(&lock);
	queue = find(handle);
	if (queue && queue->references > 0 && --queue->references == 0) {
		TAILQ_INSERT_TAIL(&retired, queue, retired);
		if (++retired_count > RETIRED_MAX)
			forget(TAILQ_FIRST(&retired));
	}
	pthread_mutex_unlock(&lock);
	return opencl_layer.next.clReleaseCommandQueue(handle);
}

static bool is_forced(cl_command_queue handle)
{
	struct queue *queue;
	bool forced;

	pthread_mutex_lock(&lock);
	queue = find(handle);
	forced = queue && queue->forced;
	pthread_mutex_unlock(&lock);
	return forced;
}

/* Returns the program's own property list, as clGetCommandQueueInfo() does. */
static cl_int asked_properties(cl_command_queue handle, size_t size, void *value, size_t *size_ret)
{
	cl_queue_properties asked[2 * PROPERTIES_MAX + 1];
	struct queue *queue;
	size_t asked_size = 0;

	pthread_mutex_lock(&lock);
	queue = find(handle);
	if (queue && queue->asked_size <= sizeof(asked)) {
		asked_size = queue->asked_size;
		memcpy(asked, queue->asked, asked_size);
	}
	pthread_mutex_unlock(&lock);
	if (value && size < asked_size)
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, asked, asked_size);
	if (size_ret)
		*size_ret = asked_size;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL get_info(cl_command_queue handle, cl_command_queue_info name, size_t size,
				   void *value, size_t *size_ret)
{
	cl_command_queue_properties properties;
	size_t real_size = 0;
	cl_int result;

	result = opencl_layer.next.clGetCommandQueueInfo(
		handle, name, size, name == CL_QUEUE_PROPERTIES_ARRAY ? NULL : value, &real_size);
	if (name == CL_QUEUE_PROPERTIES_ARRAY && result == CL_SUCCESS) {
		if (is_forced(handle))
			return asked_properties(handle, size, value, size_ret);
		return opencl_layer.next.clGetCommandQueueInfo(handle, name, size, value, size_ret);
	}
	if (result == CL_SUCCESS && size_ret)
		*size_ret = real_size;
	if (result == CL_SUCCESS && name == CL_QUEUE_PROPERTIES && value &&
	    real_size == sizeof(properties) && is_forced(handle)) {
		memcpy(&properties, value, sizeof(properties));
		properties &= ~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE;
		memcpy(value, &properties, sizeof(properties));
	}
	return result;
}

/* OpenCL 1.0: the program may switch profiling on or off after the queue was made. */
static cl_int CL_API_CALL set_property(cl_command_queue handle,
				       cl_command_queue_properties properties, cl_bool enable,
				       cl_command_queue_properties *old)
{
	cl_command_queue_properties profiling = properties & CL_QUEUE_PROFILING_ENABLE;
	cl_command_queue_properties before = 0;
	struct queue *queue;
	cl_int result;

	result = opencl_layer.next.clSetCommandQueueProperty(handle, properties, enable, &before);
	if (result != CL_SUCCESS)
		return result;
	if (is_forced(handle))
		before &= ~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE;
	if (old)
		*old = before;
	if (!profiling)
		return result;
	if (!enable)
		opencl_layer.next.clSetCommandQueueProperty(handle, profiling, CL_TRUE, NULL);
	pthread_mutex_lock(&lock);
	queue = find(handle);
	if (queue)
		queue->forced = !enable;
	pthread_mutex_unlock(&lock);
	return result;
}

static cl_int CL_API_CALL get_event_times(cl_event event, cl_profiling_info name, size_t size,
					  void *value, size_t *size_ret)
{
	cl_command_queue handle = NULL;

	if (opencl_layer.next.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(handle), &handle,
					     NULL) == CL_SUCCESS &&
	    handle && is_forced(handle))
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	return opencl_layer.next.clGetEventProfilingInfo(event, name, size, value, size_ret);
}

/* Remembers a queue that an extension's function made, with the driver's properties. */
static int remember_stranger(cl_command_queue handle)
{
	cl_device_id device = NULL;
	struct queue *queue;
	int index;

	if (opencl_layer.next.clGetCommandQueueInfo(handle, CL_QUEUE_DEVICE, sizeof(device),
						    &device, NULL) != CL_SUCCESS)
		return -1;
	queue = queue_new(device, false, NULL, 0);
	if (!queue)
		return -1;
	index = queue->device;
	queue->handle = handle;
	remember(queue);
	return index;
}

int opencl_queue_device(cl_command_queue handle)
{
	struct queue *queue;
	bool known;
	int device = -1;

	pthread_mutex_lock(&lock);
	queue = find(handle);
	known = queue && queue->references > 0;
	if (known)
		device = queue->device;
	pthread_mutex_unlock(&lock);
	return known ? device : remember_stranger(handle);
}

void opencl_queue_override(struct _cl_icd_dispatch *table)
{
	OPENCL_OVERRIDE(table, clCreateCommandQueue, create);
	OPENCL_OVERRIDE(table, clCreateCommandQueueWithProperties, create_with_properties);
	OPENCL_OVERRIDE(table, clRetainCommandQueue, retain);
	OPENCL_OVERRIDE(table, clReleaseCommandQueue, release);
	OPENCL_OVERRIDE(table, clGetCommandQueueInfo, get_info);
	OPENCL_OVERRIDE(table, clSetCommandQueueProperty, set_property);
	OPENCL_OVERRIDE(table, clGetEventProfilingInfo, get_event_times);
}

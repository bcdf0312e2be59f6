/* SPDX-License-Identifier: Apache-2.0 */
#include "device/opencl.h"

#include <pthread.h>
#include <stdio.h>

/* A known device. */
struct device {
	cl_device_id id;
	struct clock_judge judge;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct device devices[STREAM_DEVICES]; /* under lock; in the stream's order */
static int device_count;

void opencl_device_lock(void)
{
	pthread_mutex_lock(&lock);
}

void opencl_device_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static const char *kind_of(cl_device_id id)
{
	cl_device_type type = 0;

	opencl_layer.next.clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof(type), &type, NULL);
	if (type & CL_DEVICE_TYPE_GPU)
		return "gpu";
	if (type & CL_DEVICE_TYPE_CPU)
		return "cpu";
	return "accelerator";
}

/* OpenCL 1.0 has no callbacks; the function to register one would be a NULL pointer. */
static bool has_callbacks(cl_device_id id)
{
	char version[128] = "";
	unsigned int major, minor;

	if (opencl_layer.next.clGetDeviceInfo(id, CL_DEVICE_VERSION, sizeof(version) - 1, version,
					      NULL) != CL_SUCCESS ||
	    sscanf(version, "OpenCL %u.%u", &major, &minor) != 2)
		return false;
	return major > 1 || (major == 1 && minor >= 1);
}

/* Called with the lock held. */
static int find(cl_device_id id)
{
	int i;

	for (i = 0; i < device_count; i++)
		if (devices[i].id == id)
			return i;
	return -1;
}

static int locked_find(cl_device_id id)
{
	int index;

	pthread_mutex_lock(&lock);
	index = find(id);
	pthread_mutex_unlock(&lock);
	return index;
}

int opencl_device_index(cl_device_id id)
{
	char name[1024] = "";
	const char *kind;
	int index = locked_find(id);

	if (index >= 0 || !has_callbacks(id))
		return index;
	opencl_layer.next.clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof(name) - 1, name, NULL);
	kind = kind_of(id);
	pthread_mutex_lock(&lock);
	index = find(id);
	if (index < 0 && device_count < STREAM_DEVICES) {
		index = stream_writer_add_device(opencl_layer.writer, name, kind);
		if (index >= 0)
			devices[device_count++] = (struct device){ .id = id };
	}
	pthread_mutex_unlock(&lock);
	return index;
}

bool opencl_device_wants_clock(int device, uint64_t now_ns)
{
	bool wants;

	pthread_mutex_lock(&lock);
	wants = device < device_count && clock_judge_wants(&devices[device].judge, now_ns);
	pthread_mutex_unlock(&lock);
	return wants;
}

void opencl_device_judge_clock(int device, const struct clock_reading *before,
			       const struct clock_reading *after, uint64_t queued_ns)
{
	pthread_mutex_lock(&lock);
	if (device < device_count &&
	    clock_judge_add(&devices[device].judge, before, after, queued_ns))
		stream_writer_declare_clock(opencl_layer.writer, device,
					    devices[device].judge.clock);
	pthread_mutex_unlock(&lock);
}

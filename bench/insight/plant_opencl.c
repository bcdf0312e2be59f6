/* SPDX-License-Identifier: Apache-2.0 */
/* An OpenCL device, usually PoCL: a kernel counts for the length of its task. Its real times come from the device. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdlib.h>

#include "bench/insight/plant_device.h"
#include "tests/truth/truth.h"

#define TRIAL_TURNS 4000000u
#define CHECK(call) check((call), #call)

static const char source[] =
	"kernel void planted(global uint *x, uint turns)\n"
	"{ uint v = *x; for (uint i = 0; i < turns; i++) v = v * 1664525u + (v >> 9) + i; *x = v; }\n";

static cl_command_queue queue;
static cl_kernel kernel;
static double turns_per_ns;
static cl_event *events;
static uint32_t submitted;

static void check(cl_int error, const char *what)
{
	if (error != CL_SUCCESS)
		plant_fail(what);
}

static cl_event enqueue(cl_uint turns)
{
	cl_event event;

	CHECK(clSetKernelArg(kernel, 1, sizeof(turns), &turns));
	CHECK(clEnqueueTask(queue, kernel, 0, NULL, &event));
	CHECK(clFlush(queue));
	return event;
}

static uint64_t instant(cl_event event, cl_profiling_info what)
{
	cl_ulong ns;

	CHECK(clGetEventProfilingInfo(event, what, sizeof(ns), &ns, NULL));
	return ns;
}

/* Measures the second run, which has no one-time costs. */
static void learn_speed(void)
{
	for (int i = 0; i < 2; i++) {
		cl_event event = enqueue(TRIAL_TURNS);

		CHECK(clWaitForEvents(1, &event));
		turns_per_ns = (double)TRIAL_TURNS /
			       (double)(instant(event, CL_PROFILING_COMMAND_END) -
					instant(event, CL_PROFILING_COMMAND_START));
		CHECK(clReleaseEvent(event));
	}
}

void device_open(void)
{
	const char *text = source;
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_program program;
	cl_mem buffer;
	cl_int error;

	CHECK(clGetPlatformIDs(1, &platform, NULL));
	CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	CHECK(error);
	queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &error);
	CHECK(error);
	program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
	CHECK(error);
	CHECK(clBuildProgram(program, 1, &device, "", NULL, NULL));
	kernel = clCreateKernel(program, "planted", &error);
	CHECK(error);
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(cl_uint), NULL, &error);
	CHECK(error);
	CHECK(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
	learn_speed();
}

void device_submit(uint64_t task_ns)
{
	if (!(submitted & (submitted + 1)))
		events = realloc(events, sizeof(*events) * 2 * (submitted + 1));
	if (!events)
		plant_fail("realloc");
	events[submitted++] = enqueue((cl_uint)((double)task_ns * turns_per_ns));
}

void device_wait(uint32_t left)
{
	if (submitted > left)
		CHECK(clWaitForEvents(1, &events[submitted - left - 1]));
}

/* PoCL uses CLOCK_MONOTONIC_RAW, which drifts from CLOCK_MONOTONIC by microseconds in a few seconds. */
void device_close(void)
{
	uint64_t ahead_ns = clock_ns(CLOCK_MONOTONIC) - clock_ns(CLOCK_MONOTONIC_RAW);

	device_wait(0);
	for (uint32_t i = 0; i < submitted; i++)
		plant_task(instant(events[i], CL_PROFILING_COMMAND_START) + ahead_ns,
			   instant(events[i], CL_PROFILING_COMMAND_END) + ahead_ns);
}

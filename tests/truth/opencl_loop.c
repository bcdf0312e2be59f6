/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl_loop - a loop that makes an OpenCL device compute: opencl_loop TURNS LAYERS. Each turn writes
 * a batch, runs LAYERS equal kernels, and reads the result. Prints "ready", waits for a line on its
 * standard input, works, prints "turns=N" and "done", and waits for another line.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>

#define ITEMS 256
#define CHECK(call) check((call), #call)

static const char source[] = "kernel void layer(global int *x) { x[get_global_id(0)] += 1; }\n";

static void check(cl_int error, const char *what)
{
	if (error == CL_SUCCESS)
		return;
	fprintf(stderr, "opencl_loop: %s gives %d\n", what, error);
	exit(1);
}

static void turn(cl_command_queue queue, cl_kernel kernel, cl_mem buffer, int layers)
{
	const size_t items = ITEMS;
	cl_int batch[ITEMS] = { 0 };

	CHECK(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof(batch), batch, 0, NULL,
				   NULL));
	for (int i = 0; i < layers; i++)
		CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL));
	CHECK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(batch), batch, 0, NULL, NULL));
	if (batch[0] != layers)
		check(-1, "the result");
}

static int line_came(const char *word)
{
	char line[16];

	puts(word);
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) != NULL;
}

int main(int count, char **arguments)
{
	int turns = count > 1 ? atoi(arguments[1]) : 100;
	int layers = count > 2 ? atoi(arguments[2]) : 8;
	const char *text = source;
	cl_platform_id platform;
	cl_device_id device;
	cl_int error;

	CHECK(clGetPlatformIDs(1, &platform, NULL));
	CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));

	cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	CHECK(error);
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
	CHECK(error);
	cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
	CHECK(error);
	CHECK(clBuildProgram(program, 1, &device, "", NULL, NULL));
	cl_kernel kernel = clCreateKernel(program, "layer", &error);
	CHECK(error);
	cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, ITEMS * 4, NULL, &error);
	CHECK(error);
	CHECK(clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffer));
	turn(queue, kernel, buffer, layers);
	if (!line_came("ready"))
		return 1;
	for (int i = 0; i < turns; i++)
		turn(queue, kernel, buffer, layers);
	printf("turns=%d\n", turns);
	return line_came("done") ? 0 : 1;
}

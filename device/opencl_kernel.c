/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl_kernel.c - names of kernels, queried once for each.
 *
 * A driver may use the handle of a released kernel again. Every release forgets
 * the name: it comes before any reuse, and a second query is cheap.
 */
#include "device/opencl.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>

struct kernel {
	cl_kernel handle; /* key in the tree */
	uint32_t name; /* offset in the stream's arena */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *kernels; /* tsearch tree, under lock */

void opencl_kernel_lock(void)
{
	pthread_mutex_lock(&lock);
}

void opencl_kernel_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static int compare(const void *a, const void *b)
{
	uintptr_t left = (uintptr_t)((const struct kernel *)a)->handle;
	uintptr_t right = (uintptr_t)((const struct kernel *)b)->handle;

	return left < right ? -1 : left > right;
}

/* Called with the lock held. */
static struct kernel *find(cl_kernel handle)
{
	struct kernel key = { .handle = handle };
	struct kernel *const *found = tfind(&key, &kernels, compare);

	return found ? *found : NULL;
}

static void remember(cl_kernel handle, uint32_t name)
{
	struct kernel *kernel = malloc(sizeof(*kernel));
	struct kernel *const *node;

	if (!kernel)
		return;
	*kernel = (struct kernel){ .handle = handle, .name = name };
	pthread_mutex_lock(&lock);
	node = tsearch(kernel, &kernels, compare);
	if (!node || *node != kernel)
		free(kernel);
	pthread_mutex_unlock(&lock);
}

uint32_t opencl_kernel_name(cl_kernel handle)
{
	char text[STREAM_WRITER_NAME_MAX + 1] = "";
	char *longer = NULL;
	struct kernel *kernel;
	uint32_t name = 0;
	size_t size = 0;
	bool known;

	pthread_mutex_lock(&lock);
	kernel = find(handle);
	known = kernel != NULL;
	if (known)
		name = kernel->name;
	pthread_mutex_unlock(&lock);
	if (known)
		return name;
	if (opencl_layer.next.clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, 0, NULL, &size) !=
		    CL_SUCCESS ||
	    size == 0)
		return 0;
	if (size > sizeof(text))
		longer = calloc(1, size + 1);
	if (size > sizeof(text) && !longer)
		return 0;
	if (opencl_layer.next.clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, size,
					      longer ? longer : text, NULL) == CL_SUCCESS)
		name = stream_writer_name(opencl_layer.writer, longer ? longer : text);
	free(longer);
	if (name)
		remember(handle, name);
	return name;
}

static cl_int CL_API_CALL release(cl_kernel handle)
{
	struct kernel *kernel;

	pthread_mutex_lock(&lock);
	kernel = find(handle);
	if (kernel) {
		tdelete(kernel, &kernels, compare);
		free(kernel);
	}
	pthread_mutex_unlock(&lock);
	return opencl_layer.next.clReleaseKernel(handle);
}

void opencl_kernel_override(struct _cl_icd_dispatch *table)
{
	OPENCL_OVERRIDE(table, clReleaseKernel, release);
}

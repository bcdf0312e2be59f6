/* SPDX-License-Identifier: Apache-2.0 */
/* libcuda_truth.c - a test double of the CUDA driver library. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/truth/runtimes.h"

#define HANDLES 64
#define GRAPH_KERNELS 5

const struct truth_cuda_tool *truth_cuda_tool;

static int initialised;
static struct {
	void *handle;
	const char *name;
} names[HANDLES];

static void set_name(void *handle, const char *name)
{
	for (int i = 0; i < HANDLES; i++) {
		if (names[i].handle && names[i].handle != handle)
			continue;
		names[i].handle = handle;
		names[i].name = name;
		return;
	}
}

static const char *name_of(const void *handle)
{
	for (int i = 0; i < HANDLES; i++)
		if (names[i].handle == handle)
			return names[i].name;
	return "nameless";
}

/* Reports to the tool a call that causes one task on the device, or the same task several times. */
static void tell(const char *function, const struct truth_cuda_work *work, int times)
{
	const struct truth_cuda_tool *tool = truth_cuda_tool;

	if (!tool)
		return;
	tool->enter(function);
	for (int i = 0; i < times; i++)
		tool->work(work);
	tool->leave(function);
}

/* Like the real function: loads the library that the environment names and calls its entry point. */
EXPORT int cuInit(unsigned int flags)
{
	const char *injection = getenv("CUDA_INJECTION64_PATH");
	void *handle = injection ? dlopen(injection, RTLD_LAZY) : NULL;
	int (*initialize)(void) = NULL;

	DISTINCT();
	if (handle)
		initialize = (int (*)(void))(uintptr_t)dlsym(handle, "InitializeInjection");
	if (initialize)
		initialize();
	initialised = 1;
	return 0;
}

EXPORT int cuDriverGetVersion(int *version)
{
	DISTINCT();
	*version = 13050;
	return 0;
}

EXPORT int cuDeviceGetCount(int *count)
{
	DISTINCT();
	*count = 2;
	return initialised ? 0 : 3;
}

EXPORT int cuDeviceGet(int *device, int ordinal)
{
	DISTINCT();
	*device = ordinal;
	return 0;
}

EXPORT int cuDeviceGetName(char *name, int size, int device)
{
	DISTINCT();
	snprintf(name, (size_t)size, "Truth GPU %d", device);
	return 0;
}

EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
	DISTINCT();
	tell("cuMemcpyHtoDAsync_v2",
	     &(struct truth_cuda_work){ 'c', NULL, bytes, (uint64_t)(uintptr_t)stream, 3000 }, 1);
	return 0;
}

EXPORT int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream)
{
	DISTINCT();
	tell("cuMemsetD8Async",
	     &(struct truth_cuda_work){ 'f', NULL, bytes, (uint64_t)(uintptr_t)stream, 2000 }, 1);
	return 0;
}

EXPORT int cuGraphLaunch(void *exec, void *stream)
{
	DISTINCT();
	tell("cuGraphLaunch",
	     &(struct truth_cuda_work){ 'k', "graph_kernel", 0, (uint64_t)(uintptr_t)stream, 5000 },
	     GRAPH_KERNELS);
	return 0;
}

EXPORT int cuStreamSynchronize(void *stream)
{
	DISTINCT();
	tell("cuStreamSynchronize",
	     &(struct truth_cuda_work){ 's', NULL, 0, (uint64_t)(uintptr_t)stream, 0 }, 1);
	return 0;
}

/* Handles are made from names, so that they differ: 0x1000 + first letter. */
EXPORT int cuModuleGetFunction(void **function, void *module, const char *name)
{
	DISTINCT();
	*function = (void *)(uintptr_t)(0x1000 + name[3]);
	set_name(*function, name);
	return 0;
}

EXPORT int cuLibraryGetKernel(void **kernel, void *library, const char *name)
{
	DISTINCT();
	*kernel = (void *)(uintptr_t)(0x2000 + name[0]);
	return 0;
}

EXPORT int cuLaunchKernel(void *function, unsigned int gx, unsigned int gy, unsigned int gz,
			  unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			  void *stream, void **params, void **extra)
{
	DISTINCT();
	tell("cuLaunchKernel",
	     &(struct truth_cuda_work){ 'k', name_of(function), 0, (uint64_t)(uintptr_t)stream,
					1000ull * gx },
	     1);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frameworks.c - further functions that MindSpore's Ascend back end calls: operators in two phases, virtual
 * memory, descriptions of tensors. Linked into the libascendcl.so that build.py makes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../kernel.h"
#include "../runtime.h"

#define OPERATOR_BLOCKS 5 /* 50 us: the duration of an operator is not known */
#define STACK_WORDS 40 /* words of the caller's frame that are searched */

/* The stubs of build.py for aclnnX(workspace, size, executor, stream) jump here, with their own name added. */
SIM_EXPORT int sim_operator(void *workspace, uint64_t size, void *executor, void *stream,
			    const char *name)
{
	struct sim_kernel kernel;
	struct sim_call *call = sim_call_begin("AscendCL", name, false);
	struct sim_call *node = sim_call_begin("Node", "launch", true);
	int err;

	snprintf(kernel.name, sizeof(kernel.name), "%s", name);
	snprintf(kernel.type, sizeof(kernel.type), "%s", name + strlen("aclnn"));
	sim_set_call(node);
	err = rtKernelLaunch(&kernel, OPERATOR_BLOCKS, workspace, (uint32_t)size, NULL, stream);
	sim_set_call(NULL);
	sim_call_end(node);
	sim_call_end(call);
	return err;
}

/*
 * aclnnXGetWorkspaceSize(..., uint64_t *size, aclOpExecutor **executor): the two are the last arguments, but
 * the number of arguments is not known here. They are found as the first two neighbours that point to
 * different zeroed words of the caller's stack. @registers: rdi to r9; @stack: the words after the return address.
 */
SIM_EXPORT int sim_prepare(const uint64_t *registers, const uint64_t *stack)
{
	uint64_t words[6 + STACK_WORDS], low = (uint64_t)registers, high = low + 65536;

	memcpy(words, registers, 6 * sizeof(*words));
	memcpy(words + 6, stack, STACK_WORDS * sizeof(*words));
	for (int i = 0; i + 1 < 6 + STACK_WORDS; i++) {
		uint64_t size = words[i], executor = words[i + 1];

		if (size <= low || size >= high || size & 7 || executor <= low ||
		    executor >= high || executor & 7 || size == executor || *(uint64_t *)size ||
		    *(uint64_t *)executor)
			continue;
		*(void **)executor = calloc(1, 64);
		return 0;
	}
	return 0;
}

/* ---- Virtual memory of the device */

SIM_EXPORT int aclrtReserveMemAddress(void **address, size_t bytes, size_t alignment,
				      void *expected, uint64_t flags)
{
	*address = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return *address == MAP_FAILED ? 200000 : 0;
}

SIM_EXPORT int aclrtMallocPhysical(void **handle, size_t bytes, const void *properties,
				   uint64_t flags)
{
	size_t *size = malloc(sizeof(*size));

	if (!size)
		return 200000;
	sim_begin();
	*size = bytes;
	*handle = size;
	pthread_mutex_lock(&sim_device.lock);
	sim_device.allocations++;
	sim_device.allocated += bytes;
	if (sim_device.allocated > sim_device.peak)
		sim_device.peak = sim_device.allocated;
	pthread_mutex_unlock(&sim_device.lock);
	return 0;
}

SIM_EXPORT int aclrtFreePhysical(void *handle)
{
	pthread_mutex_lock(&sim_device.lock);
	sim_device.frees++;
	sim_device.allocated -= *(size_t *)handle;
	pthread_mutex_unlock(&sim_device.lock);
	free(handle);
	return 0;
}

SIM_EXPORT int aclrtMallocAlign32(void **memory, size_t bytes, int policy)
{
	return rtMalloc(memory, bytes, 2, 0);
}

SIM_EXPORT int aclrtStreamQuery(void *stream, int *status)
{
	const struct sim_stream *of = stream;

	pthread_mutex_lock(&sim_device.lock);
	*status = of->done < of->sent; /* ACL_STREAM_STATUS_COMPLETE is 0 */
	pthread_mutex_unlock(&sim_device.lock);
	return 0;
}

SIM_EXPORT int aclrtDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	*least = 0;
	*greatest = 7;
	return 0;
}

SIM_EXPORT int aclrtDeviceGetBareTgid(int *pid)
{
	*pid = 1;
	return 0;
}

/* ---- Descriptions, which are never read */

SIM_EXPORT void *aclCreateTensor(const int64_t *dims, ...)
{
	return calloc(1, 64);
}

SIM_EXPORT void *aclCreateScalar(void *value, int type)
{
	return calloc(1, 64);
}

#define LIST(name)                                                \
	SIM_EXPORT void *name(const void *values, uint64_t count) \
	{                                                         \
		return calloc(1, 64);                             \
	}
LIST(aclCreateIntArray)
LIST(aclCreateFloatArray)
LIST(aclCreateBoolArray)
LIST(aclCreateTensorList)

SIM_EXPORT void *aclCreateTensorDesc(int type, int dim_count, const int64_t *dims, int format)
{
	return calloc(1, 256);
}

SIM_EXPORT void *aclCreateDataBuffer(void *data, size_t bytes)
{
	return calloc(1, 64);
}

/* ge::StatusFactory::Instance(): an empty std::map. */
static struct {
	void *compare;
	struct {
		int color;
		void *parent, *left, *right;
	} head;
	size_t count;
	char rest[512];
} status_factory;

SIM_EXPORT void *_ZN2ge13StatusFactory8InstanceEv(void)
{
	if (!status_factory.head.left)
		status_factory.head.left = status_factory.head.right = &status_factory.head.color;
	return &status_factory;
}

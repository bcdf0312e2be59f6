/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acl.c - AscendCL of the simulated Ascend, libascendcl.so: the functions for jobs, with the
 * prototypes of acl/acl_rt.h, acl/acl_op.h and acl/acl_base.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel.h"
#include "runtime.h"

typedef int aclError;
typedef void *aclrtStream, *aclrtEvent, *aclrtContext, *aclrtFuncHandle, *aclrtBinHandle;
#define ACL_SUCCESS 0
#define ACL_ERROR_INVALID_PARAM 100000
#define ACL_ERROR_BAD_ALLOC 200000

#define OPERATOR_BLOCKS \
	20 /* blocks of a launch by aclopExecuteV2(): its duration is not known */
#define MEMORY_TOTAL (32ull << 30)

static __thread int current_device;
static __thread aclrtContext current_context;

/* A call in the profile: tasks that are sent during it belong to it. */
struct scope {
	struct sim_call *outer, *inner;
};

static struct scope enter(const char *name, const char *node)
{
	struct scope scope = { .outer = sim_call_begin("AscendCL", name, false) };

	scope.inner = sim_call_begin("Node", node, true);
	sim_set_call(scope.inner);
	return scope;
}

static aclError leave(struct scope scope, int err)
{
	sim_set_call(NULL);
	sim_call_end(scope.inner);
	sim_call_end(scope.outer);
	return err;
}

SIM_EXPORT aclError aclInit(const char *config)
{
	sim_begin();
	return ACL_SUCCESS;
}

SIM_EXPORT aclError aclFinalize(void)
{
	rtDeviceSynchronize();
	sim_finish();
	return ACL_SUCCESS;
}

SIM_EXPORT aclError aclrtGetDeviceCount(uint32_t *count)
{
	*count = 1;
	return ACL_SUCCESS;
}

SIM_EXPORT aclError aclrtSetDevice(int32_t device)
{
	sim_begin();
	current_device = device;
	return ACL_SUCCESS;
}

SIM_EXPORT aclError aclrtGetDevice(int32_t *device)
{
	*device = current_device;
	return ACL_SUCCESS;
}

SIM_EXPORT aclError aclrtResetDevice(int32_t device)
{
	rtDeviceSynchronize();
	return ACL_SUCCESS;
}

SIM_EXPORT const char *aclrtGetSocName(void)
{
	return "Ascend910B1";
}

SIM_EXPORT const char *aclGetRecentErrMsg(void)
{
	return "";
}

SIM_EXPORT aclError aclrtGetRunMode(int *mode)
{
	*mode = 1; /* ACL_HOST */
	return ACL_SUCCESS;
}

SIM_EXPORT aclError aclrtCreateContext(aclrtContext *context, int32_t device)
{
	*context = current_context = malloc(16);
	return *context ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
}

SIM_EXPORT aclError aclrtDestroyContext(aclrtContext context)
{
	free(context);
	return ACL_SUCCESS;
}

SIM_EXPORT aclError aclrtGetCurrentContext(aclrtContext *context)
{
	if (!current_context)
		current_context = malloc(16);
	*context = current_context;
	return ACL_SUCCESS;
}

SIM_EXPORT aclError aclrtSetCurrentContext(aclrtContext context)
{
	current_context = context;
	return ACL_SUCCESS;
}

/* ---- Streams and events */

SIM_EXPORT aclError aclrtCreateStream(aclrtStream *stream)
{
	*stream = sim_stream_create();
	return *stream ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
}

SIM_EXPORT aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority,
						uint32_t flag)
{
	*stream = sim_stream_create();
	return *stream ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
}

SIM_EXPORT aclError aclrtDestroyStream(aclrtStream stream)
{
	sim_stream_destroy(stream);
	return ACL_SUCCESS;
}

SIM_EXPORT aclError aclrtStreamGetId(aclrtStream stream, int32_t *id)
{
	*id = ((struct sim_stream *)stream)->id;
	return ACL_SUCCESS;
}

SIM_EXPORT aclError aclrtSynchronizeStream(aclrtStream stream)
{
	struct sim_call *call = sim_call_begin("AscendCL", "aclrtSynchronizeStream", false);
	int err = rtStreamSynchronize(stream);

	sim_call_end(call);
	return err;
}

SIM_EXPORT aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout)
{
	struct sim_call *call =
		sim_call_begin("AscendCL", "aclrtSynchronizeStreamWithTimeout", false);
	int err = rtStreamSynchronizeWithTimeout(stream, timeout);

	sim_call_end(call);
	return err;
}

SIM_EXPORT aclError aclrtSynchronizeDevice(void)
{
	struct sim_call *call = sim_call_begin("AscendCL", "aclrtSynchronizeDevice", false);
	int err = rtDeviceSynchronize();

	sim_call_end(call);
	return err;
}

SIM_EXPORT aclError aclrtCreateEvent(aclrtEvent *event)
{
	*event = calloc(1, sizeof(struct sim_event));
	return *event ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
}

SIM_EXPORT aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag)
{
	return aclrtCreateEvent(event);
}

SIM_EXPORT aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
	return aclrtCreateEvent(event);
}

SIM_EXPORT aclError aclrtDestroyEvent(aclrtEvent event)
{
	free(event);
	return ACL_SUCCESS;
}

SIM_EXPORT aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
	struct scope scope = enter("aclrtRecordEvent", "record_event");

	return leave(scope, rtEventRecord(event, stream));
}

SIM_EXPORT aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event)
{
	struct scope scope = enter("aclrtStreamWaitEvent", "wait_event");

	return leave(scope, rtStreamWaitEvent(stream, event));
}

SIM_EXPORT aclError aclrtSynchronizeEvent(aclrtEvent event)
{
	return rtEventSynchronize(event);
}

SIM_EXPORT aclError aclrtQueryEventStatus(aclrtEvent event, int *status)
{
	const struct sim_event *of = event;

	pthread_mutex_lock(&sim_device.lock);
	*status = of->happened >= of->recorded;
	pthread_mutex_unlock(&sim_device.lock);
	return ACL_SUCCESS;
}

SIM_EXPORT aclError aclrtEventElapsedTime(float *ms, aclrtEvent start, aclrtEvent end)
{
	*ms = (float)(((struct sim_event *)end)->happened_ns -
		      ((struct sim_event *)start)->happened_ns) /
	      1e6f;
	return ACL_SUCCESS;
}

/* Callbacks are not simulated; a thread that waits for them sleeps. */
SIM_EXPORT aclError aclrtProcessReport(int32_t timeout)
{
	usleep((useconds_t)(timeout > 0 && timeout < 1000 ? timeout : 100) * 1000);
	return 107012;
}

/* ---- Memory */

SIM_EXPORT aclError aclrtMalloc(void **memory, size_t bytes, int policy)
{
	return rtMalloc(memory, bytes, 2, 0) ? ACL_ERROR_BAD_ALLOC : ACL_SUCCESS;
}

SIM_EXPORT aclError aclrtFree(void *memory)
{
	return rtFree(memory);
}

SIM_EXPORT aclError aclrtMallocHost(void **memory, size_t bytes)
{
	*memory = aligned_alloc(512, (bytes + 511) & ~511ul);
	return *memory ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
}

SIM_EXPORT aclError aclrtFreeHost(void *memory)
{
	free(memory);
	return ACL_SUCCESS;
}

SIM_EXPORT aclError aclrtGetMemInfo(int attribute, size_t *left, size_t *total)
{
	*total = MEMORY_TOTAL;
	*left = MEMORY_TOTAL - sim_device.allocated;
	return ACL_SUCCESS;
}

SIM_EXPORT aclError aclrtMemcpy(void *to, size_t to_size, const void *from, size_t bytes, int kind)
{
	struct sim_call *call = sim_call_begin("AscendCL", "aclrtMemcpy", false);
	int err = rtMemcpy(to, to_size, from, bytes, (uint32_t)kind);

	sim_call_end(call);
	return err;
}

SIM_EXPORT aclError aclrtMemcpyAsync(void *to, size_t to_size, const void *from, size_t bytes,
				     int kind, aclrtStream stream)
{
	struct scope scope = enter("aclrtMemcpyAsync", "memcpy");

	return leave(scope, rtMemcpyAsync(to, to_size, from, bytes, (uint32_t)kind, stream));
}

SIM_EXPORT aclError aclrtMemset(void *memory, size_t size, int32_t value, size_t bytes)
{
	memset(memory, value, bytes);
	return ACL_SUCCESS;
}

/* ---- Kernels and operators */

SIM_EXPORT aclError aclrtBinaryLoadFromFile(const char *path, const void *options,
					    aclrtBinHandle *binary)
{
	*binary = strdup(path);
	return *binary ? ACL_SUCCESS : ACL_ERROR_BAD_ALLOC;
}

/* Any name is a valid kernel: "MatMul_backward" has the type MatMul. */
SIM_EXPORT aclError aclrtBinaryGetFunction(const aclrtBinHandle binary, const char *name,
					   aclrtFuncHandle *function)
{
	struct sim_kernel *kernel = calloc(1, sizeof(*kernel));

	if (!kernel)
		return ACL_ERROR_BAD_ALLOC;
	snprintf(kernel->name, sizeof(kernel->name), "%s", name);
	snprintf(kernel->type, sizeof(kernel->type), "%.*s",
		 (int)(strcspn(name, "_") % sizeof(kernel->type)), name);
	*function = kernel;
	return ACL_SUCCESS;
}

SIM_EXPORT aclError aclrtBinaryUnLoad(aclrtBinHandle binary)
{
	free(binary);
	return ACL_SUCCESS;
}

SIM_EXPORT aclError aclrtLaunchKernel(aclrtFuncHandle function, uint32_t blocks, const void *args,
				      size_t args_size, aclrtStream stream)
{
	struct scope scope = enter("aclrtLaunchKernel", "launch");

	return leave(scope, rtKernelLaunch(function, blocks, (void *)args, (uint32_t)args_size,
					   NULL, stream));
}

struct attributes {
	char channel[64];
};

SIM_EXPORT void *aclopCreateAttr(void)
{
	return calloc(1, sizeof(struct attributes));
}

SIM_EXPORT void aclopDestroyAttr(const void *attributes)
{
	free((void *)attributes);
}

SIM_EXPORT aclError aclopSetAttrString(void *attributes, const char *name, const char *value)
{
	if (strcmp(name, "channel_name") == 0)
		snprintf(((struct attributes *)attributes)->channel,
			 sizeof(((struct attributes *)attributes)->channel), "%s", value);
	return ACL_SUCCESS;
}

static struct sim_channel *find_channel(const char *name)
{
	struct sim_channel *channel;

	pthread_mutex_lock(&sim_device.lock);
	for (channel = sim_channels; channel; channel = channel->next) {
		if (strcmp(channel->name, name) == 0)
			break;
	}
	pthread_mutex_unlock(&sim_device.lock);
	return channel;
}

/* GetNext runs on the device's CPUs and takes an element from the queue that the attribute channel_name names. */
SIM_EXPORT aclError aclopExecuteV2(const char *type, int input_count, void *input_desc[],
				   void *inputs[], int output_count, void *output_desc[],
				   void *outputs[], void *attributes, aclrtStream stream)
{
	struct scope scope;
	struct sim_kernel kernel;

	if (strcmp(type, "GetNext") == 0) {
		struct sim_channel *channel =
			attributes ? find_channel(((struct attributes *)attributes)->channel)
				   : NULL;

		if (!channel)
			return ACL_ERROR_INVALID_PARAM;
		scope = enter("aclopExecuteV2", "launch");
		return leave(scope, rtCpuKernelLaunchWithFlag("libaicpu_kernels.so", "GetNext", 1,
							      channel, NULL, stream, 0));
	}
	snprintf(kernel.name, sizeof(kernel.name), "%s", type);
	snprintf(kernel.type, sizeof(kernel.type), "%s", type);
	scope = enter("aclopExecuteV2", "launch");
	return leave(scope, rtKernelLaunch(&kernel, OPERATOR_BLOCKS, NULL, 0, NULL, stream));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stub_cudart.c - in the place of the CUDA runtime library, for known.cu where there is no GPU:
 * a device of streams that take their time and do nothing, over the libraries of tests/truth that
 * stand for the driver and for CUPTI.
 *
 * Memory is the host's. A kernel takes KERNEL_NS, or, if it is called spin, as long as its first
 * argument says, which it writes where the second one points to.
 */
#include <cuda_runtime_api.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/truth/cuda_tool.h"
#include "tests/truth/truth.h"

#define EXPORT __attribute__((noinline, visibility("default")))
#define KERNELS 16
#define STREAMS 16
#define NODES 64
#define KERNEL_NS 3000
#define BYTES_PER_NS 16
#define DELAY_NS 2000 /* as libcupti_truth.c has it */

/* Made small numbers by cudaStreamCreate(); 0 is the default stream. */
#define STREAM(stream) ((unsigned int)(uintptr_t)(stream) % STREAMS)

struct graph {
	struct truth_cuda_work nodes[NODES];
	int count;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct truth_cuda_tool *volatile *tool_place;
static struct {
	const void *host;
	const char *name;
} kernels[KERNELS];
static unsigned int stream_count;
static uint64_t busy_until[STREAMS];
static struct graph *capturing[STREAMS];

static void begin(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	int (*init)(unsigned int) = NULL;

	if (driver)
		init = (int (*)(unsigned int))(uintptr_t)dlsym(driver, "cuInit");
	if (!init)
		abort();
	tool_place = dlsym(driver, "truth_cuda_tool");
	init(0);
}

/* The runtime begins with the device when it is first asked for anything. */
static const struct truth_cuda_tool *tool(void)
{
	pthread_once(&once, begin);
	return *tool_place;
}

static void run(const struct truth_cuda_tool *told, const struct truth_cuda_work *work)
{
	uint64_t *until = &busy_until[STREAM(work->stream)], start;

	pthread_mutex_lock(&lock);
	start = clock_ns(CLOCK_MONOTONIC) + DELAY_NS;
	*until = (start > *until ? start : *until) + work->ns;
	pthread_mutex_unlock(&lock);
	if (told)
		told->work(work);
}

/* One call that has the device do these, one after another, or, where a graph is made, later. */
static void submit(const char *function, const struct truth_cuda_work *works, int count)
{
	struct graph *graph = capturing[STREAM(works->stream)];
	const struct truth_cuda_tool *told = tool();

	if (graph) {
		if (graph->count < NODES)
			graph->nodes[graph->count++] = *works;
		return;
	}
	if (told)
		told->enter(function);
	for (int i = 0; i < count; i++)
		run(told, &works[i]);
	if (told)
		told->leave(function);
}

static void wait_until(uint64_t ns)
{
	while (clock_ns(CLOCK_MONOTONIC) < ns)
		sleep_ns(10000);
}

/* kind as in truth_cuda_work; of one stream, or of all. */
static void wait_for(const char *function, char kind, unsigned int first, unsigned int last)
{
	struct truth_cuda_work work = { kind, NULL, 0, first, 0 };
	const struct truth_cuda_tool *told = tool();

	if (told) {
		told->enter(function);
		told->work(&work);
	}
	for (unsigned int i = first; i <= last; i++)
		wait_until(busy_until[i]);
	if (told)
		told->leave(function);
}

/* ---- Memory, streams */

EXPORT const char *cudaGetErrorString(cudaError_t error)
{
	return error == cudaSuccess ? "no error" : "stand-in's error";
}

EXPORT cudaError_t cudaMalloc(void **memory, size_t bytes)
{
	*memory = calloc(1, bytes);
	return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

EXPORT cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
	return cudaMalloc(memory, bytes);
}

EXPORT cudaError_t cudaFree(void *memory)
{
	tool();
	free(memory);
	return cudaSuccess;
}

EXPORT cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	pthread_mutex_lock(&lock);
	*stream = (cudaStream_t)(uintptr_t)++stream_count;
	pthread_mutex_unlock(&lock);
	return stream_count < STREAMS ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- Work */

EXPORT void __cudaRegisterFunction(void **fat_binary, const char *host, char *device,
				   const char *name, int limit, void *tid, void *bid, void *block,
				   void *grid, int *warp_size)
{
	for (int i = 0; i < KERNELS; i++) {
		if (kernels[i].host)
			continue;
		kernels[i].host = host;
		kernels[i].name = name;
		return;
	}
}

EXPORT cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args,
				    size_t shared, cudaStream_t stream)
{
	struct truth_cuda_work work = { 'k', "nameless", 0, STREAM(stream), KERNEL_NS };

	for (int i = 0; i < KERNELS; i++)
		if (kernels[i].host == kernel)
			work.name = kernels[i].name;
	if (strstr(work.name, "spin")) {
		work.ns = *(unsigned long long *)args[0];
		**(unsigned long long **)args[1] = work.ns;
	}
	submit("cudaLaunchKernel", &work, 1);
	return cudaSuccess;
}

static struct truth_cuda_work copy_of(size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	char code = kind == cudaMemcpyHostToDevice   ? 'c'
		    : kind == cudaMemcpyDeviceToHost ? 'h'
						     : 'd';

	return (struct truth_cuda_work){ code, NULL, bytes, STREAM(stream),
					 1000 + bytes / BYTES_PER_NS };
}

EXPORT cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
				   enum cudaMemcpyKind kind, cudaStream_t stream)
{
	struct truth_cuda_work work = copy_of(bytes, kind, stream);

	memmove(to, from, bytes);
	submit("cudaMemcpyAsync", &work, 1);
	return cudaSuccess;
}

EXPORT cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	struct truth_cuda_work work = copy_of(bytes, kind, NULL);
	const struct truth_cuda_tool *told = tool();

	memmove(to, from, bytes);
	if (told)
		told->enter("cudaMemcpy");
	run(told, &work);
	wait_until(busy_until[0]);
	if (told)
		told->leave("cudaMemcpy");
	return cudaSuccess;
}

EXPORT cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
	struct truth_cuda_work work = { 'f', NULL, bytes, STREAM(stream), 2000 };

	memset(memory, value, bytes);
	submit("cudaMemsetAsync", &work, 1);
	return cudaSuccess;
}

/* ---- Graphs */

EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	capturing[STREAM(stream)] = calloc(1, sizeof(struct graph));
	return capturing[STREAM(stream)] ? cudaSuccess : cudaErrorMemoryAllocation;
}

EXPORT cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	*graph = (cudaGraph_t)capturing[STREAM(stream)];
	capturing[STREAM(stream)] = NULL;
	return cudaSuccess;
}

EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
						 unsigned long long flags)
{
	*exec = (cudaGraphExec_t)(void *)graph;
	return cudaSuccess;
}

EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	const struct graph *graph = (const void *)exec;

	submit("cudaGraphLaunch", graph->nodes, graph->count);
	return cudaSuccess;
}

/* ---- Events and waits */

struct event {
	uint64_t at_ns;
	unsigned int stream;
};

EXPORT cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	*event = (cudaEvent_t)calloc(1, sizeof(struct event));
	return *event ? cudaSuccess : cudaErrorMemoryAllocation;
}

EXPORT cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	free(event);
	return cudaSuccess;
}

EXPORT cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	struct event *one = (void *)event;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	one->stream = STREAM(stream);
	one->at_ns = busy_until[one->stream] > now ? busy_until[one->stream] : now;
	return cudaSuccess;
}

EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	const struct event *one = (void *)event;

	wait_for("cudaEventSynchronize", 'e', one->stream, one->stream);
	return cudaSuccess;
}

EXPORT cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin_event, cudaEvent_t end_event)
{
	const struct event *first = (void *)begin_event, *last = (void *)end_event;

	*ms = (float)((double)(last->at_ns - first->at_ns) / 1e6);
	return cudaSuccess;
}

EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	wait_for("cudaStreamSynchronize", 's', STREAM(stream), STREAM(stream));
	return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceSynchronize(void)
{
	wait_for("cudaDeviceSynchronize", 'x', 0, STREAMS - 1);
	return cudaSuccess;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/import/nvidia/nvprof_calls.h"

#include <inttypes.h>
#include <stdio.h>

struct number {
	uint16_t number;
	const char *name;
};

/* The most frequent calls of programs of nvprof's time; in the order of their numbers. */
static const struct number RUNTIME[] = {
	{ 1, "cudaDriverGetVersion" },
	{ 2, "cudaRuntimeGetVersion" },
	{ 3, "cudaGetDeviceCount" },
	{ 4, "cudaGetDeviceProperties" },
	{ 8, "cudaConfigureCall" },
	{ 9, "cudaSetupArgument" },
	{ 10, "cudaGetLastError" },
	{ 11, "cudaPeekAtLastError" },
	{ 13, "cudaLaunch" },
	{ 15, "cudaFuncGetAttributes" },
	{ 16, "cudaSetDevice" },
	{ 17, "cudaGetDevice" },
	{ 20, "cudaMalloc" },
	{ 21, "cudaMallocPitch" },
	{ 22, "cudaFree" },
	{ 25, "cudaMallocHost" },
	{ 26, "cudaFreeHost" },
	{ 27, "cudaHostAlloc" },
	{ 31, "cudaMemcpy" },
	{ 32, "cudaMemcpy2D" },
	{ 39, "cudaMemcpyToSymbol" },
	{ 40, "cudaMemcpyFromSymbol" },
	{ 41, "cudaMemcpyAsync" },
	{ 44, "cudaMemcpy2DAsync" },
	{ 47, "cudaMemcpyToSymbolAsync" },
	{ 49, "cudaMemset" },
	{ 50, "cudaMemset2D" },
	{ 51, "cudaMemsetAsync" },
	{ 126, "cudaThreadSynchronize" },
	{ 129, "cudaStreamCreate" },
	{ 130, "cudaStreamDestroy" },
	{ 131, "cudaStreamSynchronize" },
	{ 132, "cudaStreamQuery" },
	{ 133, "cudaEventCreate" },
	{ 134, "cudaEventCreateWithFlags" },
	{ 135, "cudaEventRecord" },
	{ 136, "cudaEventDestroy" },
	{ 137, "cudaEventSynchronize" },
	{ 138, "cudaEventQuery" },
	{ 139, "cudaEventElapsedTime" },
	{ 144, "cudaMemcpy3D" },
	{ 145, "cudaMemcpy3DAsync" },
	{ 147, "cudaStreamWaitEvent" },
	{ 151, "cudaPointerGetAttributes" },
	{ 152, "cudaHostRegister" },
	{ 153, "cudaHostUnregister" },
	{ 160, "cudaMemcpyPeer" },
	{ 161, "cudaMemcpyPeerAsync" },
	{ 164, "cudaDeviceReset" },
	{ 165, "cudaDeviceSynchronize" },
	{ 171, "cudaProfilerStart" },
	{ 172, "cudaProfilerStop" },
	{ 198, "cudaStreamCreateWithFlags" },
	{ 200, "cudaDeviceGetAttribute" },
	{ 202, "cudaStreamCreateWithPriority" },
	{ 206, "cudaMallocManaged" },
	{ 211, "cudaLaunchKernel" },
	{ 252, "cudaMemPrefetchAsync" },
	{ 269, "cudaLaunchCooperativeKernel" },
	{ 273, "cudaFuncSetAttribute" },
	{ 311, "cudaGraphLaunch" },
};

static const struct number DRIVER[] = {
	{ 1, "cuInit" },
	{ 17, "cuCtxSynchronize" },
	{ 18, "cuModuleLoad" },
	{ 19, "cuModuleLoadData" },
	{ 20, "cuModuleLoadDataEx" },
	{ 22, "cuModuleUnload" },
	{ 39, "cuMemHostAlloc" },
	{ 118, "cuEventCreate" },
	{ 119, "cuEventRecord" },
	{ 120, "cuEventQuery" },
	{ 121, "cuEventSynchronize" },
	{ 124, "cuStreamCreate" },
	{ 126, "cuStreamSynchronize" },
	{ 216, "cuMemsetD8Async" },
	{ 220, "cuMemsetD32Async" },
	{ 235, "cuCtxCreate_v2" },
	{ 243, "cuMemAlloc_v2" },
	{ 245, "cuMemFree_v2" },
	{ 249, "cuMemsetD8_v2" },
	{ 251, "cuMemsetD32_v2" },
	{ 276, "cuMemcpyHtoD_v2" },
	{ 277, "cuMemcpyHtoDAsync_v2" },
	{ 278, "cuMemcpyDtoH_v2" },
	{ 279, "cuMemcpyDtoHAsync_v2" },
	{ 280, "cuMemcpyDtoD_v2" },
	{ 281, "cuMemcpyDtoDAsync_v2" },
	{ 294, "cuMemAllocHost_v2" },
	{ 295, "cuStreamWaitEvent" },
	{ 306, "cuMemcpyAsync" },
	{ 307, "cuLaunchKernel" },
	{ 371, "cuMemAllocManaged" },
	{ 386, "cuDevicePrimaryCtxRetain" },
	{ 477, "cuLaunchCooperativeKernel" },
	{ 514, "cuGraphLaunch" },
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

void nvprof_call_name(bool driver, int64_t number, char *name, size_t size)
{
	const struct number *table = driver ? DRIVER : RUNTIME;
	size_t count = driver ? COUNT(DRIVER) : COUNT(RUNTIME);

	for (size_t i = 0; i < count; i++) {
		if (table[i].number == number) {
			snprintf(name, size, "%s", table[i].name);
			return;
		}
	}
	snprintf(name, size, "CUDA %s call %" PRId64, driver ? "driver" : "runtime", number);
}

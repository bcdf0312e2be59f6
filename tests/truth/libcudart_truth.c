/* SPDX-License-Identifier: Apache-2.0 */
/* libcudart_truth.c - a test double of the CUDA runtime library; its launches call the driver library. */
#include "tests/truth/runtimes.h"

EXPORT int cudaLaunchKernel(const void *func, struct dim3 grid, struct dim3 block, void **args,
			    size_t shared, void *stream)
{
	const struct truth_cuda_tool *tool = truth_cuda_tool;
	int result;

	DISTINCT();
	if (tool)
		tool->enter("cudaLaunchKernel");
	result = cuLaunchKernel((void *)0x9000, grid.x, grid.y, grid.z, block.x, block.y, block.z,
				(unsigned int)shared, stream, args, NULL);
	if (tool)
		tool->leave("cudaLaunchKernel");
	return result;
}

EXPORT int cudaGetFuncBySymbol(void **function, const void *symbol)
{
	DISTINCT();
	*function = (void *)0x3000;
	return 0;
}

EXPORT int cudaGraphLaunch(void *exec, void *stream)
{
	DISTINCT();
	return 0;
}

EXPORT void __cudaRegisterFunction(void **fat_binary, const char *host_function,
				   char *device_function, const char *device_name, int thread_limit,
				   void *tid, void *bid, void *block, void *grid, int *warp_size)
{
	DISTINCT();
}

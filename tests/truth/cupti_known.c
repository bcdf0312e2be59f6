/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_known - a CUDA program whose every call is known, with test doubles of the CUDA libraries:
 * LD_LIBRARY_PATH must have them as libcuda.so.1 and libcudart.so.13.
 *
 *   cupti_known [-w] [-r ROUNDS] [-t THREADS]
 *
 *   -w  begin only when CUPTI records (10 s at most)
 *
 * Each thread has a stream, and prints its calls. truth.h describes a run.
 */
#include <dlfcn.h>

#include "tests/truth/runtimes.h"
#include "tests/truth/truth.h"

#define THREADS_MAX 16
#define WAIT_NS 10000000000ull

static int rounds = 20, threads = 2, wait_for_cupti;

static void *symbol(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	if (!found) {
		printf("%s\n", dlerror());
		exit(1);
	}
	return found;
}

#define FIND(name) __typeof__(&name) p_##name = symbol(#name)

static void *work(void *data)
{
	FIND(cudaLaunchKernel);
	FIND(cuLaunchKernel);
	FIND(cuModuleGetFunction);
	FIND(cuMemcpyHtoDAsync_v2);
	FIND(cuMemsetD8Async);
	FIND(cuGraphLaunch);
	FIND(cuStreamSynchronize);
	unsigned int number = (unsigned int)(uintptr_t)data;
	struct dim3 grid = { 4, 1, 1 }, block = { 1, 1, 1 };
	void *stream = (void *)(uintptr_t)(number + 7), *function;

	p_cuModuleGetFunction(&function, NULL, number % 2 ? "_Z6scaledPfi" : "_Z5addedPfi");
	for (int i = 0; i < rounds; i++) {
		p_cuMemcpyHtoDAsync_v2(0x1000, &grid, 4096 + number, stream);
		p_cuMemsetD8Async(0x1000, 0, 256, stream);
		p_cuLaunchKernel(function, 10 + number, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
		p_cudaLaunchKernel(NULL, grid, block, NULL, 0, stream);
		p_cuGraphLaunch(NULL, stream);
		p_cuStreamSynchronize(stream);
	}
	return NULL;
}

/* The tool pointer is set once CUPTI records. */
static void wait_until_recorded(void)
{
	const struct truth_cuda_tool *volatile *tool = symbol("truth_cuda_tool");
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + WAIT_NS;

	while (!*tool && clock_ns(CLOCK_MONOTONIC) < end)
		sleep_ns(1000000);
	printf("recorded=%d\n", *tool != NULL);
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	int option;

	while ((option = getopt(argc, argv, "wr:t:")) != -1) {
		switch (option) {
		case 'w': wait_for_cupti = 1; break;
		case 'r': rounds = atoi(optarg); break;
		case 't': threads = atoi(optarg); break;
		default: return 2;
		}
	}
	if (threads > THREADS_MAX || !dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) ||
	    !dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL)) {
		printf("%s\n", dlerror());
		return 1;
	}
	FIND(cuInit);
	p_cuInit(0);
	truth_ready();
	if (wait_for_cupti)
		wait_until_recorded();
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)i);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("rounds=%d\n", rounds * threads);
	truth_done();
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch_names.c - known numbers of launches with every source of a kernel's name, operators of
 * two phases with executors that are used once, used again, or made before the recording, and a thread
 * with a long name. The libraries are loaded before "ready", as in a framework on attach.
 */
#include <dlfcn.h>
#include <string.h>

#include "tests/truth/runtimes.h"
#include "tests/truth/truth.h"

#define SYMBOL_LAUNCHES 11
#define STUB_LAUNCHES 12
#define REGISTERED_LAUNCHES 13
#define BY_SYMBOL_LAUNCHES 14
#define MODULE_LAUNCHES 15
#define LIBRARY_LAUNCHES 16
#define UNKNOWN_LAUNCHES 3
#define GRAPH_LAUNCHES 4

/* Host functions that represent kernels; the first two are registered before the recording. */
__attribute__((noinline)) void kernel_by_symbol(float *x)
{
	DISTINCT();
}

__attribute__((noinline)) void __device_stub__Z10stub_namedPf(float *x)
{
	DISTINCT();
}

__attribute__((noinline)) void host_of_registered(float *x)
{
	DISTINCT();
}

static void *load(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
	void *symbol = handle && name ? dlsym(handle, name) : handle;

	if (!symbol) {
		printf("%s\n", dlerror());
		exit(1);
	}
	return symbol;
}

#define FIND(name) __typeof__(&name) p_##name = load(NULL, #name)

static void launch(const void *function, int times)
{
	FIND(cudaLaunchKernel);
	struct dim3 grid = { 1, 2, 3 }, block = { 4, 5, 6 };

	for (int i = 0; i < times; i++)
		p_cudaLaunchKernel(function, grid, block, NULL, 0, (void *)0x77);
}

static void cuda(void)
{
	FIND(cudaGetFuncBySymbol);
	FIND(cudaGraphLaunch);
	FIND(__cudaRegisterFunction);
	FIND(cuModuleGetFunction);
	FIND(cuLibraryGetKernel);
	FIND(cuLaunchKernel);
	void *function;

	launch((void *)kernel_by_symbol, SYMBOL_LAUNCHES);
	launch((void *)__device_stub__Z10stub_namedPf, STUB_LAUNCHES);
	p___cudaRegisterFunction(NULL, (char *)host_of_registered, NULL, "_Z10registeredPf", -1, 0,
				 0, 0, 0, 0);
	launch((void *)host_of_registered, REGISTERED_LAUNCHES);
	p_cudaGetFuncBySymbol(&function, (void *)host_of_registered);
	for (int i = 0; i < BY_SYMBOL_LAUNCHES; i++)
		p_cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, (void *)0x77, NULL, NULL);
	p_cuModuleGetFunction(&function, NULL, "_Z6scaledPfi");
	for (int i = 0; i < MODULE_LAUNCHES; i++)
		p_cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, (void *)0x77, NULL, NULL);
	p_cuLibraryGetKernel(&function, NULL, "triton_kernel");
	launch(function, LIBRARY_LAUNCHES);
	launch((char *)kernel_by_symbol + 1, UNKNOWN_LAUNCHES);
	for (int i = 0; i < GRAPH_LAUNCHES; i++)
		p_cudaGraphLaunch((void *)0x88, (void *)0x77);
}

static void *early_executor;

static void acl_before(void)
{
	FIND(aclnnAddGetWorkspaceSize);
	uint64_t size;

	p_aclnnAddGetWorkspaceSize(0, 0, 0, 0, &size, &early_executor);
}

static void acl(void)
{
	FIND(aclnnAddGetWorkspaceSize);
	FIND(aclnnAdd);
	FIND(aclnnFlashAttentionScoreGetWorkspaceSize);
	FIND(aclnnFlashAttentionScore);
	FIND(aclrtBinaryGetFunction);
	FIND(aclrtLaunchKernel);
	FIND(aclopExecuteV2);
	FIND(HcclAllReduce);
	void *executor, *function;
	uint64_t size;

	p_aclnnAdd(NULL, 4096, early_executor, (void *)0x99);
	for (int i = 0; i < 5; i++) {
		p_aclnnAddGetWorkspaceSize(0, 0, 0, 0, &size, &executor);
		p_aclnnAdd(NULL, size, executor, (void *)0x99);
	}
	for (int i = 0; i < 7; i++)
		p_aclnnAdd(NULL, size, executor, (void *)0x99);
	for (int i = 0; i < 6; i++) {
		p_aclnnFlashAttentionScoreGetWorkspaceSize(0, 0, 0, 0, 0, 0, 0, 0, 0.5, 1.0, 1, 2,
							   3, "BNSD", 4, 5, 0, 0, 0, 0, &size,
							   &executor);
		p_aclnnFlashAttentionScore(NULL, size, executor, (void *)0x99);
	}
	p_aclrtBinaryGetFunction(NULL, "own_kernel", &function);
	for (int i = 0; i < 8; i++)
		p_aclrtLaunchKernel(function, 4, NULL, 0, (void *)0x99);
	for (int i = 0; i < 9; i++)
		p_aclopExecuteV2("MatMul", 0, NULL, NULL, 0, NULL, NULL, NULL, (void *)0x99);
	for (int i = 0; i < 10; i++)
		p_HcclAllReduce(NULL, NULL, 1000 + i, 4, 0, NULL, (void *)0x99);
}

static void *names_itself(void *argument)
{
	int error = pthread_setname_np(pthread_self(), "a_thread_with_a_name_of_its_own");

	printf("self.tid=%d\nself.error=%d\n", own_tid(), error);
	return NULL;
}

static void *is_named(void *argument)
{
	pthread_barrier_t *barrier = argument;

	printf("other.tid=%d\n", own_tid());
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	return NULL;
}

/* One thread sets its own name, the main thread sets the name of another. */
static void threads(void)
{
	pthread_barrier_t barrier;
	pthread_t self, other;

	pthread_create(&self, NULL, names_itself, NULL);
	pthread_join(self, NULL);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&other, NULL, is_named, &barrier);
	pthread_barrier_wait(&barrier);
	pthread_setname_np(other, "named_by_the_main_thread");
	pthread_barrier_wait(&barrier);
	pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
	char path[4096];
	const char *libraries[] = { "libcuda_truth.so", "libcudart_truth.so", "libacl_truth.so" };
	char *slash = strrchr(argv[0], '/');

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%.*s/%s", slash ? (int)(slash - argv[0]) : 1,
			 slash ? argv[0] : ".", libraries[i]);
		load(path, NULL);
	}
	acl_before();
	truth_ready();
	cuda();
	acl();
	threads();
	truth_done();
	return 0;
}

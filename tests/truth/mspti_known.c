/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mspti_known - launches a known number of kernels, collectives, copies and fills from each of several
 * threads, with the test double of CANN. truth.h describes a run.
 *
 *   mspti_known ROUNDS THREADS
 */
#include <dlfcn.h>
#include <string.h>

#include "tests/truth/runtimes.h"
#include "tests/truth/truth.h"

#define THREADS_MAX 16

static int rounds, threads;

static void *symbol(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	if (!found) {
		printf("%s\n", dlerror());
		exit(1);
	}
	return found;
}

static void *work(void *data)
{
	__typeof__(&aclrtLaunchKernel) launch = symbol("aclrtLaunchKernel");
	__typeof__(&HcclAllReduce) all_reduce = symbol("HcclAllReduce");
	__typeof__(&aclrtMemcpyAsync) copy = symbol("aclrtMemcpyAsync");
	__typeof__(&aclrtMemsetAsync) fill = symbol("aclrtMemsetAsync");

	for (int i = 0; i < rounds; i++) {
		launch((void *)0x5000, 8, NULL, 0, data);
		launch((void *)0x5000, 8, NULL, 0, data);
		copy(NULL, 4096, NULL, 4096 + (size_t)i, 1, data);
		fill(NULL, 512, 0, 512, data);
		all_reduce(NULL, NULL, 1000, 4, 0, NULL, data);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	char path[4096];
	char *slash = strrchr(argv[0], '/');

	rounds = argc > 2 ? atoi(argv[1]) : 1;
	threads = argc > 2 ? atoi(argv[2]) : 1;
	snprintf(path, sizeof(path), "%.*s/libacl_truth.so", slash ? (int)(slash - argv[0]) : 1,
		 slash ? argv[0] : ".");
	if (threads > THREADS_MAX || !dlopen(path, RTLD_NOW | RTLD_GLOBAL)) {
		printf("%s\n", dlerror());
		return 1;
	}
	truth_ready();
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)(i + 3));
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("rounds=%d\n", rounds * threads);
	truth_done();
	return 0;
}

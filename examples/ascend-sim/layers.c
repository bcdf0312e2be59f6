/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layers.c - training loops for the simulated Ascend with equal layers: 24 layers of 8 kernels. At the end it prints
 * the number of turns, and the number of calls of each kind in a turn.
 *
 *   layers KIND [TURNS [SLOW_US]]
 *
 *   train     two copies to the device, the layers, an optimizer, a synchronous copy to the host
 *   parallel  the layers and two collectives; nothing else marks a turn
 *   tensor    an embedding, and a collective after each layer
 *   blocking  two copies to the device, and a wait for each kernel
 *   one       a copy to the device, one kernel and a wait for it
 *
 * SLOW_US: every 20th turn the main thread waits for a thread "validator", which sleeps for that time. The program
 * prints "ready" and "done", and waits for a line after each, as job.c does.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Declarations of acl/acl_rt.h and hccl/hccl.h. */
int aclInit(const char *config);
int aclFinalize(void);
int aclrtSetDevice(int32_t device);
int aclrtResetDevice(int32_t device);
int aclrtCreateStream(void **stream);
int aclrtDestroyStream(void *stream);
int aclrtSynchronizeStream(void *stream);
int aclrtMemcpyAsync(void *to, size_t to_size, const void *from, size_t bytes, int kind,
		     void *stream);
int aclrtMalloc(void **memory, size_t bytes, int policy);
int aclrtFree(void *memory);
int aclrtMallocHost(void **memory, size_t bytes);
int aclrtBinaryLoadFromFile(const char *path, const void *options, void **binary);
int aclrtBinaryGetFunction(void *binary, const char *name, void **function);
int aclrtLaunchKernel(void *function, uint32_t blocks, const void *args, size_t size, void *stream);
int HcclCommInitRootInfo(uint32_t ranks, const void *root, uint32_t rank, void **comm);
int HcclAllReduce(void *send, void *receive, uint64_t count, int type, int operation, void *comm,
		  void *stream);

#define LAYERS 24
#define KERNELS 8
#define SLOW_EACH 20
#define BYTES 4096
#define FLOATS (BYTES / 4)
#define TO_DEVICE 1
#define TO_HOST 2

static struct {
	void *stream, *comm, *device, *host;
	void *layer[KERNELS], *embedding, *update;
	unsigned long launches, copies, collectives, waits;
} job;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int asked, done;
static unsigned long slow_us;

static void check(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "layers: %s: error %d\n", what, result);
	exit(1);
}

#define CHECK(call) check(call, #call)

static void launch(void *function)
{
	CHECK(aclrtLaunchKernel(function, 1, NULL, 0, job.stream));
	job.launches++;
}

static void copy(int way)
{
	void *to = way == TO_DEVICE ? job.device : job.host;
	void *from = way == TO_DEVICE ? job.host : job.device;

	CHECK(aclrtMemcpyAsync(to, BYTES, from, BYTES, way, job.stream));
	job.copies++;
}

static void all_reduce(void)
{
	CHECK(HcclAllReduce(job.device, job.device, FLOATS, 4, 0, job.comm, job.stream));
	job.collectives++;
}

static void wait_for_device(void)
{
	CHECK(aclrtSynchronizeStream(job.stream));
	job.waits++;
}

/* ---- Turns */

static void layers(int collective_each, int wait_each)
{
	for (int layer = 0; layer < LAYERS; layer++) {
		for (int i = 0; i < KERNELS; i++) {
			launch(job.layer[i]);
			if (wait_each)
				wait_for_device();
		}
		if (collective_each)
			all_reduce();
	}
}

static void train(void)
{
	copy(TO_DEVICE);
	copy(TO_DEVICE);
	layers(0, 0);
	launch(job.update);
	copy(TO_HOST);
	wait_for_device();
}

static void parallel(void)
{
	layers(0, 0);
	all_reduce();
	all_reduce();
}

static void tensor(void)
{
	launch(job.embedding);
	layers(1, 0);
}

static void blocking(void)
{
	copy(TO_DEVICE);
	copy(TO_DEVICE);
	layers(0, 1);
}

static void one(void)
{
	copy(TO_DEVICE);
	launch(job.embedding);
	wait_for_device();
}

static const struct {
	const char *name;
	void (*turn)(void);
} kinds[] = { { "train", train },
	      { "parallel", parallel },
	      { "tensor", tensor },
	      { "blocking", blocking },
	      { "one", one } };

/* ---- Slow turns */

static void *validate(void *unused)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!asked)
			pthread_cond_wait(&changed, &lock);
		asked = 0;
		pthread_mutex_unlock(&lock);
		usleep((useconds_t)slow_us);
		pthread_mutex_lock(&lock);
		done = 1;
		pthread_cond_broadcast(&changed);
	}
	return NULL;
}

static void wait_for_validator(void)
{
	pthread_mutex_lock(&lock);
	asked = 1;
	done = 0;
	pthread_cond_broadcast(&changed);
	while (!done)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void set_up(void)
{
	static char root[4108];
	char name[16];
	void *binary;

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(0));
	CHECK(aclrtCreateStream(&job.stream));
	CHECK(aclrtBinaryLoadFromFile("kernels.o", NULL, &binary));
	for (int i = 0; i < KERNELS; i++) {
		snprintf(name, sizeof(name), "layer_%d", i);
		CHECK(aclrtBinaryGetFunction(binary, name, &job.layer[i]));
	}
	CHECK(aclrtBinaryGetFunction(binary, "embedding", &job.embedding));
	CHECK(aclrtBinaryGetFunction(binary, "ApplyMomentum", &job.update));
	CHECK(HcclCommInitRootInfo(2, root, 0, &job.comm));
	CHECK(aclrtMalloc(&job.device, BYTES, 0));
	CHECK(aclrtMallocHost(&job.host, BYTES));
}

static int line_came(const char *word)
{
	char line[16];

	puts(word);
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) != NULL;
}

int main(int count, char **arguments)
{
	unsigned long turns = count > 2 ? strtoul(arguments[2], NULL, 10) : 100, slow = 0;
	void (*turn)(void) = NULL;
	pthread_t thread;

	for (size_t i = 0; count > 1 && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(arguments[1], kinds[i].name))
			turn = kinds[i].turn;
	if (!turn)
		return 2;
	slow_us = count > 3 ? strtoul(arguments[3], NULL, 10) : 0;
	if (pthread_create(&thread, NULL, validate, NULL) != 0)
		return 1;
	pthread_setname_np(thread, "validator");
	set_up();
	if (!line_came("ready"))
		return 1;
	for (unsigned long i = 0; i < turns; i++) {
		if (slow_us && i % SLOW_EACH == SLOW_EACH - 1) {
			wait_for_validator();
			slow++;
		}
		turn();
	}
	CHECK(aclrtSynchronizeStream(job.stream));
	printf("turns=%lu\nlaunches=%lu\ncopies=%lu\ncollectives=%lu\nwaits=%lu\nslow=%lu\n", turns,
	       job.launches, job.copies, job.collectives, job.waits, slow);
	if (!line_came("done"))
		return 1;
	CHECK(aclrtFree(job.device));
	CHECK(aclrtDestroyStream(job.stream));
	CHECK(aclrtResetDevice(0));
	CHECK(aclFinalize());
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storm.c - launches as many kernels as possible on the simulated Ascend: each thread launches on its own
 * streams in turn, and waits for one of them at intervals.
 *
 *   storm [LAUNCHES [THREADS]]
 *
 * Prints "ready" and waits for a line on its standard input, as it does at its end. The n-th kernel of
 * a stream is called kernel(n modulo 100).
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Declarations of acl/acl_rt.h. */
int aclInit(const char *config);
int aclFinalize(void);
int aclrtSetDevice(int32_t device);
int aclrtCreateStream(void **stream);
int aclrtDestroyStream(void *stream);
int aclrtSynchronizeStream(void *stream);
int aclrtBinaryLoadFromFile(const char *path, const void *options, void **binary);
int aclrtBinaryGetFunction(void *binary, const char *name, void **function);
int aclrtLaunchKernel(void *function, uint32_t blocks, const void *args, size_t size, void *stream);

#define STREAMS 8
#define KERNELS 100
#define BLOCKS 5 /* of a kernel, at most */
#define FULL_STREAM (STREAMS - 1)
#define FULL_BLOCKS 20
#define SYNC_EVERY 251 /* launches of a thread */

struct storm {
	void *streams[STREAMS];
	void *kernels[KERNELS];
	unsigned long launches, threads;
};

struct launcher {
	const struct storm *storm;
	unsigned long number;
	pthread_t thread;
};

static void check(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "storm: %s: error %d\n", what, result);
	exit(1);
}

#define CHECK(call) check(call, #call)

/* The n-th launch of all threads is on stream n modulo STREAMS, which belongs to thread stream modulo threads. */
static void *launch_all(void *argument)
{
	const struct launcher *self = argument;
	const struct storm *storm = self->storm;
	unsigned long done = 0;

	for (unsigned long n = 0; n < storm->launches; n++) {
		unsigned long stream = n % STREAMS, place = n / STREAMS;

		if (stream % storm->threads != self->number)
			continue;
		CHECK(aclrtLaunchKernel(storm->kernels[place % KERNELS],
					stream == FULL_STREAM ? FULL_BLOCKS
							      : 1 + (uint32_t)(place % BLOCKS),
					NULL, 0, storm->streams[stream]));
		if (++done % SYNC_EVERY == 0 && stream != FULL_STREAM)
			CHECK(aclrtSynchronizeStream(storm->streams[stream]));
	}
	for (unsigned long i = self->number; i < STREAMS; i += storm->threads)
		CHECK(aclrtSynchronizeStream(storm->streams[i]));
	return NULL;
}

static void set_up(struct storm *storm)
{
	char name[16];
	void *binary;

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(0));
	CHECK(aclrtBinaryLoadFromFile("kernels.o", NULL, &binary));
	for (int i = 0; i < KERNELS; i++) {
		snprintf(name, sizeof(name), "kernel%d", i);
		CHECK(aclrtBinaryGetFunction(binary, name, &storm->kernels[i]));
	}
	for (int i = 0; i < STREAMS; i++)
		CHECK(aclrtCreateStream(&storm->streams[i]));
}

static int wait_for_line(const char *word)
{
	char line[16];

	puts(word);
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) ? 0 : -1;
}

int main(int count, char **arguments)
{
	struct storm storm = { .launches = count > 1 ? strtoul(arguments[1], NULL, 10) : 1000000,
			       .threads = count > 2 ? strtoul(arguments[2], NULL, 10) : 2 };
	struct launcher launchers[STREAMS];

	if (!storm.threads || storm.threads > STREAMS) {
		fprintf(stderr, "storm: THREADS must be from 1 to %d\n", STREAMS);
		return 2;
	}
	set_up(&storm);
	CHECK(wait_for_line("ready"));
	for (unsigned long i = 0; i < storm.threads; i++) {
		launchers[i] = (struct launcher){ .storm = &storm, .number = i };
		CHECK(pthread_create(&launchers[i].thread, NULL, launch_all, &launchers[i]));
	}
	for (unsigned long i = 0; i < storm.threads; i++)
		pthread_join(launchers[i].thread, NULL);
	printf("launches=%lu\n", storm.launches);
	CHECK(wait_for_line("done"));
	for (int i = 0; i < STREAMS; i++)
		CHECK(aclrtDestroyStream(storm.streams[i]));
	CHECK(aclFinalize());
	return 0;
}

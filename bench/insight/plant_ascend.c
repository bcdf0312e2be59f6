/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated Ascend (examples/ascend-sim), with blocks of a microsecond (ASCEND_SIM_BLOCK_NS=1000). It writes its
 * real task times to $ASCEND_SIM_OUT/truth.json, in the order in which tasks were sent.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/insight/plant_device.h"

/* As in acl/acl_rt.h. */
int aclInit(const char *config);
int aclFinalize(void);
int aclrtSetDevice(int32_t device);
int aclrtCreateStream(void **stream);
int aclrtCreateEvent(void **event);
int aclrtRecordEvent(void *event, void *stream);
int aclrtSynchronizeEvent(void *event);
int aclrtSynchronizeStream(void *stream);
int aclrtBinaryLoadFromFile(const char *path, const void *options, void **binary);
int aclrtBinaryGetFunction(void *binary, const char *name, void **function);
int aclrtLaunchKernel(void *function, uint32_t blocks, const void *args, size_t size, void *stream);

#define EVENTS 4
#define BLOCK_NS 1000
#define SIM_KERNEL 0 /* examples/ascend-sim/sim.h */
#define CHECK(call) check((call), #call)

static void *stream, *kernel, *events[EVENTS];
static uint32_t submitted;

static void check(int error, const char *what)
{
	if (error)
		plant_fail(what);
}

void device_open(void)
{
	void *binary;

	CHECK(aclInit(NULL));
	CHECK(aclrtSetDevice(0));
	CHECK(aclrtCreateStream(&stream));
	for (int i = 0; i < EVENTS; i++)
		CHECK(aclrtCreateEvent(&events[i]));
	CHECK(aclrtBinaryLoadFromFile("planted.o", NULL, &binary));
	CHECK(aclrtBinaryGetFunction(binary, "planted", &kernel));
}

void device_submit(uint64_t task_ns)
{
	CHECK(aclrtLaunchKernel(kernel, (uint32_t)(task_ns / BLOCK_NS), NULL, 0, stream));
	CHECK(aclrtRecordEvent(events[submitted++ % EVENTS], stream));
}

void device_wait(uint32_t left)
{
	if (submitted > left)
		CHECK(aclrtSynchronizeEvent(events[(submitted - left - 1) % EVENTS]));
}

static unsigned long long number(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static void read_truth(void)
{
	char path[4096], line[2048];
	FILE *file;

	snprintf(path, sizeof(path), "%s/truth.json", getenv("ASCEND_SIM_OUT") ?: ".");
	file = fopen(path, "r");
	if (!file)
		plant_fail(path);
	while (fgets(line, sizeof(line), file))
		if (strstr(line, "\"sent_ns\":") && number(line, "\"kind\":") == SIM_KERNEL)
			plant_task(number(line, "\"start_ns\":"), number(line, "\"end_ns\":"));
	fclose(file);
}

void device_close(void)
{
	if (!submitted)
		return;
	CHECK(aclrtSynchronizeStream(stream));
	CHECK(aclFinalize());
	read_truth();
}
